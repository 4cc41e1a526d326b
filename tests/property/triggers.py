"""Triggers and calendars at random."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from quartzite.calendars import (
    AnnualCalendar,
    Calendar,
    CronCalendar,
    DailyCalendar,
    HolidayCalendar,
    MonthlyCalendar,
    WeeklyCalendar,
)
from quartzite.cron import CronExpression, DayOfWeek
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.timezones import zone
from quartzite.triggers import (
    CalendarIntervalSchedule,
    CronSchedule,
    DailyTimeIntervalSchedule,
    IntervalUnit,
    RecurrenceSchedule,
    Schedule,
    SimpleSchedule,
    Trigger,
    TriggerBuilder,
)

ZONES = [
    "UTC", "America/New_York", "America/Santiago", "America/Sao_Paulo", "Europe/London", "Europe/Dublin",
    "Europe/Helsinki", "Africa/Casablanca", "Asia/Kathmandu", "Asia/Gaza", "Australia/Lord_Howe", "Pacific/Apia",
]  # fmt: skip
CRON_TEXTS = [
    "0 30 2 * * ?", "0 0 0 * * ?", "0 0/20 * * * ?", "*/7 5 1-3 * * ?", "0 0 2 ? * SUN", "0 30 1 L * ?",
    "0 0 12 ? * 6#5", "15 10,40 0,2 1,15 * ?",
]  # fmt: skip
RULES = [
    "FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;BYHOUR=1,2,3;BYMINUTE=30", "FREQ=HOURLY;INTERVAL=5",
    "FREQ=MINUTELY;INTERVAL=50", "FREQ=SECONDLY;INTERVAL=1001", "FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,WE",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU;BYHOUR=1,2",
    "FREQ=MONTHLY;BYMONTHDAY=31", "FREQ=HOURLY;BYMINUTE=0,20,40;BYHOUR=0,1,2,3",
]  # fmt: skip

MOST = [(IntervalUnit.SECOND, 86_400), (IntervalUnit.MINUTE, 1440), (IntervalUnit.HOUR, 24)]

zones = st.sampled_from(ZONES).map(zone)
FROM, TO = datetime(1996, 1, 1), datetime(2040, 1, 1)  # noqa: DTZ001  # hypothesis wants naive ones
instants = st.datetimes(FROM, TO, timezones=st.just(UTC))
times_of_day = st.integers(0, 86_399).map(lambda second: (FROM + timedelta(seconds=second)).time())


def whole_milliseconds(low: int, high: int) -> st.SearchStrategy[timedelta]:
    """Spans between two numbers of milliseconds."""
    return st.integers(low, high).map(lambda number: timedelta(milliseconds=number))


@st.composite
def simple_schedules(draw: st.DrawFn) -> Schedule:
    """Simple schedules, from a millisecond to weeks."""
    interval = draw(whole_milliseconds(1, 10_000) | whole_milliseconds(1, 3_000_000_000))
    count = draw(st.just(-1) | st.integers(0, 1_000_000))
    return SimpleSchedule(repeat_interval=interval, repeat_count=count, misfire_instruction=draw(st.integers(-1, 5)))


@st.composite
def cron_schedules(draw: st.DrawFn) -> Schedule:
    """Cron schedules of some typical expressions."""
    expression = CronExpression(draw(st.sampled_from(CRON_TEXTS)), draw(zones))
    return CronSchedule(expression=expression, misfire_instruction=draw(st.integers(-1, 2)))


@st.composite
def calendar_interval_schedules(draw: st.DrawFn) -> Schedule:
    """Calendar interval schedules of every unit and flag."""
    return CalendarIntervalSchedule(
        repeat_interval=draw(st.integers(1, 40)),
        repeat_interval_unit=draw(st.sampled_from(IntervalUnit)),
        time_zone=draw(zones),
        preserve_hour_of_day_across_daylight_savings=draw(st.booleans()),
        skip_day_if_hour_does_not_exist=draw(st.booleans()),
        misfire_instruction=draw(st.integers(-1, 2)),
    )


@st.composite
def daily_schedules(draw: st.DrawFn) -> Schedule:
    """Daily time interval schedules of every unit."""
    unit, most = draw(
        st.sampled_from([(IntervalUnit.SECOND, 86_400), (IntervalUnit.MINUTE, 1440), (IntervalUnit.HOUR, 24)])
    )
    first, last = sorted([draw(times_of_day), draw(times_of_day)])
    return DailyTimeIntervalSchedule(
        repeat_interval=draw(st.integers(1, most)),
        repeat_interval_unit=unit,
        repeat_count=draw(st.just(-1) | st.integers(0, 30)),
        days_of_week=draw(st.frozensets(st.sampled_from(DayOfWeek), min_size=1)),
        start_time_of_day=first,
        end_time_of_day=last,
        time_zone=draw(zones),
        misfire_instruction=draw(st.integers(-1, 2)),
    )


@st.composite
def recurrence_schedules(draw: st.DrawFn) -> Schedule:
    """Recurrence schedules of some typical rules."""
    return RecurrenceSchedule(
        rule=draw(st.sampled_from(RULES)), time_zone=draw(zones), misfire_instruction=draw(st.integers(-1, 2))
    )


schedules = (
    simple_schedules() | cron_schedules() | calendar_interval_schedules() | daily_schedules() | recurrence_schedules()
)


@st.composite
def triggers(draw: st.DrawFn, kinds: st.SearchStrategy[Schedule] = schedules) -> Trigger:
    """Triggers that have a start time and are not scheduled yet."""
    start = draw(instants)
    builder = (
        TriggerBuilder.create()
        .with_identity(TriggerKey("trigger", draw(st.sampled_from(["DEFAULT", "group"]))))
        .for_job(JobKey("job"))
        .with_description(draw(st.none() | st.just("what it is for")))
        .with_priority(draw(st.integers(-5, 10)))
        .using_job_data(JobData({"n": 1}))
        .start_at(start)
        .with_schedule(draw(kinds))
    )
    if draw(st.booleans()):
        builder = builder.end_at(start + draw(whole_milliseconds(0, 500_000_000_000)))
    return builder.build()


@st.composite
def calendars(draw: st.DrawFn, depth: int = 2) -> Calendar:
    """Calendars of every kind, with up to two bases."""
    base = draw(st.none() | calendars(depth=depth - 1)) if depth else None
    common = {"base": base, "time_zone": draw(zones)}
    make = _CALENDARS[draw(st.integers(0, len(_CALENDARS) - 1))]
    return make(draw, common)


def _annual(draw: st.DrawFn, common: dict[str, Any]) -> Calendar:
    days = draw(st.frozensets(st.dates(date(2000, 1, 1), date(2000, 12, 31)), max_size=40))
    return AnnualCalendar(days_excluded=frozenset((day.month, day.day) for day in days), **common)


def _cron(draw: st.DrawFn, common: dict[str, Any]) -> Calendar:
    text = draw(st.sampled_from(["* * 1-3 * * ?", "* * * ? * SUN,SAT", "* 30 * L * ?", "0 30 1 * * ?"]))
    return CronCalendar(cron_expression=CronExpression(text, common["time_zone"]), **common)


def _daily(draw: st.DrawFn, common: dict[str, Any]) -> Calendar:
    first, last = sorted(draw(st.lists(times_of_day, min_size=2, max_size=2, unique=True)))
    return DailyCalendar(range_start=first, range_end=last, invert_time_range=draw(st.booleans()), **common)


def _holiday(draw: st.DrawFn, common: dict[str, Any]) -> Calendar:
    days = draw(st.frozensets(st.dates(date(1996, 1, 1), date(2040, 1, 1)), max_size=30))
    return HolidayCalendar(days_excluded=days, **common)


def _monthly(draw: st.DrawFn, common: dict[str, Any]) -> Calendar:
    return MonthlyCalendar(days_excluded=draw(st.frozensets(st.integers(1, 31))), **common)


def _weekly(draw: st.DrawFn, common: dict[str, Any]) -> Calendar:
    return WeeklyCalendar(days_excluded=draw(st.frozensets(st.sampled_from(DayOfWeek))), **common)


_CALENDARS: list[Callable[[st.DrawFn, dict[str, Any]], Calendar]] = [
    _annual,
    _cron,
    _daily,
    _holiday,
    _monthly,
    _weekly,
]
