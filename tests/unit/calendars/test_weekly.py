"""Weekly calendars."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.calendars import WeeklyCalendar
from quartzite.cron import DayOfWeek
from quartzite.errors import InvalidValueError
from quartzite.timezones import zone
from tests.unit.calendars.instants import at


def test_the_weekend_is_the_default() -> None:
    """Saturday and Sunday are excluded unless others are given."""
    assert WeeklyCalendar().days_excluded == {DayOfWeek.SATURDAY, DayOfWeek.SUNDAY}
    calendar = WeeklyCalendar().with_excluded(DayOfWeek.FRIDAY)
    assert calendar.next_included(at("2007-08-03T00:00")) == at("2007-08-06T00:00")
    assert WeeklyCalendar(days_excluded=frozenset()).is_time_included(at("2007-08-04T00:00"))


def test_numbers_are_days_too() -> None:
    """1 is Sunday; what comes out are members of the enumeration."""
    calendar = WeeklyCalendar(days_excluded=frozenset({1, 2}))  # type: ignore[arg-type]
    assert calendar.days_excluded == {DayOfWeek.SUNDAY, DayOfWeek.MONDAY}
    assert all(isinstance(day, DayOfWeek) for day in calendar.days_excluded)
    assert calendar.is_day_excluded(1)
    assert calendar.without_excluded(1, 7).days_excluded == {DayOfWeek.MONDAY}


def test_a_day_is_that_of_the_zone() -> None:
    """The only day that is left begins at midnight of the zone."""
    others = frozenset(DayOfWeek) - {DayOfWeek.MONDAY}
    calendar = WeeklyCalendar(days_excluded=others, time_zone=zone("America/New_York"))
    assert not calendar.is_time_included(at("2012-11-05T00:00-04:00"))
    assert calendar.next_included(at("2012-11-05T00:00-04:00")) == at("2012-11-05T00:00-05:00")


def test_all_days() -> None:
    """Without a day left nothing is included."""
    calendar = WeeklyCalendar(days_excluded=frozenset(DayOfWeek))
    assert calendar.are_all_days_excluded
    assert calendar.next_included(at("2026-01-01T00:00")) is None


@pytest.mark.parametrize("day", [0, 8, "MONDAY"])
def test_what_is_no_day(day: Any) -> None:
    """Days go from 1 to 7."""
    with pytest.raises(InvalidValueError, match="not a valid DayOfWeek"):
        WeeklyCalendar().with_excluded(day)
