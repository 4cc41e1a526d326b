"""RunScope: what was opened for one firing, closed once at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from contextvars import ContextVar
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from quartzite.errors import SchedulerConfigError, SchedulerError

if TYPE_CHECKING:
    from quartzite.container.per_run import PerRun

__all__ = ["RunScope", "current_scope", "is_pending"]

current_scope: ContextVar[RunScope | None] = ContextVar("quartzite_run_scope", default=None)
"""The scope of the firing that runs here; tasks and worker threads that the job starts inherit it."""
_MISSING: Final = object()


class RunScope:
    """Opens each per-run provider once, at its first use, and closes all in reverse order.

    Whatever runs within the firing gets the same object: other services, tasks that the job starts, its worker thread.
    """

    __slots__ = ("_closed", "_lock", "_opened", "_opening", "_stack")

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._opened: dict[PerRun[Any], Any] = {}
        self._opening: dict[PerRun[Any], asyncio.Future[Any]] = {}
        self._closed = False
        # A plain job runs in a worker thread and may open something there.
        self._lock = RLock()

    async def open(self, resource: PerRun[Any]) -> Any:
        """Return what ``resource`` opens, opened within the calling task.

        Context variables that it sets reach the job, and task groups that it enters are left in the same task.
        """
        if (found := self._opened.get(resource, _MISSING)) is not _MISSING:
            return found
        return await self._enter(resource, resource.manager())

    def provide(self, resource: PerRun[Any]) -> Any:
        """Return what ``resource`` opens; a future of it when it must be awaited and was not opened yet.

        Raises:
            SchedulerError: the firing has ended, or the calling thread has no event loop and opening needs one.
        """
        with self._lock:
            if (found := self._opened.get(resource, _MISSING)) is not _MISSING:
                return found
            if self._closed:
                raise SchedulerError(f"{resource.label} was asked for after its firing had ended")
            if resource not in self._opening:
                manager = resource.manager()
                if not is_pending(manager) and not _is_async(manager):
                    return self._enter_plain(resource, manager)
                self._opening[resource] = self._enter_late(resource, manager)
            return self._opening[resource]

    def close_with(self, close: Callable[[], Awaitable[None]]) -> None:
        """Call ``close`` when the firing ends, before everything that was opened until now is closed."""
        self._stack.push_async_callback(close)

    async def close(self, error: BaseException | None) -> None:
        """Close everything, last opened first, each told of ``error``; called once.

        Raises:
            BaseException: what the first of them raised; the others are closed nevertheless.
        """
        with self._lock:
            self._closed = True
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        try:
            await self._stack.__aexit__(type(error) if error else None, error, error.__traceback__ if error else None)
        except BaseException as raised:
            if raised is not error:  # else it was only passed on
                raise

    async def _enter(self, resource: PerRun[Any], manager: Any) -> Any:
        if is_pending(manager):
            manager = await manager
        if not _is_async(manager):
            return self._enter_plain(resource, manager)
        opened = self._opened[resource] = await self._stack.enter_async_context(manager)
        return opened

    def _enter_plain(self, resource: PerRun[Any], manager: Any) -> Any:
        if not hasattr(type(manager), "__enter__"):
            raise SchedulerConfigError(
                f"{resource.label} returned {manager!r}, which is no context manager: give per_run a generator "
                "function or a function that returns a context manager"
            )
        opened = self._opened[resource] = self._stack.enter_context(manager)
        return opened

    def _enter_late(self, resource: PerRun[Any], manager: Any) -> asyncio.Future[Any]:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise SchedulerError(
                f"{resource.label} needs an event loop, and this thread has none: let the job ask for it as an argument"
            ) from None
        return loop.create_task(self._enter(resource, manager))


def is_pending(value: object) -> TypeGuard[Awaitable[Any]]:
    """Tell whether a provider answered with a promise; objects that merely can be awaited are answers themselves."""
    return asyncio.isfuture(value) or isinstance(value, Coroutine)


def _is_async(manager: object) -> bool:
    return hasattr(type(manager), "__aenter__")
