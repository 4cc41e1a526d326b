"""Recurrence triggers and recurrence(...)."""

from __future__ import annotations

import pytest

from quartzite.calendars import WeeklyCalendar
from quartzite.errors import InvalidValueError, RecurrenceSyntaxError
from quartzite.triggers import RecurrenceTrigger, recurrence
from tests.unit.triggers.building import at, ats, fires, trigger_of

START = "2025-01-01T09:00"
NEW_YORK = "America/New_York"


def test_the_rule_is_read_by_the_clocks_of_the_zone() -> None:
    """The start is the DTSTART, as the zone shows it."""
    trigger = trigger_of(recurrence("FREQ=DAILY"), start="2026-03-07T09:00-05:00", time_zone=NEW_YORK)
    assert fires(trigger, 3) == ats("2026-03-07T09:00-05:00", "2026-03-08T09:00-04:00", "2026-03-09T09:00-04:00")


def test_a_start_that_the_rule_does_not_give_does_not_fire() -> None:
    """DTSTART alone is no occurrence."""
    assert fires(trigger_of(recurrence("FREQ=DAILY;BYHOUR=17"), start=START), 1) == ats("2025-01-01T17:00")


def test_the_start_is_cut_to_whole_seconds() -> None:
    """Rules know whole seconds, so a start within one fires at its beginning; the start itself stays."""
    trigger = trigger_of(recurrence("FREQ=HOURLY"), start="2025-01-01T09:00:00.7")
    assert fires(trigger, 2) == ats("2025-01-01T09:00", "2025-01-01T10:00")
    assert trigger.start_time == at("2025-01-01T09:00:00.7")


# ------------------------------------------------------------------------------------------------------------- end
def test_count_counts_firings() -> None:
    """What fired counts; what was skipped, for a calendar or a misfire, does not."""
    trigger = trigger_of(recurrence("FREQ=DAILY;COUNT=3"), start="2025-01-03T09:00")
    assert fires(trigger, 9) == ats("2025-01-03T09:00", "2025-01-04T09:00", "2025-01-05T09:00")
    assert fires(trigger, 9, WeeklyCalendar()) == ats("2025-01-03T09:00", "2025-01-06T09:00", "2025-01-07T09:00")
    late = trigger.copy_with(misfire_instruction=2)
    late = late.compute_first_fire_time(None, late.start_time).update_after_misfire(None, at("2025-01-10T12:00"))
    assert late.next_fire_time == at("2025-01-11T09:00")
    assert late.triggered(None).triggered(None).triggered(None).next_fire_time is None


def test_a_spent_count_leaves_nothing() -> None:
    """A trigger that fired as often as COUNT says does not fire again, whatever one asks after."""
    trigger = trigger_of(recurrence("FREQ=DAILY;COUNT=3"), start=START, times_triggered=3)
    assert trigger.get_fire_time_after(at("2024-01-01T00:00")) is None


@pytest.mark.parametrize(
    ("rule", "end", "last"),
    [
        ("FREQ=DAILY;UNTIL=20250105T235959Z", None, "2025-01-05T09:00"),
        ("FREQ=DAILY;UNTIL=20250105T090000", None, "2025-01-05T09:00"),
        ("FREQ=DAILY;UNTIL=20250105T085959Z", None, "2025-01-04T09:00"),
        ("FREQ=DAILY;UNTIL=20250105", None, "2025-01-05T09:00"),
        ("FREQ=DAILY", "2025-01-03T09:00", "2025-01-03T09:00"),
        ("FREQ=DAILY", "2025-01-10T08:00", "2025-01-09T09:00"),
        ("FREQ=DAILY;UNTIL=20250105", "2025-01-03T12:00", "2025-01-03T09:00"),
        ("FREQ=DAILY;COUNT=5", None, "2025-01-05T09:00"),
        ("FREQ=DAILY;COUNT=5", "2025-01-02T12:00", "2025-01-02T09:00"),
        ("FREQ=SECONDLY;UNTIL=20260101", None, "2026-01-01T23:59:59"),
        ("FREQ=YEARLY;UNTIL=20281231", None, "2028-01-01T09:00"),
    ],
)
def test_the_final_time(rule: str, end: str | None, last: str) -> None:
    """COUNT, UNTIL and the end are inclusive; the last firing is behind none of them."""
    trigger = trigger_of(recurrence(rule), start=START, end=end)
    assert trigger.final_fire_time == at(last)
    if "SECONDLY" not in rule:
        assert fires(trigger, 20)[-1] == at(last)


def test_there_may_be_no_final_time() -> None:
    """Without any limit, without a start, without an occurrence, and for very large counts it is not known."""
    assert trigger_of(recurrence("FREQ=DAILY"), start=START).final_fire_time is None
    assert trigger_of(recurrence("FREQ=DAILY;COUNT=3")).final_fire_time is None
    assert trigger_of(recurrence("FREQ=DAILY;COUNT=20000"), start=START).final_fire_time is None
    assert trigger_of(recurrence("FREQ=DAILY;UNTIL=20200101"), start=START).final_fire_time is None


def test_an_end_in_the_past_leaves_no_first_time() -> None:
    """A trigger that is over when it is scheduled never fires."""
    trigger = trigger_of(recurrence("FREQ=DAILY"), start=START, end="2025-01-10T00:00")
    assert trigger.compute_first_fire_time(None, at("2025-02-01T00:00")).next_fire_time is None


# --------------------------------------------------------------------------------------------------- clock changes
def test_a_time_in_a_gap_moves_by_its_width() -> None:
    """02:30 on the day of the spring change is 03:30, once."""
    trigger = trigger_of(recurrence("FREQ=DAILY"), start="2025-03-08T02:30-05:00", time_zone=NEW_YORK)
    assert fires(trigger, 3) == ats("2025-03-08T02:30-05:00", "2025-03-09T03:30-04:00", "2025-03-10T02:30-04:00")


def test_only_the_first_time_in_a_gap_fires() -> None:
    """Of several times that the clocks skip the first one moves; the search goes on behind it."""
    rule = recurrence("FREQ=MINUTELY;INTERVAL=25;BYHOUR=1,2,3")
    trigger = trigger_of(rule, start="2025-03-09T01:40-05:00", time_zone=NEW_YORK)
    assert fires(trigger, 4) == ats(
        "2025-03-09T01:40-05:00", "2025-03-09T03:05-04:00", "2025-03-09T03:20-04:00", "2025-03-09T03:45-04:00"
    )


def test_a_time_that_moved_is_found_from_behind_the_gap() -> None:
    """A search that starts between the end of the gap and the moved time still finds it."""
    trigger = trigger_of(recurrence("FREQ=DAILY"), start="2025-03-08T02:30-05:00", time_zone=NEW_YORK)
    assert trigger.get_fire_time_after(at("2025-03-09T03:10-04:00")) == at("2025-03-09T03:30-04:00")
    assert trigger.get_fire_time_after(at("2025-03-09T03:30-04:00")) == at("2025-03-10T02:30-04:00")


def test_a_time_that_is_shown_twice_fires_once() -> None:
    """An overlap fires in its first pass, hours and minutes too: steps are taken on the wall clock."""
    trigger = trigger_of(recurrence("FREQ=MINUTELY;INTERVAL=30"), start="2025-11-02T00:45-04:00", time_zone=NEW_YORK)
    assert fires(trigger, 4) == ats(
        "2025-11-02T00:45-04:00", "2025-11-02T01:15-04:00", "2025-11-02T01:45-04:00", "2025-11-02T02:15-05:00"
    )


def test_a_search_from_the_second_pass_answers_there() -> None:
    """Whoever asks while the clocks show a time again gets a later instant, never an earlier one."""
    trigger = trigger_of(recurrence("FREQ=MINUTELY;INTERVAL=30"), start="2025-11-02T00:45-04:00", time_zone=NEW_YORK)
    assert trigger.get_fire_time_after(at("2025-11-02T01:20-05:00")) == at("2025-11-02T01:45-05:00")


# -------------------------------------------------------------------------------------------------------- schedules
def test_the_round_trip() -> None:
    """The trigger keeps the rule's stored text and makes itself again."""
    schedule = recurrence("rrule:freq=weekly;interval=1;byday=mo", time_zone="China Standard Time")
    trigger = trigger_of(schedule, start=START)
    assert isinstance(trigger, RecurrenceTrigger)
    assert trigger.recurrence_rule == "FREQ=WEEKLY;BYDAY=MO"
    assert trigger.rule.by_day == ((None, 0),)
    assert trigger.time_zone.key == "Asia/Shanghai"
    assert trigger.schedule == schedule
    assert trigger.to_builder().build() == trigger
    assert trigger_of(recurrence("FREQ=DAILY").in_time_zone("Asia/Tokyo")).time_zone.key == "Asia/Tokyo"


def test_what_is_refused() -> None:
    """An error in a rule or zone shows where it was written."""
    with pytest.raises(RecurrenceSyntaxError):
        recurrence("FREQ=SOMETIMES")
    with pytest.raises(InvalidValueError, match="Mars"):
        recurrence("FREQ=DAILY", time_zone="Mars")
    with pytest.raises(InvalidValueError, match="99 is none of"):
        trigger_of(recurrence("FREQ=DAILY", misfire_instruction=99))
