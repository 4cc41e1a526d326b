"""Fire times of the forms that Quartz.NET has beyond Quartz: lists with L and W, LW-n, both day fields."""

from __future__ import annotations

import pytest

from tests.conformance.cron_answers import next_fires
from tests.conformance.vectors import Vectors, instants


@pytest.mark.vectors("cron_quartznet_only.json")
def test_next_fires(vectors: Vectors) -> None:
    """The next fires are those of a brute-force enumeration of the wall clock."""
    vectors.compare(
        vectors.records,
        answer=lambda record: next_fires(record, len(record["next"])),
        expected=lambda record: instants(record["next"]),
    )
