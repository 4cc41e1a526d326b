"""Lines of the Unix dialect, as croniter and cronsim both read them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter

from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError
from tests.conformance.cron_answers import walk
from tests.conformance.vectors import Record, Vectors, instant, instants
from tests.conformance.wall_clock import is_in_gap, next_fire

pytestmark = pytest.mark.vectors("cron_unix.json")


def test_next_fires(vectors: Vectors) -> None:
    """The next fires are those on which the two libraries agree; a time in a gap fires by our one rule for gaps.

    The libraries fire what lies in a gap at its end, or leave it out. We fire it later by the width of the gap in
    every dialect. So a walk through a gap is compared with croniter's wall times, put on the time line by that rule.
    """
    vectors.compare(
        vectors.records,
        answer=lambda record: walk(
            CronExpression.from_crontab(record["expr"], record["tz"]), instant(record["after"]), len(record["next"])
        ),
        expected=_expected,
    )


def test_invalid_lines(vectors: Vectors) -> None:
    """What both libraries reject is rejected."""
    vectors.compare(vectors.list("invalid"), _ruling, lambda record: "reject")


def _expected(record: Record) -> list[datetime | None]:
    through_gap = _walk_through_gap(record) if record["spans_dst_change"] else None
    return instants(record["next"]) if through_gap is None else through_gap


def _walk_through_gap(record: Record) -> list[datetime | None] | None:
    """Return the fires when one of them was moved by a gap, else None."""
    zone, at = ZoneInfo(record["tz"]), instant(record["after"])
    minute, hour, *_ = record["expr"].split()
    fires: list[datetime | None] = []
    moved = False
    for _ in record["next"]:
        walls: list[datetime] = []

        def next_wall_time(after: datetime, walls: list[datetime] = walls) -> datetime:
            walls.append(croniter(record["expr"], after).get_next(datetime))
            return walls[-1]

        at = next_fire(next_wall_time, zone, at, interval=any(sign in minute + hour for sign in "*/-"))
        moved = moved or all(is_in_gap(at, zone, wall) for wall in walls)
        fires.append(at)
    return fires if moved else None


def _ruling(record: Record) -> str:
    try:
        CronExpression.from_crontab(record["expr"])
    except CronSyntaxError:
        return "reject"
    return "accept"
