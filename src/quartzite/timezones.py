"""Local time and instants: the one definition of what happens when clocks change.

The rules (decision 9). A local time that the clocks skip (the *gap*) takes the offset in force before the gap, so it
lands later by the gap's width. A local time that the clocks show twice (the *overlap*) means its first occurrence.
Whatever steps over both passes of an overlap says so itself, with ``resolve_second`` or ``ZoneOffsets``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from difflib import get_close_matches
from functools import lru_cache
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from quartzite.errors import InvalidValueError
from quartzite.windows_zones import IANA_ZONES

__all__ = [
    "UTC_ZONE",
    "Gap",
    "ZoneOffsets",
    "ZoneSegment",
    "end_of_offset",
    "gap_behind",
    "is_in_gap",
    "is_in_overlap",
    "local_time",
    "offsets_of",
    "resolve",
    "resolve_end_of_gap",
    "resolve_second",
    "zone",
]

UTC_ZONE: Final = ZoneInfo("UTC")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = 86_400
# Offsets are probed every six days: in the whole IANA database no two changes of a zone's offset lie closer together
# (the nearest are a week less an hour apart, for instance in Recife in 2000).
_PROBE: Final = 1 << 19
_PIECE: Final = _PROBE << 6
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) + 2 * _DAY
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) - 2 * _DAY
_MACHINE_ZONES: Final = frozenset({"localtime", "Factory", "posixrules"})
_WINDOWS_IDS: Final = {name.casefold(): iana for name, iana in IANA_ZONES.items()}


def zone(value: ZoneInfo | timezone | str | None) -> ZoneInfo:
    """Return the zone that ``value`` names.

    None and ``datetime.UTC`` mean UTC. Text is an IANA id ("Europe/Berlin") or a Windows id ("W. Europe Standard
    Time", whatever its case), which becomes the IANA id that the CLDR gives for it.

    Raises:
        InvalidValueError: the id is unknown, or the value is no zone with an id (it could not be stored).
    """
    if value is None or value is UTC:
        return UTC_ZONE
    if isinstance(value, ZoneInfo):
        return _with_id(value)
    if isinstance(value, str):
        return _by_id(value)
    raise InvalidValueError(
        f"time zone {value!r} has no id: pass zoneinfo.ZoneInfo(...) or an id such as Europe/Berlin"
    )


def local_time(instant: datetime, time_zone: ZoneInfo) -> datetime:
    """Return what the clocks of the zone show at an aware ``instant``, as a naive datetime."""
    return instant.astimezone(time_zone).replace(tzinfo=None, fold=0)


def resolve(local: datetime, time_zone: ZoneInfo) -> datetime:
    """Return the instant (UTC) of a naive local time: after the gap by the gap's rule, in an overlap the first one."""
    return local.replace(tzinfo=time_zone, fold=0).astimezone(UTC)


def resolve_second(local: datetime, time_zone: ZoneInfo) -> datetime:
    """Return the second occurrence (UTC) of a naive local time in an overlap; of any other time, what it means."""
    first = resolve(local, time_zone)
    second = local.replace(tzinfo=time_zone, fold=1).astimezone(UTC)
    return max(first, second)


def resolve_end_of_gap(local: datetime, time_zone: ZoneInfo) -> datetime:
    """Return the instant (UTC) of a naive local time, moved in whole minutes to the end of the gap when it is in one.

    02:30:15 in a gap from 02:00 to 03:00 becomes 03:00:15. This is the rule of a calendar interval that keeps the
    hour of day (spec 02 section 4); everything else uses ``resolve``.
    """
    late = resolve(local, time_zone)
    if local_time(late, time_zone) == local:
        return late  # not in a gap
    early = local.replace(tzinfo=time_zone, fold=1).astimezone(UTC)  # by the offset behind the gap
    offsets = offsets_of(time_zone)
    change = offsets.change(_second_of(early), _second_of(late))
    missing = change + offsets.segment(change).offset - _second_of(local.replace(tzinfo=UTC))
    return resolve(local - -missing // 60 * _MINUTE, time_zone)


def end_of_offset(instant: datetime, time_zone: ZoneInfo) -> datetime:
    """Return the instant (UTC) up to which the zone keeps the offset of ``instant``: the next change, or one before."""
    try:
        return _EPOCH + timedelta(seconds=offsets_of(time_zone).segment(_second_of(instant)).end)
    except OverflowError:  # behind the year 9999
        return datetime.max.replace(tzinfo=UTC)


class Gap(NamedTuple):
    """Local times that the clocks of a zone skip, as naive datetimes.

    Attributes:
        begin: The first one.
        end: The first one behind them, which the clocks show again.
    """

    begin: datetime
    end: datetime


def gap_behind(instant: datetime, time_zone: ZoneInfo) -> Gap | None:
    """Return the gap that ended at or before ``instant`` by less than its width: its times move to where that lies."""
    offsets = offsets_of(time_zone)
    second = _second_of(instant)
    segment = offsets.segment(second)
    before = offsets.segment(segment.start - 1).offset
    if second - segment.start >= segment.offset - before:
        return None
    end = local_time(_EPOCH + timedelta(seconds=segment.start), time_zone)
    return Gap(end - timedelta(seconds=segment.offset - before), end)


def is_in_gap(local: datetime, time_zone: ZoneInfo) -> bool:
    """Tell whether the clocks of the zone never show this naive local time."""
    return local_time(resolve(local, time_zone), time_zone) != local.replace(fold=0)


def is_in_overlap(local: datetime, time_zone: ZoneInfo) -> bool:
    """Tell whether the clocks of the zone show this naive local time twice."""
    return resolve(local, time_zone) != resolve_second(local, time_zone)


class ZoneSegment(NamedTuple):
    """A stretch of time in which a zone keeps one offset.

    Attributes:
        start: First second (since 1970-01-01T00:00Z) of the stretch.
        end: First second behind it. The next stretch may have the same offset.
        offset: Seconds that local time is ahead of UTC.
    """

    start: int
    end: int
    offset: int


@dataclass(frozen=True, slots=True)
class ZoneOffsets:
    """The offsets of one zone, as whole seconds, for searches that can not afford datetime arithmetic.

    "Second" means seconds since 1970-01-01T00:00Z; "wall second" the same count of what the clocks show. Stretches
    are found by asking the zone, a piece of time at once, and kept.
    """

    time_zone: ZoneInfo
    _pieces: dict[int, tuple[ZoneSegment, ...]] = field(default_factory=dict, repr=False, compare=False)

    def segment(self, second: int) -> ZoneSegment:
        """Return the stretch of one offset that holds ``second``."""
        index = second // _PIECE
        piece = self._pieces.get(index)
        if piece is None:
            piece = self._pieces[index] = tuple(self._segments(index * _PIECE, (index + 1) * _PIECE))
        for segment in piece:
            if second < segment.end:
                return segment
        raise AssertionError("a piece covers all its seconds")

    def resolve(self, wall: int) -> int:
        """Return the second of a wall second by the rules of this module (gap: later; overlap: the first)."""
        segment = self.segment(wall - _DAY)  # no offset reaches a day
        while wall >= segment.end + segment.offset:
            following = self.segment(segment.end)
            if wall < segment.end + following.offset:
                break  # in the gap: the offset before it counts
            segment = following
        return wall - segment.offset

    def change(self, before: int, after: int) -> int:
        """Return the first second behind ``before`` with the offset of ``after``; it changes once between them."""
        offset = self._offset(before)
        while after - before > 1:
            middle = (before + after) // 2
            if self._offset(middle) == offset:
                before = middle
            else:
                after = middle
        return after

    def _segments(self, start: int, end: int) -> Iterator[ZoneSegment]:
        """Cut [start, end) where the offset changes.

        The outer stretches reach beyond the piece up to a change that is near, so that whoever stands within days of
        a change finds it at the edge of his stretch.
        """
        since, offset = start, self._offset(start)
        if self._offset(start - _PROBE) != offset:
            since = self.change(start - _PROBE, start)
        for probe in range(start + _PROBE, end + _PROBE + 1, _PROBE):
            if (following := self._offset(probe)) != offset:
                change = self.change(probe - _PROBE, probe)
                yield ZoneSegment(since, change, offset)
                since, offset = change, following
        if since < end:
            yield ZoneSegment(since, end, offset)

    def _offset(self, second: int) -> int:
        # Local times near the first and the last year do not fit a datetime: there the offset stands still.
        instant = _EPOCH + timedelta(seconds=min(max(second, _FIRST), _LAST))
        offset = instant.astimezone(self.time_zone).utcoffset()
        return 0 if offset is None else offset // timedelta(seconds=1)


_ALWAYS: Final = ZoneSegment(-(1 << 60), 1 << 60, 0)


class _UtcOffsets(ZoneOffsets):
    """UTC, which has one stretch."""

    __slots__ = ()

    def segment(self, second: int) -> ZoneSegment:  # noqa: ARG002
        return _ALWAYS


@lru_cache(maxsize=1024)
def offsets_of(time_zone: ZoneInfo) -> ZoneOffsets:
    """Return the shared offsets of a zone."""
    return _UtcOffsets(time_zone) if time_zone.key == "UTC" else ZoneOffsets(time_zone)


def _second_of(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(seconds=1)


def _with_id(value: ZoneInfo) -> ZoneInfo:
    if not value.key:
        raise InvalidValueError(f"time zone {value!r} has no id, so it can not be stored: use ZoneInfo(id)")
    _refuse_the_machines_own(value.key)
    return value


def _refuse_the_machines_own(name: str) -> None:
    if name in _MACHINE_ZONES:
        raise InvalidValueError(
            f"time zone {name!r} is another one on each machine: use the id of the zone that is meant, as Europe/Berlin"
        )


def _by_id(name: str) -> ZoneInfo:
    _refuse_the_machines_own(name)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown; not a relative path; a folder of the database
        windows = _WINDOWS_IDS.get(name.casefold())
    if windows is not None:
        return ZoneInfo(windows)
    near = get_close_matches(name, [*available_timezones(), *IANA_ZONES], n=1)
    hint = f"did you mean {near[0]!r}?" if near else "use an IANA id such as 'Europe/Berlin'"
    raise InvalidValueError(f"time zone {name!r} is not known, neither to IANA nor as a Windows id: {hint}")
