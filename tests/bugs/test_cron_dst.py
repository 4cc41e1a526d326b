"""Faults at clock changes that users of other schedulers reported, as far as cron is concerned."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from quartzite.cron import CronExpression


def utc(text: str) -> datetime:
    """Read a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def walk(expression: CronExpression, after: datetime, steps: int) -> list[datetime]:
    """Return the next fires."""
    fires: list[datetime] = []
    for _ in range(steps):
        following = expression.next_after(fires[-1] if fires else after)
        assert following is not None
        fires.append(following)
    return fires


def between(expression: CronExpression, start: datetime, end: datetime) -> list[datetime]:
    """Return the fires in [start, end)."""
    fires: list[datetime] = []
    at = expression.next_after(start - timedelta(microseconds=1))
    while at is not None and at < end:
        fires.append(at)
        at = expression.next_after(at)
    return fires


@pytest.mark.parametrize(
    ("text", "time_zone", "after", "expected"),
    [
        # B001: every minute inside the repeated hour
        ("0 * * * * ?", "Europe/Amsterdam", "2026-10-25T01:00:30", ["2026-10-25T01:01", "2026-10-25T01:02"]),
        (
            "0 * * * * ?",
            "Europe/Amsterdam",
            "2026-10-25T00:58:30",
            ["2026-10-25T00:59", "2026-10-25T01:00", "2026-10-25T01:01", "2026-10-25T01:02"],
        ),
        # B002: every second hour, and half past each
        (
            "0 0 0/2 * * ?",
            "Europe/Berlin",
            "2026-10-24T20:30",
            ["2026-10-24T22:00", "2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T03:00", "2026-10-25T05:00"],
        ),
        (
            "0 30 * * * ?",
            "Europe/Helsinki",
            "2026-10-25T00:45",
            ["2026-10-25T01:30", "2026-10-25T02:30", "2026-10-25T03:30"],
        ),
        # B003: the day behind the change is no 24 hours away
        (
            "0 0 0 * * ?",
            "America/Los_Angeles",
            "2026-03-08T08:00:07",
            ["2026-03-09T07:00", "2026-03-10T07:00"],
        ),
        (
            "0 0 0 ? * SUN-THU",
            "America/Chicago",
            "2026-03-06T06:00:01",
            ["2026-03-08T06:00", "2026-03-09T05:00", "2026-03-10T05:00"],
        ),
        # B004: a time that does not exist
        ("0 0 2 * * ?", "America/New_York", "2026-03-07T12:00", ["2026-03-08T07:00", "2026-03-09T06:00"]),
        ("0 30 2 * * ?", "America/New_York", "2026-03-07T12:00", ["2026-03-08T07:30", "2026-03-09T06:30"]),
        # B005: weekly, across the change
        ("0 10 3 ? * SUN", "Europe/Prague", "2026-10-18T10:00", ["2026-10-25T02:10", "2026-11-01T02:10"]),
        # B007: daily and weekly, in the afternoon
        ("0 0 12 ? * MON", "Europe/Amsterdam", "2026-10-25T09:00", ["2026-10-26T11:00", "2026-11-02T11:00"]),
        (
            "0 0 17 * * ?",
            "America/New_York",
            "2026-10-31T20:00",
            ["2026-10-31T21:00", "2026-11-01T22:00", "2026-11-02T22:00"],
        ),
        # B008: hourly at the turn of the day and the month
        ("0 55 * * * ?", "Europe/Belgrade", "2026-03-29T21:55:01", ["2026-03-29T22:55", "2026-03-29T23:55"]),
        ("0 55 * * * ?", "Europe/Belgrade", "2026-03-31T21:55:01", ["2026-03-31T22:55", "2026-03-31T23:55"]),
    ],
)
def test_reported_fire_times(text: str, time_zone: str, after: str, expected: list[str]) -> None:
    """The fires around the change are neither lost nor doubled nor moved."""
    assert walk(CronExpression(text, time_zone), utc(after), len(expected)) == [utc(fire) for fire in expected]


def test_every_minute_of_the_repeated_hour() -> None:
    """A trigger that fires each minute fires sixty times in the second pass (B001)."""
    fires = between(CronExpression("0 * * * * ?", "Europe/Amsterdam"), utc("2026-10-25T01:00"), utc("2026-10-25T02:00"))
    assert len(fires) == 60
    assert all(after - before == timedelta(minutes=1) for before, after in pairwise(fires))


@pytest.mark.parametrize(
    ("text", "time_zone", "after"),
    [("0 0 0/2 * * ?", "Europe/Berlin", "2026-10-24T20:30"), ("0 30 * * * ?", "Europe/Helsinki", "2026-10-25T00:45")],
)
def test_ten_thousand_steps(text: str, time_zone: str, after: str) -> None:
    """Ten thousand steps through several changes rise strictly and take less than a second (B002)."""
    began = time.thread_time()
    fires = walk(CronExpression(text, time_zone), utc(after), 10_000)
    assert time.thread_time() - began < 1
    assert all(before < after for before, after in pairwise(fires))


@pytest.mark.parametrize("time_zone", ["America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Santiago"])
@pytest.mark.parametrize("text", ["0 0/7 * * * ?", "0 30 2 * * ?", "0 15 0 * * ?", "0 0 1-3 * * ?"])
def test_no_fire_is_skipped_by_the_clocks(text: str, time_zone: str) -> None:
    """No fire of the year is a local time that the clocks never show (B004)."""
    zone = ZoneInfo(time_zone)
    for fire in between(CronExpression(text, zone), utc("2026-01-01"), utc("2027-01-01")):
        shown = fire.astimezone(zone)
        assert shown.astimezone(UTC).astimezone(zone) == shown


def test_there_and_back_across_the_change() -> None:
    """Backwards and forwards over the change the times are the same (B005)."""
    weekly = CronExpression("0 10 3 ? * SUN", "Europe/Prague")
    last = weekly.previous_before(utc("2026-10-26"))
    assert last == utc("2026-10-25T02:10")
    before = weekly.previous_before(last)
    assert before == utc("2026-10-18T01:10")
    assert weekly.next_after(before) == last


@pytest.mark.parametrize("change", ["2026-03-29T01:00", "2026-10-25T01:00"])
@pytest.mark.parametrize("text", ["0 10 3 ? * SUN", "0 0 0/2 * * ?", "0 30 * * * ?", "0 0/5 2 * * ?", "0 15 4 * * ?"])
def test_next_of_previous_is_the_first_not_before(text: str, change: str) -> None:
    """For a thousand instants of the week of a change, the next after the previous is the first that is due (B005)."""
    expression = CronExpression(text, "Europe/Prague")
    chance = random.Random(change + text)
    walked = between(expression, utc(change) - timedelta(days=15), utc(change) + timedelta(days=15))
    for _ in range(1000):
        at = utc(change) + timedelta(milliseconds=chance.randint(-604_800_000, 604_800_000))
        before = expression.previous_before(at)
        assert before is not None
        assert expression.next_after(before) == next(fire for fire in walked if fire >= at)


def test_hourly_on_the_long_day() -> None:
    """An hourly trigger fires 25 times on the local day of 25 hours (B006)."""
    hourly = CronExpression("0 0 * * * ?", "America/Los_Angeles")
    assert walk(hourly, utc("2026-11-01T06:30"), 4) == [utc(f"2026-11-01T{hour:02}:00") for hour in (7, 8, 9, 10)]
    assert len(between(hourly, utc("2026-11-01T07:00"), utc("2026-11-02T08:00"))) == 25


def test_daily_time_that_occurs_twice() -> None:
    """A daily time in the repeated hour fires once, in the first pass (B007)."""
    daily = CronExpression("0 30 1 * * ?", "America/New_York")
    assert between(daily, utc("2026-11-01T04:00"), utc("2026-11-02T05:00")) == [utc("2026-11-01T05:30")]


def test_monday_after_the_change() -> None:
    """A weekly trigger fires once on the Monday after the change (B007)."""
    monday = CronExpression("0 0 12 ? * MON", "Europe/Amsterdam")
    assert between(monday, utc("2026-10-25T22:00"), utc("2026-10-27T00:00")) == [utc("2026-10-26T11:00")]


def test_hourly_has_no_longer_pause() -> None:
    """Between two fires of an hourly trigger there is never more than an hour, all year (B008)."""
    fires = between(CronExpression("0 55 * * * ?", "Europe/Belgrade"), utc("2026-01-01"), utc("2027-01-01"))
    assert {after - before for before, after in pairwise(fires)} == {timedelta(hours=1)}
