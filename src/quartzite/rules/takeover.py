"""What becomes of the firings that a node, or a former life, left behind (spec 07 section 5, spec 08 section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from quartzite.model.job_data import JobData
from quartzite.model.keys import RECOVERY_GROUP, JobKey, TriggerKey
from quartzite.rules.firing import FiredRow
from quartzite.rules.membership import CheckIn
from quartzite.rules.states import StoredFiringState
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import SimpleTrigger

__all__ = ["TakeoverPlan", "is_stale_claim", "may_still_run", "plan_takeover", "recovery_trigger"]

STALE_CLAIM: Final = timedelta(minutes=2)
"""A reserved firing that is overdue by this, and by two misfire thresholds, was forgotten by its node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverPlan:
    """What becomes of the firings of one node.

    Attributes:
        preserved: Left alone: the node may be late only, and its non-concurrent job still run.
        claims: Reserved and never begun: the triggers are given back.
        recovered: Begun, and to be run again.
        lost: Begun, and not to be run again.
    """

    preserved: tuple[FiredRow, ...]
    claims: tuple[FiredRow, ...]
    recovered: tuple[FiredRow, ...]
    lost: tuple[FiredRow, ...]

    @property
    def ended(self) -> tuple[FiredRow, ...]:
        """The rows to delete."""
        return (*self.claims, *self.recovered, *self.lost)

    @property
    def unfinished(self) -> tuple[FiredRow, ...]:
        """The firings to report: whichever is missing is among them (decision 20)."""
        return (*self.recovered, *self.lost)

    @property
    def freed_jobs(self) -> frozenset[JobKey]:
        """Non-concurrent jobs that do not run any more."""
        return frozenset(row.job_key for row in self.unfinished if row.non_concurrent and row.job_key is not None)

    @property
    def touched(self) -> frozenset[TriggerKey]:
        """The triggers of the rows to delete."""
        return frozenset(row.trigger_key for row in self.ended)


def may_still_run(check_in: CheckIn | None, now: datetime, threshold: timedelta) -> bool:
    """Tell whether a node that counts as failed may be late only, so that its non-concurrent jobs are left alone.

    Args:
        check_in: Its record; None for firings whose node has none.
        now: The instant of the takeover.
        threshold: How late a check-in may be before the node counts as failed.
    """
    return check_in is not None and now - check_in.last < 2 * check_in.interval + threshold


def plan_takeover(rows: Iterable[FiredRow], *, may_run: bool) -> TakeoverPlan:
    """Return what becomes of the firings of one node.

    Args:
        rows: Its fired rows.
        may_run: Whether the node may be late only.
    """
    preserved, claims, recovered, lost = [], [], [], []
    for row in rows:
        if row.state is StoredFiringState.ACQUIRED:
            claims.append(row)
        elif may_run and row.non_concurrent:
            preserved.append(row)
        elif row.requests_recovery and row.state is not StoredFiringState.JOB_GONE:
            recovered.append(row)
        else:
            lost.append(row)
    return TakeoverPlan(preserved=tuple(preserved), claims=tuple(claims), recovered=tuple(recovered), lost=tuple(lost))


def recovery_trigger(row: FiredRow, data: JobData, *, start: datetime, misfire_instruction: int) -> Trigger:
    """Return the one-shot trigger that runs a firing again.

    Its name is made of the id of the firing, so that no other recovery has it.

    Args:
        row: The firing.
        data: The data of the original trigger, and where the firing came from.
        start: When it shall fire: in the past, so at once.
        misfire_instruction: What it does when even that is missed.
    """
    return SimpleTrigger(
        key=TriggerKey(f"recover_{row.fire_instance_id}", RECOVERY_GROUP),
        job_key=row.job_key or JobKey("?"),
        job_data=data,
        priority=row.priority,
        execution_group=row.execution_group,
        misfire_instruction=misfire_instruction,
        start_time=start,
        next_fire_time=start,
    )


def is_stale_claim(row: FiredRow, now: datetime, misfire_threshold: timedelta) -> bool:
    """Tell whether the own node has forgotten a reserved firing (spec 07 section 6)."""
    due = max(row.scheduled_time, row.fired_time)
    return row.state is StoredFiringState.ACQUIRED and now - due > max(2 * misfire_threshold, STALE_CLAIM)
