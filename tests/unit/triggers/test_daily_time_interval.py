"""Daily time interval triggers and daily(...)."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from quartzite.calendars import CronCalendar
from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import InvalidValueError
from quartzite.triggers import (
    EVERY_DAY,
    MONDAY_THROUGH_FRIDAY,
    SATURDAY_AND_SUNDAY,
    DailyTimeIntervalSchedule,
    IntervalUnit,
    daily,
)
from tests.unit.triggers.building import at, ats, fires, trigger_of

CET = "Europe/Berlin"
NEW_YORK = "America/New_York"
SANTIAGO = "America/Santiago"


def per_day(times: list[datetime], time_zone: str) -> Counter[str]:
    """Count firings by local day."""
    return Counter(moment.astimezone(ZoneInfo(time_zone)).date().isoformat() for moment in times)


# ------------------------------------------------------------------------------------------------------ fire times
@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (daily(time(8), time(11), minutes=72), "2011-01-16T10:24"),
        (daily(time(8), minutes=60), "2011-01-03T23:00"),
        (daily(time(8), time(17), minutes=60), "2011-01-05T15:00"),
        (daily(time(8, 1, 15), time(16, 1, 15), hours=2), "2011-01-10T12:01:15"),
        (daily(time(8, 0, 2), time(13, 30), seconds=72), "2011-01-01T08:56:26"),
        (daily(time(8), time(17), hours=1, on=MONDAY_THROUGH_FRIDAY), "2011-01-07T15:00"),
        (daily(time(8), time(17), hours=1, on=SATURDAY_AND_SUNDAY), "2011-01-15T15:00"),
        (daily(time(8), time(17), hours=1, on=[DayOfWeek.MONDAY]), "2011-01-31T15:00"),
        (daily(time(8), time(17), hours=1, times=3), "2011-01-16T10:00"),
        (daily(time(8), time(11), minutes=72, times=1), "2011-02-17T08:00"),
    ],
)
def test_the_48th_firing(schedule: DailyTimeIntervalSchedule, expected: str) -> None:
    """Windows, intervals, days of the week and limits a day, counted over many days."""
    times = fires(trigger_of(schedule, start="2011-01-01T00:00"), 48)
    assert len(times) == 48
    assert times[-1] == at(expected)


def test_a_window_from_within() -> None:
    """A trigger that starts within its window fires at the next time of the grid from the window's start."""
    times = fires(trigger_of(daily(time(8), minutes=60), start="2011-01-01T09:23"), 48)
    assert (times[0], times[-1]) == tuple(ats("2011-01-01T10:00", "2011-01-04T09:00"))


@pytest.mark.parametrize(
    ("schedule", "end", "count", "last"),
    [
        (daily(minutes=60), "2011-01-02T22:00", 47, "2011-01-02T22:00"),
        (daily(ending_at=time(17), minutes=60), "2011-01-02T16:00", 35, "2011-01-02T16:00"),
        (daily(ending_at=time(17), minutes=60), "2011-01-02T18:00", 36, "2011-01-02T17:00"),
        (daily(time(8), time(10), minutes=23), "2011-01-04T00:00", 18, "2011-01-03T09:55"),
        (daily(time(8), time(11), minutes=72, times=2), "2011-01-03T00:00", 4, "2011-01-02T09:12"),
        (daily(time(8), time(11), minutes=72), "2011-01-01T09:00", 1, "2011-01-01T08:00"),
    ],
)
def test_the_end_is_a_hard_limit(schedule: DailyTimeIntervalSchedule, end: str, count: int, last: str) -> None:
    """Nothing fires behind the end, within a day neither; a time at the end fires and is the final one."""
    trigger = trigger_of(schedule, start="2011-01-01T00:00", end=end)
    times = fires(trigger, 100)
    assert (len(times), times[-1]) == (count, at(last))
    assert trigger.final_fire_time == at(last)


def test_there_may_be_no_final_time() -> None:
    """Without an end, and when nothing fits between start and end, there is none."""
    assert trigger_of(daily(hours=1), start="2011-01-01T00:00").final_fire_time is None
    nothing = trigger_of(daily(time(8), time(9), hours=1), start="2011-01-01T10:00", end="2011-01-02T07:00")
    assert nothing.final_fire_time is None
    assert fires(nothing, 1) == []


def test_hours_that_a_calendar_excludes_are_skipped() -> None:
    """Behind the excluded hours the grid goes on where it would have been."""
    calendar = CronCalendar(cron_expression=CronExpression("* * 9-12 * * ?"))
    times = fires(trigger_of(daily(time(8), minutes=60), start="2011-01-01T00:00"), 48, calendar)
    assert (times[0], times[1], times[-1]) == tuple(ats("2011-01-01T08:00", "2011-01-01T13:00", "2011-01-04T23:00"))


# --------------------------------------------------------------------------------------------------- clock changes
@pytest.mark.parametrize(
    ("unit", "interval", "count"),
    [
        ("seconds", 900, 100), ("minutes", 1, 1500), ("minutes", 5, 300), ("minutes", 15, 100), ("minutes", 30, 50),
        ("minutes", 45, 34), ("hours", 1, 25), ("hours", 2, 13), ("hours", 4, 7), ("hours", 24, 1),
    ],
)  # fmt: skip
def test_a_day_of_25_hours(unit: str, interval: int, count: int) -> None:
    """The grid is elapsed time, so a longer day has more firings; an interval of a day means one, on each day."""
    part: dict[str, Any] = {unit: interval}
    times = fires(trigger_of(daily(**part), start="2018-10-27T00:00+02:00", time_zone=CET), 4600)
    assert per_day(times, CET)["2018-10-28"] == count
    assert times == sorted(set(times))


def test_a_limit_a_day_at_the_change() -> None:
    """A limit counts firings, so it is reached an hour earlier by the clocks of the long day."""
    trigger = trigger_of(daily(minutes=30, times=31), start="2018-10-27T00:00+02:00", time_zone=CET)
    times = fires(trigger, 93)
    assert times[30::31] == ats("2018-10-27T15:00+02:00", "2018-10-28T14:00+01:00", "2018-10-29T15:00+01:00")


def test_a_window_that_ends_in_a_gap() -> None:
    """02:30 does not exist on the day of the spring change: the window ends at 03:30."""
    trigger = trigger_of(daily(time(0), time(2, 30), hours=1), start="2018-03-25T00:00+01:00", time_zone=CET)
    assert fires(trigger, 6) == ats(
        "2018-03-25T00:00+01:00", "2018-03-25T01:00+01:00", "2018-03-25T03:00+02:00",
        "2018-03-26T00:00+02:00", "2018-03-26T01:00+02:00", "2018-03-26T02:00+02:00",
    )  # fmt: skip


def test_days_that_begin_or_end_at_a_change() -> None:
    """A midnight that the clocks skip is 01:00; an end of day that they show twice means the first."""
    spring = fires(trigger_of(daily(minutes=30), start="2019-09-08T00:00-04:00", time_zone=SANTIAGO), 46)
    assert spring[0] == at("2019-09-08T01:00-03:00")
    assert per_day(spring, SANTIAGO) == {"2019-09-08": 46}
    autumn = fires(trigger_of(daily(minutes=30), start="2019-04-06T00:00-03:00", time_zone=SANTIAGO), 49)
    assert autumn[47:] == ats("2019-04-06T23:30-03:00", "2019-04-07T00:00-04:00")


@pytest.mark.parametrize(
    ("time_zone", "starting_at", "start", "expected"),
    [
        (CET, time(2, 30), "2018-03-25T00:00+01:00", ["2018-03-25T03:30+02:00", "2018-04-01T02:30+02:00"]),
        (NEW_YORK, time(2, 30), "2024-03-10T00:00-05:00", ["2024-03-10T03:30-04:00", "2024-03-17T02:30-04:00"]),
        (NEW_YORK, time(1, 30), "2024-11-03T00:00-04:00", ["2024-11-03T01:30-04:00", "2024-11-10T01:30-05:00"]),
        (SANTIAGO, time(0), "2019-09-07T12:00-04:00", ["2019-09-08T01:00-03:00", "2019-09-15T00:00-03:00"]),
    ],
)
def test_windows_that_start_at_a_change(time_zone: str, starting_at: time, start: str, expected: list[str]) -> None:
    """A start in a gap moves behind it by its width; one that is shown twice means the first."""
    schedule = daily(starting_at, times=1, on=[DayOfWeek.SUNDAY])
    assert fires(trigger_of(schedule, start=start, time_zone=time_zone), 2) == ats(*expected)


def test_a_gap_at_the_end_of_the_trigger() -> None:
    """A window that a gap moves behind the end of the trigger does not fire anymore."""
    schedule = daily(time(2, 30), time(3, 30), hours=1, on=SATURDAY_AND_SUNDAY)
    trigger = trigger_of(schedule, start="2018-03-24T00:00+01:00", end="2018-03-25T01:00+00:00", time_zone=CET)
    assert fires(trigger, 9) == ats("2018-03-24T02:30+01:00", "2018-03-24T03:30+01:00")


# -------------------------------------------------------------------------------------------------------- schedules
def test_the_verbs_and_the_short_form_agree() -> None:
    """The short form makes what the verbs make."""
    spelled_out = (
        DailyTimeIntervalSchedule()
        .with_interval(30, IntervalUnit.MINUTE)
        .starting_daily_at(time(9))
        .ending_daily_at(time(17))
        .on_monday_through_friday()
        .with_repeat_count(4)
        .in_time_zone("Asia/Kolkata")
        .with_misfire_instruction(2)
    )
    short = daily(
        time(9), time(17),
        minutes=30, times=5, on=MONDAY_THROUGH_FRIDAY, time_zone="Asia/Kolkata", misfire_instruction=2,
    )  # fmt: skip
    assert spelled_out == short
    trigger = trigger_of(spelled_out, start="2026-01-01T00:00")
    assert trigger.schedule == spelled_out
    assert trigger.to_builder().build() == trigger


def test_days_of_the_week() -> None:
    """Days are members of the enumeration or their numbers, 1 being Sunday."""
    schedule = daily(hours=1)
    assert schedule.days_of_week == schedule.on_saturday_and_sunday().on_every_day().days_of_week == EVERY_DAY
    assert schedule.on_saturday_and_sunday().days_of_week == SATURDAY_AND_SUNDAY
    assert schedule.on_days_of_the_week(1, DayOfWeek.FRIDAY).days_of_week == {DayOfWeek.SUNDAY, DayOfWeek.FRIDAY}
    assert DayOfWeek.MONDAY in MONDAY_THROUGH_FRIDAY


def test_ending_after_a_count() -> None:
    """The window ends with the n-th firing, when so many fit the day."""
    schedule = daily(time(8), minutes=90)
    assert schedule.ending_daily_after_count(3).end_time_of_day == time(11)
    assert schedule.ending_daily_after_count(1).end_time_of_day == time(8)
    assert schedule.ending_daily_after_count(11).end_time_of_day == time(23)
    with pytest.raises(InvalidValueError, match="do not fit the day"):
        schedule.ending_daily_after_count(12)
    with pytest.raises(InvalidValueError, match="at least 1"):
        schedule.ending_daily_after_count(0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (daily, "exactly one of hours, minutes and seconds"),
        (lambda: daily(hours=1, minutes=1), "exactly one of hours, minutes and seconds"),
        (lambda: daily(hours=1, times=0), "at least 1"),
        (lambda: daily(hours=25), "at most a day"),
        (lambda: daily(minutes=1500), "at most a day"),
        (lambda: daily(seconds=90_000), "at most a day"),
        (lambda: daily(hours=-1), "at least 1"),
        (lambda: daily(time(9), time(8), hours=1), "before it starts"),
        (lambda: daily(time(9, 0, 0, 500), hours=1), "whole seconds"),
        (lambda: daily(hours=1, on=[]), "at least one"),
        (lambda: daily(hours=1, on=[8]), "8 is not a valid DayOfWeek"),
        (lambda: DailyTimeIntervalSchedule(repeat_interval_unit=IntervalUnit.DAY), "give IntervalUnit.SECOND"),
        (lambda: DailyTimeIntervalSchedule(repeat_count=-2), "repeat count -2"),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    """A schedule that can not be meant is refused when it is made."""
    with pytest.raises(InvalidValueError, match=message):
        make()


def test_a_window_of_one_instant() -> None:
    """Start and end may be equal: the trigger fires once a day."""
    trigger = trigger_of(daily(time(8), time(8), minutes=1), start="2026-01-01T00:00")
    assert fires(trigger, 2) == ats("2026-01-01T08:00", "2026-01-02T08:00")
    assert fires(trigger, 2)[1] - fires(trigger, 1)[0] == timedelta(days=1)
