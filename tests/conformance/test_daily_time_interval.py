"""Daily time interval triggers against recorded answers of Quartz."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

import pytest

from quartzite.cron import DayOfWeek
from quartzite.model.keys import TriggerKey
from quartzite.timezones import zone
from quartzite.triggers.daily_time_interval import DailyTimeIntervalTrigger
from quartzite.triggers.interval_unit import IntervalUnit
from tests.conformance.triggers import first_fires
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("daily_time_interval.json")


def test_daily_time_interval_triggers(vectors: Vectors) -> None:
    """The first fire times are those of Quartz.NET's rules without its quirk, up to the end time."""
    vectors.compare(vectors.records, _answer, _expected)


def daily_time_interval_trigger(record: Record) -> DailyTimeIntervalTrigger:
    """Return the trigger of a record, not scheduled yet."""
    return DailyTimeIntervalTrigger(
        key=TriggerKey(record["id"]),
        start_time=instant(record["start"]),
        end_time=None if record["end"] is None else instant(record["end"]),
        repeat_interval=record["interval"],
        repeat_interval_unit=IntervalUnit[record["unit"].upper()],
        repeat_count=record["repeat_count"],
        days_of_week=frozenset(DayOfWeek(day) for day in record["days_of_week"]),
        start_time_of_day=time.fromisoformat(record["start_time_of_day"]),
        end_time_of_day=time.fromisoformat(record["end_time_of_day"]),
        time_zone=zone(record["tz"]),
    )


def _answer(record: Record) -> Any:
    trigger = daily_time_interval_trigger(record)
    times, left = first_fires(trigger, 10)
    if not _is_plain(record):
        return [times]
    return [times, left.may_fire_again, trigger.get_fire_time_after(instant(record["after"]))]


def _expected(record: Record) -> Any:
    names = ("sensible_fire_times", "quartznet_expected_fire_times", "fire_times")
    recorded = next(record[name] for name in names if name in record)
    times = _until_end(record, instants(recorded))
    if not _is_plain(record):
        return [times]
    return [times, record["more"], next(iter(_until_end(record, instants([record["fire_time_after"]]))), None)]


def _is_plain(record: Record) -> bool:
    """Tell whether both programs agree on the record, so that all its answers count."""
    return record["quartznet_same"] and not record["dst"] and not record.get("past_end", False)


def _until_end(record: Record, times: list[datetime | None]) -> list[datetime]:
    known = [moment for moment in times if moment is not None]
    return known if record["end"] is None else [moment for moment in known if moment <= instant(record["end"])]
