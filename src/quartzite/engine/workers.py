"""AsyncWorkerPool: runs firings as tasks, a bounded number at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Final, TypeVar

from quartzite.abc import Clock, WorkerPool
from quartzite.engine.own_task import own_task
from quartzite.engine.threads import WorkerThreads
from quartzite.errors import InvalidValueError

__all__ = ["AsyncWorkerPool"]

T = TypeVar("T")
logger: Final = logging.getLogger("quartzite.engine")


class AsyncWorkerPool(WorkerPool):
    """One task per firing on the event loop, at most ``max_concurrency`` at once (spec 04 section 7).

    * Blocking work that a firing hands over runs in a thread; threads are made on demand, at most as many as
      firings may run.
    * An error that escapes from the work is logged; its worker is free again on every path.
    * After ``shutdown`` the firings that still run may finish, threads included.

    Args:
        max_concurrency: How many firings may run at once, at least 1.
        clock: What ``shutdown`` measures its time limit by.
        name: Prefix of the names of the threads.

    Raises:
        InvalidValueError: ``max_concurrency`` is below 1.
    """

    def __init__(self, *, max_concurrency: int, clock: Clock, name: str = "quartzite-worker") -> None:
        if max_concurrency < 1:
            raise InvalidValueError(f"max_concurrency is {max_concurrency}: at least 1 firing must be able to run")
        self._size = max_concurrency
        self._free = max_concurrency
        self._clock = clock
        self._threads = WorkerThreads(limit=max_concurrency, name=name)
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._closed = False
        self._ended = asyncio.Event()

    @property
    def size(self) -> int:
        """How many firings may run at once."""
        return self._size

    async def initialize(self) -> None:
        """Get ready: there is nothing to do."""

    async def wait_for_available(self) -> int:
        """Wait until a worker is free and return how many are; 0 when shut down."""
        while self._free <= 0 and not self._closed:
            freed = asyncio.get_running_loop().create_future()
            self._waiting.append(freed)
            await freed
        return 0 if self._closed else self._free

    def try_run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Start work in a task of its own; False when shut down or no worker is free."""
        if self._closed or self._free <= 0:
            return False
        self._free -= 1
        # A name that is given once costs less than one that is counted up for each firing.
        task = asyncio.get_running_loop().create_task(self._run(work), name="quartzite-run")
        if not task.done():  # an eager task factory may have run it to its end
            self._tasks.add(task)
        return True

    async def call_in_thread(self, function: Callable[[], T]) -> T:
        """Run blocking code in a worker thread and return its result; context variables reach it.

        A thread can not be stopped: cancelling the call leaves it running.
        """
        return await self._threads.submit(function)

    async def shutdown(self, *, wait: bool = True, timeout: timedelta | None = None) -> int:
        """Take no more work; wait for what runs when asked to, at most ``timeout``. Return how many still run.

        Called from inside a firing, that one is neither waited for nor counted.
        """
        self._closed = True
        self._wake()
        if wait:
            await self._all_ended(None if timeout is None else self._clock.monotonic() + timeout.total_seconds())
        if not self._tasks:
            self._threads.close()
        return len(self._others())

    async def _all_ended(self, deadline: float | None) -> None:
        while self._others():
            self._ended.clear()
            if deadline is None:
                await self._ended.wait()
            elif not await self._clock.wait(self._ended, deadline - self._clock.monotonic()):
                return

    def _others(self) -> set[asyncio.Task[None]]:
        own = own_task.get()
        return {task for task in self._tasks if not task.done() and (own is None or task is not own[1])}

    async def _run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await work()
        except Exception:
            logger.exception("A firing failed outside its job.")
        finally:
            self._tasks.discard(asyncio.current_task())
            self._free += 1
            if self._waiting:
                self._wake()
            if self._closed:
                self._one_ended()

    def _one_ended(self) -> None:
        self._ended.set()
        if not self._tasks:
            self._threads.close()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for freed in waiting:
            if not freed.done():
                freed.set_result(None)
