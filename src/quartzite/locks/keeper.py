"""LeaseKeeper: renews a lock while it is held."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable

from quartzite.abc import Clock

__all__ = ["LeaseKeeper", "TaskKeeper"]


class LeaseKeeper(ABC):
    """Repeats some work for as long as a lock is held (decision 18)."""

    @abstractmethod
    def every(self, seconds: float, work: Callable[[], Awaitable[bool]]) -> Callable[[], None]:
        """Repeat the work, for the first time after ``seconds``, until it answers False; it never raises.

        Returns:
            What ends the repetition. Work that is in progress then goes on to its end.
        """


class TaskKeeper(LeaseKeeper):
    """Repeats work in a task of the running event loop.

    Code that blocks the event loop for longer than a lock lives keeps it from being renewed; it is then lost, and
    its holder is told so.

    Args:
        clock: What the time between is waited on.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tasks: set[asyncio.Task[None]] = set()

    def every(self, seconds: float, work: Callable[[], Awaitable[bool]]) -> Callable[[], None]:
        """Repeat the work in a task."""
        ended = asyncio.Event()
        task = asyncio.ensure_future(self._repeat(ended, seconds, work))
        self._tasks.add(task)  # the event loop itself would let it be collected
        task.add_done_callback(self._tasks.discard)
        return ended.set

    async def _repeat(self, ended: asyncio.Event, seconds: float, work: Callable[[], Awaitable[bool]]) -> None:
        while not await self._clock.wait(ended, seconds):
            with self._clock.busy("renewing a lock"):
                if not await work():
                    return
