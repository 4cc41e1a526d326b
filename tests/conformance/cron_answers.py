"""What our cron expressions answer to a record."""

from __future__ import annotations

from datetime import datetime

from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError
from tests.conformance.vectors import Record, instant


def walk(expression: CronExpression, after: datetime, steps: int) -> list[datetime | None]:
    """Return the next ``steps`` fire times; a None stands for "no more" and ends the list."""
    fires: list[datetime | None] = []
    at: datetime | None = after
    while at is not None and len(fires) < steps:
        at = expression.next_after(at)
        fires.append(at)
    return fires


def next_fires(record: Record, steps: int) -> list[datetime | None]:
    """Walk the expression of a record from its ``after``."""
    return walk(CronExpression(record["expr"], record["tz"]), instant(record["after"]), steps)


def ruling(text: str, hash_key: str | int | None = None) -> str:
    """Return whether the expression is rejected or accepted, in the records' words."""
    try:
        CronExpression.validate(text, hash_key=hash_key)
    except CronSyntaxError:
        return "reject"
    return "accept"
