"""The days that an expression matches (spec 02 section 3.1).

A day counts as the number of days since 1970-01-01. Only fourteen kinds of years exist (leap or not, seven weekdays
of January 1st), so the days of a year are one bit mask out of at most fourteen, made when first needed.
"""

from __future__ import annotations

from calendar import isleap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date
from typing import Final, Protocol

__all__ = ["ALL_DAYS_OF_MONTH", "DayTable", "DaysOfMonth", "DaysOfWeek", "LastDay", "MonthShape", "NearestWeekday"]

ALL_DAYS_OF_MONTH: Final = 0xFFFF_FFFE
_YEARS_SEARCHED: Final = 100
_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_FIRST_DAY: Final = date.min.toordinal() - _EPOCH_ORDINAL
_LAST_DAY: Final = date.max.toordinal() - _EPOCH_ORDINAL
_MONTH_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_EVERY_SEVENTH_BIT: Final = sum(1 << 7 * week for week in range(6))
_SATURDAY: Final = 6
_SUNDAY: Final = 0


@dataclass(frozen=True, slots=True)
class MonthShape:
    """All of a month that matters here.

    Attributes:
        length: Number of its days.
        first_weekday: Weekday of its first day, 0 for Sunday to 6 for Saturday.
    """

    length: int
    first_weekday: int

    def weekday(self, day: int) -> int:
        """Return the weekday of a day, 0 for Sunday."""
        return (self.first_weekday + day - 1) % 7

    def nearest_weekday(self, day: int) -> int:
        """Return the day from Monday to Friday that is nearest to ``day`` inside the month."""
        weekday = self.weekday(day)
        if weekday == _SATURDAY:
            return day - 1 if day > 1 else 3
        if weekday == _SUNDAY:
            return day + 1 if day < self.length else day - 2
        return day


class SpecialDay(Protocol):
    """A day of the month that depends on the month's shape."""

    def in_month(self, shape: MonthShape) -> int | None:
        """Return the day, or None when the month has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastDay:
    """``L``, ``L-n``, ``LW``, ``L-nW`` and ``L-nW-m``.

    Attributes:
        offset: n, days before the last day.
        weekday: Whether the nearest weekday to it is meant.
        earlier: m, taken off at the end, not below the first day.
    """

    offset: int = 0
    weekday: bool = False
    earlier: int = 0

    def in_month(self, shape: MonthShape) -> int | None:
        """Return the day, or None when the offset is larger than the month."""
        day = shape.length - self.offset
        if day < 1:
            return None
        return max(1, shape.nearest_weekday(day) - self.earlier) if self.weekday else day


@dataclass(frozen=True, slots=True)
class NearestWeekday:
    """``nW``: the weekday nearest to day n, which the month's last day limits first."""

    day: int

    def in_month(self, shape: MonthShape) -> int:
        """Return the day."""
        return shape.nearest_weekday(min(self.day, shape.length))


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysOfMonth:
    """The days of a month by their number.

    Attributes:
        plain: Bit d says that day d matches.
        special: Days that depend on the month.
    """

    plain: int
    special: tuple[SpecialDay, ...] = ()

    def mask(self, shape: MonthShape) -> int:
        """Return the days of one month, bit 0 for day 1; days behind its end may be set."""
        mask = self.plain >> 1
        for special in self.special:
            day = special.in_month(shape)
            if day is not None:
                mask |= 1 << day - 1
        return mask


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysOfWeek:
    """The days of a month by their weekday.

    Attributes:
        plain: Bit d says that weekday d (1 for Sunday) matches.
        nth: Which such day of the month alone matches, 1 to 5, 0 for the last; None for all.
    """

    plain: int
    nth: int | None = None

    def mask(self, shape: MonthShape) -> int:
        """Return the days of one month, bit 0 for day 1; days behind its end may be set."""
        mask = 0
        for weekday in range(7):
            if self.plain >> weekday + 1 & 1:
                mask |= self._of_weekday((weekday - shape.first_weekday) % 7, shape.length)
        return mask

    def _of_weekday(self, first: int, length: int) -> int:
        if self.nth is None:
            return _EVERY_SEVENTH_BIT << first
        weeks = (length - 1 - first) // 7 if self.nth == 0 else self.nth - 1
        return 1 << first + 7 * weeks


class DayTable:
    """The matching days of every year, for searching forwards and backwards.

    A search gives up a hundred years from its argument. Both day fields given means that either may match.
    """

    __slots__ = ("_days_of_month", "_days_of_week", "_masks", "_months", "_window", "_years")

    def __init__(
        self,
        *,
        days_of_month: DaysOfMonth | None,
        months: int,
        days_of_week: DaysOfWeek | None,
        years: int | None,
    ) -> None:
        """Take the compiled fields.

        Args:
            days_of_month: None for ``?``.
            months: Bit m says that month m matches.
            days_of_week: None for ``?``.
            years: Bit y - 1970 says that year y matches; None for every year.
        """
        self._days_of_month = days_of_month
        self._months = months
        self._days_of_week = days_of_week
        self._years = years
        self._masks: dict[tuple[bool, int], int] = {}
        # The year that was searched last: its first day, the day behind it, its mask. Replaced as a whole, so that
        # threads may share the table.
        self._window = (0, 0, 0)

    def on_or_after(self, day: int) -> int | None:
        """Return the first matching day >= ``day``, or None."""
        start, end, mask = self._window
        if start <= day < end:
            mask >>= day - start
            if mask:
                return day + (mask & -mask).bit_length() - 1
        return self._search_forwards(day)

    def on_or_before(self, day: int) -> int | None:
        """Return the last matching day <= ``day``, or None."""
        if not _FIRST_DAY <= day <= _LAST_DAY:
            return None
        latest = _year_of(day)
        for year in range(latest, max(latest - _YEARS_SEARCHED, MINYEAR) - 1, -1):
            start, end, mask = self._open(year)
            if day < end - 1:
                mask &= (2 << day - start) - 1
            if mask:
                return start + mask.bit_length() - 1
        return None

    def unmatched_on_or_after(self, day: int) -> int | None:
        """Return the first day >= ``day`` that does not match, or None."""
        for year in _years_from(day):
            start, end, mask = self._open(year)
            missing = ~mask & (1 << end - start) - 1
            missing = missing >> day - start << day - start if day > start else missing
            if missing:
                return start + (missing & -missing).bit_length() - 1
        return None

    def _search_forwards(self, day: int) -> int | None:
        for year in _years_from(day):
            start, _, mask = self._open(year)
            mask = mask >> day - start << day - start if day > start else mask
            if mask:
                return start + (mask & -mask).bit_length() - 1
        return None

    def _open(self, year: int) -> tuple[int, int, int]:
        start = date(year, 1, 1).toordinal() - _EPOCH_ORDINAL
        leap = isleap(year)
        mask = self._year_mask(leap, (start + 4) % 7) if self._has_year(year) else 0
        window = self._window = (start, start + 365 + leap, mask)
        return window

    def _has_year(self, year: int) -> bool:
        return self._years is None or (year >= 1970 and bool(self._years >> year - 1970 & 1))

    def _year_mask(self, leap: bool, first_weekday: int) -> int:
        kind = (leap, first_weekday)
        mask = self._masks.get(kind)
        if mask is None:
            mask = self._masks[kind] = self._make_year_mask(leap, first_weekday)
        return mask

    def _make_year_mask(self, leap: bool, first_weekday: int) -> int:
        mask = start = 0
        for month, length in enumerate(_MONTH_LENGTHS, start=1):
            days = length + (leap and month == 2)
            if self._months >> month & 1:
                mask |= self._month_mask(MonthShape(days, (first_weekday + start) % 7)) << start
            start += days
        return mask

    def _month_mask(self, shape: MonthShape) -> int:
        fields = (self._days_of_month, self._days_of_week)
        mask = 0
        for days in fields:
            if days is not None:
                mask |= days.mask(shape)
        return mask & (1 << shape.length) - 1


def _year_of(day: int) -> int:
    return date.fromordinal(day + _EPOCH_ORDINAL).year


def _years_from(day: int) -> Iterator[int]:
    """Count the years in which a search from ``day`` on looks."""
    if _FIRST_DAY <= day <= _LAST_DAY:
        first = _year_of(day)
        yield from range(first, min(first + _YEARS_SEARCHED, MAXYEAR) + 1)
