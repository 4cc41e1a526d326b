"""FairLock: a lock that is granted in the order of asking."""

from __future__ import annotations

import asyncio
from collections import deque
from threading import Lock

__all__ = ["FairLock"]


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
