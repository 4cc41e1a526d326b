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


def test_fire_times(vectors: Vectors) -> None:
    """The first fire times, whether there are more, and whether it may fire again are as recorded."""

    def answer(record: Record) -> Any:
        trigger = simple_trigger(record)
        fires, rest = first_fires(trigger, 10)
        first = trigger.compute_first_fire_time(None, trigger.start_time)
        return [fires, rest.may_fire_again, trigger.may_fire_again, first.may_fire_again]

    vectors.compare(
        vectors.records,
        answer,
        lambda record: [
            instants(record["fire_times"]),
            record["more"],
            record["may_fire_again_before_scheduling"],
            record["may_fire_again_after_first_computed"],
        ],
    )


def test_final_fire_time_and_the_one_after(vectors: Vectors) -> None:
    """The last fire time and the one after a given instant are as recorded."""

    def answer(record: Record) -> Any:
        trigger = simple_trigger(record)
        scheduled = trigger.compute_first_fire_time(None, trigger.start_time)
        return [trigger.final_fire_time, scheduled.get_fire_time_after(instant(record["after"]))]

    vectors.compare(
        vectors.records,
        answer,
        lambda record: instants([record["final_fire_time"], record["fire_time_after"]]),
    )
