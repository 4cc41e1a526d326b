"""RecurrenceDays: the days that the day parts of a recurrence rule choose."""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any, Final

from dateutil.rrule import YEARLY, rrule, weekday

from quartzite.triggers.recurrence_rule import Frequency, RecurrenceRule

__all__ = ["RecurrenceDays"]

_ONLY_ONE_PERIOD: Final = 10_000
_LAST_YEAR: Final = 9999
_KEPT_YEARS: Final = 8


class RecurrenceDays:
    """Days by ordinal, as ``datetime.date`` counts them (RFC 5545 section 3.3.10).

    dateutil says which days of a single year pass the parts; FREQ and INTERVAL are arithmetic on top. So a day is
    found without a walk from the start of the rule.
    """

    def __init__(self, rule: RecurrenceRule, start: date) -> None:
        self._rule = rule
        self._start = start
        self._first_week = self._week(start.toordinal())
        self._filters = _filters(rule, start)
        self._years: dict[int, int] = {}

    def from_day(self, day: int, last_year: int) -> Iterator[int]:
        """Yield the chosen days from ``day`` on, in order, to the end of a year."""
        for year in range(date.fromordinal(day).year, min(last_year, _LAST_YEAR) + 1):
            first = max(day, _first_day(year))
            yield from _days_in(self._of_year(year) >> (first - _first_day(year)), first)

    def place_in_period(self, day: int) -> tuple[int, int]:
        """Return how many chosen days the period (year, month or week) of a chosen day has before it, and in all."""
        begin, end = self._period(day)
        return self._count(begin, day), self._count(begin, end)

    def _of_year(self, year: int) -> int:
        """Return the chosen days of a year as bits, the lowest being the first of January."""
        found = self._years.get(year)
        if found is None:
            if len(self._years) >= _KEPT_YEARS:
                self._years.clear()
            found = self._years[year] = self._choose(year)
        return found

    def _choose(self, year: int) -> int:
        """Return the days of a year that pass the parts and whose period is one of every INTERVAL periods."""
        rule = self._rule
        if rule.frequency is Frequency.YEARLY:
            return self._passing(year, None) if (year - self._start.year) % rule.interval == 0 else 0
        if rule.frequency is Frequency.MONTHLY:
            passed = (year - self._start.year) * 12 - self._start.month
            return self._passing(year, {month for month in range(1, 13) if (passed + month) % rule.interval == 0})
        if rule.frequency is Frequency.WEEKLY and rule.interval > 1:
            first = _first_day(year)
            return sum(1 << day - first for day in _days_in(self._passing(year, None), first) if self._in_step(day))
        return self._passing(year, None)

    def _passing(self, year: int, months: set[int] | None) -> int:
        """Return the days of a year that pass the parts, in some months only if these are given."""
        first = _first_day(year)
        if not self._filters:
            return (1 << _days_of(year)) - 1
        mask = 0
        for parts in self._filters:
            limits = parts if months is None else {**parts, "bymonth": _both(parts["bymonth"], months)}
            if limits["bymonth"] == []:
                continue
            # With that interval dateutil does not go on to later years when this one has no such day.
            for found in rrule(YEARLY, datetime(year, 1, 1), _ONLY_ONE_PERIOD, **limits):  # noqa: DTZ001  # local
                mask |= 1 << found.toordinal() - first
        return mask

    def _week(self, day: int) -> int:
        """Return the number of a day's week, counted from the year 1, which began on a Monday."""
        return (day - 1 - self._rule.week_start) // 7

    def _in_step(self, day: int) -> bool:
        return (self._week(day) - self._first_week) % self._rule.interval == 0

    def _period(self, day: int) -> tuple[int, int]:
        """Return the first day of a day's period, and the first behind it."""
        local = date.fromordinal(day)
        if self._rule.frequency is Frequency.YEARLY:
            return _first_day(local.year), _first_day(local.year) + _days_of(local.year)
        if self._rule.frequency is Frequency.MONTHLY:
            begin = day - local.day + 1
            return begin, begin + monthrange(local.year, local.month)[1]
        begin = self._week(day) * 7 + 1 + self._rule.week_start
        # Positions of the first week are counted from the start of the rule, like dateutil does.
        return max(begin, self._start.toordinal()), begin + 7

    def _count(self, begin: int, end: int) -> int:
        """Return how many days are chosen from ``begin`` to before ``end``."""
        count = 0
        while begin < end:
            year = date.fromordinal(begin).year
            first = _first_day(year)
            stop = min(end, first + _days_of(year))
            count += (self._of_year(year) >> (begin - first) & (1 << stop - begin) - 1).bit_count()
            begin = stop
        return count


def _filters(rule: RecurrenceRule, start: date) -> list[dict[str, Any]]:
    """Return what a day has to pass, as arguments for dateutil: one of the sets; every day passes when there is none.

    A rule without day parts takes its day from the start, as RFC 5545 says.
    """
    by_day, months, month_days = rule.by_day, rule.by_month, rule.by_month_day
    if not (by_day or month_days or rule.by_year_day or rule.by_week_number):
        if rule.frequency <= Frequency.MONTHLY:
            month_days = (start.day,)
            months = months or ((start.month,) if rule.frequency is Frequency.YEARLY else ())
        elif rule.frequency is Frequency.WEEKLY:
            by_day = ((None, start.weekday()),)
        elif not months:
            return []
        else:
            by_day = tuple((None, day) for day in range(7))
    common = {
        "wkst": rule.week_start,
        "bymonth": list(months) or None,
        "bymonthday": month_days or None,
        "byyearday": rule.by_year_day or None,
        "byweekno": rule.by_week_number or None,
        "byhour": 0,
        "byminute": 0,
        "bysecond": 0,
    }
    groups = _groups(by_day, counted=rule.frequency <= Frequency.MONTHLY)
    return [{**common, "byweekday": group} for group in groups] or [common]


def _groups(by_day: tuple[tuple[int | None, int], ...], *, counted: bool) -> list[list[weekday]]:
    """Return the days with an ordinal and those without, apart: dateutil takes only what is in both.

    Ordinals count within a year or a month; for shorter periods they mean nothing.
    """
    plain = [weekday(day) for ordinal, day in by_day if ordinal is None or not counted]
    with_ordinal = [weekday(day, ordinal) for ordinal, day in by_day if ordinal is not None and counted]
    return [group for group in (plain, with_ordinal) if group]


def _both(given: list[int] | None, months: set[int]) -> list[int]:
    return sorted(months if given is None else months.intersection(given))


def _days_in(mask: int, first: int) -> Iterator[int]:
    """Yield the days whose bits are set, ``first`` being the lowest."""
    while mask:
        zeros = (mask & -mask).bit_length() - 1
        yield first + zeros
        mask >>= zeros + 1
        first += zeros + 1


def _first_day(year: int) -> int:
    return date(year, 1, 1).toordinal()


def _days_of(year: int) -> int:
    return 366 if isleap(year) else 365
