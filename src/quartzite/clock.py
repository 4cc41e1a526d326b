"""SystemClock: the only place that reads the machine's time or waits on it."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from quartzite.abc import Clock

__all__ = ["SystemClock"]


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
        """Wait for an event with one timer and no task of its own."""
        if not event.is_set():
            try:
                async with asyncio.timeout(max(0.0, seconds)):
                    await event.wait()
            except TimeoutError:
                return event.is_set()
        return True
