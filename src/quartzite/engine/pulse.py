"""Pulse: what the scheduling loop notes about itself, for the health report."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from quartzite.abc import Clock

__all__ = ["Pulse"]

_LONGEST_TEXT: Final = 500


class Pulse:
    """The last signs of life of a loop. Errors are kept as text: an exception would keep its frames alive.

    Attributes:
        failures: Failed turns running.
        last_error: What failed last, or None.
        last_error_time: When it failed, aware UTC, or None.
        last_tick: When the loop last began to do or to wait for something, aware UTC, or None.
        since_workers_wanted: Monotonic seconds since which all workers are busy, or None.
        end: Why the loop has ended though nobody asked it to, or None.
    """

    __slots__ = (
        "_clock",
        "_expected_by",
        "end",
        "failures",
        "last_error",
        "last_error_time",
        "last_tick",
        "since_workers_wanted",
    )

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._expected_by: float | None = None
        self.failures = 0
        self.last_error: str | None = None
        self.last_error_time: datetime | None = None
        self.last_tick: datetime | None = None
        self.since_workers_wanted: float | None = None
        self.end: str | None = None

    @property
    def overdue(self) -> float:
        """Seconds by which the next sign of life is late; 0 or less while there is nothing to complain of."""
        return 0.0 if self._expected_by is None else self._clock.monotonic() - self._expected_by

    def ticks(self, within: float = 0.0) -> None:
        """Note a sign of life, and in how many seconds the next one is expected."""
        self.since_workers_wanted = None
        self.last_tick = self._clock.now()
        self._expected_by = self._clock.monotonic() + within

    def begins(self) -> None:
        """Note that the loop lives."""
        self.ticks()
        self.end = None

    def stands_by(self) -> None:
        """Note that no sign of life is expected: the scheduler is in standby."""
        self.ticks()
        self._expected_by = None

    def waits_for_workers(self) -> None:
        """Note that no sign of life is expected until a worker is free."""
        self.ticks()
        self._expected_by = None
        self.since_workers_wanted = self._clock.monotonic()

    def succeeded(self) -> None:
        """Note a turn without failure."""
        self.failures = 0

    def failed(self, error: BaseException) -> None:
        """Note a failed turn."""
        self.failures += 1
        self.last_error = f"{type(error).__name__}: {error}"[:_LONGEST_TEXT]
        self.last_error_time = self._clock.now()

    def ended(self, reason: str) -> None:
        """Note that the loop is dead."""
        self.end = reason
