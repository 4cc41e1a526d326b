"""LockingExecutor: runs something on one node at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any, Final, Generic, TypeVar, overload

from anyio.from_thread import start_blocking_portal

from quartzite.errors import LockError
from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.current import holding, is_held_for
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.provider import LockProvider
from quartzite.model.job import is_async_job

__all__ = ["LockedRun", "LockingExecutor", "active_executor"]

T = TypeVar("T")
logger: Final = logging.getLogger("quartzite.leases")
active_executor: Final[ContextVar[LockingExecutor | None]] = ContextVar("quartzite_locking_executor", default=None)
"""That of the scheduler whose job runs here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRun(Generic[T]):
    """What became of work that was to run under a lock.

    Attributes:
        executed: Whether it ran.
        value: What it returned; None when it did not run.
        holder: Who had the lock when it did not run; None when that is not known any more.
    """

    executed: bool
    value: T | None = None
    holder: LeaseInfo | None = None


class LockingExecutor:
    """Runs work when its lock is granted, and leaves it out otherwise; it never waits.

    * Within work that holds a lock of the same name, the work runs at once, under that lock.
    * The lock is given back whatever the work raises; that goes to the caller.
    * A lease that can not be kept is told by ``current_lease().lost``; the work is not cancelled.

    Args:
        provider: Grants the locks.
    """

    def __init__(self, provider: LockProvider) -> None:
        self._provider = provider

    @overload
    async def run(self, work: Callable[[], Awaitable[T]], configuration: LockConfiguration) -> LockedRun[T]: ...
    @overload
    async def run(self, work: Callable[[], T], configuration: LockConfiguration) -> LockedRun[T]: ...

    async def run(self, work: Callable[[], Any], configuration: LockConfiguration) -> LockedRun[Any]:
        """Run work, a plain function in a thread, if its lock is granted; tell whether it ran.

        Raises:
            LockError: the provider can not be reached: the work did not run.
            Exception: what the work raised.
        """
        if is_held_for(configuration.name):
            return LockedRun(executed=True, value=await _result_of(work))
        lease = await self._provider.lock(configuration)
        if lease is None:
            return LockedRun(executed=False, holder=await self._provider.holder(configuration.name))
        try:
            with holding(lease):
                return LockedRun(executed=True, value=await _result_of(work))
        finally:
            await _give_back(lease)

    def run_blocking(self, work: Callable[[], T], configuration: LockConfiguration) -> LockedRun[T]:
        """Run a plain function in the calling thread if its lock is granted; tell whether it ran.

        For code without an event loop. The provider works on one in a thread of its own meanwhile, with a connection
        of its own.

        Raises:
            LockError: the provider can not be reached: the work did not run.
            SchedulerConfigError: the provider can not work on another event loop.
            Exception: what the work raised.
        """
        if is_held_for(configuration.name):
            return LockedRun(executed=True, value=work())
        with start_blocking_portal("asyncio") as portal:
            provider = self._provider.twin()
            try:
                lease = portal.call(provider.lock, configuration)
                if lease is None:
                    return LockedRun(executed=False, holder=portal.call(provider.holder, configuration.name))
                try:
                    with holding(lease, home=portal.call(_this_loop)):
                        return LockedRun(executed=True, value=work())
                finally:
                    portal.call(_give_back, lease)
            finally:
                if provider is not self._provider:
                    portal.call(provider.close)


async def _result_of(work: Callable[[], Any]) -> Any:
    result = work() if is_async_job(work) else await asyncio.to_thread(work)
    return await result if isawaitable(result) else result


async def _give_back(lease: Lease) -> None:
    try:
        if not await lease.unlock():
            logger.warning("A lock had ended before its work did.", extra={"lock": lease.name})
    except LockError:
        # It ends by itself; what the work returned or raised says more.
        logger.warning("A lock could not be given back.", exc_info=True, extra={"lock": lease.name})


async def _this_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()
