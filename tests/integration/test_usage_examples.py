"""The code that a newcomer types, as tests: each of the usage examples runs as it is written."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from quartzite import (
    DelegatingJobStore,
    JobContext,
    JobKey,
    JobStore,
    QuartzContainer,
    RamJobStore,
    Trigger,
    TriggerAcquisitionRequest,
    add_quartz,
    create,
    cron,
    every,
    running,
)
from quartzite.testing import FakeClock

HELLO_WORLD = """
from datetime import timedelta
from quartzite import JobContext, QuartzContainer, add_quartz, every, run

async def hello(context: JobContext) -> None:
    print("hello at", context.scheduled_fire_time, flush=True)

container = QuartzContainer()
add_quartz(container).schedule(hello, every(seconds=1))
run(container)
"""


class Meter:
    """Counts what is timed."""

    def __init__(self) -> None:
        self.timed: list[str] = []

    @contextmanager
    def time(self, what: str) -> Iterator[None]:
        self.timed.append(what)
        yield


class MetricsJobStore(DelegatingJobStore):
    def __init__(self, inner: JobStore, meter: Meter) -> None:
        super().__init__(inner)
        self._meter = meter

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        with self._meter.time("acquire"):
            return await super().acquire_next_triggers(request)


def test_hello_world_runs_until_it_is_told_to_stop(tmp_path: Path) -> None:
    """The whole file of the first example prints once a second, and ends in peace with SIGTERM."""
    script = tmp_path / "hello.py"
    script.write_text(HELLO_WORLD, encoding="utf-8")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("hello at ")
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=10) == 0


async def test_the_default_scheduler() -> None:
    """Example 1: a function, a schedule, and a block within which it runs."""
    digests: list[datetime] = []
    sent = asyncio.Event()

    async def send_digest(context: JobContext) -> None:
        digests.append(context.scheduled_fire_time)
        sent.set()

    container = QuartzContainer()
    add_quartz(container).schedule(send_digest, every(minutes=5))
    async with running(container):
        await sent.wait()
    assert len(digests) == 1


async def test_two_named_schedulers_side_by_side() -> None:
    """Example 2: each has its own jobs, and is asked for by its name."""
    clock = FakeClock("2026-01-01T00:00Z")
    ran: list[tuple[str, str]] = []

    async def ping(context: JobContext) -> None:
        ran.append((context.scheduler.name, context.scheduled_fire_time.isoformat()))

    async def nightly_report(context: JobContext) -> None:
        ran.append((context.scheduler.name, context.scheduled_fire_time.isoformat()))

    container = QuartzContainer()
    add_quartz(container, "fast").use_clock(clock).use_ram_store().use_workers(5).schedule(ping, every(seconds=30))
    add_quartz(container, "durable").use_clock(clock).use_ram_store().schedule(
        nightly_report, cron("0 0 2 * * ?", time_zone="Europe/Berlin")
    )

    async with running(container):
        await clock.advance(seconds=59)
        await container.scheduler("durable").trigger_job(JobKey("nightly_report"))
        await clock.settle()
        assert ran == [
            ("fast", "2026-01-01T00:00:00+00:00"),
            ("fast", "2026-01-01T00:00:30+00:00"),
            ("durable", "2026-01-01T00:00:59+00:00"),
        ]
        await clock.advance_to("2026-01-01T01:00:00Z")
    assert ("durable", "2026-01-01T01:00:00+00:00") in ran


async def test_a_decorated_job_store() -> None:
    """Example 3: a decorator around the chosen store, or a factory that builds both."""
    clock, meter = FakeClock(), Meter()
    ran: list[str] = []

    async def work(context: JobContext) -> None:
        ran.append(context.scheduler.name)

    container = QuartzContainer()
    container.clock.override(clock)
    add_quartz(container, "layered").decorate_job_store(lambda inner: MetricsJobStore(inner, meter)).schedule(
        work, every(hours=1)
    )
    add_quartz(container, "made").use_job_store(
        lambda parts: MetricsJobStore(create(RamJobStore, parts), meter)
    ).schedule(work, every(hours=1))
    async with running(container):
        await clock.settle()
    assert sorted(ran) == ["layered", "made"]
    assert "acquire" in meter.timed


async def test_another_clock_in_a_test() -> None:
    """Example 5: a five-minute schedule fires at 0, 5 and 10 within eleven minutes."""
    ran: list[datetime] = []

    async def send_digest(context: JobContext) -> None:
        ran.append(context.scheduled_fire_time)

    container = QuartzContainer()
    add_quartz(container).schedule(send_digest, every(minutes=5))
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    with container.clock.override(clock):
        async with running(container):
            await clock.advance(minutes=11)
    assert [moment.minute for moment in ran] == [0, 5, 10]


async def test_a_test_that_waits_for_nothing() -> None:
    """The clock of one scheduler drives it from firing to firing, as the conventions write it."""
    ran: list[int] = []

    async def digest(context: JobContext) -> None:
        ran.append(context.fire_time.minute)

    container = QuartzContainer()
    clock = FakeClock("2026-01-01T00:00Z")
    add_quartz(container, "fast").use_clock(clock).schedule(digest, every(minutes=5))
    async with running(container):
        await clock.advance(minutes=11)
    assert ran == [0, 5, 10]


async def test_the_clock_of_one_of_two_schedulers_drives_only_that_one() -> None:
    """Overriding the clock of one named scheduler leaves the other one's time alone."""
    mine, theirs = FakeClock("2026-01-01T00:00Z"), FakeClock("2030-01-01T00:00Z")
    ran: list[str] = []

    async def tick(context: JobContext) -> None:
        ran.append(f"{context.scheduler.name} {context.scheduled_fire_time:%Y %H:%M}")

    container = QuartzContainer()
    container.clock.override(theirs)
    add_quartz(container, "mine").schedule(tick, every(minutes=1))
    add_quartz(container, "theirs").schedule(tick, every(minutes=1))
    with container.schedulers()["mine"].clock.override(mine):
        async with running(container):
            await mine.advance(minutes=2)
            assert sorted(ran) == ["mine 2026 00:00", "mine 2026 00:01", "mine 2026 00:02", "theirs 2030 00:00"]
            await theirs.advance(minutes=1)
            assert ran[4:] == ["theirs 2030 00:01"]
