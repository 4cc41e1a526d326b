"""The search rules of the vectors' README, written out plainly with datetimes over any source of matching times.

Slow and short on purpose: an independent second opinion on what our compiled search does with whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

SECOND = timedelta(seconds=1)

NextWallTime = Callable[[datetime], datetime]
"""The next matching local time, naive, strictly after a naive one."""


def next_fire(next_wall_time: NextWallTime, zone: ZoneInfo, after: datetime, *, interval: bool) -> datetime:
    """Return the fire behind ``after``: what matches on the wall clock, put on the time line by the rules."""
    start = after.replace(microsecond=0) + SECOND
    found = _search(next_wall_time, zone, start)
    second_pass = _second_pass_behind(start, zone)
    if interval and second_pass is not None and found >= second_pass:
        return min(found, _search(next_wall_time, zone, second_pass))
    return found


def is_in_gap(fire: datetime, zone: ZoneInfo, wall: datetime) -> bool:
    """Tell whether the clocks do not show ``wall`` when it fires."""
    return fire.astimezone(zone).replace(tzinfo=None) != wall


def _search(next_wall_time: NextWallTime, zone: ZoneInfo, start: datetime) -> datetime:
    wall = next_wall_time(start.astimezone(zone).replace(tzinfo=None) - SECOND)
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return first if first >= start else wall.replace(tzinfo=zone, fold=1).astimezone(UTC)


def _second_pass_behind(start: datetime, zone: ZoneInfo) -> datetime | None:
    """Return where the second pass begins when ``start`` lies in the first pass of an overlap."""
    local = start.astimezone(zone).replace(tzinfo=None)
    repeated = local.replace(tzinfo=zone, fold=1).astimezone(UTC)
    if repeated <= start:
        return None
    offset = repeated.astimezone(zone).utcoffset()
    low, high = start, repeated  # the offset changes once between them
    while high - low > SECOND:
        middle = low + (high - low) // SECOND // 2 * SECOND
        low, high = (low, middle) if middle.astimezone(zone).utcoffset() == offset else (middle, high)
    return high
