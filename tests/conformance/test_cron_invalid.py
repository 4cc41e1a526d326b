"""Which texts are expressions and which are not."""

from __future__ import annotations

import pytest

from tests.conformance.cron_answers import ruling
from tests.conformance.vectors import Record, Vectors

pytestmark = pytest.mark.vectors("cron_invalid.json")


def test_rulings(vectors: Vectors) -> None:
    """Every text is accepted or rejected as recorded."""
    vectors.compare(vectors.records, lambda record: ruling(record["expr"]), lambda record: record["expect"])


def test_lenient(vectors: Vectors) -> None:
    """What other parsers let through by accident is rejected, but for the day-of-month L-0, which means L."""
    vectors.compare(vectors.list("lenient"), lambda record: ruling(record["expr"]), _ruling_on_leniency)


def _ruling_on_leniency(record: Record) -> str:
    fields = record["expr"].split()
    return "accept" if len(fields) > 3 and fields[3] == "L-0" else "reject"
