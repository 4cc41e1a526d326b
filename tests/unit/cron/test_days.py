"""Days that match, in every kind of month and year."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

import pytest

from quartzite.cron.days import (
    ALL_DAYS_OF_MONTH,
    DaysOfMonth,
    DaysOfWeek,
    DayTable,
    LastDay,
    MonthShape,
    NearestWeekday,
    SpecialDay,
)

EPOCH = date(1970, 1, 1)
ALL_MONTHS = 0b1_1111_1111_1110


def shape_of(year: int, month: int) -> MonthShape:
    """Return the shape of a real month."""
    monday_first, length = monthrange(year, month)
    return MonthShape(length, (monday_first + 1) % 7)


def table(
    days_of_month: DaysOfMonth | None = None,
    days_of_week: DaysOfWeek | None = None,
    months: int = ALL_MONTHS,
    years: int | None = None,
) -> DayTable:
    """Make a table."""
    return DayTable(days_of_month=days_of_month, days_of_week=days_of_week, months=months, years=years)


def day(year: int, month: int, number: int) -> int:
    """Count a date as the tables do."""
    return (date(year, month, number) - EPOCH).days


def text(found: int | None) -> str | None:
    """Write a counted day as a date."""
    return None if found is None else str(EPOCH + timedelta(days=found))


# October 2010: the 2nd is a Saturday, the 31st a Sunday.
@pytest.mark.parametrize(
    ("special", "expected"),
    [
        (LastDay(), 31),
        (LastDay(offset=2), 29),
        (LastDay(offset=30), 1),
        (LastDay(weekday=True), 29),
        (LastDay(offset=1, weekday=True), 29),
        (LastDay(weekday=True, earlier=2), 27),
        (LastDay(weekday=True, earlier=28), 1),
        (LastDay(weekday=True, earlier=30), 1),
        (LastDay(offset=1, weekday=True, earlier=2), 27),
        (NearestWeekday(1), 1),
        (NearestWeekday(2), 1),
        (NearestWeekday(3), 4),
        (NearestWeekday(16), 15),
        (NearestWeekday(31), 29),
    ],
)
def test_special_days_of_october_2010(special: SpecialDay, expected: int) -> None:
    """Days that depend on the month are counted from its end or moved to its nearest weekday."""
    assert special.in_month(shape_of(2010, 10)) == expected


@pytest.mark.parametrize(
    ("special", "year", "month", "expected"),
    [
        (NearestWeekday(1), 2026, 8, 3),  # a Saturday: never into July
        (NearestWeekday(1), 2026, 2, 2),
        (NearestWeekday(31), 2026, 2, 27),  # limited to Saturday the 28th first
        (NearestWeekday(29), 2026, 2, 27),
        (NearestWeekday(31), 2024, 2, 29),
        (NearestWeekday(31), 2026, 5, 29),  # a Sunday: never into June
        (LastDay(offset=28), 2026, 2, None),
        (LastDay(offset=28), 2024, 2, 1),
        (LastDay(offset=30), 2026, 4, None),
        (LastDay(offset=29, weekday=True), 2026, 2, None),
        (LastDay(offset=27, weekday=True), 2026, 2, 2),  # Sunday the 1st
    ],
)
def test_special_days_stay_inside_their_month(special: SpecialDay, year: int, month: int, expected: int | None) -> None:
    """No day is moved into another month, and an offset larger than the month has no day."""
    assert special.in_month(shape_of(year, month)) == expected


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (DaysOfWeek(plain=1 << 2), [4, 11, 18, 25]),
        (DaysOfWeek(plain=1 << 1 | 1 << 7), [2, 3, 9, 10, 16, 17, 23, 24, 30, 31]),
        (DaysOfWeek(plain=1 << 6, nth=1), [1]),
        (DaysOfWeek(plain=1 << 6, nth=5), [29]),
        (DaysOfWeek(plain=1 << 2, nth=5), []),
        (DaysOfWeek(plain=1 << 2, nth=0), [25]),
        (DaysOfWeek(plain=1 << 1, nth=0), [31]),
    ],
)
def test_weekdays_of_october_2010(days: DaysOfWeek, expected: list[int]) -> None:
    """Weekdays match each week, in the n-th week, or in the last."""
    mask = days.mask(shape_of(2010, 10)) & (1 << 31) - 1
    assert [number for number in range(1, 32) if mask >> number - 1 & 1] == expected


@pytest.mark.parametrize(
    ("of_month", "of_week", "expected"),
    [
        (DaysOfMonth(plain=1 << 3), DaysOfWeek(plain=1 << 2), [3, 4, 11, 18, 25]),
        (DaysOfMonth(plain=1 << 3), None, [3]),
        (None, DaysOfWeek(plain=1 << 2), [4, 11, 18, 25]),
        (DaysOfMonth(plain=ALL_DAYS_OF_MONTH), DaysOfWeek(plain=1 << 2), [*range(1, 32)]),
    ],
)
def test_either_day_field_matches(
    of_month: DaysOfMonth | None, of_week: DaysOfWeek | None, expected: list[int]
) -> None:
    """When both day fields are given a day matches by either; a missing one says nothing."""
    days = table(of_month, of_week)
    first = day(2010, 10, 1)
    assert [n for n in range(1, 32) if days.on_or_after(first + n - 1) == first + n - 1] == expected


SEARCHED = {
    "every day": table(DaysOfMonth(plain=ALL_DAYS_OF_MONTH)),
    "31st": table(DaysOfMonth(plain=1 << 31)),
    "30 February": table(DaysOfMonth(plain=1 << 30), months=1 << 2),
    "29 February": table(DaysOfMonth(plain=1 << 29), months=1 << 2),
    "Fridays of odd months": table(None, DaysOfWeek(plain=1 << 6), months=0b1010_1010_1010),
    "LW or fifth Sunday": table(
        DaysOfMonth(plain=0, special=(LastDay(weekday=True),)), DaysOfWeek(plain=1 << 1, nth=5)
    ),
    "leap years only": table(DaysOfMonth(plain=ALL_DAYS_OF_MONTH), years=1 << 34 | 1 << 38),
}


@pytest.mark.parametrize("name", SEARCHED)
def test_searches_agree_with_each_other(name: str) -> None:
    """From every third day of 1995 to 2031 on, forwards, backwards and complement are consistent."""
    days = SEARCHED[name]
    for asked in range(day(1995, 1, 1), day(2031, 1, 1), 3):
        after, before, free = days.on_or_after(asked), days.on_or_before(asked), days.unmatched_on_or_after(asked)
        if after is not None:
            assert after >= asked
            assert days.on_or_before(after) == after
            assert days.on_or_before(after - 1) == (before if before != after else days.on_or_before(asked - 1))
        if before is not None:
            assert before <= asked
            assert days.on_or_after(before) == before
        if free is not None:
            assert days.on_or_after(free) != free
            assert all(days.on_or_after(between) == between for between in range(asked, min(free, asked + 40)))
        else:
            assert name == "every day"


@pytest.mark.parametrize(
    ("name", "asked", "after", "before"),
    [
        ("29 February", day(2096, 3, 1), "2104-02-29", "2096-02-29"),
        ("29 February", day(1896, 3, 1), "1904-02-29", "1896-02-29"),
        ("30 February", day(2026, 1, 1), None, None),
        ("leap years only", day(2005, 6, 1), "2008-01-01", "2004-12-31"),
        ("leap years only", day(2009, 1, 1), None, "2008-12-31"),
        ("leap years only", day(2003, 12, 31), "2004-01-01", None),
        ("leap years only", day(1903, 12, 31), None, None),  # a hundred years are not enough
        ("leap years only", day(1904, 1, 1), "2004-01-01", None),
        ("leap years only", day(2108, 1, 1), None, "2008-12-31"),
        ("leap years only", day(2109, 1, 1), None, None),
        ("every day", day(9999, 12, 31), "9999-12-31", "9999-12-31"),
        ("every day", day(9999, 12, 31) + 1, None, None),
        ("every day", day(1, 1, 1) - 1, None, None),
    ],
)
def test_searches_give_up_after_a_hundred_years(name: str, asked: int, after: str | None, before: str | None) -> None:
    """A search looks at the year it is asked about and at a hundred more, inside the calendar."""
    days = SEARCHED[name]
    assert text(days.on_or_after(asked)) == after
    assert text(days.on_or_before(asked)) == before
