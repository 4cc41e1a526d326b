"""MisfireHandler: looks for missed fire times in the background (spec 07 section 6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from quartzite.abc import Clock

__all__ = ["MisfireHandler"]

_logger: Final = logging.getLogger("quartzite.stores")
_SHORTEST: Final = timedelta(milliseconds=50)


class MisfireHandler:
    """A background task that makes one pass after the other.

    Args:
        clock: What the pauses are measured by.
        make_pass: Handles some late triggers; tells whether there are more.
        frequency: How often to look; asked before each pause, as the misfire threshold may change.
        retry_interval: The pause after a pass that failed, at least.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        make_pass: Callable[[], Awaitable[bool]],
        frequency: Callable[[], timedelta],
        retry_interval: timedelta,
    ) -> None:
        self._clock = clock
        self._make_pass = make_pass
        self._frequency = frequency
        self._retry_interval = retry_interval
        self._task: asyncio.Task[None] | None = None
        self._failures = 0

    def start(self) -> None:
        """Begin, with a pause: who starts it has just looked."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="quartzite-misfires")

    async def stop(self) -> None:
        """End; a pass in progress is taken back."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        pause = self._frequency()
        while True:
            await self._clock.sleep(pause.total_seconds())
            began = self._clock.monotonic()
            has_more = await self._pass()
            took = timedelta(seconds=self._clock.monotonic() - began)
            pause = _SHORTEST if has_more else max(_SHORTEST, self._frequency() - took)
            if self._failures:
                pause = max(pause, self._retry_interval)

    async def _pass(self) -> bool:
        try:
            with self._clock.busy("misfire pass"):
                has_more = await self._make_pass()
        except Exception:
            self._failures += 1
            _logger.exception("looking for missed fire times failed", extra={"failures": self._failures})
            return False
        self._failures = 0
        return has_more
