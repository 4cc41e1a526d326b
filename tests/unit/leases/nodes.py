"""Equal nodes on one fake clock, which share nothing but leases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from quartzite import JobContext, QuartzContainer, SchedulerBuilder, SchedulerListener, add_quartz, running
from quartzite.engine.scheduler import Scheduler
from quartzite.execution import SkippedFiring
from quartzite.leases import InMemoryLockProvider, LockProvider
from quartzite.testing import FakeClock

START = "2026-01-01T00:00:00.3Z"


class SkewedClock(FakeClock):
    """A clock that goes wrong by a constant, and is moved with the one that goes right."""

    def __init__(self, right: FakeClock, skew: timedelta) -> None:
        super().__init__(right.now() + skew)
        self._right = right
        self._skew = skew

    def now(self) -> datetime:
        """Return the wrong time."""
        return self._right.now() + self._skew

    def monotonic(self) -> float:
        """Return the seconds of the right clock."""
        return self._right.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the right clock."""
        await self._right.sleep(seconds)

    async def wait(self, event: Any, seconds: float) -> bool:
        """Wait on the right clock."""
        return await self._right.wait(event, seconds)

    def busy(self, what: object = "") -> Any:
        """Mark work on the right clock."""
        return self._right.busy(what)


class Node(SchedulerListener):
    """One node: its scheduler, and what happened on it.

    Attributes:
        runs: The ticks that ran here.
        skips: What was left to others.
        errors: What scheduler listeners were told of errors.
    """

    def __init__(self, name: str, skew: timedelta) -> None:
        self.name_of_node = name
        self.skew = skew
        self.container = QuartzContainer()
        self.runs: list[datetime] = []
        self.skips: list[SkippedFiring] = []
        self.errors: list[str] = []
        self.finalized: list[str] = []

    @property
    def scheduler(self) -> Scheduler:
        """Its scheduler."""
        return self.container.scheduler()

    def note(self, context: JobContext) -> None:
        """Note that a tick runs here."""
        self.runs.append(context.scheduled_fire_time)

    async def firing_skipped(self, skipped: SkippedFiring) -> None:
        """Note it."""
        self.skips.append(skipped)

    async def scheduler_error(self, message: str, error: Exception) -> None:
        """Note it."""
        self.errors.append(f"{message} {error}")

    async def trigger_finalized(self, trigger: Any) -> None:
        """Note it."""
        self.finalized.append(trigger.key.name)


class Nodes:
    """Some nodes and their clock.

    Args:
        count: How many nodes.
        skews: By how much their clocks are wrong; 0 for those that are not named.
    """

    def __init__(self, count: int = 2, skews: tuple[timedelta, ...] = ()) -> None:
        self.clock = FakeClock(START)
        self.leases = InMemoryLockProvider(clock=self.clock, holder="test")
        padded = (*skews, *[timedelta(0)] * count)
        self.all = [Node(f"node {number}", padded[number]) for number in range(count)]
        self.wrap: Callable[[LockProvider], LockProvider] = lambda provider: provider

    def __getitem__(self, index: int) -> Node:
        return self.all[index]

    def ran(self) -> list[datetime]:
        """Return the ticks that ran anywhere, in their order; one that ran twice stands there twice."""
        return sorted(tick for node in self.all for tick in node.runs)

    def ticks(self, *seconds: float) -> list[datetime]:
        """Return the instants so many seconds after midnight."""
        midnight = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
        return [midnight + timedelta(seconds=second) for second in seconds]

    @asynccontextmanager
    async def running(self, declare: Callable[[SchedulerBuilder, Node], Any], **locks: Any) -> AsyncIterator[None]:
        """Run all nodes with what ``declare`` says; ``locks`` are arguments of ``use_job_locks``."""
        async with AsyncExitStack() as stack:
            for node in self.all:
                clock = SkewedClock(self.clock, node.skew) if node.skew else self.clock
                builder = add_quartz(node.container).use_clock(clock).add_scheduler_listener(node)
                builder.use_job_locks(self.wrap(self.leases.as_node(node.name_of_node)), **locks)
                declare(builder, node)
                await stack.enter_async_context(running(node.container))
            yield
            # What still runs waits for the clock: it has to end before its scheduler does.
            for node in self.all:
                await node.scheduler.standby()
            await self.clock.advance(minutes=2)
