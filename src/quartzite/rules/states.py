"""What a stored state means to callers, and the states of a firing."""

from __future__ import annotations

from enum import Enum
from typing import Final

from quartzite.model.states import FiredState, StoredTriggerState, TriggerState

__all__ = ["StoredFiringState", "resolve_trigger_state", "stored_states_reported_as"]

_S = StoredTriggerState
_R = TriggerState

_IDLE: Final = {
    _S.WAITING: _R.NORMAL,
    _S.ACQUIRED: _R.NORMAL,
    _S.EXECUTING: _R.NORMAL,
    _S.COMPLETE: _R.COMPLETE,
    _S.BLOCKED: _R.BLOCKED,
    _S.ERROR: _R.ERROR,
    _S.PAUSED: _R.PAUSED,
    _S.PAUSED_BLOCKED: _R.PAUSED,
    _S.DELETED: _R.NONE,
}
_OUTRANK_EXECUTING: Final = frozenset({_R.NONE, _R.ERROR, _R.PAUSED})


class StoredFiringState(Enum):
    """The stored states of one firing. ``value`` is the persisted text.

    A firing that executes outlives its trigger and its job: until its completion it keeps the non-concurrent rule
    of its job key. ``TRIGGER_GONE`` no longer counts as an execution of its trigger's key, which may have been given
    to a new trigger (spec 06 section 1, replace_trigger); the completion of ``JOB_GONE`` frees the job key and
    changes nothing else (a job deleted while it ran, and stored anew under the same key).
    """

    ACQUIRED = "ACQUIRED"
    EXECUTING = "EXECUTING"
    TRIGGER_GONE = "TRIGGER_GONE"
    JOB_GONE = "JOB_GONE"

    __hash__ = object.__hash__

    @property
    def reported(self) -> FiredState:
        """The state as callers see it."""
        return FiredState.ACQUIRED if self is StoredFiringState.ACQUIRED else FiredState.EXECUTING

    @classmethod
    def from_stored_value(cls, text: str) -> StoredFiringState:
        """Read a persisted text; one that this version does not know reads as ``EXECUTING``."""
        return _FIRING_BY_TEXT.get(text, cls.EXECUTING)


_FIRING_BY_TEXT: Final = {state.value: state for state in StoredFiringState}


def resolve_trigger_state(stored: StoredTriggerState, executing: bool) -> TriggerState:
    """Return the reported state of a trigger (spec 06 section 3).

    The precedence is none, error, paused, executing, blocked, complete, normal.

    Args:
        stored: The state as stored; ``DELETED`` for a trigger that is not there.
        executing: Whether a firing of the trigger is in progress.
    """
    idle = _IDLE[stored]
    return _R.EXECUTING if executing and idle not in _OUTRANK_EXECUTING else idle


def stored_states_reported_as(reported: TriggerState, executing: bool) -> frozenset[StoredTriggerState]:
    """Return the stored states that read as ``reported``: the same rule, turned round for filters."""
    return frozenset(stored for stored in _S if resolve_trigger_state(stored, executing) is reported)
