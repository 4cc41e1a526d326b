"""One store that outlives its schedulers, as a database does: each deployment is a container of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from quartzite import QuartzContainer, RamJobStore, Scheduler, SchedulerBuilder, add_quartz, running
from quartzite.engine.signaler import SchedulerSignaler
from quartzite.serialization.json import JsonSerializer
from quartzite.testing import FakeClock, Recorded, RecordingJobStore

WRITES = {
    "add_calendar",
    "add_job",
    "add_trigger",
    "delete_job",
    "delete_trigger",
    "pause_trigger",
    "replace_trigger",
    "schedule_job",
    "schedule_jobs",
    "update_trigger_details",
}


class Deployments:
    """The store, the clock and what was written to the store, over several lives of one application."""

    def __init__(self, start: str = "2026-01-01T00:00Z") -> None:
        self.clock = FakeClock(start)
        self.signaler = SchedulerSignaler()
        inner = RamJobStore(clock=self.clock, signaler=self.signaler, serializer=JsonSerializer())
        self.calls: list[Recorded] = []
        self.store = RecordingJobStore(inner, log=self.calls)

    def container(self, declare: Callable[[SchedulerBuilder], object]) -> QuartzContainer:
        """Return the container of the next version of the application."""
        container = QuartzContainer()
        builder = add_quartz(container).use_clock(self.clock).use_job_store(self.store).use_signaler(self.signaler)
        declare(builder)
        return container

    @asynccontextmanager
    async def deployed(self, declare: Callable[[SchedulerBuilder], object]) -> AsyncIterator[Scheduler]:
        """Run the next version of the application."""
        container = self.container(declare)
        del self.calls[:]
        async with running(container):
            scheduler = container.scheduler()
            await self.clock.settle()
            yield scheduler

    async def deploy(self, declare: Callable[[SchedulerBuilder], object]) -> None:
        """Run the next version of the application for a moment."""
        async with self.deployed(declare):
            pass

    @property
    def written(self) -> list[str]:
        """What was written to the store since the last deployment began."""
        return [call.name for call in self.calls if call.name in WRITES]
