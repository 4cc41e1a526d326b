"""KeepAliveLockProvider: leases that last as long as their holder lives."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, TypeVar

from quartzite.abc import Beat, Clock, Heartbeat
from quartzite.errors import InvalidValueError, LockError
from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.provider import LockProvider

__all__ = ["DEFAULT_MINIMUM", "KeepAliveLockProvider"]

T = TypeVar("T")
DEFAULT_MINIMUM: Final = timedelta(seconds=30)
_GIVEN_UP_BEFORE: Final = 5
"""The holder is told when no more than this part of the at-most time is left, so that it can stop in time."""
_MILLISECOND: Final = timedelta(milliseconds=1)
_SHORTEST_RETRY: Final = 0.01


class KeepAliveLockProvider(LockProvider):
    """Extends each lease of another provider at half of its at-most time, until it is released (decision 13).

    * The heartbeat does it, on a connection of its own: neither a blocked event loop nor a long job starves it. Code
      that keeps the interpreter lock for longer than the lease lasts is the exception.
    * An extension that fails is tried again after half of what is left. The holder is told by :attr:`Lease.lost` when
      a fifth of the at-most time is left, or as soon as somebody else has the lease.
    * A tick that may run beside later ones is not kept: it is never granted again, however long it runs.

    Args:
        provider: Grants the leases.
        heartbeat: Extends them.
        clock: The holder's time.
        minimum_at_most_for: A shorter at-most time is refused: too little room for an extension that is late.

    Raises:
        SchedulerConfigError: when the first lease is taken: the provider can not work beside another event loop.
    """

    def __init__(
        self,
        provider: LockProvider,
        *,
        heartbeat: Heartbeat,
        clock: Clock,
        minimum_at_most_for: timedelta = DEFAULT_MINIMUM,
    ) -> None:
        self._provider = provider
        self._heartbeat = heartbeat
        self._clock = clock
        self._minimum = minimum_at_most_for
        self._extender: LockProvider | None = None
        self._kept: dict[Lease, Beat] = {}

    async def lock(self, configuration: LockConfiguration) -> Lease | None:
        """Return the lease, or None when it is not granted.

        Raises:
            InvalidValueError: the at-most time is shorter than the minimum.
            LockError: the provider can not be reached; nothing is held.
        """
        if configuration.lock_at_most_for < self._minimum:
            raise InvalidValueError(
                f"lock {configuration.name!r}: lock_at_most_for is {configuration.lock_at_most_for}: a lease that is "
                f"kept alive needs at least {self._minimum}; see minimum_at_most_for"
            )
        extender = self._extending()
        lease = await self._provider.lock(configuration)
        if lease is None or (configuration.tick is not None and not configuration.exclusive):
            return lease
        keeper = _Keeper(lease, extender, self._clock)
        self._kept[lease] = self._heartbeat.schedule(keeper.half, keeper.extend, name=f"lease {lease.name}")
        return lease.through(self)

    async def holder(self, name: str) -> LeaseInfo | None:
        """Return who holds, or last held, a lock."""
        return await self._provider.holder(name)

    async def release(self, lease: Lease) -> bool:
        """Give a lease back, and extend it no more."""
        beat = self._kept.pop(lease, None)
        if beat is not None:
            beat.cancel()
        return await self._provider.release(lease)

    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Let a lease last longer; it is kept alive from then on as before."""
        return await self._provider.prolong(lease, at_most_for, at_least_for)

    def twin(self) -> KeepAliveLockProvider:
        """Return a provider of the same node over the same records, for another event loop."""
        twin = KeepAliveLockProvider(
            self._provider.twin(),
            heartbeat=self._heartbeat,
            clock=self._clock,
            minimum_at_most_for=self._minimum,
        )
        twin._extender = self._extending()
        return twin

    async def close(self) -> None:
        """Tell the holders of leases that nobody extends them any more, and close the provider."""
        kept, self._kept = self._kept, {}
        for lease, beat in kept.items():
            beat.cancel()
            lease.lose(f"lock {lease.name!r} is not kept alive any more: its provider was closed")
        await self._provider.close()

    def _extending(self) -> LockProvider:
        if self._extender is None:
            self._extender = self._provider.twin()
            if self._extender is not self._provider:
                self._heartbeat.at_end(self._extender.close)
        return self._extender


class _Keeper:
    """Extends one lease, on the heartbeat."""

    def __init__(self, lease: Lease, provider: LockProvider, clock: Clock) -> None:
        self._lease = lease
        self._provider = provider
        self._clock = clock
        self._at_most = lease.configuration.lock_at_most_for
        self._problem = "the heartbeat came too late"

    @property
    def half(self) -> timedelta:
        """When the lease is extended."""
        return self._at_most / 2

    async def extend(self) -> timedelta | None:
        """Extend the lease; return when to come again, None when that is of no use any more."""
        early = self._left() - self.half.total_seconds()
        if early > _SHORTEST_RETRY:  # its holder has extended it
            return timedelta(seconds=early)
        usable = self._usable()
        if usable <= 0:
            self._lose(f"could not be extended in time: {self._problem}")
            return None
        try:
            kept = await self._within(usable, self._provider.prolong(self._lease, self._at_most, self._at_least()))
        except LockError as error:
            self._problem = str(error)
        except TimeoutError:
            self._problem = "its provider did not answer"
        else:
            if kept:
                return self.half
            self._lose("has ended: somebody else may have it")
            return None
        return timedelta(seconds=max(min(_SHORTEST_RETRY, self._usable()), self._usable() / 2, 0.0))

    def _left(self) -> float:
        return self._lease.deadline - self._clock.monotonic()

    def _usable(self) -> float:
        """Return how long extending may take until the holder must be told."""
        return self._left() - self._at_most.total_seconds() / _GIVEN_UP_BEFORE

    def _at_least(self) -> timedelta:
        """Return what is left of the at-least time."""
        left = max(0.0, self._lease.at_least_deadline - self._clock.monotonic())
        return min(math.ceil(left * 1000) * _MILLISECOND, self._at_most)

    def _lose(self, what: str) -> None:
        self._lease.lose(f"lock {self._lease.name!r} of {self._lease.holder} {what}")

    async def _within(self, seconds: float, work: Awaitable[T]) -> T:
        """Wait for work on the clock, for some seconds at most.

        Raises:
            TimeoutError: it took longer, and was cancelled.
        """
        done, task = asyncio.Event(), asyncio.ensure_future(work)
        task.add_done_callback(lambda _: done.set())
        try:
            if not await self._clock.wait(done, seconds):
                raise TimeoutError
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        return task.result()
