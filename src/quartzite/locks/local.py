"""Lock handlers within one process (spec 09 section 5)."""

from __future__ import annotations

import asyncio
from collections import deque
from threading import Lock
from typing import TYPE_CHECKING
from uuid import UUID

from quartzite.locks.ownership import OwningSemaphore
from quartzite.model.identity import SchedulerLock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["FairLock", "LocalSemaphore", "SingleLockSemaphore"]


class LocalSemaphore(OwningSemaphore):
    """Two independent locks, each granted in the order in which it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._locks = {lock: FairLock() for lock in SchedulerLock}

    @property
    def requires_connection(self) -> bool:
        """No connection is needed; the store opens its own once it has the lock."""
        return False

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Wait until the lock is granted."""
        await self._locks[lock].take()

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Let the next one have the lock."""
        self._locks[lock].give_up()


class SingleLockSemaphore(OwningSemaphore):
    """One lock behind both names, for stores that can have one writer only (SQLite).

    Who holds one of the names is granted the other at once; the lock is free again when both are given back.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = FairLock()

    @property
    def requires_connection(self) -> bool:
        """No connection is needed; the store opens its own once it has the lock."""
        return False

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Wait until the lock is granted, unless the requestor holds it under its other name."""
        if not self._holds_any(requestor_id):
            await self._lock.take()

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Let the next one have the lock, when this was the last of its names."""
        if not self._holds_any(requestor_id):
            self._lock.give_up()

    def _holds_any(self, requestor_id: UUID) -> bool:
        return any(self.holds(requestor_id, lock) for lock in SchedulerLock)


class FairLock:
    """A lock that is handed from one to the next in the order of asking; waiters may live on several event loops.

    A scheduler's heartbeat runs on a loop of its own (decision 18), which ``asyncio.Lock`` does not allow.
    """

    __slots__ = ("_guard", "_is_taken", "_waiters")

    def __init__(self) -> None:
        self._guard = Lock()  # held for a few steps only, never while waiting
        self._is_taken = False
        self._waiters: deque[_Waiter] = deque()

    async def take(self) -> None:
        """Wait for the lock; a call that is cancelled has not taken it."""
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return
            waiter = _Waiter()
            self._waiters.append(waiter)
        try:
            await waiter.future
        except BaseException:  # cancelled, or thrown away with its event loop
            self._withdraw(waiter)
            raise

    def give_up(self) -> None:
        """Hand the lock to whoever waits longest."""
        with self._guard:
            self._hand_on()

    def _withdraw(self, waiter: _Waiter) -> None:
        with self._guard:
            if waiter.is_granted:  # it was cancelled in the moment between being granted and waking up
                self._hand_on()
            elif waiter in self._waiters:  # it is not when its event loop was gone as its turn came
                self._waiters.remove(waiter)

    def _hand_on(self) -> None:
        self._is_taken = False
        while self._waiters and not self._is_taken:
            self._is_taken = self._waiters.popleft().grant()


class _Waiter:
    """One call that waits for a lock."""

    __slots__ = ("_loop", "future", "is_granted")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self._loop.create_future()
        self.is_granted = False

    def grant(self) -> bool:
        """Wake the call up; False when its event loop is gone."""
        try:
            self._loop.call_soon_threadsafe(self._resolve)
        except RuntimeError:  # the loop is closed
            return False
        self.is_granted = True
        return True

    def _resolve(self) -> None:
        if not self.future.done():
            self.future.set_result(None)
