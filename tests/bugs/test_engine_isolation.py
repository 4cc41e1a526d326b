"""One broken part must not stop the others (B019, B024, B033, B052, B054, B055)."""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from quartzite.abc import JobScope
from quartzite.clock import SystemClock
from quartzite.engine.job_factory import SimpleJobFactory
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.execution import JobContext, TriggerFiredBundle
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import TriggerState
from quartzite.testing import FakeClock
from quartzite.triggers.simple import SimpleTrigger, every, once
from tests.schedulers import listen, make_scheduler, one_shots

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenTrigger(SimpleTrigger):
    """A kind of trigger that can not say when it fires next."""

    trigger_type: ClassVar[str] = "BROKEN"

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        raise ZeroDivisionError("no time for this")


async def test_b019_one_trigger_that_can_not_compute_does_not_stop_nineteen() -> None:
    """The other triggers keep firing on time; the broken one goes to ERROR, and it is told once."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock)
    told = listen(scheduler)
    ran: dict[str, list[float]] = {}

    async def run(context: JobContext) -> None:
        ran.setdefault(context.trigger.key.name, []).append(clock.monotonic())

    await scheduler.add_job(JobBuilder.create(run).with_identity("j").store_durably())
    for number in range(19):
        trigger = SimpleTrigger(
            key=TriggerKey(f"good{number}"),
            job_key=JobKey("j"),
            repeat_count=-1,
            repeat_interval=timedelta(seconds=1),
        )
        await scheduler.schedule_job(trigger)
    await scheduler.schedule_job(
        BrokenTrigger(key=TriggerKey("bad"), job_key=JobKey("j"), repeat_count=-1, repeat_interval=timedelta(seconds=1))
    )
    await scheduler.start()
    await clock.advance(seconds=10)
    good = {name: moments for name, moments in ran.items() if name.startswith("good")}
    assert len(good) == 19
    assert all(moments == list(range(11)) for moments in good.values())
    assert await scheduler.get_trigger_state(TriggerKey("bad")) is TriggerState.ERROR
    assert len(told.errors) == 1
    await scheduler.shutdown()


async def test_b024_a_blocked_event_loop_delays_and_drops_nothing() -> None:
    """A job that blocks the event loop across a due time: the other job is late, not lost, with the defaults."""
    scheduler = make_scheduler(SystemClock())
    ran = asyncio.Event()
    late: list[timedelta] = []

    async def block(context: JobContext) -> None:
        time.sleep(1.8)  # noqa: ASYNC251 - this is the fault

    async def other(context: JobContext) -> None:
        late.append(context.fire_time - context.scheduled_fire_time)
        ran.set()

    await scheduler.schedule_job(block, once())
    at = scheduler.clock.now() + timedelta(seconds=0.3)
    await scheduler.schedule_job(other, SimpleTrigger(key=TriggerKey("other"), start_time=at))
    await scheduler.start()
    await asyncio.wait_for(ran.wait(), 5)
    assert timedelta(seconds=1.3) < late[0] < timedelta(seconds=3)
    await scheduler.shutdown(wait=True)


async def test_b054_a_factory_that_fails_costs_no_worker() -> None:
    """A job that can not be built, a hundred times with two workers: others go on, and both workers are free."""

    class Failing(SimpleJobFactory):
        async def create_job(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:
            if bundle.job.key.name == "bad":
                raise ConnectionError("the provider is broken")
            return await super().create_job(bundle, scheduler)

    clock = FakeClock(START)
    scheduler = make_scheduler(clock, job_factory=Failing(type_loader=ImportTypeLoader()), max_concurrency=2)
    told = listen(scheduler)
    ran: list[str] = []

    async def run(context: JobContext) -> None:
        ran.append(context.job.key.name)

    await one_shots(scheduler, run, 1, job="bad")
    await scheduler.schedule_job(JobBuilder.create(run).with_identity("good"), every(seconds=1))
    await scheduler.start()
    for _ in range(100):
        await clock.advance(seconds=1)
        await scheduler.trigger_job(JobKey("bad"))
    await clock.settle()
    assert ran == ["good"] * 101
    assert len(told.errors) == 101
    assert await scheduler._workers.wait_for_available() == 2
    await scheduler.shutdown()


async def test_b033_a_blocked_loop_runs_nothing_twice() -> None:
    """A job that blocks the event loop beside one that waits: each runs once, and the scheduler lives on."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock)
    told = listen(scheduler)
    ran: list[str] = []

    async def waits(context: JobContext) -> None:
        ran.append("waits")
        await clock.sleep(6)

    async def blocks(context: JobContext) -> None:
        ran.append("blocks")
        time.sleep(0.05)  # noqa: ASYNC251 - this is the fault

    await scheduler.schedule_job(waits, once())
    await scheduler.schedule_job(blocks, once())
    await scheduler.start()
    await clock.advance(seconds=30)
    assert sorted(ran) == ["blocks", "waits"]
    assert told.errors == []
    assert (await scheduler.query_triggers()).items == []
    await scheduler.shutdown()
