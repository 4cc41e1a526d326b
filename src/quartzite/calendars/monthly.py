"""MonthlyCalendar: days that are excluded every month."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, Final

from quartzite.calendars.days import DayCalendar
from quartzite.errors import InvalidValueError

__all__ = ["MonthlyCalendar"]

_DAYS_OF_A_MONTH: Final = frozenset(range(1, 32))


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthlyCalendar(DayCalendar):
    """Excludes the same days of every month (spec 03 section 2).

    Attributes:
        days_excluded: Numbers from 1 to 31.

    Raises:
        InvalidValueError: a number is no day of a month.
    """

    calendar_type: ClassVar[str] = "monthly"

    days_excluded: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        DayCalendar.__post_init__(self)
        object.__setattr__(self, "days_excluded", _numbers(self.days_excluded))

    def with_excluded(self, *days: int) -> MonthlyCalendar:
        """Return the calendar with more days excluded."""
        return replace(self, days_excluded=self.days_excluded | _numbers(days))

    def without_excluded(self, *days: int) -> MonthlyCalendar:
        """Return the calendar with fewer days excluded."""
        return replace(self, days_excluded=self.days_excluded - _numbers(days))

    def is_day_excluded(self, day: int) -> bool:
        """Tell whether the own set, without the base, excludes a day of the month."""
        return day in self.days_excluded

    @property
    def are_all_days_excluded(self) -> bool:
        """Whether no day is left."""
        return self.days_excluded == _DAYS_OF_A_MONTH

    def _is_excluded(self, day: date) -> bool:
        return day.day in self.days_excluded

    def _free_day_after(self, day: date) -> date | None:
        return None if self.are_all_days_excluded else DayCalendar._free_day_after(self, day)


def _numbers(days: Iterable[int]) -> frozenset[int]:
    found = frozenset(days)
    if wrong := found - _DAYS_OF_A_MONTH:
        raise InvalidValueError(f"{sorted(wrong, key=repr)} are no days of a month: give numbers from 1 to 31")
    return found
