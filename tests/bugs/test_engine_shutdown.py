"""Faults of shutting down that users of such systems have met (B048 to B051)."""

import asyncio
import logging
import random
import threading
from datetime import timedelta
from functools import partial

import pytest

from quartzite.abc import JobStore
from quartzite.clock import SystemClock
from quartzite.errors import SchedulerError
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstanceQuery
from quartzite.model.states import FiredState, TriggerState
from quartzite.testing import FakeClock
from quartzite.triggers.simple import every, once
from tests.schedulers import make_scheduler


def remembered(stores: list[JobStore], store: JobStore) -> JobStore:
    """Put a store into a list, to look into it when its scheduler is closed."""
    stores.append(store)
    return store


async def test_b048_a_shutdown_that_waits_does_not_wait_for_ever() -> None:
    """A job that itself shuts down, one that queries, and one that fails: the shutdown returns when they have ended."""
    scheduler = make_scheduler(SystemClock())
    release, ended = asyncio.Event(), []

    async def shuts_down(context: JobContext) -> None:
        await release.wait()
        await context.scheduler.shutdown(wait=True)
        ended.append("shuts down")

    async def queries(context: JobContext) -> None:
        await release.wait()
        ended.append(f"queries {len((await context.scheduler.query_jobs()).items)}")

    async def raises(context: JobContext) -> None:
        await release.wait()
        ended.append("raises")
        raise RuntimeError("at the worst moment")

    for run in (shuts_down, queries, raises):
        await scheduler.schedule_job(run, once())
    await scheduler.start()
    while len(scheduler.get_currently_executing_jobs()) < 3:  # noqa: ASYNC110 - the jobs tell nobody
        await asyncio.sleep(0)
    closing = asyncio.create_task(scheduler.shutdown(wait=True))
    await asyncio.sleep(0)
    release.set()
    report = await asyncio.wait_for(closing, 1)
    assert report.is_clean
    assert sorted(ended) == ["queries 3", "raises", "shuts down"]


async def test_b049_no_firing_is_lost_in_the_last_moment(caplog: pytest.LogCaptureFixture) -> None:
    """Shut down at any moment: no error is logged, and what was acquired and not started waits in the store."""
    caplog.set_level(logging.ERROR)
    dice = random.Random(49)
    for _ in range(500):
        clock = FakeClock()
        stores: list[JobStore] = []
        scheduler = make_scheduler(clock, wrap_store=partial(remembered, stores))
        ran: list[float] = []

        async def run(context: JobContext, ran: list[float] = ran, clock: FakeClock = clock) -> None:
            ran.append(clock.monotonic())

        await scheduler.schedule_job(JobBuilder.create(run).with_identity("j"), every(milliseconds=50))
        await scheduler.start()
        await clock.advance(milliseconds=dice.uniform(0, 200))
        for _ in range(dice.randrange(6)):
            await asyncio.sleep(0)
        await scheduler.shutdown(wait=dice.random() < 0.5)
        await clock.settle()
        assert len(ran) == int(clock.monotonic() / 0.05) + 1
        assert await stores[0].get_trigger_state(TriggerKey("j")) is TriggerState.NORMAL
        left = (await stores[0].query_fire_instances(FireInstanceQuery())).items
        assert not [one for one in left if one.state is FiredState.ACQUIRED]
    assert caplog.records == []


async def test_b050_a_scheduler_does_not_rise_again() -> None:
    """Starting after the shutdown is an error that names the ways that work, and nothing half-starts."""
    scheduler = make_scheduler(FakeClock())
    await scheduler.start()
    await scheduler.shutdown()
    tasks = asyncio.all_tasks()
    with pytest.raises(SchedulerError, match=r"make a new one; to stop for a while, use standby\(\) and start\(\)"):
        await scheduler.start()
    assert asyncio.all_tasks() == tasks


async def test_b050_standby_and_start_leave_nothing_behind() -> None:
    """A hundred times in and out of standby: as many tasks and threads as after the first start, and jobs run."""
    clock = FakeClock()
    scheduler = make_scheduler(clock)
    ran: list[str] = []

    def run(context: JobContext) -> None:
        ran.append(threading.current_thread().name)

    await scheduler.schedule_job(run, every(seconds=1))
    await scheduler.start()
    await clock.advance(seconds=3)
    tasks, threads = len(asyncio.all_tasks()), threading.active_count()
    for _ in range(100):
        await scheduler.standby()
        await scheduler.start()
    assert (len(asyncio.all_tasks()), threading.active_count()) == (tasks, threads)
    await clock.advance(seconds=3)
    assert len(ran) == 7
    await scheduler.shutdown(wait=True)


async def test_b051_jobs_are_told_that_the_host_stops() -> None:
    """With the setting, a waiting shutdown sets the token of a running job at once; without hard cancel no more."""
    scheduler = make_scheduler(SystemClock(), interrupt_jobs_on_shutdown_with_wait=True)
    loop = asyncio.get_running_loop()
    told: list[float] = []

    async def run(context: JobContext) -> None:
        await context.cancellation_token.wait()
        told.append(loop.time())
        await asyncio.sleep(0)  # not cancelled: it may clean up

    await scheduler.schedule_job(run, once())
    await scheduler.start()
    while not scheduler.get_currently_executing_jobs():  # noqa: ASYNC110 - the job tells nobody
        await asyncio.sleep(0)
    began = loop.time()
    report = await scheduler.shutdown(wait=True, timeout=timedelta(seconds=5))
    assert told[0] - began < 0.1
    assert report.is_clean
    assert not scheduler.get_currently_executing_jobs()
    assert scheduler.get_metadata().jobs_executed == 1
    with pytest.raises(SchedulerError):
        await scheduler.trigger_job(JobKey("run"))
