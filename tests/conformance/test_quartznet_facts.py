"""Values that Quartz.NET's own tests assert about cron expressions.

A step after a weekday name (``every_n_weeks``) is refused here, so these facts are not asserted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from quartzite.cron import CronExpression
from quartzite.cron.grammar import read
from tests.conformance.cron_answers import next_fires
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("quartznet_facts.json")


def test_next_fires(vectors: Vectors) -> None:
    """The next fires are as asserted, through gaps and overlaps."""
    vectors.compare(
        _of_kind(vectors, "next"),
        answer=lambda record: next_fires(record, len(record["next"])),
        expected=lambda record: instants(record["next"]),
    )


def test_days_in_a_month(vectors: Vectors) -> None:
    """The days of the month on which the expression fires are the asserted ones, or hold them."""
    vectors.compare(_of_kind(vectors, "days_in_month"), _days_in_month, lambda record: set(record["days"]))


def test_number_of_fires(vectors: Vectors) -> None:
    """A walk over the day of a clock change has the asserted number of fires."""
    vectors.compare(
        _of_kind(vectors, "walk_count"),
        answer=lambda record: len(_fires(_expression(record), instant(record["after"]), instant(record["before"]))),
        expected=lambda record: record["count"],
    )


def test_satisfied_instants(vectors: Vectors) -> None:
    """An instant satisfies an expression when the clocks match it, whatever a gap moved there."""
    vectors.compare(
        _of_kind(vectors, "is_satisfied_by"),
        answer=lambda record: _expression(record).is_satisfied_by(instant(record["instant"])),
        expected=lambda record: record["expected"],
    )


def test_interval_semantics(vectors: Vectors) -> None:
    """An expression repeats its times in the second pass of an overlap exactly when it steps within the hour."""
    vectors.compare(
        _of_kind(vectors, "interval_semantics"),
        answer=lambda record: read(record["expr"], None)[1].interval,
        expected=lambda record: record["expected"],
    )


def _of_kind(vectors: Vectors, kind: str) -> list[Record]:
    return [record for record in vectors.records if record["kind"] == kind]


def _expression(record: Record) -> CronExpression:
    return CronExpression(record["expr"], record["tz"])


def _fires(expression: CronExpression, after: datetime, before: datetime) -> list[datetime]:
    """Return the fires strictly between two instants."""
    fires: list[datetime] = []
    while (at := expression.next_after(fires[-1] if fires else after)) is not None and at < before:
        fires.append(at)
    return fires


def _days_in_month(record: Record) -> set[int]:
    zone = ZoneInfo(record["tz"])
    start = datetime(record["year"], record["month"], 1, tzinfo=zone)
    behind = (start + timedelta(days=31)).replace(day=1)
    days = {fire.astimezone(zone).day for fire in _fires(_expression(record), start - timedelta(seconds=1), behind)}
    return days if record["exact"] else days & set(record["days"])
