"""Fire times of triggers that nobody fires."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.calendars import WeeklyCalendar
from quartzite.errors import InvalidValueError
from quartzite.triggers import (
    Schedule,
    calendar_interval,
    compute_end_time_to_allow_particular_number_of_firings,
    compute_fire_times,
    compute_fire_times_between,
    cron,
    daily,
    every,
    recurrence,
)
from tests.unit.triggers.building import at, ats, trigger_of

WEEKDAYS = WeeklyCalendar()
NOON = cron("0 0 12 * * ?")


def test_the_first_times_of_a_trigger_that_is_not_scheduled() -> None:
    """They begin with the first one; the trigger itself stays as it is."""
    trigger = trigger_of(NOON, start="2026-01-02T00:00")
    assert compute_fire_times(trigger, WEEKDAYS, 3) == ats("2026-01-02T12:00", "2026-01-05T12:00", "2026-01-06T12:00")
    assert trigger.next_fire_time is None
    assert compute_fire_times(trigger, None, 0) == []


def test_the_next_times_of_a_scheduled_trigger() -> None:
    """They begin with its next fire time; a trigger that is done has none."""
    trigger = trigger_of(NOON, start="2026-01-01T00:00", next_fire_time=at("2026-01-05T12:00"))
    assert compute_fire_times(trigger, None, 2) == ats("2026-01-05T12:00", "2026-01-06T12:00")
    done = trigger.copy_with(next_fire_time=None, previous_fire_time=at("2026-01-05T12:00"))
    assert compute_fire_times(done, None, 2) == []


def test_fewer_times_than_asked_for() -> None:
    """The list ends where the trigger does."""
    trigger = trigger_of(every(hours=1, times=2), start="2026-01-01T00:00")
    assert compute_fire_times(trigger, None, 9) == ats("2026-01-01T00:00", "2026-01-01T01:00")


def test_a_trigger_without_a_start_needs_to_know_when() -> None:
    """Without a start time one says when the trigger would be scheduled."""
    trigger = trigger_of(every(hours=1))
    with pytest.raises(InvalidValueError, match="say with now="):
        compute_fire_times(trigger, None, 1)
    assert compute_fire_times(trigger, None, 2, now=at("2026-01-01T00:30")) == ats(
        "2026-01-01T00:30", "2026-01-01T01:30"
    )
    with pytest.raises(InvalidValueError, match="from 0 on"):
        compute_fire_times(trigger, None, -1)


def test_times_between_two_instants() -> None:
    """Both instants belong to the span."""
    trigger = trigger_of(NOON, start="2026-01-01T00:00")
    found = compute_fire_times_between(trigger, WEEKDAYS, at("2026-01-02T12:00"), at("2026-01-06T12:00"))
    assert found == ats("2026-01-02T12:00", "2026-01-05T12:00", "2026-01-06T12:00")
    assert compute_fire_times_between(trigger, None, at("2025-01-01T00:00"), at("2025-12-31T00:00")) == []
    unscheduled = trigger_of(NOON)
    assert compute_fire_times_between(unscheduled, None, at("2026-01-02T12:00"), at("2026-01-03T00:00")) == ats(
        "2026-01-02T12:00"
    )


@pytest.mark.parametrize(
    "schedule",
    [
        every(seconds=1),
        every(seconds=1, times=900_000_000),
        cron("* * * * * ?"),
        calendar_interval(seconds=1),
        daily(seconds=1),
        recurrence("FREQ=SECONDLY"),
    ],
)
def test_what_lies_before_is_not_walked_through(schedule: Schedule) -> None:
    """Times far behind the start of a fast trigger are found at once."""
    trigger = trigger_of(schedule, start="2010-01-01T00:00")
    begin = at("2026-01-01T00:00")
    expected = [begin + n * timedelta(seconds=1) for n in range(3)]
    assert compute_fire_times_between(trigger, None, begin, begin + timedelta(seconds=2)) == expected


def test_a_count_is_walked_through() -> None:
    """When the number of firings decides about the later ones, they are all counted."""
    trigger = trigger_of(recurrence("FREQ=DAILY;COUNT=5"), start="2026-01-01T00:00")
    found = compute_fire_times_between(trigger, WEEKDAYS, at("2026-01-04T00:00"), at("2026-02-01T00:00"))
    assert found == ats("2026-01-05T00:00", "2026-01-06T00:00", "2026-01-07T00:00")


def test_the_end_time_for_a_number_of_firings() -> None:
    """A second behind the n-th firing the trigger has fired n times; with fewer there is no such time."""
    trigger = trigger_of(every(hours=1, times=3), start="2026-01-01T00:00")
    end = compute_end_time_to_allow_particular_number_of_firings(trigger, None, 3)
    assert end == at("2026-01-01T02:00:01")
    assert len(compute_fire_times(trigger.copy_with(end_time=end), None, 9)) == 3
    assert compute_end_time_to_allow_particular_number_of_firings(trigger, None, 4) is None
    assert compute_end_time_to_allow_particular_number_of_firings(trigger, None, 0) is None
