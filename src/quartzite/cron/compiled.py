"""A cron expression compiled for searching on the wall clock.

A "wall second" counts the seconds since 1970-01-01 00:00 as the clocks show them; no zone is known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from quartzite.cron.days import DayTable
from quartzite.cron.times import DAY, TimesOfDay

__all__ = ["CronFields"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CronFields:
    """The compiled fields of an expression; shared by all expressions of the same text.

    Attributes:
        times: The times of day that match.
        days: The days that match.
        interval: Whether the expression steps within the hour, minute or second (``*``, ``/`` or ``-`` in one of
            these fields), so that it fires in both passes of an overlap.
        first_time: The earliest time of a day.
        last_time: The latest time of a day.
    """

    times: TimesOfDay
    days: DayTable
    interval: bool
    first_time: int
    last_time: int

    def on_or_after(self, wall: int) -> int | None:
        """Return the first matching wall second >= ``wall``, or None within a hundred years."""
        day, time = divmod(wall, DAY)
        if time > self.last_time:
            day += 1
            time = 0
        found = self.days.on_or_after(day)
        if found is None:
            return None
        return found * DAY + (self.times.on_or_after(time) if found == day else self.first_time)

    def on_or_before(self, wall: int) -> int | None:
        """Return the last matching wall second <= ``wall``, or None within a hundred years."""
        day, time = divmod(wall, DAY)
        if time < self.first_time:
            day -= 1
            time = DAY - 1
        found = self.days.on_or_before(day)
        if found is None:
            return None
        return found * DAY + (self.times.on_or_before(time) if found == day else self.last_time)

    def matches(self, wall: int) -> bool:
        """Tell whether the wall second matches."""
        day, time = divmod(wall, DAY)
        return self.times.on_or_after(time) == time and self.days.on_or_after(day) == day

    def unmatched_on_or_after(self, wall: int) -> int | None:
        """Return the first wall second >= ``wall`` that does not match, or None within a hundred years."""
        day, time = divmod(wall, DAY)
        if self.days.on_or_after(day) != day:
            return wall
        if (found := self.times.unmatched_on_or_after(time)) < DAY:
            return day * DAY + found
        if (found := self.times.unmatched_on_or_after(0)) < DAY:
            return (day + 1) * DAY + (found if self.days.on_or_after(day + 1) == day + 1 else 0)
        unmatched = self.days.unmatched_on_or_after(day + 1)
        return None if unmatched is None else unmatched * DAY
