"""Whatever the serializer accepts comes back equal; whatever it reads, it reads or refuses."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from quartzite.calendars.annual import AnnualCalendar
from quartzite.calendars.base import Calendar
from quartzite.calendars.cron import CronCalendar
from quartzite.calendars.daily import DailyCalendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.calendars.monthly import MonthlyCalendar
from quartzite.calendars.weekly import WeeklyCalendar
from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.serialization import JsonSerializer
from quartzite.sql.types import from_ticks, to_ticks
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import CalendarIntervalTrigger
from quartzite.triggers.cron import CronTrigger
from quartzite.triggers.daily_time_interval import DailyTimeIntervalTrigger
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.recurrence import RecurrenceTrigger
from quartzite.triggers.simple import SimpleTrigger

SERIALIZER = JsonSerializer()
ZONES = st.sampled_from([ZoneInfo(name) for name in ("UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns")])
OFFSETS = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TEXTS = st.text()
KEYS = st.one_of(TEXTS, st.sampled_from(["$", "$date", "$dict", "$object", "$tuple"]))
MOMENTS = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.one_of(ZONES, OFFSETS))  # noqa: DTZ001
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 4000).map(lambda bits: -(1 << bits)),
    st.floats(allow_nan=False),
    TEXTS,
    st.binary(),
    st.dates(),
    st.times(),
    st.timedeltas(),
    st.decimals(allow_nan=False),
    st.uuids(),
    MOMENTS,
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=12,
)
DATA = st.dictionaries(KEYS, VALUES, max_size=5).map(JobData)
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=200)
INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
WEEKDAYS = st.frozensets(st.sampled_from(DayOfWeek))


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are equal and of the same types, inside too; offsets of instants count."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, datetime):
        return bool(left == right) and left.utcoffset() == right.utcoffset()
    if isinstance(left, float):
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    equal: bool = left == right
    return equal


@given(DATA)
def test_job_data_comes_back_the_same(data: JobData) -> None:
    """Any data of supported values is accepted, and reads as what it was."""
    SERIALIZER.check(data)
    back = SERIALIZER.deserialize(SERIALIZER.serialize(data), JobData)
    assert same(dict(back), dict(data))


@given(
    st.dictionaries(TEXTS, st.one_of(VALUES, st.builds(object), st.just(math.nan), st.frozensets(TEXTS)), max_size=4)
)
def test_what_is_checked_can_be_stored(values: dict[str, Any]) -> None:
    """Check and serialize agree on what is refused, and what is accepted comes back the same."""
    data = JobData(values)
    try:
        SERIALIZER.check(data)
    except InvalidValueError:
        try:
            SERIALIZER.serialize(data)
        except InvalidValueError:
            return
        raise AssertionError("serialize accepts what check refuses") from None
    assert same(dict(SERIALIZER.deserialize(SERIALIZER.serialize(data), JobData)), dict(data))


MARKS = st.sampled_from(
    ["$datetime", "$time", "$int", "$uuid", "$bytes", "$decimal", "$timedelta", "$float", "$object"]
)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner, max_size=3),
        st.dictionaries(MARKS, inner, min_size=1, max_size=1),
    ),
    max_leaves=8,
)


@given(st.one_of(st.binary(), JSON_VALUES.map(lambda node: json.dumps(node).encode())))
def test_any_row_is_read_or_refused(payload: bytes) -> None:
    """Whatever bytes stand in a row, reading returns a value or raises the one error that sends a row to ERROR."""
    for expected in (JobData, Trigger, Calendar):
        try:
            value: object = SERIALIZER.deserialize(payload, expected)
        except JobPersistenceError:
            continue
        assert isinstance(value, expected)


COMMON: dict[str, Any] = {
    "key": st.builds(TriggerKey, NAMES, NAMES),
    "job_key": st.builds(JobKey, NAMES, NAMES),
    "description": st.none() | TEXTS,
    "calendar_name": st.none() | NAMES,
    "job_data": DATA,
    "priority": st.integers(-(2**31), 2**31 - 1),
    "misfire_instruction": st.integers(-1, 2),
    "start_time": INSTANTS,
    "end_time": st.none() | st.datetimes(datetime(2200, 1, 2), datetime(9998, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    "execution_group": st.none() | NAMES,
    "preferred_node": st.sampled_from([PreferredNode.NONE, PreferredNode.AUTO, PreferredNode("a", is_automatic=True)])
    | NAMES.map(PreferredNode),
    "next_fire_time": st.none() | INSTANTS,
    "previous_fire_time": st.none() | INSTANTS,
    "times_triggered": st.integers(0, 2**62),
    "misfire_origin": st.none() | INSTANTS,
    "fire_instance_id": st.none() | NAMES,
}
TRIGGERS = st.one_of(
    st.builds(
        SimpleTrigger,
        repeat_count=st.integers(-1, 2**31),
        repeat_interval=st.integers(1, 2**40).map(lambda ms: timedelta(milliseconds=ms)),
        **COMMON,
    ),
    st.builds(
        CronTrigger,
        cron_expression=st.builds(
            CronExpression, st.sampled_from(["0 0 12 * * ?", "*/5 * 8-17 ? * MON-FRI", "0 0 0 LW * ?"]), ZONES
        ),
        **COMMON,
    ),
    st.builds(
        CalendarIntervalTrigger,
        repeat_interval=st.integers(1, 1000),
        repeat_interval_unit=st.sampled_from(IntervalUnit),
        time_zone=ZONES,
        preserve_hour_of_day_across_daylight_savings=st.booleans(),
        skip_day_if_hour_does_not_exist=st.booleans(),
        **COMMON,
    ),
    st.builds(
        DailyTimeIntervalTrigger,
        repeat_interval=st.integers(1, 24),
        repeat_interval_unit=st.sampled_from([IntervalUnit.SECOND, IntervalUnit.MINUTE, IntervalUnit.HOUR]),
        repeat_count=st.integers(-1, 100),
        days_of_week=st.frozensets(st.sampled_from(DayOfWeek), min_size=1),
        start_time_of_day=st.integers(0, 11).map(time),
        end_time_of_day=st.integers(12, 23).map(lambda hour: time(hour, 59, 59)),
        time_zone=ZONES,
        **COMMON,
    ),
    st.builds(
        RecurrenceTrigger,
        recurrence_rule=st.sampled_from(["FREQ=DAILY", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", "FREQ=YEARLY;COUNT=9"]),
        time_zone=ZONES,
        **COMMON,
    ),
)


@given(TRIGGERS)
def test_a_trigger_comes_back_equal(trigger: Trigger) -> None:
    """Every field of every kind of trigger survives."""
    SERIALIZER.check(trigger)
    back = SERIALIZER.deserialize(SERIALIZER.serialize(trigger), Trigger)
    assert back == trigger
    assert type(back) is type(trigger)


def calendars(inner: st.SearchStrategy[Calendar | None]) -> st.SearchStrategy[Calendar | None]:
    """Return calendars of every kind over some base calendars."""
    common: dict[str, Any] = {"description": st.none() | TEXTS, "base": inner, "time_zone": ZONES}
    expressions = st.builds(CronExpression, st.sampled_from(["0 0 12 * * ?", "* * 0-7 ? * MON"]), ZONES)
    return st.one_of(
        st.builds(
            AnnualCalendar,
            days_excluded=st.frozensets(st.dates(date(2000, 1, 1), date(2000, 12, 31)).map(lambda d: (d.month, d.day))),
            **common,
        ),
        st.builds(CronCalendar, cron_expression=expressions, description=common["description"], base=inner),
        st.builds(
            DailyCalendar,
            range_start=st.integers(0, 43_199_999).map(_time),
            range_end=st.integers(43_200_000, 86_399_999).map(_time),
            invert_time_range=st.booleans(),
            **common,
        ),
        st.builds(HolidayCalendar, days_excluded=st.frozensets(st.dates()), **common),
        st.builds(MonthlyCalendar, days_excluded=st.frozensets(st.integers(1, 31)), **common),
        st.builds(WeeklyCalendar, days_excluded=WEEKDAYS, **common),
    )


def _time(milliseconds: int) -> time:
    return (datetime(2000, 1, 1) + timedelta(milliseconds=milliseconds)).time()  # noqa: DTZ001


@given(st.one_of(TRIGGERS, calendars(st.none())), st.data())
def test_a_row_that_was_tampered_with_is_read_or_refused(value: object, data: st.DataObject) -> None:
    """With any entry replaced by anything, a trigger or calendar is read or refused as a whole, never half built."""
    node = json.loads(SERIALIZER.serialize(value))
    name = data.draw(st.sampled_from(sorted(node)))
    node[name] = data.draw(JSON_VALUES)
    expected = Trigger if isinstance(value, Trigger) else Calendar
    try:
        back = SERIALIZER.deserialize(json.dumps(node).encode(), expected)
    except JobPersistenceError:
        return
    assert SERIALIZER.deserialize(SERIALIZER.serialize(back), expected) == back


@given(st.recursive(st.none(), calendars, max_leaves=3))
def test_a_calendar_comes_back_equal(calendar: Calendar | None) -> None:
    """Every kind of calendar survives, with its chain of bases."""
    assume(calendar is not None)
    SERIALIZER.check(calendar)
    back = SERIALIZER.deserialize(SERIALIZER.serialize(calendar), Calendar)
    assert back == calendar
    assert type(back) is type(calendar)


@given(st.datetimes(datetime(1, 1, 2), timezones=st.one_of(st.just(UTC), OFFSETS)))  # noqa: DTZ001
def test_ticks_are_exact(moment: datetime) -> None:
    """An instant becomes ticks and the same instant again, to the microsecond, and ticks keep the order."""
    assert from_ticks(to_ticks(moment)) == moment
    assert to_ticks(moment) % 10 == 0
    assert to_ticks(moment) > to_ticks(moment - timedelta.resolution)
