"""Annual calendars."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from quartzite.calendars import AnnualCalendar
from quartzite.errors import InvalidValueError
from quartzite.timezones import zone
from tests.unit.calendars.instants import at


def test_a_day_is_excluded_every_year() -> None:
    """The year of a date does not matter, neither when it is added nor when it is removed."""
    calendar = AnnualCalendar().with_excluded(date(2005, 1, 1))
    assert calendar.days_excluded == {(1, 1)}
    for year in (2003, 2005, 2007, 2105):
        assert not calendar.is_time_included(at(f"{year}-01-01T12:00"))
        assert calendar.is_day_excluded(date(year, 1, 1))
    assert not calendar.is_day_excluded((1, 2))
    assert calendar.without_excluded(date(2007, 1, 1)) == AnnualCalendar()
    assert AnnualCalendar().without_excluded((1, 1)) == AnnualCalendar()


def test_the_verbs_return_another_calendar() -> None:
    """Nothing changes in place, and the rest is kept."""
    first = AnnualCalendar(description="bank holidays", time_zone=zone("Europe/Berlin"))
    second = first.with_excluded((12, 25), (12, 26))
    assert first.days_excluded == frozenset()
    assert (second.description, second.time_zone, len(second.days_excluded)) == ("bank holidays", first.time_zone, 2)


def test_a_leap_day() -> None:
    """29 February can be excluded, and counts in leap years."""
    calendar = AnnualCalendar().with_excluded((2, 29))
    assert not calendar.is_time_included(at("2028-02-29T12:00"))
    assert calendar.is_time_included(at("2027-03-01T00:00"))
    assert calendar.next_included(at("2028-02-29T12:00")) == at("2028-03-01T00:00")


def test_all_days() -> None:
    """Without a day left nothing is included."""
    days = (date(2000, 1, 1) + timedelta(days=n) for n in range(366))
    calendar = AnnualCalendar(days_excluded=frozenset((day.month, day.day) for day in days))
    assert calendar.are_all_days_excluded
    assert calendar.next_included(at("2026-01-01T00:00")) is None
    only_leap_day = calendar.without_excluded((2, 29))
    assert only_leap_day.next_included(at("2026-01-01T00:00")) == at("2028-02-29T00:00")


def test_own_days_are_kept_beside_the_base() -> None:
    """A day that the base excludes too stays excluded when the base goes."""
    base = AnnualCalendar().with_excluded((8, 17))
    both = AnnualCalendar(base=base).with_excluded((8, 17))
    assert not AnnualCalendar(days_excluded=both.days_excluded).is_time_included(at("2026-08-17T12:00"))


@pytest.mark.parametrize("day", [(2, 30), (13, 1), (0, 1), "12-25", 5, (1, 2, 3), ("1", "2")])
def test_what_is_no_day(day: Any) -> None:
    """A pair is month and day, and exists."""
    with pytest.raises(InvalidValueError, match="is no day of a year"):
        AnnualCalendar().with_excluded(day)
