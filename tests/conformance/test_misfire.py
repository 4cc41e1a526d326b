"""What misfires make of triggers, against recorded answers of Quartz."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from quartzite.calendars import Calendar
from quartzite.cron import CronExpression
from quartzite.model.keys import TriggerKey
from quartzite.triggers import CronTrigger, Trigger
from tests.conformance.calendars import calendar_of
from tests.conformance.test_calendar_interval import calendar_interval_trigger
from tests.conformance.test_daily_time_interval import daily_time_interval_trigger
from tests.conformance.test_simple_trigger import simple_trigger
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("misfire.json")

FOLLOWING = 4
STATE = ("next_fire_time", "previous_fire_time", "start_time", "end_time", "repeat_count", "times_triggered")


def test_misfires(vectors: Vectors) -> None:
    """The trigger before and after the misfire, and its next fire times, are as recorded, exactly."""
    vectors.compare(vectors.records, _answer, _expected)


def _answer(record: Record) -> Any:
    calendar = calendar_of(record["calendar"])
    start = instant(record["start"])
    before = _KINDS[record["trigger"]](record).copy_with(misfire_instruction=record["instruction_code"])
    before = before.compute_first_fire_time(calendar, start)
    for _ in range(record["fired_before"]):
        before = before.triggered(calendar)
    after = before.update_after_misfire(calendar, instant(record["now"]))
    return [_state(before), _state(after), _following(after, calendar)]


def _expected(record: Record) -> Any:
    return [_recorded(record["before"]), _recorded(record["after"]), instants(record["following_fires"])]


def _state(trigger: Trigger) -> dict[str, Any]:
    """Return what records know of a trigger; those of cron triggers know of no count."""
    names = [name for name in STATE if hasattr(trigger, name) and (name != "times_triggered" or trigger.counts_firings)]
    counts_repeats = trigger.trigger_type == "SIMPLE"
    return {
        **{name: getattr(trigger, name) for name in names if counts_repeats or name != "repeat_count"},
        "may_fire_again": trigger.may_fire_again,
    }


def _recorded(state: Record) -> dict[str, Any]:
    names = {"start": "start_time", "end": "end_time"}
    return {names.get(name, name): _read(value) for name, value in state.items()}


def _read(value: Any) -> Any:
    return instant(value) if isinstance(value, str) else value


def _following(trigger: Trigger, calendar: Calendar | None) -> list[datetime | None]:
    times: list[datetime | None] = [trigger.next_fire_time]
    while trigger.next_fire_time is not None and len(times) < FOLLOWING:
        trigger = trigger.triggered(calendar)
        times.append(trigger.next_fire_time)
    return times


def _cron_trigger(record: Record) -> CronTrigger:
    return CronTrigger(
        key=TriggerKey(record["id"]),
        start_time=instant(record["start"]),
        end_time=None if record["end"] is None else instant(record["end"]),
        cron_expression=CronExpression(record["expr"], record["tz"]),
    )


_KINDS: dict[str, Callable[[Record], Trigger]] = {
    "simple": simple_trigger,
    "cron": _cron_trigger,
    "calendar_interval": calendar_interval_trigger,
    "daily_time_interval": daily_time_interval_trigger,
}
