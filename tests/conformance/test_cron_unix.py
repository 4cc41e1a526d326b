"""Lines of the Unix dialect, as croniter and cronsim both read them."""

from __future__ import annotations

import pytest

from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError
from tests.conformance.cron_answers import walk
from tests.conformance.vectors import Record, Vectors, instant, instants

pytestmark = pytest.mark.vectors("cron_unix.json")


def test_next_fires(vectors: Vectors) -> None:
    """The next fires are those on which the two libraries agree."""
    vectors.compare(
        vectors.records,
        answer=lambda record: walk(
            CronExpression.from_crontab(record["expr"], record["tz"]), instant(record["after"]), len(record["next"])
        ),
        expected=lambda record: instants(record["next"]),
    )


def test_invalid_lines(vectors: Vectors) -> None:
    """What both libraries reject is rejected."""
    vectors.compare(vectors.list("invalid"), _ruling, lambda record: "reject")


def _ruling(record: Record) -> str:
    try:
        CronExpression.from_crontab(record["expr"])
    except CronSyntaxError:
        return "reject"
    return "accept"
