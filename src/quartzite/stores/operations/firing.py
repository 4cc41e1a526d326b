"""Firing acquired triggers: the result is aligned with what was given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from quartzite.calendars.base import Calendar
from quartzite.execution import TriggerFiredBundle, TriggerFiredResult
from quartzite.model.keys import RECOVERY_GROUP, JobKey
from quartzite.model.selectors import OfJobs
from quartzite.rules.firing import FiredRow, FirePlan, FiringRow, may_fire, plan_firing
from quartzite.rules.states import StoredFiringState
from quartzite.rules.transitions import BLOCK
from quartzite.stores.operations.failing import fail_triggers, fail_unreadable
from quartzite.stores.session import StoredTrigger, StoreSession
from quartzite.triggers.base import Trigger

__all__ = ["triggers_fired"]


@dataclass(slots=True)
class _Planner:
    """Plans the firings of one batch, one after the other; nothing is written yet.

    Attributes:
        instance_id: The node that fires.
        calendars: Those that the triggers name and the store has.
        executing: Non-concurrent jobs that run already, those of this batch included.
        planned: Ids of the firings of this batch so far.
    """

    instance_id: str
    calendars: Mapping[str, Calendar]
    executing: set[JobKey] = field(default_factory=set)
    planned: set[str | None] = field(default_factory=set)

    def plan(self, acquired: Trigger, row: FiringRow | None) -> FirePlan | Exception | None:
        """Return what the firing does, None when it does not happen, or what its trigger's arithmetic raised."""
        if row is None or row.job is None or not may_fire(row, acquired):
            return None
        if acquired.fire_instance_id in self.planned:
            return None
        trigger, job = row.trigger, row.job
        calendar = None
        if trigger.calendar_name is not None:
            calendar = self.calendars.get(trigger.calendar_name)
            if calendar is None:
                return None
        if job.concurrent_execution_disallowed and job.key in self.executing:
            return None
        try:
            plan = plan_firing(trigger, job, calendar, self.instance_id)
        except Exception as error:  # noqa: BLE001  # one broken kind of trigger must not stop the others
            return error
        if job.concurrent_execution_disallowed:
            self.executing.add(job.key)
        self.planned.add(acquired.fire_instance_id)
        return plan


async def triggers_fired(
    session: StoreSession, triggers: Sequence[Trigger], *, now: datetime, instance_id: str
) -> list[TriggerFiredResult]:
    """Fire acquired triggers; see ``JobStore.triggers_fired``.

    The own fired rows go from acquired to executing: a row that is gone makes no firing, whatever the trigger says.
    """
    rows = await session.triggers.load_for_firing(triggers)
    planner = _Planner(instance_id, await _calendars(session, rows), await _executing_jobs(session, rows))
    plans = [planner.plan(trigger, row) for trigger, row in zip(triggers, rows, strict=True)]
    fired = await _start(session, [plan for plan in plans if type(plan) is FirePlan], now, instance_id)
    await _fail(session, triggers, plans)
    await fail_unreadable(session)
    return [_result(plan, fired, now) for plan in plans]


async def _calendars(session: StoreSession, rows: Sequence[FiringRow | None]) -> Mapping[str, Calendar]:
    names = {row.trigger.calendar_name for row in rows if row is not None and row.trigger.calendar_name is not None}
    return await session.calendars.read(names) if names else {}


async def _executing_jobs(session: StoreSession, rows: Sequence[FiringRow | None]) -> set[JobKey]:
    """Return the non-concurrent jobs of a batch that run somewhere; none starts before the unit of work ends."""
    keys = {row.job.key for row in rows if row is not None and row.job and row.job.concurrent_execution_disallowed}
    if not keys:
        return set()
    await session.jobs.lock(keys)
    return set(await session.fired.executing_jobs(keys))


async def _start(session: StoreSession, plans: Sequence[FirePlan], now: datetime, instance_id: str) -> Collection[str]:
    """Make the firings whose claim still stands; return their ids."""
    if not plans:
        return ()
    started = await session.fired.start([_executing(plan, now, instance_id) for plan in plans])
    fired = plans if len(started) == len(plans) else [p for p in plans if p.trigger.fire_instance_id in started]
    await session.triggers.save_progress([StoredTrigger(plan.trigger, plan.state) for plan in fired])
    alone = {plan.job.key for plan in fired if plan.job.concurrent_execution_disallowed}
    if alone:
        await session.triggers.move(OfJobs(alone), BLOCK)
    return started


async def _fail(
    session: StoreSession, triggers: Sequence[Trigger], plans: Sequence[FirePlan | Exception | None]
) -> None:
    failed = {t: plan for t, plan in zip(triggers, plans, strict=True) if isinstance(plan, Exception)}
    if failed:
        await session.fired.remove([t.fire_instance_id for t in failed if t.fire_instance_id is not None])
        await fail_triggers(session, "firing", {t.key: error for t, error in failed.items()})


def _executing(plan: FirePlan, now: datetime, instance_id: str) -> FiredRow:
    trigger, job = plan.trigger, plan.job
    return FiredRow(
        trigger.fire_instance_id or "",
        trigger.key,
        instance_id,
        StoredFiringState.EXECUTING,
        now,
        plan.scheduled_time,
        trigger.priority,
        trigger.execution_group,
        job.key,
        job.concurrent_execution_disallowed,
        job.requests_recovery,
    )


def _result(plan: FirePlan | Exception | None, fired: Collection[str], now: datetime) -> TriggerFiredResult:
    if plan is None:
        return TriggerFiredResult.NOT_FIRED
    if isinstance(plan, Exception):
        return TriggerFiredResult.failed(plan)
    trigger = plan.trigger
    if trigger.fire_instance_id not in fired:
        return TriggerFiredResult.NOT_FIRED
    return TriggerFiredResult(
        TriggerFiredBundle(
            job=plan.job,
            trigger=trigger,
            calendar=plan.calendar,
            recovering=trigger.key.group == RECOVERY_GROUP,
            fire_time=now,
            scheduled_fire_time=plan.scheduled_time,
            previous_fire_time=plan.previous_time,
            next_fire_time=trigger.next_fire_time,
        )
    )
