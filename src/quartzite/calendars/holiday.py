"""HolidayCalendar: dates that are excluded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import ClassVar

from quartzite.calendars.days import DayCalendar
from quartzite.errors import InvalidValueError

__all__ = ["HolidayCalendar"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HolidayCalendar(DayCalendar):
    """Excludes single dates (spec 03 section 2).

    Attributes:
        days_excluded: Dates, as the zone's calendar shows them.

    Raises:
        InvalidValueError: a day is no date, or is a date with a time (whose day would depend on a zone).
    """

    calendar_type: ClassVar[str] = "holiday"

    days_excluded: frozenset[date] = frozenset()

    def __post_init__(self) -> None:
        DayCalendar.__post_init__(self)
        object.__setattr__(self, "days_excluded", _dates(self.days_excluded))

    def with_excluded(self, *days: date) -> HolidayCalendar:
        """Return the calendar with more dates excluded."""
        return replace(self, days_excluded=self.days_excluded | _dates(days))

    def without_excluded(self, *days: date) -> HolidayCalendar:
        """Return the calendar with fewer dates excluded."""
        return replace(self, days_excluded=self.days_excluded - _dates(days))

    def is_day_excluded(self, day: date) -> bool:
        """Tell whether the own set, without the base, excludes a date."""
        return day in self.days_excluded

    def _is_excluded(self, day: date) -> bool:
        return day in self.days_excluded


def _dates(days: Iterable[date]) -> frozenset[date]:
    found = frozenset(days)
    for day in found:
        if not isinstance(day, date) or isinstance(day, datetime):
            raise InvalidValueError(f"{day!r} is no date: give datetime.date(year, month, day)")
    return found
