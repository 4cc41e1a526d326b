"""Backoff: how long to wait before a failed store operation is tried again, and until when at all."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Final

from quartzite.abc import MAX_ACQUIRE_RETRY_DELAY, MIN_ACQUIRE_RETRY_DELAY, Clock, JobStore

__all__ = ["Backoff"]

FALLBACK_DELAY: Final = timedelta(milliseconds=100)
"""Used when the store fails to say how long to wait (spec 04 section 4)."""
_LONGEST_WHILE_CLOSING: Final = timedelta(seconds=1)
logger: Final = logging.getLogger("quartzite.engine")


class Backoff:
    """Waits between attempts as the store says, 20 ms to 10 min.

    Once it is closing, waits are short, and after the grace there are no more attempts.
    """

    __slots__ = ("_clock", "_closing", "_deadline", "_store")

    def __init__(self, store: JobStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._closing = asyncio.Event()
        self._deadline = 0.0

    def close(self, *, grace: timedelta = timedelta(0)) -> None:
        """Let attempts go on for the grace, and wake those that wait; without one there are no more."""
        self._deadline = self._clock.monotonic() + grace.total_seconds()
        self._closing.set()

    def delay(self, failures: int) -> timedelta:
        """Return how long to wait after so many failures running."""
        try:
            wanted = self._store.get_acquire_retry_delay(failures)
            return min(max(wanted, MIN_ACQUIRE_RETRY_DELAY), MAX_ACQUIRE_RETRY_DELAY)
        except Exception:
            logger.exception("The job store failed to say how long to wait.")
            return FALLBACK_DELAY

    async def wait(self, failures: int) -> bool:
        """Wait after so many failures running; tell whether to try again."""
        return await self.pause(self.delay(failures))

    async def pause(self, delay: timedelta) -> bool:
        """Wait so long; tell whether to go on."""
        if not self._closing.is_set():
            await self._clock.wait(self._closing, delay.total_seconds())
            return True
        left = self._deadline - self._clock.monotonic()
        if left <= 0:
            return False
        await self._clock.sleep(min(left, min(delay, _LONGEST_WHILE_CLOSING).total_seconds()))
        return True
