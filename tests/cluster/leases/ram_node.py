"""A node with a schedule in memory and leases on Redis: python -m tests.cluster.leases.ram_node."""

from __future__ import annotations

import argparse
import asyncio
import signal
from datetime import datetime, timedelta

from quartzite import JobContext, QuartzContainer, SchedulerListener, add_quartz, every, job, running
from quartzite.clock import SystemClock
from quartzite.execution import SkippedFiring
from tests.cluster.leases.processes import say
from tests.cluster.leases.providers import Place


class SkewedClock(SystemClock):
    """The time of a machine that goes wrong by a constant."""

    def __init__(self, skew: timedelta) -> None:
        self._skew = skew

    def now(self) -> datetime:
        """Return the wrong time."""
        return super().now() + self._skew


class Telling(SchedulerListener):
    """Prints what was skipped, and every error."""

    async def firing_skipped(self, skipped: SkippedFiring) -> None:
        """Print it."""
        say(skipped=skipped.scheduled_fire_time.isoformat(), holder=skipped.holder)

    async def scheduler_error(self, message: str, error: Exception) -> None:
        """Print it."""
        say(error=f"{message} {error}")


async def main() -> None:
    """Run until SIGTERM."""
    options = argparse.ArgumentParser()
    options.add_argument("--place", type=Place.parse, required=True)
    options.add_argument("--id", required=True)
    options.add_argument("--skew", type=float, default=0.0, help="milliseconds")
    options.add_argument("--period", type=float, required=True, help="milliseconds")
    options.add_argument("--work", type=float, default=0.0, help="milliseconds that the job takes")
    options.add_argument("--at-least", type=float, default=0.0, help="milliseconds")
    options.add_argument("--exclusive", action="store_true")
    chosen = options.parse_args()

    async def work(context: JobContext) -> None:
        tick = context.scheduled_fire_time.isoformat()
        say(began=tick)
        await asyncio.sleep(chosen.work / 1000)
        say(ran=tick, stopped=context.cancellation_token.reason)

    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    container = QuartzContainer()
    add_quartz(container, "ticks").use_clock(SkewedClock(timedelta(milliseconds=chosen.skew))).use_job_locks(
        chosen.place.provider(chosen.id),
        default_at_most_for=timedelta(seconds=2),
        default_at_least_for=timedelta(milliseconds=chosen.at_least),
    ).add_scheduler_listener(Telling()).schedule(
        job(disallow_concurrent_execution=chosen.exclusive)(work), every(milliseconds=chosen.period), key="tick"
    )
    async with running(container):
        say(ready=True)
        await stop.wait()
        say(counted=container.scheduler("ticks").get_metadata().firings_skipped)


if __name__ == "__main__":
    asyncio.run(main())
