"""Monthly calendars."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.calendars import MonthlyCalendar
from quartzite.errors import InvalidValueError
from quartzite.timezones import zone
from tests.unit.calendars.instants import at


def test_days_of_every_month() -> None:
    """A number excludes its day of every month, by the clocks of the zone."""
    assert MonthlyCalendar().with_excluded(3).next_included(at("2007-08-03T12:00")) == at("2007-08-04T00:00")
    calendar = MonthlyCalendar(time_zone=zone("America/New_York")).with_excluded(4)
    assert not calendar.is_time_included(at("2012-11-05T00:00-04:00"))
    assert calendar.is_day_excluded(4)
    assert calendar.without_excluded(4, 5).days_excluded == frozenset()


def test_the_31st_alone() -> None:
    """Months without the only day that is left are passed over."""
    calendar = MonthlyCalendar(days_excluded=frozenset(range(1, 31)))
    assert not calendar.are_all_days_excluded
    assert calendar.next_included(at("2026-02-01T00:00")) == at("2026-03-31T00:00")


def test_all_days() -> None:
    """Without a day left nothing is included."""
    calendar = MonthlyCalendar(days_excluded=frozenset(range(1, 32)))
    assert calendar.are_all_days_excluded
    assert not calendar.is_time_included(at("2026-01-01T00:00"))
    assert calendar.next_included(at("2026-01-01T00:00")) is None


@pytest.mark.parametrize("day", [0, 32, -1, "1", None])
def test_what_is_no_day(day: Any) -> None:
    """Days go from 1 to 31."""
    with pytest.raises(InvalidValueError, match="no days of a month"):
        MonthlyCalendar().with_excluded(day)
