"""Quartzite under the workloads of README.md: in memory, with the settings that a user gets.

Runs alone, or in the folder of another harness that has a ``lib.py`` one level above (README.md says how).
"""

import asyncio
import gc
import os
import sys
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from quartzite import (
    JobBuilder,
    JobContext,
    JobDetail,
    QuartzContainer,
    Scheduler,
    Trigger,
    TriggerBuilder,
    add_quartz,
    cron,
    every,
    running,
)

_HERE = Path(__file__).resolve().parent
if (_HERE.parent / "lib.py").exists():
    sys.path.insert(0, str(_HERE.parent))
    import lib
else:
    import harness as lib


class Counter:
    """Counts executions of the no-op job, and says when the last one came."""

    def __init__(self) -> None:
        self.left = 0
        self.done = asyncio.Event()

    def expect(self, count: int) -> None:
        self.left = count
        self.done.clear()

    def count(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.done.set()


counter = Counter()
delays: list[float] = []


async def noop() -> None:
    counter.count()


async def late(context: JobContext) -> None:
    delays.append(1000 * (time.time() - context.scheduled_fire_time.timestamp()))


def durable(job: Callable[..., Coroutine[Any, Any, None]]) -> JobDetail:
    return JobBuilder.create(job).with_identity(job.__name__).store_durably().build()


def due(job: JobDetail, name: str) -> Trigger:
    """Return a trigger that fires once, now."""
    return TriggerBuilder.create().with_identity(name).for_job(job).start_now().build()


async def schedule_due(scheduler: Scheduler, job: JobDetail, count: int) -> float:
    """Store one-shot triggers one call each; return how many a second."""
    begin = time.perf_counter()
    for number in range(count):
        await scheduler.schedule_job(due(job, f"t{number}"))
    return count / (time.perf_counter() - begin)


async def drain(scheduler: Scheduler, count: int) -> float:
    """Start the scheduler and wait for all executions; return how many a second."""
    counter.expect(count)
    begin = time.perf_counter()
    await scheduler.start()
    await counter.done.wait()
    return count / (time.perf_counter() - begin)


async def with_scheduler(body: Callable[[Scheduler], Coroutine[Any, Any, None]]) -> None:
    """Run the body with a scheduler in memory that stands by."""
    container = QuartzContainer()
    add_quartz(container).use_ram_store()
    async with running(container):
        scheduler = container.scheduler()
        await scheduler.standby()
        await body(scheduler)


async def burst(scheduler: Scheduler) -> None:
    """W1: all due at once."""
    job = durable(noop)
    await scheduler.add_job(job)
    stored = await schedule_due(scheduler, job, lib.N_BURST)
    fired = await drain(scheduler, lib.N_BURST)
    lib.result(schedule=[stored, "/s"], drain=[fired, "/s"])


async def scale(scheduler: Scheduler) -> None:
    """W2: some that are due, alone and beside many that are idle."""
    job = durable(noop)
    await scheduler.add_job(job)
    await schedule_due(scheduler, job, lib.N_DUE)
    alone = await drain(scheduler, lib.N_DUE)
    await scheduler.standby()
    hour = (datetime.now(UTC).hour + 12) % 24
    memory, begin = lib.rss_now(), time.perf_counter()
    for number in range(lib.N_IDLE):
        schedule = cron(f"0 {number % 60} {hour} * * ?")
        builder = TriggerBuilder.create().with_identity(f"c{number}").for_job(job).with_schedule(schedule)
        await scheduler.schedule_job(builder.build())
    added = lib.N_IDLE / (time.perf_counter() - begin)
    # Python's collector looks at everything again when a quarter has been added. That costs a tenth of a second here,
    # once, wherever it falls: it is told apart, so that the drain shows what a firing costs.
    begin = time.perf_counter()
    gc.collect()
    collected = time.perf_counter() - begin
    size = (lib.rss_now() - memory) / lib.N_IDLE
    await schedule_due(scheduler, job, lib.N_DUE)
    fired = await drain(scheduler, lib.N_DUE)
    lib.result(
        add=[added, "/s"],
        bytes_per_trigger=[size, "B"],
        full_collection=[1000 * collected, "ms"],
        drain_alone=[alone, "/s"],
        drain_beside_idle=[fired, "/s"],
    )


async def punctual(scheduler: Scheduler, how: str) -> None:
    """W5: how late jobs start, with their instants spread over the second or all together."""
    job = durable(late)
    await scheduler.add_job(job)
    await scheduler.start()
    base = int(time.time()) + 3
    for number in range(lib.N_LATE):
        start = datetime.fromtimestamp(base + (0 if how == "together" else number / lib.N_LATE), UTC)
        schedule = every(seconds=1, times=lib.SECS_LATE)
        builder = TriggerBuilder.create().with_identity(f"l{number}").for_job(job).start_at(start)
        await scheduler.schedule_job(builder.with_schedule(schedule).build())
    await asyncio.sleep(base - time.time() + lib.SECS_LATE + 1.5)
    lib.result(**lib.late_metrics(delays))


def run(*arguments: str) -> Callable[[], dict[str, tuple[float, str]]]:
    """Return a function that does one run in a fresh process."""
    return lambda: lib.solo(lib.child(*arguments))


def node(name: str, *arguments: str) -> None:
    """Do one run in this process, and leave at once: the end of the process is no part of the figures."""
    bodies: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {"burst": burst, "scale": scale, "late": punctual}
    asyncio.run(with_scheduler(lambda scheduler: bodies[name](scheduler, *arguments)))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    if arguments := lib.node_args():
        node(*arguments)
    lib.main(
        f"quartzite {version('quartzite')}",
        {
            "W1": [("ram", run("burst"))],
            "W2": [("ram", run("scale"))],
            "W5": [(f"ram {how}", run("late", how)) for how in ("spread", "together")],
        },
    )
