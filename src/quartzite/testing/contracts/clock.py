"""ManualClock: time that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from quartzite.abc import Clock

__all__ = ["ManualClock"]


class ManualClock(Clock):
    """The clock of the suites. A subject is driven call by call, so nothing has to settle when time moves.

    Background work that sleeps wakes when the time it waits for has come; the suites never wait for it.
    """

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """Return the instant that was set."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that have gone by."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved so far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        waiter = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._elapsed + seconds, waiter))
        await waiter

    async def advance(self, delta: timedelta) -> None:
        """Move on, and give those whose time has come a turn."""
        self._now += delta
        self._elapsed += delta.total_seconds()
        due = [waiter for until, waiter in self._sleepers if until <= self._elapsed]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self._elapsed]
        for waiter in due:
            if not waiter.done():
                waiter.set_result(None)
        await asyncio.sleep(0)
