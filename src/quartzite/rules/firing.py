"""What one firing does to its trigger (spec 07 section 5, triggers_fired)."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from quartzite.calendars.base import Calendar
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.model.states import StoredTriggerState
from quartzite.rules.states import StoredFiringState
from quartzite.triggers.base import Trigger

__all__ = ["FirePlan", "FiredRow", "FiringRow", "claimed_pin", "may_fire", "plan_firing", "state_after_firing"]

_S = StoredTriggerState


# One each per firing: named tuples, as they cost a third of a frozen dataclass.
class FiringRow(NamedTuple):
    """What is stored about a trigger that shall fire.

    Attributes:
        trigger: As stored, with the id of this firing.
        state: Its stored state.
        job: Its job, or None when that is gone.
        claimed: Whether the own fired row is still there, acquired: the claim (decision 5).
    """

    trigger: Trigger
    state: StoredTriggerState
    job: JobDetail | None
    claimed: bool


class FiredRow(NamedTuple):
    """One firing as stored. Times are aware UTC.

    Attributes:
        fire_instance_id: Unique within the cluster, for ever.
        trigger_key: The trigger that fired.
        instance_id: The node that owns the firing.
        state: Acquired, or one of the executing states.
        fired_time: When it was acquired, then when it fired.
        scheduled_time: When it should fire.
        priority: Of the trigger.
        execution_group: Of the trigger.
        job_key: None until it fires.
        non_concurrent: Whether it keeps others of its job from running; False until it fires.
        requests_recovery: Whether the run is repeated when its process dies; False until it fires.
    """

    fire_instance_id: str
    trigger_key: TriggerKey
    instance_id: str
    state: StoredFiringState
    fired_time: datetime
    scheduled_time: datetime
    priority: int
    execution_group: str | None
    job_key: JobKey | None = None
    non_concurrent: bool = False
    requests_recovery: bool = False


class FirePlan(NamedTuple):
    """A firing that shall happen.

    Attributes:
        trigger: The trigger advanced to its next fire time, with the id of this firing.
        state: What is stored for it.
        job: What runs.
        calendar: The calendar that was asked, or None.
        scheduled_time: When it should have fired: the missed time after a misfire that fires at once.
        previous_time: The trigger's previous fire time before this one.
    """

    trigger: Trigger
    state: StoredTriggerState
    job: JobDetail
    calendar: Calendar | None
    scheduled_time: datetime
    previous_time: datetime | None


def may_fire(row: FiringRow | None, acquired: Trigger) -> bool:
    """Tell whether an acquired trigger may still fire.

    It is acquired by this very claim, its job is there, and its next fire time is the one that was claimed: a trigger
    whose time was changed meanwhile must be acquired again, at that time.

    Args:
        row: What is stored; None when the trigger is gone.
        acquired: The trigger as it was acquired.
    """
    return (
        row is not None
        and row.claimed
        and row.state is _S.ACQUIRED
        and row.job is not None
        and row.trigger.next_fire_time == acquired.next_fire_time
    )


def state_after_firing(job: JobDetail, next_fire_time: datetime | None) -> StoredTriggerState:
    """Return what is stored for the trigger that fired."""
    if next_fire_time is None:
        return _S.COMPLETE
    return _S.BLOCKED if job.concurrent_execution_disallowed else _S.WAITING


def plan_firing(trigger: Trigger, job: JobDetail, calendar: Calendar | None, instance_id: str) -> FirePlan:
    """Return what a firing does.

    Args:
        trigger: As stored, with the id of this firing.
        job: Its job.
        calendar: Its calendar, or None.
        instance_id: The node that fires; it claims an automatic pin.

    Raises:
        SchedulerError: the trigger has no next fire time.
        Exception: whatever the arithmetic of a custom kind raises.
    """
    scheduled, previous = trigger.misfire_origin, trigger.previous_fire_time
    advanced = trigger.triggered(calendar)
    pin = trigger.preferred_node
    if pin.is_automatic and pin.node != instance_id:
        advanced = advanced.copy_with(preferred_node=claimed_pin(pin, instance_id))
    return FirePlan(
        advanced,
        state_after_firing(job, advanced.next_fire_time),
        job,
        calendar,
        scheduled or advanced.previous_fire_time or trigger.next_fire_time,  # type: ignore[arg-type]
        previous,
    )


def claimed_pin(pin: PreferredNode, instance_id: str) -> PreferredNode:
    """Return the pin after a node fired the trigger: an automatic one follows the node (spec 07 section 9)."""
    return pin.claimed_by(instance_id) if pin.is_automatic and pin.node != instance_id else pin
