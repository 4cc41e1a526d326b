"""Recurrence triggers against the recorded occurrences of dateutil."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.model.keys import TriggerKey
from quartzite.timezones import resolve, zone
from quartzite.triggers.recurrence import RecurrenceTrigger
from tests.conformance.triggers import first_fires
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("rrule.json")


def test_recurrence_triggers(vectors: Vectors) -> None:
    """The first fire times are RFC 5545's; around clock changes those of the rules for gaps and overlaps."""
    vectors.compare(vectors.records, _answer, _expected)


def recurrence_trigger(record: Record) -> RecurrenceTrigger:
    """Return the trigger of a record, not scheduled yet."""
    time_zone = zone(record["tz"])
    start = resolve(instant(record["dtstart"]), time_zone)
    return RecurrenceTrigger(
        key=TriggerKey(record["id"]), start_time=start, recurrence_rule=record["rule"], time_zone=time_zone
    )


def _answer(record: Record) -> Any:
    times, left = first_fires(recurrence_trigger(record), 10)
    return [times, left.may_fire_again]


def _expected(record: Record) -> Any:
    by_our_rules = record.get("dst") and "quartznet_differs" not in record
    return [instants(record["quartznet_expected" if by_our_rules else "occurrences"]), record["more"]]
