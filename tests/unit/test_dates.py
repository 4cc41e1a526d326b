"""Dates built part by part, and dates near another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time
from typing import Any

import pytest

from quartzite import dates
from quartzite.dates import DateBuilder
from quartzite.errors import InvalidValueError

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001
BERLIN = "Europe/Berlin"
NEW_YORK = "America/New_York"


def utc(text: str) -> datetime:
    """Read a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NOW = utc("2026-07-15T22:13:54.25")  # in Berlin it is the 16th, 00:13:54


# ----------------------------------------------------------------------------------------------------- builder
@pytest.mark.parametrize(
    ("builder", "expected"),
    [
        (DateBuilder.new_date(NOW), "2026-07-15T22:13:54"),
        (DateBuilder.new_date(NOW).at_hour_minute_and_second(9, 30, 0), "2026-07-15T09:30"),
        (DateBuilder.new_date(NOW).at_hour_of_day(8), "2026-07-15T08:13:54"),
        (DateBuilder.new_date(NOW).at_minute(0).at_second(0), "2026-07-15T22:00"),
        (DateBuilder.new_date(NOW).in_year(2030), "2030-07-15T22:13:54"),
        (DateBuilder.new_date(NOW).in_month(2).on_day(3), "2026-02-03T22:13:54"),
        (DateBuilder.new_date(NOW).in_month_on_day(12, 31), "2026-12-31T22:13:54"),
        (DateBuilder.new_date_in_time_zone(BERLIN, NOW), "2026-07-15T22:13:54"),
        (DateBuilder.new_date_in_time_zone(BERLIN, NOW).at_hour_minute_and_second(9, 0, 0), "2026-07-16T07:00"),
        (DateBuilder.new_date(NOW).at_hour_minute_and_second(9, 0, 0).in_time_zone(BERLIN), "2026-07-16T07:00"),
        # a time in a gap, and one that occurs twice
        (
            DateBuilder.new_date_in_time_zone(NEW_YORK, NOW)
            .in_year(2024)
            .in_month_on_day(3, 10)
            .at_hour_minute_and_second(2, 30, 0),
            "2024-03-10T07:30",
        ),
        (
            DateBuilder.new_date_in_time_zone(NEW_YORK, NOW)
            .in_year(2024)
            .in_month_on_day(11, 3)
            .at_hour_minute_and_second(1, 30, 0),
            "2024-11-03T05:30",
        ),
    ],
)
def test_built(builder: DateBuilder, expected: str) -> None:
    """Parts that are set are taken, the others are those of now in the zone, without parts of a second."""
    built = builder.build()
    assert built == utc(expected)
    assert built.tzinfo is UTC


def test_builder_does_not_change() -> None:
    """A verb returns a new builder and leaves its own alone."""
    start = DateBuilder.new_date(NOW)
    start.in_year(2030)
    assert start.build().year == 2026


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: DateBuilder.new_date(NAIVE),
        lambda: DateBuilder.new_date_in_time_zone("Mars/Base", NOW),
        lambda: DateBuilder.new_date(NOW).in_year(1969),
        lambda: DateBuilder.new_date(NOW).in_year(2200),
        lambda: DateBuilder.new_date(NOW).in_month(13),
        lambda: DateBuilder.new_date(NOW).on_day(0),
        lambda: DateBuilder.new_date(NOW).at_hour_of_day(24),
        lambda: DateBuilder.new_date(NOW).at_minute(60),
        lambda: DateBuilder.new_date(NOW).at_second(-1),
        lambda: DateBuilder.new_date(NOW).in_month_on_day(2, 30).build(),
        lambda: DateBuilder.new_date(utc("2026-01-31")).in_month(2).build(),
        lambda: dates.today_at(24, 0, now=NOW),
        lambda: dates.tomorrow_at(1, 60, now=NOW),
        lambda: dates.today_at(1, 0, now=NAIVE),
        lambda: dates.even_hour_date(NAIVE),
        lambda: dates.next_given_minute_date(NOW, 60),
        lambda: dates.next_given_second_date(NOW, -1),
        lambda: dates.next_given_time_of_day(time(9, tzinfo=UTC), after=NOW),
        lambda: dates.next_given_time_of_day(time(9), after=NAIVE),
    ],
)
def test_what_no_date_has_is_refused(wrong: Callable[[], object]) -> None:
    """Parts out of range, days that the month does not have, and naive instants are refused."""
    with pytest.raises(InvalidValueError):
        wrong()


# ------------------------------------------------------------------------------------------------ time of day
def test_today_and_tomorrow_are_local() -> None:
    """Today is the local day of now, whether the time is past or not; tomorrow the day behind it."""
    assert dates.today_at(9, 0, now=NOW) == utc("2026-07-15T09:00")
    assert dates.today_at(9, 0, 5, now=NOW, time_zone=BERLIN) == utc("2026-07-16T07:00:05")
    assert dates.tomorrow_at(9, 0, now=NOW) == utc("2026-07-16T09:00")
    assert dates.tomorrow_at(9, 0, now=NOW, time_zone=BERLIN) == utc("2026-07-17T07:00")


def test_tomorrow_is_a_local_day_away() -> None:
    """Across a clock change tomorrow is 23 or 25 hours away."""
    assert dates.tomorrow_at(12, 0, now=utc("2024-03-09T17:00"), time_zone=NEW_YORK) == utc("2024-03-10T16:00")
    assert dates.tomorrow_at(12, 0, now=utc("2024-11-02T16:00"), time_zone=NEW_YORK) == utc("2024-11-03T17:00")


@pytest.mark.parametrize(
    ("time_of_day", "after", "time_zone", "expected"),
    [
        (time(9), "2026-07-15T08:59:59.999", None, "2026-07-15T09:00"),
        (time(9), "2026-07-15T09:00", None, "2026-07-16T09:00"),
        (time(0), "2026-12-31T23:59", None, "2027-01-01T00:00"),
        (time(9), "2026-07-15T22:13", BERLIN, "2026-07-16T07:00"),
        (time(23, 59), "2026-07-15T22:13", BERLIN, "2026-07-16T21:59"),
        (time(2, 30), "2024-03-10T06:59", NEW_YORK, "2024-03-10T07:30"),  # in the gap
        (time(2, 30), "2024-03-10T07:10", NEW_YORK, "2024-03-10T07:30"),  # moved, and not yet past
        (time(2, 30), "2024-03-10T07:30", NEW_YORK, "2024-03-11T06:30"),
        (time(1, 30), "2024-11-03T05:00", NEW_YORK, "2024-11-03T05:30"),
        (time(1, 30), "2024-11-03T05:30", NEW_YORK, "2024-11-04T06:30"),  # once a day
        (time(12), "2011-12-30T09:00", "Pacific/Apia", "2011-12-30T22:00"),  # the 30th is missing there
    ],
)
def test_next_given_time_of_day(time_of_day: time, after: str, time_zone: str | None, expected: str) -> None:
    """The next day's coming to the time is strictly later, once a day, moved out of gaps."""
    assert dates.next_given_time_of_day(time_of_day, after=utc(after), time_zone=time_zone) == utc(expected)


# ------------------------------------------------------------------------------------------------- even dates
@pytest.mark.parametrize(
    ("function", "date", "expected"),
    [
        (dates.even_hour_date, "2026-07-15T08:13:54", "2026-07-15T09:00"),
        (dates.even_hour_date, "2026-07-15T08:00", "2026-07-15T09:00"),
        (dates.even_hour_date, "2026-12-31T23:59:59.5", "2027-01-01T00:00"),
        (dates.even_hour_date_before, "2026-07-15T08:13:54", "2026-07-15T08:00"),
        (dates.even_hour_date_before, "2026-07-15T08:00", "2026-07-15T08:00"),
        (dates.even_minute_date, "2026-07-15T08:13:54", "2026-07-15T08:14"),
        (dates.even_minute_date, "2026-07-15T08:13", "2026-07-15T08:14"),
        (dates.even_minute_date_before, "2026-07-15T08:13:54", "2026-07-15T08:13"),
        (dates.even_second_date, "2026-07-15T08:13:54.001", "2026-07-15T08:13:55"),
        (dates.even_second_date, "2026-07-15T08:13:54", "2026-07-15T08:13:55"),
        (dates.even_second_date_before, "2026-07-15T08:13:54.999", "2026-07-15T08:13:54"),
    ],
)
def test_even_dates(function: Callable[[datetime], datetime], date: str, expected: str) -> None:
    """The next full unit is strictly later, the one before may be the instant itself."""
    assert function(utc(date)) == utc(expected)


@pytest.mark.parametrize(
    ("function", "date", "time_zone", "expected"),
    [
        (dates.even_hour_date, "2026-07-15T08:13", "Asia/Kathmandu", "2026-07-15T08:15"),  # 14:00 there
        (dates.even_hour_date_before, "2026-07-15T08:13", "Asia/Kathmandu", "2026-07-15T07:15"),
        # Lord Howe: 02:00 becomes 02:30, so that the next full hour is half an hour later
        (dates.even_hour_date, "2024-10-05T15:10", "Australia/Lord_Howe", "2024-10-05T16:00"),
        (dates.even_hour_date_before, "2024-10-05T15:40", "Australia/Lord_Howe", "2024-10-05T14:30"),
        # and 02:00 becomes 01:30: two o'clock comes half an hour later
        (dates.even_hour_date, "2024-04-06T14:40", "Australia/Lord_Howe", "2024-04-06T15:30"),
        (dates.even_hour_date, "2024-11-03T05:30", NEW_YORK, "2024-11-03T06:00"),  # one o'clock again
        (dates.even_hour_date, "2024-03-10T06:30", NEW_YORK, "2024-03-10T07:00"),  # three o'clock
    ],
)
def test_even_dates_are_local(
    function: Callable[[datetime, str], datetime], date: str, time_zone: str, expected: str
) -> None:
    """Full hours are those that the clocks of the zone show, through their changes."""
    assert function(utc(date), time_zone) == utc(expected)


@pytest.mark.parametrize(
    ("date", "base", "expected"),
    [
        ("2026-07-15T11:16:41", 20, "2026-07-15T11:20"),
        ("2026-07-15T11:36:41", 20, "2026-07-15T11:40"),
        ("2026-07-15T11:46:41", 20, "2026-07-15T12:00"),
        ("2026-07-15T11:26:41", 30, "2026-07-15T11:30"),
        ("2026-07-15T11:36:41", 30, "2026-07-15T12:00"),
        ("2026-07-15T11:16:41", 17, "2026-07-15T11:17"),
        ("2026-07-15T11:17:41", 17, "2026-07-15T11:34"),
        ("2026-07-15T11:52:41", 17, "2026-07-15T12:00"),
        ("2026-07-15T11:52:41", 5, "2026-07-15T11:55"),
        ("2026-07-15T11:57:41", 5, "2026-07-15T12:00"),
        ("2026-07-15T11:17:41", 0, "2026-07-15T12:00"),
        ("2026-07-15T11:17:41", 1, "2026-07-15T11:18"),
        ("2026-07-15T11:20:00", 20, "2026-07-15T11:40"),
        ("2026-07-15T11:00:00", 0, "2026-07-15T12:00"),
        ("2026-12-31T23:46:00", 45, "2027-01-01T00:00"),
    ],
)
def test_next_given_minute(date: str, base: int, expected: str) -> None:
    """The next multiple of the base in the hour is meant, or the next full hour."""
    assert dates.next_given_minute_date(utc(date), base) == utc(expected)


@pytest.mark.parametrize(
    ("date", "base", "expected"),
    [
        ("2026-07-15T11:16:41", 20, "2026-07-15T11:17:00"),
        ("2026-07-15T11:16:39.9", 20, "2026-07-15T11:16:40"),
        ("2026-07-15T11:16:40", 20, "2026-07-15T11:17:00"),
        ("2026-07-15T11:16:01", 0, "2026-07-15T11:17:00"),
        ("2026-07-15T11:16:52", 17, "2026-07-15T11:17:00"),
    ],
)
def test_next_given_second(date: str, base: int, expected: str) -> None:
    """The next multiple of the base in the minute is meant, or the next full minute."""
    assert dates.next_given_second_date(utc(date), base) == utc(expected)


def test_next_given_minute_is_local() -> None:
    """The minutes are those of the zone's clocks."""
    assert dates.next_given_minute_date(utc("2026-07-15T08:13"), 20, "Asia/Kathmandu") == utc("2026-07-15T08:15")


@pytest.mark.parametrize("name", dates.__all__)
def test_names_exist(name: str) -> None:
    """All published names are there and say what they are for."""
    published: Any = getattr(dates, name)
    assert published.__doc__
