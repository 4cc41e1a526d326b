"""States of triggers, as stored and as reported, and what a completion tells the store."""

from __future__ import annotations

from enum import Enum, IntEnum

__all__ = ["FiredState", "SchedulerInstruction", "StoredTriggerState", "TriggerState"]


class StoredTriggerState(Enum):
    """The nine stored states of a trigger (spec 06 section 3). ``value`` is the persisted text."""

    WAITING = "WAITING"
    ACQUIRED = "ACQUIRED"
    EXECUTING = "EXECUTING"  # only ever written to the firing table
    COMPLETE = "COMPLETE"
    BLOCKED = "BLOCKED"
    ERROR = "ERROR"
    PAUSED = "PAUSED"
    PAUSED_BLOCKED = "PAUSED_BLOCKED"
    DELETED = "DELETED"  # never written: what a missing row reads as

    # Members live in hash tables of the stores; the default hash of an enum hashes its name each time.
    __hash__ = object.__hash__

    def to_stored_value(self) -> str:
        """Return the persisted text."""
        return self.value

    @classmethod
    def from_stored_value(cls, text: str | None) -> StoredTriggerState:
        """Read a persisted text.

        A missing row (None) reads as ``DELETED``; a text that this version does not know reads as ``WAITING``,
        so that a trigger written by a newer version stays schedulable.
        """
        if text is None:
            return cls.DELETED
        return _BY_TEXT.get(text, cls.WAITING)


_BY_TEXT = {state.value: state for state in StoredTriggerState}


class FiredState(Enum):
    """The state of one firing: reserved by a node, or running."""

    ACQUIRED = "ACQUIRED"
    EXECUTING = "EXECUTING"


class TriggerState(IntEnum):
    """The state of a trigger as callers see it (spec 06 section 3)."""

    NORMAL = 0
    PAUSED = 1
    COMPLETE = 2
    ERROR = 3
    BLOCKED = 4
    NONE = 5
    EXECUTING = 6

    def __str__(self) -> str:
        return self.name


class SchedulerInstruction(Enum):
    """What the end of a firing tells the store (spec 01 section 7)."""

    NO_INSTRUCTION = "no instruction"
    RE_EXECUTE_JOB = "re-execute job"
    SET_TRIGGER_COMPLETE = "set trigger complete"
    DELETE_TRIGGER = "delete trigger"
    SET_ALL_JOB_TRIGGERS_COMPLETE = "set all job triggers complete"
    SET_ALL_JOB_TRIGGERS_ERROR = "set all job triggers error"
    SET_TRIGGER_ERROR = "set trigger error"

    __hash__ = object.__hash__
