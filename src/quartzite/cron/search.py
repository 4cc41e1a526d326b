"""Fire times: matching wall seconds turned into instants, through gaps and overlaps (decision 9).

A "second" counts from 1970-01-01T00:00Z. The walk of the fire times is this: a wall time in a gap fires later by the
gap's width, and only the first of a gap does, as the next search starts behind it; a wall time in an overlap fires in
its first pass, and, when the expression is an interval, in the second one too.
"""

from __future__ import annotations

from typing import Final

from quartzite.cron.compiled import CronFields
from quartzite.cron.times import DAY
from quartzite.timezones import ZoneOffsets, ZoneSegment

__all__ = ["next_fire", "next_unmatched", "previous_fire"]

_SEARCHED: Final = 36_525 * DAY


def next_fire(fields: CronFields, offsets: ZoneOffsets, start: int) -> int | None:
    """Return the first fire at or behind the second ``start``, or None."""
    segment = offsets.segment(start)
    wall = fields.on_or_after(start + segment.offset)
    if wall is not None and (found := wall - segment.offset) < segment.end:
        return found
    if fields.interval and (repeated := _in_second_pass(fields, offsets, segment, start)) is not None:
        return repeated
    if wall is None:
        return None
    # A search that starts inside a second pass answers there.
    return found if (resolved := offsets.resolve(wall)) < start else resolved


def previous_fire(fields: CronFields, offsets: ZoneOffsets, end: int) -> int | None:
    """Return the last fire of the walk at or before the second ``end``, or None."""
    while True:
        segment = offsets.segment(end)
        wall = fields.on_or_before(end + segment.offset)
        if wall is None:
            return None
        before = offsets.segment(segment.start - 1).offset
        shifted, floor = _start_of_walk(fields, segment, before)
        if wall - segment.offset >= floor:
            return wall - segment.offset
        if shifted is not None and shifted <= end:
            return shifted
        end = segment.start - 1
        if before <= segment.offset:
            end = min(end, wall + DAY)  # no offset reaches a day; only before an overlap may later wall times stand


def next_unmatched(fields: CronFields, offsets: ZoneOffsets, start: int) -> int | None:
    """Return the second behind the run of fires, each a second after the other, that begins at ``start``.

    It is ``start`` itself when nothing fires there, and None when the run does not end within a hundred years.
    """
    second = start
    while second - start <= _SEARCHED:
        if next_fire(fields, offsets, second) != second:
            return second
        segment = offsets.segment(second)
        wall = fields.unmatched_on_or_after(second + segment.offset)
        run_end = segment.end if wall is None else min(wall - segment.offset, segment.end)
        second = max(run_end, second + 1)
    return None


def _in_second_pass(fields: CronFields, offsets: ZoneOffsets, segment: ZoneSegment, start: int) -> int | None:
    """Return the first fire of the second pass when ``start`` lies in the first one and nothing fires there anymore."""
    following = offsets.segment(segment.end)
    if following.offset >= segment.offset:
        return None
    wall = fields.on_or_after(segment.end + following.offset)
    return wall - following.offset if wall is not None and wall < start + segment.offset else None


def _start_of_walk(fields: CronFields, segment: ZoneSegment, before: int) -> tuple[int | None, int]:
    """Return the fire that a gap shifted into the segment, and the second from which on its wall times fire.

    ``before`` is the offset before the segment.
    """
    if before > segment.offset and not fields.interval:
        return None, segment.start + before - segment.offset
    # Behind a fire in the last second before the gap the search starts behind the gap too.
    if before < segment.offset and not fields.matches(segment.start - 1 + before):
        wall = fields.on_or_after(segment.start + before)
        if wall is not None and wall < segment.start + segment.offset:
            return wall - before, wall - before + 1
    return None, segment.start
