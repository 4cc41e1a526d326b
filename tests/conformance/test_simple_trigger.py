"""Simple triggers against recorded answers of Quartz."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.model.keys import TriggerKey
from quartzite.triggers.simple import SimpleTrigger
from tests.conformance.triggers import first_fires
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("simple_trigger.json")


def simple_trigger(record: Record) -> SimpleTrigger:
    """Return the trigger of a record, not scheduled yet."""
    return SimpleTrigger(
        key=TriggerKey(record["id"]),
        start_time=instant(record["start"]),
        end_time=None if record["end"] is None else instant(record["end"]),
        repeat_count=record["repeat_count"],
        repeat_interval=timedelta(milliseconds=record["repeat_interval_ms"]),
    )


def test_simple_triggers(vectors: Vectors) -> None:
    """Fire times, the last one, the one after an instant, and whether it may fire again are as recorded."""
    vectors.compare(vectors.records, _answer, _expected)


def _answer(record: Record) -> Any:
    trigger = simple_trigger(record)
    scheduled = trigger.compute_first_fire_time(None, trigger.start_time)
    times, left = first_fires(trigger, 10)
    return [
        times,
        trigger.final_fire_time,
        scheduled.get_fire_time_after(instant(record["after"])),
        [trigger.may_fire_again, scheduled.may_fire_again, left.may_fire_again],
    ]


def _expected(record: Record) -> Any:
    when = ("before_scheduling", "after_first_computed", "after_listed")
    return [
        instants(record["fire_times"]),
        *instants([record["final_fire_time"], record["fire_time_after"]]),
        [record[f"may_fire_again_{moment}"] for moment in when],
    ]
