"""Faults at clock changes and with zones that users of other schedulers reported, as far as triggers are concerned."""

from __future__ import annotations

import random
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import InvalidValueError
from quartzite.timezones import zone
from quartzite.triggers import (
    MONDAY_THROUGH_FRIDAY,
    CronTrigger,
    Schedule,
    Trigger,
    TriggerBuilder,
    calendar_interval,
    compute_fire_times,
    compute_fire_times_between,
    cron,
    daily,
    every,
    once,
    recurrence,
)

SAME_HOUR: dict[str, Any] = {"preserve_hour_of_day_across_daylight_savings": True}


def at(text: str) -> datetime:
    """Read an instant; without an offset it is UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def trigger(schedule: Schedule, start: str, time_zone: str = "UTC") -> Trigger:
    """Build a trigger that starts at an instant."""
    builder = TriggerBuilder.create().with_identity("trigger").start_at(at(start)).with_schedule(schedule)
    return builder.build(time_zone=ZoneInfo(time_zone))


def walk(schedule: Schedule, start: str, time_zone: str, count: int) -> list[datetime]:
    """Return the first fire times from a start on."""
    return compute_fire_times(trigger(schedule, start, time_zone), None, count)


DAILY_AT_MIDNIGHT = {
    "cron": cron("0 0 0 * * ?"),
    "calendar interval": calendar_interval(days=1, **SAME_HOUR),
    "daily": daily(time(0), times=1),
    "recurrence": recurrence("FREQ=DAILY;BYHOUR=0;BYMINUTE=0;BYSECOND=0"),
}
EVERY_TWO_HOURS = {
    "simple": every(hours=2),
    "cron": cron("0 0 0/2 * * ?"),
    "calendar interval": calendar_interval(hours=2),
    "daily": daily(hours=2),
    "recurrence": recurrence("FREQ=HOURLY;INTERVAL=2"),
}


@pytest.mark.parametrize("schedule", EVERY_TWO_HOURS.values(), ids=list(EVERY_TWO_HOURS))
def test_two_hourly_schedules_do_not_loop_in_autumn(schedule: Schedule) -> None:
    """B002: a schedule of every second hour passes the repeated hour without standing still, for every kind."""
    times = walk(schedule, "2026-10-24T20:00", "Europe/Berlin", 10)
    assert all(timedelta(hours=1) <= later - earlier <= timedelta(hours=3) for earlier, later in pairwise(times))


@pytest.mark.parametrize("schedule", DAILY_AT_MIDNIGHT.values(), ids=list(DAILY_AT_MIDNIGHT))
def test_no_day_is_skipped_in_spring(schedule: Schedule) -> None:
    """B003: a day is a local day, not 24 hours: the midnight behind the spring change fires, for every kind."""
    times = walk(schedule, "2026-03-08T08:00", "America/Los_Angeles", 3)
    assert times == [at("2026-03-08T08:00"), at("2026-03-09T07:00"), at("2026-03-10T07:00")]


@pytest.mark.parametrize(
    ("schedule", "moved"),
    [
        (cron("0 30 2 * * ?"), "2026-03-08T07:30"),
        (calendar_interval(days=1, **SAME_HOUR), "2026-03-08T07:00"),
        (daily(time(2, 30), times=1), "2026-03-08T07:30"),
        (recurrence("FREQ=DAILY"), "2026-03-08T07:30"),
    ],
)
def test_a_time_in_the_gap_fires_once(schedule: Schedule, moved: str) -> None:
    """B004: 02:30 that day is 03:30 (the end of the gap for an interval that keeps the hour), once."""
    times = walk(schedule, "2026-03-07T02:30-05:00", "America/New_York", 3)
    assert times == [at("2026-03-07T07:30"), at(moved), at("2026-03-09T06:30")]


@pytest.mark.parametrize(
    "schedule",
    [
        cron("0 30 1 * * ?"),
        calendar_interval(days=1, **SAME_HOUR),
        daily(time(1, 30), times=1),
        recurrence("FREQ=DAILY"),
    ],
)
def test_a_time_that_comes_twice_fires_once(schedule: Schedule) -> None:
    """B007: 01:30 of the autumn change fires in the first pass, and not again an hour later."""
    times = walk(schedule, "2026-10-31T01:30-04:00", "America/New_York", 3)
    assert times == [at("2026-10-31T05:30"), at("2026-11-01T05:30"), at("2026-11-02T06:30")]


def test_five_minutes_in_autumn() -> None:
    """B009: a daily interval keeps its five minutes through the day of 25 hours."""
    chicago = trigger(daily(minutes=5), "2026-11-01T00:00-05:00", "America/Chicago")
    times = compute_fire_times_between(chicago, None, at("2026-11-01T00:00-05:00"), at("2026-11-01T23:59:59-06:00"))
    assert len(times) == 300
    assert {later - earlier for earlier, later in pairwise(times)} == {timedelta(seconds=300)}


def test_five_minutes_in_spring() -> None:
    """B009: nor does it loop at the day of 23 hours, or fire at an hour that does not exist."""
    schedule = daily(time(0), time(23, 59), minutes=5)
    times = walk(schedule, "2026-03-08T00:00-05:00", "America/New_York", 277)
    local = [moment.astimezone(ZoneInfo("America/New_York")) for moment in times]
    assert sum(moment.day == 8 for moment in local) == 276
    assert not any(moment.hour == 2 for moment in local)
    assert times[-1] == at("2026-03-09T04:00")


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-03-06T22:00", ["2026-03-06T22:00", "2026-03-07T00:00", "2026-03-09T21:00", "2026-03-09T23:00"]),
        ("2026-10-30T21:00", ["2026-10-30T21:00", "2026-10-30T23:00", "2026-11-02T22:00", "2026-11-03T00:00"]),
    ],
)
def test_the_weekend_of_the_change(start: str, expected: list[str]) -> None:
    """B010: the first firing behind the weekend of the change is at its own local time, and no extra one is made."""
    schedule = daily(time(17), time(19, 30), hours=2, on=MONDAY_THROUGH_FRIDAY)
    assert walk(schedule, start, "America/New_York", 4) == [at(text) for text in expected]


def test_a_sunday_window_at_the_change() -> None:
    """B010: a window around the skipped hour has nine firings; the next Sunday begins at its own time."""
    schedule = daily(time(1), time(6), minutes=30, on=[DayOfWeek.SUNDAY])
    times = walk(schedule, "2026-03-28T23:00", "Europe/Stockholm", 10)
    assert times[:9] == [at("2026-03-29T00:00") + n * timedelta(minutes=30) for n in range(9)]
    assert times[9] == at("2026-04-04T23:00")


@pytest.mark.parametrize("schedule", DAILY_AT_MIDNIGHT.values(), ids=list(DAILY_AT_MIDNIGHT))
def test_the_zone_belongs_to_the_trigger(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    """B017: whatever zone the process lives in, a trigger of Asia/Kolkata fires by the clocks of Asia/Kolkata."""
    here = walk(schedule, "2026-01-01T00:00+05:30", "Asia/Kolkata", 20)
    monkeypatch.setenv("TZ", "America/New_York")
    again = walk(schedule, "2026-01-01T00:00+05:30", "Asia/Kolkata", 20)
    assert again == here == [at("2026-01-01T00:00+05:30") + n * timedelta(days=1) for n in range(20)]
    built: Any = trigger(schedule, "2026-01-01T00:00", "Asia/Kolkata")
    assert built.time_zone.key == built.to_builder().build(time_zone=ZoneInfo("UTC")).time_zone.key == "Asia/Kolkata"


def test_zone_ids_of_other_platforms() -> None:
    """B018: an id of Windows is mapped, for every kind; an unknown one is refused at once, by name."""
    china = "China Standard Time"
    for schedule in (
        cron("0 0 9 * * ?", time_zone=china),
        calendar_interval(days=1, time_zone=china),
        daily(hours=1, time_zone=china),
        recurrence("FREQ=DAILY", time_zone=china),
    ):
        assert schedule.time_zone is zone("Asia/Shanghai")
    for make in (
        lambda: cron("0 0 9 * * ?", time_zone="Middle Earth"),
        lambda: calendar_interval(days=1, time_zone="Middle Earth"),
        lambda: daily(hours=1, time_zone="Middle Earth"),
        lambda: recurrence("FREQ=DAILY", time_zone="Middle Earth"),
    ):
        with pytest.raises(InvalidValueError, match="Middle Earth"):
            make()


def test_nothing_is_rounded() -> None:
    """B070: a one-shot is due at its microsecond, and a schedule at its own, never before."""
    chance = random.Random(70)
    for _ in range(1000):
        start = at("2026-01-01T00:00") + timedelta(microseconds=chance.randrange(10**12))
        shot = TriggerBuilder.create().start_at(start).with_schedule(once()).build()
        assert shot.compute_first_fire_time(None, start - timedelta(days=1)).next_fire_time == start
        ticking = TriggerBuilder.create().start_at(start).with_schedule(every(milliseconds=7)).build()
        after = start + timedelta(microseconds=chance.randrange(10**9))
        following = ticking.get_fire_time_after(after)
        assert following is not None
        assert (following - start) % timedelta(milliseconds=7) == timedelta(0)
        assert timedelta(0) < following - after <= timedelta(milliseconds=7)


def test_an_expression_of_another_zone_is_not_moved() -> None:
    """B017: an expression that was made with a zone keeps it under a scheduler of another one."""
    built = trigger(cron(CronExpression("0 0 9 * * ?", "Asia/Kolkata")), "2026-01-01T00:00", "Europe/Berlin")
    assert isinstance(built, CronTrigger)
    assert built.time_zone.key == "Asia/Kolkata"
