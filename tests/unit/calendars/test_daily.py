"""Daily calendars."""

from __future__ import annotations

from datetime import UTC, time
from typing import Any

import pytest

from quartzite.calendars import DailyCalendar
from quartzite.errors import InvalidValueError
from quartzite.timezones import zone
from tests.unit.calendars.instants import at

AFTERNOON = DailyCalendar(range_start=time(12), range_end=time(14))
ONLY_AFTERNOON = DailyCalendar(range_start=time(12), range_end=time(14), invert_time_range=True)


@pytest.mark.parametrize(
    ("moment", "in_range"),
    [
        ("2026-01-01T00:00:00.000", False),
        ("2026-01-01T11:59:59.999999", False),
        ("2026-01-01T12:00:00.000", True),
        ("2026-01-01T14:00:00.000", True),
        ("2026-01-01T14:00:00.000999", True),
        ("2026-01-01T14:00:00.001", False),
        ("2026-01-01T23:59:59.999", False),
    ],
)
def test_both_ends_belong_to_the_range(moment: str, in_range: bool) -> None:
    """The millisecond of the end is the last one in it; the ends of the day are like any other time."""
    assert AFTERNOON.is_time_included(at(moment)) is not in_range
    assert ONLY_AFTERNOON.is_time_included(at(moment)) is in_range


@pytest.mark.parametrize(
    ("calendar", "moment", "following"),
    [
        (AFTERNOON, "2026-01-01T12:00", "2026-01-01T14:00:00.001"),
        (AFTERNOON, "2026-01-01T14:00:00.000500", "2026-01-01T14:00:00.001"),
        (ONLY_AFTERNOON, "2026-01-01T05:00", "2026-01-01T12:00"),
        (ONLY_AFTERNOON, "2026-01-01T14:00:00.001", "2026-01-02T12:00"),
    ],
)
def test_the_next_included_instant(calendar: DailyCalendar, moment: str, following: str) -> None:
    """A millisecond behind the range, or the beginning of the only range that is included."""
    assert calendar.next_included(at(moment)) == at(following)


def test_the_clocks_of_the_zone_count() -> None:
    """The range is local time."""
    calendar = DailyCalendar(range_start=time(12), range_end=time(14), time_zone=zone("America/New_York"))
    assert not calendar.is_time_included(at("2012-11-02T17:00"))
    assert calendar.is_time_included(at("2012-11-05T16:59"))


def test_a_range_in_an_hour_that_is_shown_twice() -> None:
    """What the clocks show counts, so the range is in both passes, and there is time between them."""
    calendar = DailyCalendar(range_start=time(1, 10), range_end=time(1, 20), time_zone=zone("America/New_York"))
    assert not calendar.is_time_included(at("2026-11-01T01:15-04:00"))
    assert calendar.is_time_included(at("2026-11-01T01:30-04:00"))
    assert not calendar.is_time_included(at("2026-11-01T01:15-05:00"))
    assert calendar.next_included(at("2026-11-01T01:15-05:00")) == at("2026-11-01T01:20:00.001-05:00")


def test_a_range_that_a_clock_change_cuts() -> None:
    """Where clocks jump into the range or out of it, the jump is where it begins or ends."""
    berlin = zone("Europe/Berlin")
    calendar = DailyCalendar(range_start=time(1), range_end=time(2, 30), time_zone=berlin)
    assert calendar.next_included(at("2026-03-29T01:30+01:00")) == at("2026-03-29T03:00+02:00")
    only = DailyCalendar(range_start=time(2), range_end=time(2, 30), invert_time_range=True, time_zone=berlin)
    assert only.next_included(at("2026-03-29T01:30+01:00")) == at("2026-03-30T02:00+02:00")
    assert only.next_included(at("2026-10-25T02:45+02:00")) == at("2026-10-25T02:00+01:00")


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (time(14, 50), time(1, 20)),
        (time(12), time(12)),
        (time(12, 0, 0, 500), time(13)),
        (time(12), time(13, tzinfo=UTC)),
        ("12:00", "13:00"),
    ],
)
def test_what_is_no_range(start: Any, end: Any) -> None:
    """A range begins before it ends, on one day, in whole milliseconds of local time."""
    with pytest.raises(InvalidValueError):
        DailyCalendar(range_start=start, range_end=end)
