"""DayWindow: the firings of one day, after equal spans from a first to a last instant."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

__all__ = ["DayWindow"]


class DayWindow(NamedTuple):
    """Firings at ``start``, whatever the end, and after every interval up to ``end``.

    Attributes:
        start: The first instant.
        end: The last instant that may fire.
        interval: Elapsed time between two firings.
        repeats: Firings after the first one at most, None for as many as fit.
    """

    start: datetime
    end: datetime
    interval: timedelta
    repeats: int | None

    def first_after(self, after: datetime) -> datetime | None:
        """Return the first firing later than ``after``, or None."""
        if after < self.start:
            return self.start
        number = (after - self.start) // self.interval + 1
        if self.repeats is not None and number > self.repeats:
            return None
        moment = self.start + number * self.interval
        return moment if moment <= self.end else None

    def last_until(self, moment: datetime) -> datetime:
        """Return the last firing that is not behind ``moment``, which is not before the start."""
        number = max(0, (min(moment, self.end) - self.start) // self.interval)
        if self.repeats is not None:
            number = min(number, self.repeats)
        return self.start + number * self.interval
