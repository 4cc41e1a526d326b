"""WeeklyCalendar: days of the week that are excluded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, Final

from quartzite.calendars.days import DayCalendar
from quartzite.cron import DayOfWeek
from quartzite.errors import InvalidValueError

__all__ = ["WeeklyCalendar"]

_WEEKEND: Final = frozenset({DayOfWeek.SATURDAY, DayOfWeek.SUNDAY})
_DAYS_OF_A_WEEK: Final = len(DayOfWeek)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeeklyCalendar(DayCalendar):
    """Excludes days of the week; Saturday and Sunday unless others are given (spec 03 section 2).

    Attributes:
        days_excluded: Days, or their numbers (1 is Sunday).

    Raises:
        InvalidValueError: a number is no day of the week.
    """

    calendar_type: ClassVar[str] = "weekly"

    days_excluded: frozenset[DayOfWeek] = _WEEKEND

    def __post_init__(self) -> None:
        DayCalendar.__post_init__(self)
        object.__setattr__(self, "days_excluded", _weekdays(self.days_excluded))

    def with_excluded(self, *days: int) -> WeeklyCalendar:
        """Return the calendar with more days excluded, given as ``DayOfWeek`` or as numbers from 1 (Sunday)."""
        return replace(self, days_excluded=self.days_excluded | _weekdays(days))

    def without_excluded(self, *days: int) -> WeeklyCalendar:
        """Return the calendar with fewer days excluded."""
        return replace(self, days_excluded=self.days_excluded - _weekdays(days))

    def is_day_excluded(self, day: int) -> bool:
        """Tell whether the own set, without the base, excludes a day of the week."""
        return day in self.days_excluded

    @property
    def are_all_days_excluded(self) -> bool:
        """Whether no day is left."""
        return len(self.days_excluded) == _DAYS_OF_A_WEEK

    def _is_excluded(self, day: date) -> bool:
        return day.isoweekday() % 7 + 1 in self.days_excluded

    def _free_day_after(self, day: date) -> date | None:
        return None if self.are_all_days_excluded else DayCalendar._free_day_after(self, day)


def _weekdays(days: Iterable[int]) -> frozenset[DayOfWeek]:
    try:
        return frozenset(DayOfWeek(day) for day in days)
    except ValueError as error:
        raise InvalidValueError(
            f"{error}: give DayOfWeek.MONDAY and the like, or numbers from 1 (Sunday) to 7"
        ) from None
