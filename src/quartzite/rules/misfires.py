"""When a trigger has missed its time, and what becomes of it (spec 02 section 1, spec 07 section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from quartzite.calendars.base import Calendar
from quartzite.errors import SchedulerError
from quartzite.model.states import StoredTriggerState
from quartzite.triggers.base import Trigger

__all__ = ["NEVER_MISFIRES", "MisfirePlan", "is_misfired", "plan_misfire"]

NEVER_MISFIRES: Final = -1
"""The misfire instruction of triggers that fire every missed time, one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfirePlan:
    """What one missed time does to a trigger.

    Attributes:
        missed: The trigger as it was; listeners hear about this one.
        trigger: The trigger as its misfire instruction leaves it.
        state: What is stored.
    """

    missed: Trigger
    trigger: Trigger
    state: StoredTriggerState

    @property
    def is_final(self) -> bool:
        """Whether it will never fire again."""
        return self.trigger.next_fire_time is None


def is_misfired(trigger: Trigger, before: datetime) -> bool:
    """Tell whether the next fire time lies before an instant, and the trigger minds.

    Args:
        trigger: Any trigger.
        before: Now minus the misfire threshold; now itself on resuming.
    """
    due = trigger.next_fire_time
    return due is not None and due < before and trigger.misfire_instruction != NEVER_MISFIRES


def plan_misfire(trigger: Trigger, calendar: Calendar | None, now: datetime, state: StoredTriggerState) -> MisfirePlan:
    """Return what a missed time does to a trigger; without a next fire time it is complete.

    Args:
        trigger: The trigger that missed its time.
        calendar: Its calendar, or None.
        now: The instant of the pass.
        state: What is stored when it will fire again.

    Raises:
        SchedulerError: the kind of trigger leaves the missed time as it is, so that it could never fire.
        Exception: whatever the arithmetic of a custom kind raises.
    """
    updated = trigger.update_after_misfire(calendar, now)
    if updated.next_fire_time == trigger.next_fire_time:
        raise SchedulerError(
            f"trigger {trigger.key} missed {trigger.next_fire_time}, and its misfire instruction "
            f"{trigger.misfire_instruction} gives it no later time: {type(trigger).__name__} must give one, or None"
        )
    final = updated.next_fire_time is None
    return MisfirePlan(missed=trigger, trigger=updated, state=StoredTriggerState.COMPLETE if final else state)
