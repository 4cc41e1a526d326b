"""What holds for every trigger and every calendar in every zone."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, datetime, time, timedelta
from itertools import islice, pairwise

import pytest
from dateutil.rrule import rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from quartzite.calendars import Calendar
from quartzite.timezones import is_in_overlap, local_time, resolve_second, zone
from quartzite.triggers import (
    Schedule,
    Trigger,
    TriggerBuilder,
    calendar_interval,
    cron,
    daily,
    every,
    recurrence,
)
from quartzite.triggers.occurrences import Occurrences
from quartzite.triggers.recurrence_rule import RecurrenceRule
from tests.property.triggers import (
    ZONES,
    calendar_interval_schedules,
    calendars,
    daily_schedules,
    instants,
    recurrence_schedules,
    simple_schedules,
    triggers,
)

# A trigger and a calendar that never agree are looked at for a hundred years, and the machine may be busy.
RELAXED = settings(deadline=None)
STEPS = 10_000
FROM = datetime(2010, 1, 1, 2, 30, tzinfo=UTC)
LONG_WALKS = {
    "simple": every(hours=26, minutes=17),
    "cron, fixed time": cron("0 30 2 * * ?"),
    "calendar interval": calendar_interval(days=1),
    "calendar interval, same hour": calendar_interval(days=1, preserve_hour_of_day_across_daylight_savings=True),
    "daily": daily(time(1, 30), time(3), hours=24),
    "recurrence": recurrence("FREQ=DAILY"),
}


def walk(trigger: Trigger) -> list[datetime]:
    """Fire a trigger as often as the walk has steps, and return the times."""
    times: list[datetime] = []
    while trigger.next_fire_time is not None and len(times) < STEPS:
        times.append(trigger.next_fire_time)
        trigger = trigger.triggered(None)
    return times


@pytest.mark.parametrize("time_zone", ZONES)
@pytest.mark.parametrize("kind", LONG_WALKS)
def test_a_long_walk_never_repeats_or_goes_back(kind: str, time_zone: str) -> None:
    """Ten thousand firings, over nearly thirty years and all their clock changes, are strictly one after the other."""
    trigger = _trigger(LONG_WALKS[kind], time_zone)
    times = walk(trigger.compute_first_fire_time(None, FROM))
    assert len(times) == STEPS
    assert times[-1] - times[0] > timedelta(days=27 * 365)
    assert all(earlier < later for earlier, later in pairwise(times))
    assert max(later - earlier for earlier, later in pairwise(times)) < timedelta(days=3)


def _trigger(schedule: Schedule, time_zone: str) -> Trigger:
    builder = TriggerBuilder.create().with_identity("walker").start_at(FROM).with_schedule(schedule)
    return builder.build(time_zone=zone(time_zone))


@RELAXED
@given(triggers(), instants)
def test_the_next_time_is_later_and_within_start_and_end(trigger: Trigger, after: datetime) -> None:
    """Whatever one asks after, the answer is later, not before the start and not behind the end."""
    following = trigger.get_fire_time_after(after)
    assume(following is not None)
    assert following is not None
    assert following > after
    assert following >= trigger.start_time.replace(microsecond=0)
    assert trigger.end_time is None or following <= trigger.end_time


@RELAXED
@given(triggers(simple_schedules() | calendar_interval_schedules() | daily_schedules()), instants, st.floats(0, 1))
def test_the_next_time_is_the_first_one(trigger: Trigger, after: datetime, part: float) -> None:
    """Asked after any instant between an instant and its answer, a trigger answers the same."""
    _assert_first(trigger, after, part)


@RELAXED
@given(triggers(recurrence_schedules()), instants, st.floats(0, 1))
def test_the_next_occurrence_is_the_first_one(trigger: Trigger, after: datetime, part: float) -> None:
    """So does a recurrence, unless one asks while the clocks show a time again: then it answers there."""
    between = _between(trigger, after, part)
    time_zone = getattr(trigger, "time_zone")  # noqa: B009  # kinds differ
    shown = local_time(between, time_zone)
    assume(not (is_in_overlap(shown, time_zone) and resolve_second(shown, time_zone) == between))
    _assert_first(trigger, after, part)


def _assert_first(trigger: Trigger, after: datetime, part: float) -> None:
    assert trigger.get_fire_time_after(_between(trigger, after, part)) == trigger.get_fire_time_after(after)


def _between(trigger: Trigger, after: datetime, part: float) -> datetime:
    following = trigger.get_fire_time_after(after)
    assume(following is not None)
    assert following is not None
    return min(after + (following - after) * part, following - timedelta.resolution)


@RELAXED
@given(triggers(), instants)
def test_a_trigger_is_made_again_by_its_builder(trigger: Trigger, now: datetime) -> None:
    """What the builder of a trigger builds is equal to it, and of the same definition once it is scheduled."""
    again = trigger.to_builder().build()
    assert again == trigger
    scheduled = trigger.compute_first_fire_time(None, now)
    assume(scheduled.next_fire_time is not None)
    assert scheduled.triggered(None).has_same_definition(trigger)


@settings(RELAXED, max_examples=60)
@given(triggers(), calendars(), instants)
def test_fire_times_are_included_and_skipped_not_moved(trigger: Trigger, calendar: Calendar, after: datetime) -> None:
    """With a calendar a trigger fires at times of its schedule that the calendar includes, at no others."""
    following = trigger.next_included_fire_time(calendar, after)
    plain = trigger.get_fire_time_after(after)
    assume(plain is not None)
    if plain is not None and calendar.is_time_included(plain):
        assert following == plain
    if following is not None:
        assert calendar.is_time_included(following)
        assert trigger.get_fire_time_after(following - timedelta.resolution) == following


@RELAXED
@given(triggers(), calendars(), instants, st.integers(0, 3), st.timedeltas(timedelta(0), timedelta(days=400)))
def test_a_misfire_leaves_a_trigger_that_goes_on(
    trigger: Trigger, calendar: Calendar, now: datetime, fired: int, late: timedelta
) -> None:
    """After a misfire the next time is the missed one, now, or a later one that the calendar includes."""
    trigger = trigger.compute_first_fire_time(calendar, trigger.start_time)
    for _ in range(fired):
        trigger = trigger.triggered(calendar) if trigger.may_fire_again else trigger
    missed = trigger.next_fire_time
    assume(missed is not None)
    assert missed is not None
    now = missed + late
    updated = trigger.update_after_misfire(calendar, now)
    following = updated.next_fire_time
    if trigger.misfire_instruction == -1:
        assert updated is trigger
    elif following is not None and following != now:
        assert following > now
        assert calendar.is_time_included(following)
    if following == now and now != missed:
        assert updated.misfire_origin == missed


@RELAXED
@given(calendars(), instants, st.floats(0, 1))
def test_the_next_included_instant_is_the_first_one(calendar: Calendar, moment: datetime, part: float) -> None:
    """What a calendar answers is included and not earlier, and whatever lies before it is excluded."""
    following = calendar.next_included(moment)
    assume(following is not None)
    assert following is not None
    assert following >= moment
    assert calendar.is_time_included(following)
    if following > moment:
        between = min(moment + (following - moment) * part, following - timedelta.resolution)
        assert not calendar.is_time_included(moment)
        assert not calendar.is_time_included(between)
        assert not calendar.is_time_included(following - timedelta.resolution)


# --------------------------------------------------------------------------------------------- recurrence rules
def numbers(low: int, high: int, most: int = 4) -> st.SearchStrategy[str]:
    """Lists of values of a part."""
    return st.lists(st.integers(low, high), min_size=1, max_size=most, unique=True).map(lambda v: ",".join(map(str, v)))


def signed(high: int) -> st.SearchStrategy[str]:
    """Lists of values of a part that may count from the end."""
    values = st.integers(1, high) | st.integers(-high, -1)
    return st.lists(values, min_size=1, max_size=4, unique=True).map(lambda v: ",".join(map(str, v)))


WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
DAY_PARTS = {
    "BYDAY": st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=4, unique=True).map(",".join),
    "BYMONTHDAY": signed(28),
    "BYMONTH": numbers(1, 12),
}
TIME_PARTS = {"BYHOUR": numbers(0, 23), "BYMINUTE": numbers(0, 59), "BYSECOND": numbers(0, 59)}
ORDINALS = st.lists(
    st.tuples(st.sampled_from([1, 2, 3, 4, -1, -2]), st.sampled_from(WEEKDAYS)).map(lambda pair: f"{pair[0]}{pair[1]}"),
    min_size=1,
    max_size=3,
    unique=True,
).map(",".join)


def parts(of: dict[str, st.SearchStrategy[str]]) -> st.SearchStrategy[dict[str, str]]:
    """Some of the parts, each with a value."""
    return st.fixed_dictionaries({}, optional=of)


def text(frequency: str, given_parts: dict[str, str]) -> str:
    """Write a rule."""
    return ";".join([f"FREQ={frequency}", *(f"{name}={value}" for name, value in given_parts.items())])


@st.composite
def rules_of_days(draw: st.DrawFn) -> str:
    """Rules whose period is a day or longer, such as dateutil reads as RFC 5545 does and finds something for."""
    frequency = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY"]))
    rule = {
        "INTERVAL": str(draw(st.integers(1, 20))),
        "WKST": draw(st.sampled_from(WEEKDAYS)),
        **draw(parts(DAY_PARTS)),
    }
    if frequency == "WEEKLY":
        rule.pop("BYMONTHDAY", None)  # RFC 5545 forbids it
    if frequency in {"YEARLY", "MONTHLY"} and "BYMONTHDAY" not in rule and draw(st.booleans()):
        rule["BYDAY"] = draw(ORDINALS)
    if frequency != "DAILY" and draw(st.booleans()):
        rule["BYSETPOS"] = draw(st.sampled_from(["1", "-1", "1,-1"]))
    return text(frequency, rule | draw(parts(TIME_PARTS)))


@st.composite
def rules_within_days(draw: st.DrawFn) -> str:
    """Rules whose period is shorter than a day."""
    frequency = draw(st.sampled_from(["HOURLY", "MINUTELY", "SECONDLY"]))
    interval = {"INTERVAL": str(draw(st.integers(1, 10) | st.integers(1, 100_000)))}
    return text(frequency, interval | draw(parts(DAY_PARTS)) | draw(parts(TIME_PARTS)))


starts = st.datetimes(datetime(2016, 1, 1), datetime(2024, 1, 1)).map(lambda s: s.replace(microsecond=0))  # noqa: DTZ001


@settings(RELAXED, max_examples=100)
@given(rules_of_days(), starts, st.integers(0, 900))
def test_occurrences_are_those_of_dateutil(rule: str, start: datetime, days: int) -> None:
    """From any instant on, the occurrences of a rule are the ones that dateutil finds from its start."""
    after = start + timedelta(days=days, hours=days % 24)
    occurrences = Occurrences(RecurrenceRule.parse(rule), start)
    for expected in islice(rrulestr(rule, dtstart=start).xafter(after), 4):
        found = occurrences.after(after)
        if found is None:
            assert expected.year - after.year > 99
            break
        assert found == expected
        after = found


@settings(RELAXED, max_examples=30)
@given(rules_within_days(), starts, st.integers(0, 90_000))
def test_occurrences_within_days_are_those_of_the_definition(rule: str, start: datetime, seconds: int) -> None:
    """A second is an occurrence when its period is one of every INTERVAL periods and it passes every part."""
    parsed = RecurrenceRule.parse(rule)
    after = start + timedelta(seconds=seconds)
    by_definition = (
        at for at in (after + timedelta(seconds=n) for n in range(1, 20_000)) if _passes(parsed, start, at)
    )
    expected = next(by_definition, None)
    found = Occurrences(parsed, start).after(after)
    if expected is not None:
        assert found == expected
    elif found is not None:
        assert found >= after + timedelta(seconds=20_000)
        assert _passes(parsed, start, found)


def _passes(rule: RecurrenceRule, start: datetime, at: datetime) -> bool:
    unit = {"HOURLY": 3600, "MINUTELY": 60, "SECONDLY": 1}[rule.frequency.name]
    midnight = start.replace(hour=0, minute=0, second=0)
    units = (at - midnight) // timedelta(seconds=unit) - (start - midnight) // timedelta(seconds=unit)
    seconds = rule.by_second or ((start.second,) if unit > 1 else ())
    minutes = rule.by_minute or ((start.minute,) if unit > 60 else ())
    from_the_end = at.day - 1 - monthrange(at.year, at.month)[1]
    return (
        units % rule.interval == 0
        and (not seconds or at.second in seconds)
        and (not minutes or at.minute in minutes)
        and (not rule.by_hour or at.hour in rule.by_hour)
        and (not rule.by_month or at.month in rule.by_month)
        and (not rule.by_month_day or at.day in rule.by_month_day or from_the_end in rule.by_month_day)
        and (not rule.by_day or (None, at.weekday()) in rule.by_day)
    )
