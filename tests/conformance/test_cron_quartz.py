"""Fire times as Quartz (Java) gives them, and by Quartz.NET's rules where clocks change."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.conformance.cron_answers import next_fires
from tests.conformance.vectors import Record, Vectors, instants

pytestmark = pytest.mark.vectors("cron_quartz.json")


def test_next_fires(vectors: Vectors) -> None:
    """The next fires are Quartz's; where a clock change is in the span, those of Quartz.NET's rules."""
    vectors.compare(vectors.records, _answer, _expected)


def test_disputed_nearest_weekdays(vectors: Vectors) -> None:
    """nW beyond the end of a month is limited to its last day first."""
    vectors.compare(vectors.list("disputed"), _answer, _expected)


def _expected(record: Record) -> list[datetime | None]:
    derived = record.get("dst") or "quartznet_expected" in record
    return instants(record["quartznet_expected"] if derived else record["next"])


def _answer(record: Record) -> list[datetime | None]:
    return next_fires(record, len(_expected(record)))
