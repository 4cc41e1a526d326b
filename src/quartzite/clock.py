"""SystemClock: the only place that reads the machine's time or waits on it."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final

from quartzite.abc import Clock

__all__ = ["SystemClock"]

_TIMER_GRAIN: Final = 0.001
"""Seconds by which the timer of an event loop may be late."""


class SystemClock(Clock):
    """The time of this machine."""

    def now(self) -> datetime:
        """Return the machine's time, aware UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop's timer."""
        await asyncio.sleep(max(0.0, seconds))

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait for an event with one timer and no task of its own.

        An event loop rounds its timers up to whole milliseconds, so the timer ends a little early, and the rest is
        waited for in turns of the loop: what waits for an instant goes on within microseconds of it.
        """
        deadline = time.monotonic() + seconds
        if seconds > _TIMER_GRAIN and not event.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds - _TIMER_GRAIN):
                    await event.wait()
        while not event.is_set() and time.monotonic() < deadline:  # noqa: ASYNC110 - that timer would be late
            await asyncio.sleep(0)
        return event.is_set()
