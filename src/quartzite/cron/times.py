"""The times of day that an expression matches, compiled for searching forwards and backwards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

__all__ = ["DAY", "NONE", "TimesOfDay", "UnitTable", "unit_table"]

DAY: Final = 86_400
"""Seconds of a day, as the clocks show them."""

NONE: Final = -1
"""No such value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitTable:
    """Which values of a clock unit match.

    Attributes:
        following: At v, the least match >= v or NONE; one entry longer than the unit, so that v + 1 may be asked.
        preceding: At v, the greatest match <= v or NONE; the last entry is NONE, so that v - 1 may be asked at 0.
        first: The least match.
        last: The greatest match.
        full: Whether every value matches.
    """

    following: tuple[int, ...]
    preceding: tuple[int, ...]
    first: int
    last: int
    full: bool


@lru_cache(maxsize=4096)
def unit_table(mask: int, size: int) -> UnitTable:
    """Return the shared table of a non-empty set: bit v of ``mask`` says that v, of 0 to ``size`` - 1, matches."""
    matches = [value for value in range(size) if mask >> value & 1]
    following = [min((match for match in matches if match >= value), default=NONE) for value in range(size)]
    preceding = [max((match for match in matches if match <= value), default=NONE) for value in range(size)]
    return UnitTable(
        following=(*following, NONE),
        preceding=(*preceding, NONE),
        first=matches[0],
        last=matches[-1],
        full=len(matches) == size,
    )


@dataclass(frozen=True, slots=True, eq=False)
class TimesOfDay:
    """The times of day at which all three units match, as seconds since midnight."""

    seconds: UnitTable
    minutes: UnitTable
    hours: UnitTable

    @property
    def first(self) -> int:
        """The earliest time of a day."""
        return self.hours.first * 3600 + self.minutes.first * 60 + self.seconds.first

    @property
    def last(self) -> int:
        """The latest time of a day."""
        return self.hours.last * 3600 + self.minutes.last * 60 + self.seconds.last

    def on_or_after(self, time: int) -> int:
        """Return the earliest match >= ``time`` of the same day, or NONE."""
        hour, rest = divmod(time, 3600)
        if self.hours.following[hour] == hour:
            minute, second = divmod(rest, 60)
            if self.minutes.following[minute] == minute:
                found = self.seconds.following[second]
                if found != NONE:
                    return time - second + found
            found = self.minutes.following[minute + 1]
            if found != NONE:
                return hour * 3600 + found * 60 + self.seconds.first
        found = self.hours.following[hour + 1]
        return NONE if found == NONE else found * 3600 + self.minutes.first * 60 + self.seconds.first

    def on_or_before(self, time: int) -> int:
        """Return the latest match <= ``time`` of the same day, or NONE."""
        hour, rest = divmod(time, 3600)
        if self.hours.preceding[hour] == hour:
            minute, second = divmod(rest, 60)
            if self.minutes.preceding[minute] == minute:
                found = self.seconds.preceding[second]
                if found != NONE:
                    return time - second + found
            found = self.minutes.preceding[minute - 1]
            if found != NONE:
                return hour * 3600 + found * 60 + self.seconds.last
        found = self.hours.preceding[hour - 1]
        return NONE if found == NONE else found * 3600 + self.minutes.last * 60 + self.seconds.last

    def unmatched_on_or_after(self, time: int) -> int:
        """Return the earliest time >= ``time`` that does not match, or DAY when the rest of the day matches."""
        while time < DAY and self.on_or_after(time) == time:
            time += self._stride(time)
        return time

    def _stride(self, time: int) -> int:
        """Return how far everything matches from a match on, in the largest unit that is full."""
        if not self.seconds.full:
            return 1
        if not self.minutes.full:
            return 60 - time % 60
        return DAY - time if self.hours.full else 3600 - time % 3600
