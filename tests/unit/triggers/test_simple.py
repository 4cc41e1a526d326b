"""Simple triggers and every(...)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.triggers import (
    REPEAT_FOREVER,
    SimpleMisfireInstruction,
    SimpleSchedule,
    SimpleTrigger,
    every,
    once,
)
from tests.unit.triggers.building import at, ats, fires, trigger_of

TWO_MINUTES = timedelta(minutes=2)


# ------------------------------------------------------------------------------------------------------ fire times
def test_times_are_the_start_plus_whole_intervals() -> None:
    """Milliseconds count: 34 ms behind the start of a 10 ms schedule the next time is at 40 ms."""
    trigger = trigger_of(every(milliseconds=10, times=5), start="2026-01-01T10:00")
    assert trigger.get_fire_time_after(at("2026-01-01T10:00:00.034")) == at("2026-01-01T10:00:00.040")
    assert fires(trigger, 10) == [at("2026-01-01T10:00") + n * timedelta(milliseconds=10) for n in range(5)]


def test_a_schedule_without_end_goes_on() -> None:
    """A day behind the start of a daily schedule the next time is two days behind it."""
    trigger = trigger_of(every(days=1), start="2026-01-01T10:00")
    assert trigger.get_fire_time_after(at("2026-01-02T10:00")) == at("2026-01-03T10:00")


def test_nothing_fires_at_the_end_but_the_start() -> None:
    """The end time itself is over, unless the trigger starts there."""
    trigger = trigger_of(every(minutes=1), start="2026-01-01T10:00", end="2026-01-01T10:02")
    assert fires(trigger, 10) == ats("2026-01-01T10:00", "2026-01-01T10:01")
    assert trigger.get_fire_time_after(at("2026-01-01T10:02")) is None
    at_once = trigger_of(every(minutes=1), start="2026-01-01T10:00", end="2026-01-01T10:00")
    assert fires(at_once, 10) == ats("2026-01-01T10:00")


def test_a_trigger_that_fired_enough_does_not_fire_again() -> None:
    """More firings than the count has leave nothing, whatever one asks after."""
    trigger = trigger_of(every(minutes=1, times=2), start="2026-01-01T10:00")
    before = at("2026-01-01T09:00")
    assert trigger.copy_with(times_triggered=1).get_fire_time_after(before) == trigger.start_time
    assert trigger.copy_with(times_triggered=2).get_fire_time_after(before) is None


def test_a_one_shot_fires_at_its_start() -> None:
    """A trigger that fires once has no other time."""
    trigger = trigger_of(once(), start="2026-01-01T10:00")
    assert fires(trigger, 10) == ats("2026-01-01T10:00")
    assert trigger.final_fire_time == trigger.start_time
    assert trigger.get_fire_time_after(trigger.start_time) is None


def test_times_behind_the_last_year_are_none() -> None:
    """A time that no datetime can hold is no fire time."""
    trigger = trigger_of(every(timedelta(days=999_999_999)), start="2026-01-01T10:00")
    assert trigger.get_fire_time_after(at("2026-01-01T10:00")) is None
    assert trigger.final_fire_time is None


@pytest.mark.parametrize(
    ("schedule", "end", "final"),
    [
        (every(minutes=5), None, None),
        (every(minutes=5), "2026-01-01T10:12", "2026-01-01T10:10"),
        (every(minutes=5), "2026-01-01T10:10", "2026-01-01T10:10"),
        (every(minutes=5, times=3), None, "2026-01-01T10:10"),
        (every(minutes=5, times=3), "2026-01-01T10:07", "2026-01-01T10:05"),
        (every(minutes=5, times=3), "2026-01-02T00:00", "2026-01-01T10:10"),
        (once(), "2026-01-02T00:00", "2026-01-01T10:00"),
    ],
)
def test_the_final_time(schedule: SimpleSchedule, end: str | None, final: str | None) -> None:
    """The last time is known by the count or by the end; it may be the end itself, although nothing fires there."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00", end=end)
    assert trigger.final_fire_time == (None if final is None else at(final))


def test_without_a_start_there_is_no_final_time() -> None:
    """The last time of a trigger that is not scheduled yet is not known."""
    assert trigger_of(every(minutes=5, times=3)).final_fire_time is None


def test_hours_are_elapsed_time() -> None:
    """Clock changes do not exist: a local day in New York has 25 hourly firings in autumn and 23 in spring."""
    for day, begin, end, count in (
        ("autumn", "2026-11-01T00:00-04:00", "2026-11-02T00:00-05:00", 25),
        ("spring", "2026-03-08T00:00-05:00", "2026-03-09T00:00-04:00", 23),
    ):
        trigger = trigger_of(every(hours=1), start=begin, end=end)
        assert len(fires(trigger, 100)) == count, day


# ---------------------------------------------------------------------------------------------------------- moving
@pytest.mark.parametrize("schedule", [every(minutes=2), every(minutes=2, times=6)])
def test_a_repeating_trigger_does_not_make_up_for_times_before_it_was_scheduled(schedule: SimpleSchedule) -> None:
    """The start of a repeating trigger that never fired moves from the past to now."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00").compute_first_fire_time(None, at("2026-01-01T10:07:30"))
    assert trigger.start_time == trigger.next_fire_time == at("2026-01-01T10:07:30")


def test_a_trigger_that_fired_keeps_its_start() -> None:
    """The start of a trigger that fired already is no start in the past."""
    trigger = trigger_of(every(minutes=2), start="2026-01-01T10:00", previous_fire_time=at("2026-01-01T10:00"))
    assert trigger.scheduled_at(at("2026-01-01T11:00")) is trigger


def test_a_one_shot_in_the_past_fires_at_once() -> None:
    """A trigger that fires once keeps its start in the past."""
    trigger = trigger_of(once(), start="2026-01-01T10:00").compute_first_fire_time(None, at("2026-01-01T12:00"))
    assert trigger.next_fire_time == at("2026-01-01T10:00")


def test_a_start_in_the_future_stays() -> None:
    """The first time is the start."""
    trigger = trigger_of(every(minutes=2), start="2026-01-01T10:00").compute_first_fire_time(
        None, at("2025-12-31T00:00")
    )
    assert trigger.next_fire_time == at("2026-01-01T10:00")


def test_a_trigger_whose_end_passed_never_fires() -> None:
    """A start that moved behind the end leaves no time."""
    trigger = trigger_of(every(minutes=2), start="2026-01-01T10:00", end="2026-01-01T11:00")
    assert trigger.compute_first_fire_time(None, at("2026-01-01T12:00")).next_fire_time is None


def test_a_moved_start_is_still_the_declared_one() -> None:
    """A declaration whose start moved when it was scheduled is unchanged at the next start; a later one is not."""
    declared = trigger_of(every(hours=1), start="2026-01-01T10:00")
    stored = declared.compute_first_fire_time(None, at("2026-01-01T12:30")).triggered(None)
    assert stored.has_same_definition(declared)
    assert declared.has_same_definition(stored)
    assert not stored.has_same_definition(replace(declared, start_time=at("2026-01-02T00:00")))
    assert not stored.has_same_definition(replace(declared, repeat_interval=TWO_MINUTES))


# -------------------------------------------------------------------------------------------------------- misfires
def late(instruction: SimpleMisfireInstruction, **changes: Any) -> SimpleTrigger:
    """Return an endless two-minute trigger, due at 10:00, after a misfire at 10:02:30."""
    schedule = every(minutes=2).with_misfire_instruction(instruction)
    trigger = trigger_of(schedule, start="2026-01-01T10:00", next_fire_time=at("2026-01-01T10:00"), **changes)
    updated: SimpleTrigger = trigger.update_after_misfire(None, at("2026-01-01T10:02:30"))
    return updated


def test_next_with_existing_count() -> None:
    """The schedule goes on at its next time and the count stays."""
    updated = late(SimpleMisfireInstruction.NEXT_WITH_EXISTING_COUNT, times_triggered=1)
    assert (updated.next_fire_time, updated.times_triggered) == (at("2026-01-01T10:04"), 1)


def test_next_with_remaining_count() -> None:
    """The schedule goes on at its next time and the missed ones count as fired."""
    updated = late(SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT, times_triggered=1, repeat_count=10)
    assert (updated.next_fire_time, updated.times_triggered) == (at("2026-01-01T10:04"), 3)


def test_next_with_remaining_count_at_the_end() -> None:
    """Without a next time nothing is counted."""
    end = at("2026-01-01T10:03")
    updated = late(SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT, times_triggered=1, end_time=end)
    assert (updated.next_fire_time, updated.times_triggered) == (None, 1)


def test_now_with_existing_count() -> None:
    """The schedule starts over from now with what is left of the count."""
    updated = late(SimpleMisfireInstruction.NOW_WITH_EXISTING_COUNT, times_triggered=3, repeat_count=10)
    assert updated.next_fire_time == updated.start_time == at("2026-01-01T10:02:30")
    assert (updated.repeat_count, updated.times_triggered) == (7, 0)
    assert updated.misfire_origin == at("2026-01-01T10:00")


def test_now_with_remaining_count() -> None:
    """The schedule starts over from now with what is left when the missed times are taken off too, at least once."""
    updated = late(SimpleMisfireInstruction.NOW_WITH_REMAINING_COUNT, times_triggered=3, repeat_count=10)
    assert (updated.repeat_count, updated.times_triggered) == (6, 0)
    assert late(SimpleMisfireInstruction.NOW_WITH_REMAINING_COUNT, times_triggered=1, repeat_count=1).repeat_count == 0


@pytest.mark.parametrize(
    "instruction",
    [SimpleMisfireInstruction.NOW_WITH_EXISTING_COUNT, SimpleMisfireInstruction.NOW_WITH_REMAINING_COUNT],
)
def test_now_behind_the_end(instruction: SimpleMisfireInstruction) -> None:
    """A trigger whose end passed does not start over: start and end stay and nothing is left."""
    updated = late(instruction, end_time=at("2026-01-01T10:01"))
    assert updated.next_fire_time is None
    assert (updated.start_time, updated.end_time) == tuple(ats("2026-01-01T10:00", "2026-01-01T10:01"))


@pytest.mark.parametrize(
    ("repeat_count", "same_as"),
    [
        (0, SimpleMisfireInstruction.FIRE_NOW),
        (REPEAT_FOREVER, SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT),
        (5, SimpleMisfireInstruction.NOW_WITH_EXISTING_COUNT),
    ],
)
def test_the_smart_policy(repeat_count: int, same_as: SimpleMisfireInstruction) -> None:
    """Once: now. For ever: the next time. A number of times: over again from now."""
    smart = late(SimpleMisfireInstruction.SMART_POLICY, repeat_count=repeat_count)
    assert replace(smart, misfire_instruction=same_as) == late(same_as, repeat_count=repeat_count)


def test_firing_a_repeating_trigger_now_starts_it_over() -> None:
    """For a trigger that repeats "fire now" is "now with the remaining count"."""
    now = late(SimpleMisfireInstruction.FIRE_NOW)
    assert now.start_time == at("2026-01-01T10:02:30")
    assert now.triggered(None).next_fire_time == at("2026-01-01T10:04:30")


# ------------------------------------------------------------------------------------------------------- schedules
@pytest.mark.parametrize(
    ("schedule", "interval", "count"),
    [
        (every(TWO_MINUTES), TWO_MINUTES, REPEAT_FOREVER),
        (every(minutes=1, seconds=60), TWO_MINUTES, REPEAT_FOREVER),
        (every(days=1, hours=2, milliseconds=3), timedelta(days=1, hours=2, milliseconds=3), REPEAT_FOREVER),
        (every(seconds=0.5, times=1), timedelta(milliseconds=500), 0),
        (every(hours=1, times=10), timedelta(hours=1), 9),
        (SimpleSchedule().with_repeat_count(4).with_interval(TWO_MINUTES), TWO_MINUTES, 4),
        (SimpleSchedule().with_interval(TWO_MINUTES).repeat_forever(), TWO_MINUTES, REPEAT_FOREVER),
    ],
)
def test_schedules(schedule: SimpleSchedule, interval: timedelta, count: int) -> None:
    """The short form and the verbs make the same schedules; ``times`` is how often it fires in all."""
    assert (schedule.repeat_interval, schedule.repeat_count) == (interval, count)
    assert trigger_of(schedule).schedule == schedule


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give a span above zero"),
        ({"interval": timedelta(0)}, "give a span above zero"),
        ({"seconds": -1}, "not below zero"),
        ({"interval": TWO_MINUTES, "seconds": 1}, "not both"),
        ({"interval": timedelta(microseconds=1500)}, "whole milliseconds"),
        ({"interval": 5}, "must be a timedelta"),
        ({"seconds": 1, "times": 0}, "at least 1"),
    ],
)
def test_what_every_refuses(arguments: dict[str, Any], message: str) -> None:
    """A schedule needs one span above zero, in whole milliseconds, and at least one firing."""
    with pytest.raises(InvalidValueError, match=message):
        every(**arguments)


def test_what_a_trigger_refuses() -> None:
    """A repeating trigger needs an interval; a count is -1 or more."""
    with pytest.raises(InvalidValueError, match="repeats without an interval"):
        trigger_of(SimpleSchedule().repeat_forever())
    with pytest.raises(InvalidValueError, match="repeat count -2"):
        SimpleSchedule(repeat_count=-2)
    with pytest.raises(TypeError, match="second"):
        every(second=1)  # type: ignore[call-arg]
