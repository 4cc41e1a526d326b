"""Calendars of whole days, and the clocks that show them."""

from __future__ import annotations

from datetime import date

import pytest

from quartzite.calendars import HolidayCalendar
from quartzite.timezones import zone
from tests.unit.calendars.instants import at


def holiday(day: str, time_zone: str) -> HolidayCalendar:
    """Exclude one day of a zone."""
    return HolidayCalendar(days_excluded=frozenset({date.fromisoformat(day)}), time_zone=zone(time_zone))


def test_a_day_is_that_of_the_zone() -> None:
    """The day is looked up by the clocks of the zone, from midnight to midnight."""
    calendar = holiday("2012-11-04", "America/New_York")
    assert not calendar.is_time_included(at("2012-11-05T00:00-04:00"))
    assert calendar.next_included(at("2012-11-05T00:00-04:00")) == at("2012-11-05T00:00-05:00")
    assert calendar.is_time_included(at("2012-11-03T23:59:59.999999-04:00"))
    assert calendar.is_time_included(at("2012-11-05T00:00-05:00"))


def test_a_midnight_that_the_clocks_skip() -> None:
    """A day whose midnight is in a gap begins at the first instant that the clocks show of it."""
    assert holiday("2019-09-07", "America/Santiago").next_included(at("2019-09-07T12:00-04:00")) == at(
        "2019-09-08T01:00-03:00"
    )


def test_a_midnight_that_the_clocks_show_twice() -> None:
    """Clocks that go back over midnight show the old day again, which then ends a second time."""
    calendar = holiday("2010-11-06", "America/St_Johns")  # at 00:01 of the 7th back to 23:01 of the 6th
    assert calendar.next_included(at("2010-11-06T12:00-02:30")) == at("2010-11-07T00:00-02:30")
    assert calendar.is_time_included(at("2010-11-07T00:00:59-02:30"))
    assert not calendar.is_time_included(at("2010-11-06T23:30-03:30"))
    assert calendar.next_included(at("2010-11-06T23:30-03:30")) == at("2010-11-07T00:00-03:30")


@pytest.mark.parametrize("excluded", ["2011-12-29", "2011-12-30"])
def test_a_day_that_does_not_exist(excluded: str) -> None:
    """Where a whole day was skipped, what lies behind the day before is the day after."""
    calendar = holiday(excluded, "Pacific/Apia")
    assert calendar.next_included(at("2011-12-29T12:00-10:00")) == (
        at("2011-12-31T00:00+14:00") if excluded == "2011-12-29" else at("2011-12-29T12:00-10:00")
    )


def test_the_end_of_time() -> None:
    """A calendar that excludes every day there is comes to the end of the years, and gives none."""
    days = frozenset(date.fromordinal(n) for n in range(date(9998, 12, 30).toordinal(), date.max.toordinal() + 1))
    for time_zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        calendar = HolidayCalendar(days_excluded=days, time_zone=zone(time_zone))
        assert calendar.next_included(at("9998-12-31T12:00")) is None
