"""Faults of other schedulers at restart: declared content that fires again, is lost, doubles or wakes up.

Each test names the report it comes from. The store outlives its schedulers, as a database does.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from quartzite import (
    GroupMatcher,
    JobContext,
    JobKey,
    QuartzContainer,
    SchedulerBuilder,
    TriggerBuilder,
    TriggerState,
    add_quartz,
    cron,
    every,
    running,
)
from quartzite.errors import ObjectAlreadyExistsError
from quartzite.model.keys import TriggerKey
from quartzite.testing import FakeClock
from tests.unit.builder.deployments import Deployments

WEEKLY = cron("0 0 9 ? * MON")
NEXT_MONDAY = datetime(2026, 1, 12, 9, tzinfo=UTC)
runs: list[datetime] = []


async def mail(context: JobContext) -> None:
    runs.append(context.fire_time)


@pytest.fixture(autouse=True)
def _no_runs() -> None:
    runs.clear()


async def a_wednesday_after_it_ran() -> Deployments:
    """A weekly job that ran on Monday; now it is Wednesday noon."""
    deployments = Deployments("2026-01-05T08:00Z")
    async with deployments.deployed(lambda q: q.schedule(mail, WEEKLY)):
        await deployments.clock.advance(hours=2)
    assert len(runs) == 1
    await deployments.clock.advance_to("2026-01-07T12:00Z")
    return deployments


@pytest.mark.parametrize("schedule", [WEEKLY, cron("0 0 9 ? * MON,SUN"), cron("0 0 9 * * ?")])
async def test_a_declaration_that_was_changed_does_not_fire_at_once(schedule: Any) -> None:
    """B025: after a restart with the same or another expression the next run is a time of it that is yet to come."""
    deployments = await a_wednesday_after_it_ran()
    async with deployments.deployed(lambda q: q.schedule(mail, schedule)):
        trigger = await deployments.store.get_trigger(TriggerKey("mail"))
        assert trigger is not None
        assert trigger.next_fire_time == schedule_next(schedule)
        await deployments.clock.advance(hours=20)
    assert len(runs) == 1


def schedule_next(schedule: Any) -> datetime:
    after = datetime(2026, 1, 7, 12, tzinfo=UTC)
    trigger = TriggerBuilder().with_schedule(schedule).start_at(after).build()
    found = trigger.get_fire_time_after(after)
    assert isinstance(found, datetime)
    return found


@pytest.mark.parametrize("schedule", [WEEKLY, cron("0 0 9 ? * MON,SUN")])
async def test_a_trigger_that_was_rescheduled_does_not_fire_at_once(schedule: Any) -> None:
    """B025: the same through ``reschedule_job`` and through ``schedule_jobs(replace=True)``."""
    deployments = await a_wednesday_after_it_ran()
    async with deployments.deployed(lambda q: q.schedule(mail, WEEKLY)) as scheduler:
        assert await scheduler.reschedule_job(TriggerKey("mail"), schedule) == schedule_next(schedule)
        await scheduler.schedule_jobs({mail: [schedule]}, replace=True)
        trigger = await scheduler.get_trigger(TriggerKey("mail"))
        assert trigger is not None
        assert trigger.next_fire_time == schedule_next(schedule)
        await deployments.clock.settle()
    assert len(runs) == 1


async def test_frequent_restarts_do_not_starve_an_interval() -> None:
    """B027: an interval longer than the time between two restarts comes due all the same."""
    deployments = Deployments()
    for _ in range(15):  # every 20 s for 5 minutes
        async with deployments.deployed(lambda q: q.schedule(mail, every(seconds=60))):
            await deployments.clock.advance(seconds=20)
    assert 4 <= len(runs) - 1 <= 6


async def test_an_overdue_run_is_made_after_the_declaration_is_repeated() -> None:
    """B028: with the scheduler in standby a time passes; the same declaration again does not move it, and it runs."""
    deployments = Deployments()
    async with deployments.deployed(lambda q: q.schedule(mail, every(minutes=10))) as scheduler:
        await scheduler.standby()
        await deployments.clock.advance(minutes=10, seconds=4)
    async with deployments.deployed(lambda q: q.schedule(mail, every(minutes=10))):
        await deployments.clock.settle()
        assert len(runs) == 2
        await deployments.clock.advance(minutes=5)
    assert len(runs) == 2


async def test_replacing_before_the_start_makes_one_job() -> None:
    """B067: the same key twice before start: one job when replaced, an error that names the key otherwise."""
    container = QuartzContainer()
    clock = FakeClock()
    scheduler = add_quartz(container).use_clock(clock).parts.scheduler()
    await scheduler.initialize()
    await scheduler.schedule_job(mail, every(hours=1), replace=True)
    await scheduler.schedule_job(mail, every(hours=2), replace=True)
    assert await scheduler.get_job_keys(GroupMatcher.any_group()) == [JobKey("mail")]
    triggers = await scheduler.get_triggers_of_job(JobKey("mail"))
    assert [trigger.schedule for trigger in triggers] == [every(hours=2)]
    with pytest.raises(ObjectAlreadyExistsError, match=r"DEFAULT\.mail"):
        await scheduler.schedule_job(mail, every(hours=3))
    await scheduler.start()
    await clock.settle()
    await scheduler.shutdown(wait=True)
    assert len(runs) == 1


async def test_a_job_that_was_declared_and_scheduled_stays_one() -> None:
    """B067: what the application declares and what it schedules at run time under the same key is one job."""
    container = QuartzContainer()
    clock = FakeClock()
    add_quartz(container).use_clock(clock).schedule(mail, every(hours=1))
    async with running(container):
        scheduler = container.scheduler()
        await scheduler.schedule_job(mail, every(hours=2), replace=True)
        assert await scheduler.get_job_keys(GroupMatcher.any_group()) == [JobKey("mail")]


async def test_a_pause_survives_the_declaration() -> None:
    """B076: three of ten triggers are paused; they still are after a restart, and after their schedule has changed."""
    deployments = Deployments()
    names = [f"t{number}" for number in range(10)]

    def declare(q: SchedulerBuilder, changed: str = "") -> None:
        for name in names:
            span = timedelta(minutes=7 if name == changed else 10)
            q.schedule(mail, every(span), key=name)

    async with deployments.deployed(declare) as scheduler:
        for name in names[:3]:
            await scheduler.pause_trigger(TriggerKey(name))
    for changed in ("", "t1", "t5"):
        async with deployments.deployed(partial(declare, changed=changed)) as scheduler:
            await deployments.clock.advance(minutes=30)
            states = {name: await scheduler.get_trigger_state(TriggerKey(name)) for name in names}
        assert [name for name, state in states.items() if state is TriggerState.PAUSED] == names[:3]
