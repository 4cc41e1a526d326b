"""Fire times as Quartz (Java) gives them, and by Quartz.NET's rules where clocks change."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.conformance.cron_answers import next_fires
from tests.conformance.vectors import Record, Vectors, instants

pytestmark = pytest.mark.vectors("cron_quartz.json")


# The oracle stops searching a century behind the year in which it ran, ours a century behind the instant it is asked
# about: a recorded "no more" says nothing about later years.
LAST_YEAR_OF_ORACLE = 2125


def test_next_fires(vectors: Vectors) -> None:
    """The next fires are Quartz's; where a clock change is in the span, those of Quartz.NET's rules."""
    vectors.compare(vectors.records, _answer, _expected)


def test_disputed_nearest_weekdays(vectors: Vectors) -> None:
    """The n of nW is limited to the last day of the month first."""
    settled = [record for record in vectors.list("disputed") if "quartznet_expected" in record]
    vectors.compare(settled, _answer, _expected)


def _expected(record: Record) -> list[datetime | None]:
    derived = record.get("dst") or "quartznet_expected" in record
    return instants(record["quartznet_expected"] if derived else record["next"])


def _answer(record: Record) -> list[datetime | None]:
    expected = _expected(record)
    fires = next_fires(record, len(expected))
    return [_seen(fire) if want is None else fire for fire, want in zip(fires, expected, strict=True)]


def _seen(fire: datetime | None) -> datetime | None:
    return None if fire is not None and fire.year > LAST_YEAR_OF_ORACLE else fire
