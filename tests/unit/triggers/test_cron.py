"""Cron triggers and cron(...)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quartzite.calendars import DailyCalendar
from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError, InvalidValueError
from quartzite.timezones import zone
from quartzite.triggers import CronTrigger, MisfireInstruction, TriggerBuilder, cron
from tests.unit.triggers.building import at, ats, fires, trigger_of

BERLIN = zone("Europe/Berlin")


# ------------------------------------------------------------------------------------------------------ fire times
def test_the_zone_of_the_schedule_counts() -> None:
    """The expression is read by the clocks of its own zone, or of the scheduler's when it names none."""
    own = trigger_of(cron("0 0 9 * * ?", time_zone="Europe/Berlin"), start="2026-01-01T00:00", time_zone="Asia/Tokyo")
    assert fires(own, 1) == ats("2026-01-01T08:00")
    default = trigger_of(cron("0 0 9 * * ?"), start="2026-01-01T00:00", time_zone="Asia/Tokyo")
    assert fires(default, 2) == ats("2026-01-01T00:00", "2026-01-02T00:00")
    assert default.time_zone.key == "Asia/Tokyo"


def test_windows_zones_are_mapped_and_unknown_ones_refused() -> None:
    """An id of Windows becomes the IANA id; any other is refused when the schedule is made."""
    assert trigger_of(cron("0 0 9 * * ?", time_zone="China Standard Time")).time_zone.key == "Asia/Shanghai"
    with pytest.raises(InvalidValueError, match="Mars/Olympus"):
        cron("0 0 9 * * ?", time_zone="Mars/Olympus")


def test_the_end_may_fire() -> None:
    """A time exactly at the end fires, and nothing behind it."""
    trigger = trigger_of(cron("0 0 * * * ?"), start="2026-01-01T09:30", end="2026-01-01T11:00")
    assert fires(trigger, 5) == ats("2026-01-01T10:00", "2026-01-01T11:00")
    assert trigger.final_fire_time == at("2026-01-01T11:00")
    assert replace(trigger, end_time=at("2026-01-01T10:59:59.9")).final_fire_time == at("2026-01-01T10:00")


def test_the_final_time_needs_an_end_that_lets_something_fire() -> None:
    """Without an end the last time is not known; an end before the first time leaves none."""
    assert trigger_of(cron("0 0 * * * ?"), start="2026-01-01T09:30").final_fire_time is None
    assert trigger_of(cron("0 0 * * * ?"), start="2026-01-01T09:30", end="2026-01-01T09:59").final_fire_time is None


def test_the_start_is_cut_to_whole_seconds() -> None:
    """An expression knows whole seconds, so a start within a second includes its beginning."""
    trigger = trigger_of(cron("0 0 * * * ?"), start="2026-01-01T10:00:00.9")
    assert trigger.start_time == at("2026-01-01T10:00:00")
    assert fires(trigger, 1) == ats("2026-01-01T10:00")
    settled = trigger_of(cron("0 0 * * * ?")).scheduled_at(at("2026-01-01T10:00:00.9"))
    assert settled.start_time == at("2026-01-01T10:00:00")


def test_what_passed_before_scheduling_never_fires() -> None:
    """An old start does not make a trigger fire at once; the first time is one after now."""
    trigger = trigger_of(cron("0 0 9 ? * MON"), start="2020-01-01T00:00")
    scheduled = trigger.compute_first_fire_time(None, at("2026-01-07T12:00"))
    assert scheduled.next_fire_time == at("2026-01-12T09:00")
    assert scheduled.start_time == at("2020-01-01T00:00")


def test_a_time_right_now_fires_when_the_start_is_now() -> None:
    """A trigger that starts at a time of its schedule fires then, even when it is scheduled at that moment."""
    scheduled = trigger_of(cron("0 0 9 * * ?")).compute_first_fire_time(None, at("2026-01-07T09:00"))
    assert scheduled.next_fire_time == at("2026-01-07T09:00")


def test_a_trigger_whose_end_passed_never_fires() -> None:
    """An end in the past leaves no first time."""
    trigger = trigger_of(cron("0 0 9 * * ?"), start="2020-01-01T00:00", end="2021-01-01T00:00")
    assert trigger.compute_first_fire_time(None, at("2026-01-07T12:00")).next_fire_time is None


def test_firings_are_not_counted() -> None:
    """A cron trigger fires by the clock; how often does not matter."""
    trigger = trigger_of(cron("0 0 9 * * ?"), start="2026-01-01T00:00").compute_first_fire_time(
        None, at("2026-01-01T00:00")
    )
    assert trigger.triggered(None).times_triggered == 0


def test_a_calendar_that_excludes_nights_lets_midnight_fire() -> None:
    """What the calendar excludes is skipped: a trigger every six hours fires thrice."""
    night = DailyCalendar(range_start=at("2026-01-01T01:00").time(), range_end=at("2026-01-01T05:00").time())
    assert fires(trigger_of(cron("0 0 0/4 * * ?"), start="2026-01-01T00:00"), 3, night) == ats(
        "2026-01-01T00:00", "2026-01-01T08:00", "2026-01-01T12:00"
    )


def test_will_fire_on() -> None:
    """A trigger knows whether it fires at an instant, or on the local day that holds it."""
    trigger = trigger_of(cron("0 30 0 ? * MON", time_zone=BERLIN), start="2026-01-01T00:00", end="2026-02-01T00:00")
    assert trigger.will_fire_on(at("2026-01-04T23:30:00.7"))
    assert not trigger.will_fire_on(at("2026-01-04T23:30:01"))
    assert trigger.will_fire_on(at("2026-01-05T22:00"), day_only=True)
    assert not trigger.will_fire_on(at("2026-01-05T23:00"), day_only=True)
    assert not trigger.will_fire_on(at("2026-02-02T12:00"), day_only=True)


# ------------------------------------------------------------------------------------------------------ schedules
def test_an_h_is_dealt_by_the_key() -> None:
    """The trigger stores the resolved text: the same for the same key for ever, another for another key."""
    assert (
        trigger_of(cron("H H H * * ?")).cron_expression_string
        == CronExpression("H H H * * ?", hash_key=":trigger").text
    )
    named = TriggerBuilder.create().with_identity("nightly", "reports").with_schedule(cron("H H H * * ?")).build()
    assert isinstance(named, CronTrigger)
    assert named.cron_expression_string == "31 52 13 * * ?"


def test_an_h_without_a_name_is_refused() -> None:
    """A random name would deal other times at every start."""
    with pytest.raises(CronSyntaxError, match="nobody chose one"):
        TriggerBuilder.create().with_schedule(cron("H H H * * ?")).build()
    own_key = CronExpression("H H H * * ?", hash_key="seed")
    TriggerBuilder.create().with_schedule(cron(own_key)).build()


def test_texts_are_refused_when_the_schedule_is_made() -> None:
    """An error in an expression shows where it was written, not when a trigger is built; H may be in error too."""
    with pytest.raises(CronSyntaxError, match="6 or 7 are needed"):
        cron("0 9 * * *")
    with pytest.raises(CronSyntaxError, match=r"H\(30-5\)"):
        cron("H(30-5) * * * * ?")
    with pytest.raises(InvalidValueError, match="give a text or a CronExpression"):
        cron(5)  # type: ignore[arg-type]


def test_an_expression_brings_its_zone() -> None:
    """An expression that was made before keeps its zone, unless the schedule is told another one."""
    expression = CronExpression.from_crontab("30 2 * * 1-5", "Europe/Berlin")
    assert trigger_of(cron(expression), time_zone="Asia/Tokyo").cron_expression is expression
    moved = trigger_of(cron(expression).in_time_zone("Asia/Tokyo"))
    assert moved.time_zone.key == "Asia/Tokyo"
    assert moved.cron_expression_string == expression.text


def test_zone_and_instruction_survive_the_resolution_of_an_h() -> None:
    """What else the schedule says is kept."""
    schedule = cron("H * * * * ?", time_zone=BERLIN, misfire_instruction=MisfireInstruction.DO_NOTHING)
    trigger = trigger_of(schedule)
    assert (trigger.time_zone, trigger.misfire_instruction) == (BERLIN, MisfireInstruction.DO_NOTHING)


def test_the_round_trip() -> None:
    """A trigger's own schedule makes the trigger again."""
    trigger = trigger_of(cron("0 0 9 * * ?", time_zone=BERLIN), start="2026-01-01T00:00", end="2027-01-01T00:00")
    assert trigger.to_builder().build() == trigger


def test_equal_expressions_are_shared() -> None:
    """A thousand triggers of one expression keep it once; so do those whose H came out alike."""
    first, second = trigger_of(cron("0 0 9 * * ?")), trigger_of(cron("0 0 9 * * ?"))
    assert first.cron_expression is second.cron_expression
    assert trigger_of(cron("H H H * * ?")).cron_expression is trigger_of(cron("H H H * * ?")).cron_expression
