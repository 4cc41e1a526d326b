"""Faults with missed times that users of other schedulers reported, as far as triggers decide about them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quartzite.rules.misfires import is_misfired
from quartzite.triggers import (
    MisfireInstruction,
    Schedule,
    SimpleMisfireInstruction,
    Trigger,
    TriggerBuilder,
    calendar_interval,
    cron,
    daily,
    every,
    recurrence,
)


def at(text: str) -> datetime:
    """Read an instant in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def scheduled(schedule: Schedule, now: str, *, start: str | None = None) -> Trigger:
    """Schedule a trigger at an instant."""
    builder = TriggerBuilder.create().with_identity("trigger").with_schedule(schedule)
    if start is not None:
        builder = builder.start_at(at(start))
    return builder.build().compute_first_fire_time(None, at(now))


def after_pass(trigger: Trigger, now: str, threshold: timedelta) -> Trigger:
    """Return what a pass over late triggers makes of one: nothing while it is within the threshold."""
    late = is_misfired(trigger, at(now) - threshold)
    return trigger.update_after_misfire(None, at(now)) if late else trigger


def test_doing_nothing_makes_no_run_after_a_pause() -> None:
    """B021: a minute of downtime with DO_NOTHING: no run before the next time of the schedule, which is not late."""
    trigger = scheduled(
        cron("0/15 * * * * ?", misfire_instruction=MisfireInstruction.DO_NOTHING), "2026-01-01T10:00:50"
    )
    assert trigger.next_fire_time == at("2026-01-01T10:01:00")
    resumed = after_pass(trigger, "2026-01-01T10:01:42", timedelta(seconds=1))
    assert resumed.next_fire_time == at("2026-01-01T10:01:45")
    assert resumed.misfire_origin is None


EVERY_TWO_MINUTES = {
    "simple": every(minutes=2).with_misfire_instruction(SimpleMisfireInstruction.NEXT_WITH_EXISTING_COUNT),
    "cron": cron("0 0/2 * * * ?", misfire_instruction=2),
    "calendar interval": calendar_interval(minutes=2, misfire_instruction=2),
    "daily": daily(minutes=2, misfire_instruction=2),
    "recurrence": recurrence("FREQ=MINUTELY;INTERVAL=2", misfire_instruction=2),
}


@pytest.mark.parametrize("schedule", EVERY_TWO_MINUTES.values(), ids=list(EVERY_TWO_MINUTES))
@pytest.mark.parametrize("runs_before", [0, 1, 7])
def test_what_is_late_does_not_depend_on_what_was_missed(schedule: Schedule, runs_before: int) -> None:
    """B022: 30 s late is within the threshold and runs; 150 s late waits for the next time; nothing else matters."""
    trigger = scheduled(schedule, "2026-01-01T09:00")
    for _ in range(runs_before):
        trigger = trigger.triggered(None)
    due = trigger.next_fire_time
    assert due is not None
    late = (due + timedelta(seconds=30)).isoformat()[:19]
    assert after_pass(trigger, late, timedelta(seconds=60)) is trigger
    too_late = (due + timedelta(seconds=150)).isoformat()[:19]
    assert after_pass(trigger, too_late, timedelta(seconds=60)).next_fire_time == due + timedelta(seconds=240)


def test_what_a_misfire_skipped_is_visible() -> None:
    """B023: the trigger before and after the misfire differ, and an immediate run keeps the time it was due."""
    trigger = scheduled(cron("0 0 * * * ?"), "2026-01-01T10:00")
    updated = after_pass(trigger, "2026-01-01T12:30", timedelta(seconds=1))
    assert (updated.next_fire_time, updated.misfire_origin) == (at("2026-01-01T12:30"), at("2026-01-01T10:00"))
    assert updated.triggered(None).next_fire_time == at("2026-01-01T13:00")


@pytest.mark.parametrize("make", [every, cron, calendar_interval, daily, recurrence])
def test_an_unknown_setting_is_an_error(make: Any) -> None:
    """B024: a setting at the wrong place is refused by name, never ignored."""
    with pytest.raises(TypeError, match="misfire_grace_time"):
        make(misfire_grace_time=30)


def test_the_smart_policy_of_a_repeating_trigger_drops_nothing_silently() -> None:
    """B024: late within the threshold means run, late beyond it means the smart policy, for every kind."""
    trigger = scheduled(every(seconds=1), "2026-01-01T10:00")
    assert after_pass(trigger, "2026-01-01T10:00:01.8", timedelta(seconds=5)) is trigger
    assert after_pass(trigger, "2026-01-01T10:00:30", timedelta(seconds=5)).next_fire_time == at("2026-01-01T10:00:31")


@pytest.mark.parametrize("text", ["0 0 9 ? * MON", "0 0 9 ? * MON *"])
def test_a_trigger_that_is_replaced_does_not_run_at_once(text: str) -> None:
    """B025: scheduling a cron trigger again, with the same or another expression, makes no run of the past."""
    weekly = scheduled(cron("0 0 9 ? * MON"), "2026-01-01T00:00").triggered(None)
    again = weekly.to_builder().with_schedule(cron(text)).build().compute_first_fire_time(None, at("2026-01-14T12:00"))
    assert again.next_fire_time == at("2026-01-19T09:00")


def test_a_repeating_simple_trigger_that_is_replaced_does_not_catch_up() -> None:
    """B025: nor does an interval make up for the intervals since its old start."""
    again = scheduled(every(hours=1), "2026-01-14T12:30", start="2026-01-01T00:00")
    assert again.next_fire_time == at("2026-01-14T12:30")
    assert again.triggered(None).next_fire_time == at("2026-01-14T13:30")


def test_resuming_an_hourly_trigger() -> None:
    """B026: after a pause over two hours, one run at the resume, none with DO_NOTHING, and the next hour for both."""
    hourly = scheduled(cron("0 0 * * * ?"), "2026-01-01T00:10")
    resumed = after_pass(hourly, "2026-01-01T02:55", timedelta(0))
    assert resumed.next_fire_time == at("2026-01-01T02:55")
    assert resumed.triggered(None).next_fire_time == at("2026-01-01T03:00")
    patient = hourly.copy_with(misfire_instruction=MisfireInstruction.DO_NOTHING)
    assert after_pass(patient, "2026-01-01T02:55", timedelta(0)).next_fire_time == at("2026-01-01T03:00")


@pytest.mark.parametrize("start", [None, "2026-01-01T09:00"])
def test_an_interval_longer_than_the_time_between_restarts(start: str | None) -> None:
    """B027: a declaration that did not change is known again at each start, whether or not it gives a start time."""
    declared = TriggerBuilder.create().with_identity("trigger").with_schedule(every(seconds=60))
    if start is not None:
        declared = declared.start_at(at(start))
    stored = declared.build().compute_first_fire_time(None, at("2026-01-01T10:00")).triggered(None)
    for restart in ("2026-01-01T10:00:20", "2026-01-01T10:00:40"):
        assert declared.build().has_same_definition(stored), restart
    assert stored.next_fire_time == at("2026-01-01T10:01")
    late = stored.update_after_misfire(None, at("2026-01-01T11:00:30"))
    assert declared.build().has_same_definition(late.triggered(None))


def test_an_overdue_run_of_an_unchanged_declaration() -> None:
    """B028: a trigger that is due and did not fire yet is the same definition, so that it is left alone and fires."""
    for schedule in EVERY_TWO_MINUTES.values():
        declared = TriggerBuilder.create().with_identity("trigger").with_schedule(schedule).build()
        overdue = declared.compute_first_fire_time(None, at("2026-01-01T10:00"))
        assert declared.has_same_definition(overdue)
        assert not is_misfired(overdue, at("2026-01-01T10:00:05") - timedelta(seconds=5))
