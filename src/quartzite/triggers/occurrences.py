"""Occurrences: the local times that a recurrence rule gives."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final

from quartzite.triggers.recurrence_days import RecurrenceDays
from quartzite.triggers.recurrence_rule import Frequency, RecurrenceRule
from quartzite.triggers.recurrence_times import RecurrenceTimes

__all__ = ["Occurrences"]

_SEARCHED_YEARS: Final = 100
_SECOND: Final = timedelta(seconds=1)


class Occurrences:
    """The occurrences of a rule from a start on, in whole seconds of a clock that never changes.

    A search goes over the chosen days from the one that is asked about, and over the chosen times within them: what
    lies between the start and there costs nothing. COUNT and UNTIL are not looked at.
    """

    def __init__(self, rule: RecurrenceRule, start: datetime) -> None:
        start = start.replace(microsecond=0)
        self._start = start
        self._days = RecurrenceDays(rule, start.date())
        self._times = RecurrenceTimes(rule, start)
        # Within a day, an hour or a minute BYSETPOS picks the same times always; within longer periods it picks days.
        self._positions = rule.by_set_position if rule.frequency < Frequency.DAILY else ()
        self._all_times = self._times.all() if self._positions else []

    def after(self, local: datetime) -> datetime | None:
        """Return the first occurrence later than a naive local time; None when there is none within a hundred years."""
        local = max(local.replace(microsecond=0), self._start - _SECOND) + _SECOND
        midnight = local.replace(hour=0, minute=0, second=0)
        asked, second = local.toordinal(), (local - midnight) // _SECOND
        for day in self._days.from_day(asked, local.year + _SEARCHED_YEARS):
            found = self._in_day(day, second if day == asked else 0)
            if found is not None:
                return datetime.combine(date.fromordinal(day), time()) + found * _SECOND
        return None

    def _in_day(self, day: int, second: int) -> int | None:
        if not self._positions:
            return self._times.on_or_after(day, second)
        return next((found for found in self._picked(day) if found >= second), None)

    def _picked(self, day: int) -> list[int]:
        """Return the times of a chosen day that BYSETPOS picks out of all of its period."""
        times = self._all_times
        days_before, days = self._days.place_in_period(day)
        first, last = days_before * len(times), days * len(times)
        places = {place - 1 if place > 0 else last + place for place in self._positions}
        return sorted(times[place - first] for place in places if first <= place < first + len(times))
