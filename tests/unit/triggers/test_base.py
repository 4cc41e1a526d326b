"""What all kinds of triggers share."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from quartzite.calendars import CronCalendar, DailyCalendar, WeeklyCalendar
from quartzite.cron import CronExpression
from quartzite.errors import InvalidValueError, JobExecutionError, SchedulerError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction
from quartzite.triggers import (
    NO_JOB,
    Schedule,
    SimpleTrigger,
    TriggerBuilder,
    calendar_interval,
    cron,
    daily,
    every,
    once,
    recurrence,
)
from tests.unit.triggers.building import at, ats, fires, trigger_of

KINDS = {
    "simple": every(minutes=1),
    "cron": cron("0 * * * * ?"),
    "calendar interval": calendar_interval(minutes=1),
    "daily": daily(minutes=1),
    "recurrence": recurrence("FREQ=MINUTELY"),
}
MINUTE = timedelta(minutes=1)
THRESHOLD = timedelta(seconds=60)

every_kind = pytest.mark.parametrize("schedule", KINDS.values(), ids=list(KINDS))
weekday_nights = CronCalendar(cron_expression=CronExpression("* * 0-5 ? * MON-FRI"))


@every_kind
def test_a_trigger_is_a_value(schedule: Schedule) -> None:
    """A trigger can not be changed, hashes by its key, and compares by all fields."""
    trigger = trigger_of(schedule, start="2026-01-01T00:00")
    with pytest.raises(FrozenInstanceError):
        trigger.priority = 1
    assert hash(trigger) == hash(trigger.key)
    assert trigger == replace(trigger)
    assert trigger != replace(trigger, priority=6)
    assert deepcopy(trigger) == trigger


@every_kind
def test_every_kind_walks_the_same_minutes(schedule: Schedule) -> None:
    """Minute schedules of all kinds agree: from the start on, one minute after the other."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    assert fires(trigger, 3) == ats("2026-01-01T10:00", "2026-01-01T10:01", "2026-01-01T10:02")


@every_kind
def test_strictly_after_is_exact_to_the_microsecond(schedule: Schedule) -> None:
    """A time of the schedule is found from the microsecond before, and not from itself."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    assert trigger.get_fire_time_after(at("2026-01-01T10:04:59.999999")) == at("2026-01-01T10:05")
    assert trigger.get_fire_time_after(at("2026-01-01T10:05")) == at("2026-01-01T10:06")
    assert trigger.get_fire_time_after(at("2026-01-01T10:05:00.000001")) == at("2026-01-01T10:06")


@every_kind
def test_an_instant_of_any_zone_is_the_same_instant(schedule: Schedule) -> None:
    """Instants are compared, not what their clocks show; answers are UTC."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    answer = trigger.get_fire_time_after(at("2026-01-01T15:35:00+05:30"))
    assert answer == at("2026-01-01T10:06")
    assert answer.tzinfo is UTC


@every_kind
def test_naive_instants_are_refused(schedule: Schedule) -> None:
    """A naive instant could be any of many."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    with pytest.raises(InvalidValueError, match="give an aware datetime"):
        trigger.get_fire_time_after(datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidValueError, match="give an aware datetime"):
        replace(trigger, end_time=datetime(2027, 1, 1))  # noqa: DTZ001


def test_instants_become_utc() -> None:
    """Whatever zone an instant was given in, the trigger keeps it in UTC."""
    local = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    trigger = SimpleTrigger(key=TriggerKey("t"), start_time=local, next_fire_time=local)
    assert trigger.start_time.tzinfo is UTC
    assert trigger.next_fire_time == at("2026-01-01T10:00")


@pytest.mark.parametrize("moment", ["0001-01-02T00:00", "9999-12-31T23:59:59.999999"])
def test_the_outermost_years_are_refused(moment: str) -> None:
    """Where the clocks of a zone may show what no datetime can hold, nothing starts or ends; the remedy is named."""
    with pytest.raises(InvalidValueError, match="leave it out when there is no limit"):
        SimpleTrigger(key=TriggerKey("t"), end_time=at(moment))


def test_an_end_before_the_start_is_refused() -> None:
    """A trigger that ends before it starts is a mistake."""
    with pytest.raises(InvalidValueError, match="lies before start time"):
        trigger_of(once(), start="2026-01-02T00:00", end="2026-01-01T00:00")


@every_kind
def test_an_unknown_misfire_instruction_is_refused(schedule: Schedule) -> None:
    """An instruction that the kind does not understand is refused, and those it does are named."""
    with pytest.raises(InvalidValueError, match=r"instruction 6 is none of \[-1, 0, 1, 2"):
        trigger_of(schedule.with_misfire_instruction(6))


def test_a_trigger_without_a_job_is_not_valid() -> None:
    """A trigger is built without a job, and scheduled only with one."""
    trigger = TriggerBuilder.create().with_identity("lonely").build()
    assert trigger.job_key == NO_JOB
    with pytest.raises(SchedulerError, match="name one with for_job"):
        trigger.validate()
    replace(trigger, job_key=JobKey("job")).validate()


# ------------------------------------------------------------------------------------------------- start and first
@every_kind
def test_a_start_that_was_not_given_is_settled_when_scheduled(schedule: Schedule) -> None:
    """Without a start time a trigger starts when it is scheduled."""
    trigger = trigger_of(schedule)
    assert trigger.starts_when_scheduled
    scheduled = trigger.compute_first_fire_time(None, at("2026-01-01T10:00"))
    assert not scheduled.starts_when_scheduled
    assert scheduled.start_time == scheduled.next_fire_time == at("2026-01-01T10:00")
    assert trigger.starts_when_scheduled


@every_kind
def test_a_trigger_without_start_previews_as_if_scheduled_then(schedule: Schedule) -> None:
    """Asked for a time before it is scheduled, a trigger without a start answers as if it were scheduled then."""
    following = trigger_of(schedule).get_fire_time_after(at("2026-01-01T10:00"))
    assert following == at("2026-01-01T10:01")


@every_kind
def test_a_trigger_fires_until_it_can_not(schedule: Schedule) -> None:
    """Firing moves next to previous; without a next time there is nothing to fire."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00", end="2026-01-01T10:01:30")
    scheduled = trigger.compute_first_fire_time(None, trigger.start_time)
    assert scheduled.may_fire_again
    fired = scheduled.triggered(None)
    assert fired.previous_fire_time == at("2026-01-01T10:00")
    assert fired.next_fire_time == at("2026-01-01T10:01")
    assert fired.times_triggered == (1 if fired.counts_firings else 0)
    done = fired.triggered(None)
    assert not done.may_fire_again
    with pytest.raises(SchedulerError, match="has no next fire time"):
        done.triggered(None)


# ------------------------------------------------------------------------------------------------------ calendars
@every_kind
def test_excluded_times_are_skipped_not_moved(schedule: Schedule) -> None:
    """A trigger never fires at the instant at which its calendar includes again, only at times of its schedule."""
    calendar = DailyCalendar(range_start=at("2026-01-01T10:00:30").time(), range_end=at("2026-01-01T10:03:29").time())
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    assert fires(trigger, 2, calendar) == ats("2026-01-01T10:00", "2026-01-01T10:04")


@every_kind
def test_a_time_at_which_the_calendar_includes_again_is_found(schedule: Schedule) -> None:
    """A time of the schedule exactly at the end of an excluded span fires."""
    trigger = trigger_of(schedule, start="2026-01-05T00:00")
    assert fires(trigger, 1, weekday_nights) == ats("2026-01-05T06:00")


@every_kind
def test_a_calendar_without_included_times_ends_the_search(schedule: Schedule) -> None:
    """A calendar that excludes everything leaves no fire time, and is asked once."""
    never = WeeklyCalendar().with_excluded(2, 3, 4, 5, 6)
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    assert trigger.compute_first_fire_time(never, trigger.start_time).next_fire_time is None


def test_a_schedule_that_never_meets_its_calendar_is_given_up() -> None:
    """A search that finds every time excluded ends after a bounded number of them."""
    full_minutes = CronCalendar(cron_expression=CronExpression("0 * * * * ?"))
    trigger = trigger_of(cron("0 0/5 * * * ?"), start="2026-01-01T10:00")
    assert trigger.next_included_fire_time(full_minutes, trigger.start_time) is None


# ------------------------------------------------------------------------------------------------------- misfires
@every_kind
def test_ignoring_misfires_changes_nothing(schedule: Schedule) -> None:
    """The instruction -1 leaves the trigger as it is: it catches up."""
    trigger = trigger_of(schedule.with_misfire_instruction(-1), start="2026-01-01T10:00")
    trigger = trigger.compute_first_fire_time(None, trigger.start_time)
    assert trigger.update_after_misfire(None, at("2026-01-01T12:00")) is trigger


@pytest.mark.parametrize("schedule", list(KINDS.values())[1:], ids=list(KINDS)[1:])
def test_fire_and_proceed_fires_now_and_goes_on_with_the_schedule(schedule: Schedule) -> None:
    """The smart policy of four kinds: one firing now, whatever the calendar says, and then the schedule as it was."""
    trigger = trigger_of(schedule, start="2026-01-05T00:00").compute_first_fire_time(None, at("2026-01-05T00:00"))
    now = at("2026-01-05T03:00:20.5")
    for instruction in (0, 1):
        updated = trigger.copy_with(misfire_instruction=instruction).update_after_misfire(weekday_nights, now)
        assert updated.next_fire_time == now
        assert updated.misfire_origin == trigger.next_fire_time
        assert updated.triggered(None).next_fire_time == at("2026-01-05T03:01")


@pytest.mark.parametrize("schedule", list(KINDS.values())[1:], ids=list(KINDS)[1:])
def test_do_nothing_waits_for_the_next_included_time(schedule: Schedule) -> None:
    """Doing nothing about missed times means to go on with the next one that the calendar includes."""
    trigger = trigger_of(schedule.with_misfire_instruction(2), start="2026-01-05T00:00")
    trigger = trigger.compute_first_fire_time(None, trigger.start_time)
    updated = trigger.update_after_misfire(weekday_nights, at("2026-01-05T03:00:20"))
    assert updated.next_fire_time == at("2026-01-05T06:00")
    assert updated.misfire_origin is None


def test_the_missed_time_is_kept_until_the_trigger_fires() -> None:
    """A second misfire keeps the time that was missed first; the firing forgets it."""
    trigger = trigger_of(cron("0 0 9 * * ?"), start="2026-01-05T00:00")
    trigger = trigger.compute_first_fire_time(None, trigger.start_time)
    once_late = trigger.update_after_misfire(None, at("2026-01-05T10:00"))
    twice_late = once_late.update_after_misfire(None, at("2026-01-05T11:00"))
    assert twice_late.next_fire_time == at("2026-01-05T11:00")
    assert twice_late.misfire_origin == at("2026-01-05T09:00")
    assert twice_late.triggered(None).misfire_origin is None


# -------------------------------------------------------------------------------------------------- new calendars
def test_a_new_calendar_keeps_an_included_time_even_when_it_passed() -> None:
    """After its calendar was replaced, a trigger looks from its last firing on."""
    trigger = trigger_of(cron("0 0 9 * * ?"), start="2026-01-05T00:00", previous_fire_time=at("2026-01-05T09:00"))
    updated = trigger.update_with_new_calendar(WeeklyCalendar(), at("2026-01-06T12:00"), THRESHOLD)
    assert updated.next_fire_time == at("2026-01-06T09:00")


def test_a_new_calendar_skips_times_that_would_be_misfires() -> None:
    """When the next time is excluded, an included one that is late already is not made up for."""
    trigger = trigger_of(cron("0 0 9 * * ?"), start="2026-01-05T00:00", previous_fire_time=at("2026-01-09T09:00"))
    updated = trigger.update_with_new_calendar(WeeklyCalendar(), at("2026-01-13T09:00:30"), THRESHOLD)
    assert updated.next_fire_time == at("2026-01-13T09:00")
    updated = trigger.update_with_new_calendar(WeeklyCalendar(), at("2026-01-13T09:01:00"), THRESHOLD)
    assert updated.next_fire_time == at("2026-01-14T09:00")


def test_a_trigger_that_never_fired_looks_from_now_on() -> None:
    """Without a last firing the new calendar is asked about times from now on, or from the start."""
    trigger = trigger_of(cron("0 0 9 * * ?"), start="2026-01-05T00:00")
    updated = trigger.update_with_new_calendar(WeeklyCalendar(), at("2026-01-02T12:00"), THRESHOLD)
    assert updated.next_fire_time == at("2026-01-05T09:00")
    updated = trigger.update_with_new_calendar(None, at("2026-01-07T12:00"), THRESHOLD)
    assert updated.next_fire_time == at("2026-01-08T09:00")


@every_kind
def test_a_new_calendar_that_excludes_everything_leaves_no_time(schedule: Schedule) -> None:
    """A calendar without included times leaves a trigger without a next one, at once."""
    never = WeeklyCalendar().with_excluded(2, 3, 4, 5, 6)
    trigger = trigger_of(schedule, start="2026-01-05T00:00", previous_fire_time=at("2026-01-09T09:00"))
    assert trigger.update_with_new_calendar(never, at("2026-01-10T00:00"), THRESHOLD).next_fire_time is None


# ----------------------------------------------------------------------------------------- completion, definition
def test_what_the_end_of_a_run_tells_the_store() -> None:
    """The first flag of the error counts; without one a trigger that is done is deleted."""
    going_on = trigger_of(every(minutes=1), start="2026-01-01T10:00", next_fire_time=at("2026-01-01T10:00"))
    done = going_on.copy_with(next_fire_time=None)
    assert going_on.execution_complete(None) is SchedulerInstruction.NO_INSTRUCTION
    assert done.execution_complete(None) is SchedulerInstruction.DELETE_TRIGGER
    everything = JobExecutionError(
        refire_immediately=True, unschedule_firing_trigger=True, unschedule_all_triggers=True
    )
    assert done.execution_complete(everything) is SchedulerInstruction.RE_EXECUTE_JOB
    both = JobExecutionError(unschedule_firing_trigger=True, unschedule_all_triggers=True)
    assert going_on.execution_complete(both) is SchedulerInstruction.SET_TRIGGER_COMPLETE
    others = JobExecutionError(unschedule_all_triggers=True)
    assert going_on.execution_complete(others) is SchedulerInstruction.SET_ALL_JOB_TRIGGERS_COMPLETE
    assert going_on.execution_complete(JobExecutionError()) is SchedulerInstruction.NO_INSTRUCTION


@every_kind
def test_progress_is_no_part_of_the_definition(schedule: Schedule) -> None:
    """A trigger that fired is defined as before; one with another priority is not."""
    declared = trigger_of(schedule)
    stored = declared.compute_first_fire_time(None, at("2026-01-01T10:00")).triggered(None)
    assert stored.has_same_definition(declared)
    assert declared.has_same_definition(stored)
    assert not replace(stored, priority=6).has_same_definition(declared)


@every_kind
def test_a_start_that_was_given_is_part_of_the_definition(schedule: Schedule) -> None:
    """Two triggers that were told to start at different times are defined differently."""
    early, late = trigger_of(schedule, start="2026-01-01T10:00"), trigger_of(schedule, start="2026-01-02T10:00")
    assert not early.has_same_definition(late)
    assert early.has_same_definition(early.copy_with(times_triggered=3))


def test_triggers_of_two_kinds_are_defined_differently() -> None:
    """The kind is part of the definition."""
    assert not trigger_of(every(minutes=1)).has_same_definition(trigger_of(cron("0 * * * * ?")))


# ------------------------------------------------------------------------------------------------------------ copy
@every_kind
def test_a_copy_differs_in_what_was_changed_only(schedule: Schedule) -> None:
    """A copy has the changed fields and all others, and is of the same kind."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00")
    copy = trigger.copy_with(priority=9, fire_instance_id="7")
    assert type(copy) is type(trigger)
    differing = {f.name for f in fields(trigger) if getattr(copy, f.name) != getattr(trigger, f.name)}
    assert differing == {"priority", "fire_instance_id"}
    assert copy == replace(trigger, priority=9, fire_instance_id="7")
