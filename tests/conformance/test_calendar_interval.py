"""Calendar interval triggers against recorded answers of Quartz."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.model.keys import TriggerKey
from quartzite.timezones import zone
from quartzite.triggers.calendar_interval import CalendarIntervalTrigger
from quartzite.triggers.interval_unit import IntervalUnit
from tests.conformance.triggers import first_fires
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("calendar_interval.json")


def test_calendar_interval_triggers(vectors: Vectors) -> None:
    """The first fire times, whether there are more, and the one after an instant, are Quartz.NET's."""
    vectors.compare(vectors.records, _answer, _expected)


def calendar_interval_trigger(record: Record) -> CalendarIntervalTrigger:
    """Return the trigger of a record, not scheduled yet."""
    return CalendarIntervalTrigger(
        key=TriggerKey(record["id"]),
        start_time=instant(record["start"]),
        end_time=None if record["end"] is None else instant(record["end"]),
        repeat_interval=record["interval"],
        repeat_interval_unit=IntervalUnit[record["unit"].upper()],
        time_zone=zone(record["tz"]),
        preserve_hour_of_day_across_daylight_savings=record["preserve_hour_of_day"],
        skip_day_if_hour_does_not_exist=record["skip_day_if_hour_does_not_exist"],
    )


def _answer(record: Record) -> Any:
    trigger = calendar_interval_trigger(record)
    times, left = first_fires(trigger, 10)
    after = [trigger.get_fire_time_after(instant(record["after"]))] if _is_plain(record) else []
    return [times, left.may_fire_again, *after]


def _expected(record: Record) -> Any:
    after = instants([record["fire_time_after"]]) if _is_plain(record) else []
    if "quartznet_expected_fire_times" in record:
        return [instants(record["quartznet_expected_fire_times"]), record["quartznet_more"], *after]
    return [instants(record["fire_times"]), record["more"], *after]


def _is_plain(record: Record) -> bool:
    """Tell whether both programs agree on the record, so that its time after an instant counts."""
    return record["quartznet_same"] and not record["dst"]
