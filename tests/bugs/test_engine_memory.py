"""What ran leaves nothing behind (B068)."""

import asyncio
import gc
import logging
import resource
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from quartzite.clock import SystemClock
from quartzite.engine.scheduler import Scheduler
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.job import job
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.testing import FakeClock
from quartzite.triggers.simple import SimpleTrigger, every
from tests.schedulers import make_scheduler

FIRINGS = 50_000
BATCH = 500


@pytest.fixture
def quiet() -> Iterator[None]:
    """Keep the log silent: what it records of errors would count as left behind."""
    logger = logging.getLogger("quartzite.engine")
    logger.disabled = True
    yield
    logger.disabled = False


class Soak:
    """A scheduler whose one job is fired many times, one time in ten failing."""

    def __init__(self) -> None:
        self.scheduler: Scheduler = make_scheduler(SystemClock())
        self.ran = 0
        self.enough = asyncio.Event()

    async def run(self, context: JobContext) -> None:
        """Count, carry something, and fail one time in ten."""
        self.ran += 1
        context.put("payload", bytes(10_000))
        if self.ran % BATCH == 0:
            self.enough.set()
        if self.ran % 10 == 0:
            raise RuntimeError("one in ten")

    async def fire(self, until: int) -> None:
        """Fire until so many have run, and let the last ones end."""
        for first in range(self.ran, until, BATCH):
            now = self.scheduler.clock.now()
            self.enough.clear()
            for number in range(first, first + BATCH):
                key = TriggerKey(f"t{number}")
                await self.scheduler.schedule_job(SimpleTrigger(key=key, job_key=JobKey("j"), start_time=now))
            await self.enough.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        gc.collect()


def resident_megabytes() -> float:
    """Return the memory of this process that is resident, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


@pytest.mark.usefixtures("quiet")
async def test_soak_firings_leave_memory_tasks_and_threads_where_they_were() -> None:
    """Fifty thousand firings, one in ten failing: no more objects, memory, tasks and threads than after the first."""
    soak = Soak()
    await soak.scheduler.add_job(JobBuilder.create(soak.run).with_identity("j").store_durably())
    await soak.scheduler.start()
    await soak.fire(10 * BATCH)
    objects, memory = len(gc.get_objects()), resident_megabytes()
    tasks, threads = len(asyncio.all_tasks()), threading.active_count()
    await soak.fire(FIRINGS)
    assert soak.ran == FIRINGS
    assert len(gc.get_objects()) - objects < 500
    assert resident_megabytes() - memory < 10
    assert (len(asyncio.all_tasks()), threading.active_count()) == (tasks, threads)
    await soak.scheduler.shutdown(wait=True)


class Heavy:
    """Something large that a job holds when it fails."""


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("kind", ["on the loop", "in a thread", "in a task of its own"])
async def test_b068_the_error_of_a_job_keeps_nothing_alive(kind: str) -> None:
    """What a failing job held in its frames is freed when the next run begins, without a garbage collection."""
    clock = FakeClock()
    scheduler = make_scheduler(clock)
    held: list[weakref.ref[Heavy]] = []
    alive: list[int] = []

    def fail(context: JobContext) -> None:
        alive.append(sum(one() is not None for one in held))
        heavy = Heavy()
        held.append(weakref.ref(heavy))
        raise RuntimeError("with a heavy frame")

    async def fail_on_loop(context: JobContext) -> None:
        fail(context)

    async def apart(context: JobContext) -> None:
        fail(context)

    kinds = {"on the loop": fail_on_loop, "in a thread": fail, "in a task of its own": job(hard_cancel=True)(apart)}
    gc.collect()
    gc.disable()
    try:
        await scheduler.schedule_job(JobBuilder.create(kinds[kind]).with_identity("j"), every(seconds=1))
        await scheduler.start()
        for _ in range(30):
            await clock.advance(seconds=1)
    finally:
        gc.enable()
    assert len(held) == 31
    assert alive == [0] * 31
    assert scheduler.health().last_error is None
    await scheduler.shutdown(wait=True)
