"""SchedulingSignal: how the loop hears that something may fire earlier than what it waits for."""

from __future__ import annotations

import asyncio
from datetime import datetime
from threading import get_ident
from typing import Final

__all__ = ["SchedulingSignal"]

GUARD_IN_MEMORY: Final = 0.007
GUARD_PERSISTENT: Final = 0.070
"""Seconds. When what is waited for is due sooner, releasing it would cost more than it gains (spec 04 section 4.1)."""


class SchedulingSignal:
    """Collects what was signalled between two looks of the loop.

    * Signals may come from any thread.
    * Of several the earliest counts; one without a time counts as earlier than everything.
    * ``event`` is set while there is something to look at, a change of the loop's own state included.
    """

    __slots__ = ("_candidate", "_guard", "_loop", "_signaled", "_thread", "event")

    def __init__(self, *, persistent: bool) -> None:
        self._guard = GUARD_PERSISTENT if persistent else GUARD_IN_MEMORY
        self._signaled = False
        self._candidate: datetime | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: int | None = None
        self.event = asyncio.Event()

    def bind(self) -> None:
        """Remember the event loop that looks at the signal."""
        self._loop = asyncio.get_running_loop()
        self._thread = get_ident()

    def set(self, candidate: datetime | None) -> None:
        """Signal that something may fire at ``candidate``, or at a time not known."""
        if self._loop is None or self._thread == get_ident():
            self._set(candidate)
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._set, candidate)

    def wake(self) -> None:
        """Make the loop look at its own state."""
        self.event.set()

    def clear(self) -> None:
        """Forget what was signalled: the loop is about to look for itself."""
        self._signaled = False
        self.event.clear()

    def is_earlier(self, due: datetime, seconds_left: float) -> bool:
        """Tell whether to give up what is due at ``due``, in so many seconds, for something earlier.

        The signal is cleared.
        """
        if not self._signaled:
            self.event.clear()
            return False
        candidate = self._candidate
        self.clear()
        earlier = candidate is None or candidate < due
        return earlier and seconds_left >= self._guard

    def _set(self, candidate: datetime | None) -> None:
        known = self._candidate
        if not self._signaled or candidate is None or (known is not None and candidate < known):
            self._candidate = candidate
        self._signaled = True
        self.event.set()
