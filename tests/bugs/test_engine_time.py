"""Nothing early, nothing forgotten: firing times on real and jumping clocks (B040, B066, B069, B070, B077)."""

import asyncio
import random
import statistics
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from quartzite.clock import SystemClock
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.testing import FakeClock
from quartzite.triggers.simple import SimpleTrigger, every
from tests.schedulers import make_scheduler, one_shots

START = datetime(2026, 1, 1, tzinfo=UTC)


async def test_b066_a_trigger_earlier_than_the_sleep_is_noticed() -> None:
    """Only an hourly trigger; one that is added at 5 s for 6 s fires at 6 s, not after the idle wait."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock)
    ran: list[tuple[str, float]] = []

    async def run(context: JobContext) -> None:
        ran.append((context.job.key.name, clock.monotonic()))

    hourly = SimpleTrigger(key=TriggerKey("hourly"), start_time=START + timedelta(hours=1))
    await scheduler.schedule_job(JobBuilder.create(run).with_identity("hourly"), hourly)
    await scheduler.start()
    await clock.advance(seconds=5)
    soon = SimpleTrigger(key=TriggerKey("soon"), start_time=START + timedelta(seconds=6))
    await scheduler.schedule_job(JobBuilder.create(run).with_identity("soon"), soon)
    await clock.advance(seconds=2)
    assert ran == [("soon", 6.0)]
    await clock.advance(hours=1)
    assert ran[1] == ("hourly", 3600.0)
    await scheduler.shutdown()


@pytest.mark.parametrize("by", [timedelta(days=-1), timedelta(days=1)])
async def test_b069_a_wall_clock_that_was_wrong_for_a_minute(by: timedelta) -> None:
    """A day back or forth for a minute: once it is right, a 5-s trigger runs within idle wait + 5 s, and every 5 s."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock)
    ran: list[float] = []

    async def run(context: JobContext) -> None:
        ran.append(clock.monotonic())

    await scheduler.schedule_job(run, every(seconds=5))
    await scheduler.start()
    await clock.advance(minutes=1)
    clock.jump(by)
    await clock.advance(minutes=1)
    clock.jump(-by)
    back = clock.monotonic()
    await clock.advance(minutes=5)
    after = [moment for moment in ran if moment > back]
    assert after[0] <= back + 35
    assert all(later - earlier <= 5 for earlier, later in pairwise(after))
    assert after[-1] > back + 294
    await scheduler.shutdown()


async def test_b069_no_wait_is_longer_than_the_idle_wait() -> None:
    """Whatever the wall clock says, the loop looks again within the idle wait of monotonic time."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock, idle_wait_time=timedelta(seconds=10))
    waits: list[float] = []
    wait = clock.wait

    async def noting(event: asyncio.Event, seconds: float) -> bool:
        waits.append(seconds)
        return await wait(event, seconds)

    clock.wait = noting  # type: ignore[method-assign]
    await scheduler.schedule_job(JobBuilder.create(lambda: None).with_identity("j"), every(seconds=7))
    await scheduler.start()
    for days in (1, -3, 2, 100, -100):
        clock.jump(timedelta(days=days))
        await clock.advance(minutes=1)
    assert max(waits) <= 10
    await scheduler.shutdown()


async def test_b070_nothing_fires_early() -> None:
    """A thousand one-shots at random microseconds of the next seconds: none before its time, and soon after it."""
    scheduler = make_scheduler(SystemClock())
    dice, done = random.Random(70), asyncio.Event()
    lateness: list[float] = []

    async def run(context: JobContext) -> None:
        started = context.scheduler.clock.now()
        assert context.fire_time >= context.scheduled_fire_time
        lateness.append((started - context.scheduled_fire_time).total_seconds())
        if len(lateness) == 1000:
            done.set()

    await scheduler.add_job(JobBuilder.create(run).with_identity("j").store_durably())
    begin = scheduler.clock.now() + timedelta(seconds=1)
    for number in range(1000):
        at = begin + timedelta(microseconds=dice.randrange(3_000_000))
        await scheduler.schedule_job(SimpleTrigger(key=TriggerKey(f"t{number}"), job_key=JobKey("j"), start_time=at))
    await scheduler.start()
    await asyncio.wait_for(done.wait(), 15)
    assert min(lateness) >= 0
    assert statistics.median(lateness) < 0.010
    await scheduler.shutdown(wait=True)


@pytest.mark.parametrize(("window", "acquisitions"), [(timedelta(0), 1), (timedelta(seconds=5), 1)])
async def test_b077_a_batch_is_a_batch_and_nothing_in_it_is_early(window: timedelta, acquisitions: int) -> None:
    """Ten triggers of one moment come in one acquisition; with a window later ones too, each fired at its own time."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock, max_batch_size=10, batch_time_window=window)
    ran: list[tuple[datetime, datetime]] = []

    async def run(context: JobContext) -> None:
        ran.append((context.scheduled_fire_time, clock.now()))

    if window:
        for second in range(5):
            await one_shots(scheduler, run, 2, job=f"j{second}", start_time=START + timedelta(seconds=10 + second))
    else:
        await one_shots(scheduler, run, 10, start_time=START + timedelta(seconds=10))
    await scheduler.start()
    await clock.advance(seconds=20)
    assert len(ran) == 10
    assert all(scheduled == fired for scheduled, fired in ran)
    await scheduler.shutdown()


async def test_b040_a_non_concurrent_job_starts_again_as_soon_as_it_may() -> None:
    """A job of 0.2 s that must not overlap runs every second, and one of 20 s on a 15-s trigger starts at its end."""
    clock = FakeClock(START)
    scheduler = make_scheduler(clock)
    starts: dict[str, list[float]] = {"short": [], "long": []}

    async def run(context: JobContext) -> None:
        name = context.job.key.name
        starts[name].append(clock.monotonic())
        await clock.sleep(0.2 if name == "short" else 20)

    for name, seconds in (("short", 1), ("long", 15)):
        job = JobBuilder.create(run).with_identity(name).disallow_concurrent_execution()
        await scheduler.schedule_job(job, every(seconds=seconds).with_misfire_instruction(-1))
    await scheduler.start()
    await clock.advance(minutes=1)
    assert len(starts["short"]) == 61
    assert starts["long"][:3] == [0, 20, 40]
    await scheduler.shutdown(timeout=timedelta(0))
    await clock.advance(minutes=1)
