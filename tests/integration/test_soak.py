"""What a long run leaves behind: nothing."""

import asyncio
import gc
import resource
import sys
import threading

import pytest

from quartzite import (
    GroupMatcher,
    JobBuilder,
    JobContext,
    QuartzContainer,
    Scheduler,
    TriggerBuilder,
    add_quartz,
    running,
)

FIRINGS = 50_000
BATCH = 1_000
MEBIBYTE = 1 << 20


class Counter:
    """Counts runs, and says when there were enough."""

    def __init__(self) -> None:
        self.runs = 0
        self.target = 0
        self.reached = asyncio.Event()

    def count(self) -> None:
        self.runs += 1
        if self.runs == self.target:
            self.reached.set()

    async def fire(self, scheduler: Scheduler, times: int) -> None:
        for _ in range(times // BATCH):
            await self._fire_batch(scheduler)

    async def _fire_batch(self, scheduler: Scheduler) -> None:
        self.target = self.runs + BATCH
        self.reached.clear()
        for _ in range(BATCH):
            await scheduler.schedule_job(TriggerBuilder.create().for_job("count").build())
        await self.reached.wait()
        # The store forgets the last firings after their runs.
        while await scheduler.get_trigger_keys(GroupMatcher.any_group()):  # noqa: ASYNC110 - nothing tells of that
            await asyncio.sleep(0)


def peak_memory() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def left_behind() -> tuple[int, int, int]:
    gc.collect()
    return len(gc.get_objects()), len(asyncio.all_tasks()), threading.active_count()


@pytest.mark.timeout(90)
async def test_fifty_thousand_firings_leave_nothing_behind() -> None:
    """After 50,000 firings objects, tasks, threads and memory are where they were before."""
    counter, container = Counter(), QuartzContainer()

    async def count(_context: JobContext) -> None:
        counter.count()

    add_quartz(container).add_job(JobBuilder.create(count).with_identity("count").store_durably())
    async with running(container):
        scheduler = container.scheduler()
        await counter.fire(scheduler, FIRINGS // 5)
        objects, tasks, threads = left_behind()
        memory = peak_memory()
        await counter.fire(scheduler, FIRINGS)
        after = left_behind()
        assert after[0] - objects < FIRINGS // 100
        assert after[1:] == (tasks, threads)
        assert peak_memory() - memory < 5 * MEBIBYTE
