"""AnnualCalendar: days that are excluded every year."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, Final

from quartzite.calendars.days import DayCalendar
from quartzite.errors import InvalidValueError

__all__ = ["AnnualCalendar"]

_LEAP_YEAR: Final = 2000
_DAYS_OF_A_LEAP_YEAR: Final = 366


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnualCalendar(DayCalendar):
    """Excludes the same days every year (spec 03 section 2).

    Attributes:
        days_excluded: Pairs of month and day; a date stands for its month and day. 29 February counts in leap years.

    Raises:
        InvalidValueError: a pair is no day of a leap year.
    """

    calendar_type: ClassVar[str] = "annual"

    days_excluded: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        DayCalendar.__post_init__(self)
        object.__setattr__(self, "days_excluded", _pairs(self.days_excluded))

    def with_excluded(self, *days: date | tuple[int, int]) -> AnnualCalendar:
        """Return the calendar with more days excluded: dates, whose year is ignored, or pairs of month and day."""
        return replace(self, days_excluded=self.days_excluded | _pairs(days))

    def without_excluded(self, *days: date | tuple[int, int]) -> AnnualCalendar:
        """Return the calendar with fewer days excluded."""
        return replace(self, days_excluded=self.days_excluded - _pairs(days))

    def is_day_excluded(self, day: date | tuple[int, int]) -> bool:
        """Tell whether the own set, without the base, excludes a day."""
        return _pair(day) in self.days_excluded

    @property
    def are_all_days_excluded(self) -> bool:
        """Whether no day is left."""
        return len(self.days_excluded) == _DAYS_OF_A_LEAP_YEAR

    def _is_excluded(self, day: date) -> bool:
        return (day.month, day.day) in self.days_excluded

    def _free_day_after(self, day: date) -> date | None:
        return None if self.are_all_days_excluded else DayCalendar._free_day_after(self, day)


def _pairs(days: Iterable[date | tuple[int, int]]) -> frozenset[tuple[int, int]]:
    return frozenset(_pair(day) for day in days)


def _pair(day: date | tuple[int, int]) -> tuple[int, int]:
    if isinstance(day, date):
        return day.month, day.day
    try:
        month, number = day
        date(_LEAP_YEAR, month, number)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{day!r} is no day of a year: give a date, or month and day as in (12, 25)") from None
    return month, number
