"""RecurrenceTimes: the times of day that a recurrence rule chooses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Final

from quartzite.triggers.recurrence_rule import Frequency, RecurrenceRule

__all__ = ["RecurrenceTimes"]

_DAY: Final = 86_400
_UNITS: Final = {Frequency.HOURLY: 3600, Frequency.MINUTELY: 60, Frequency.SECONDLY: 1}
_Level = tuple[tuple[int, ...], int]
"""The values of hours, minutes or seconds that count, and how many there are of them."""


class RecurrenceTimes:
    """Seconds of the day. A day is one unit, or as many as it has periods of the rule when these are shorter.

    Which units count is a bit mask, narrowed for each day when only one of every INTERVAL does; what fires within a
    unit is another one, the same for all units.
    """

    def __init__(self, rule: RecurrenceRule, start: datetime) -> None:
        unit = _UNITS.get(rule.frequency, _DAY)
        # A part that is not given means every value, or that of the start when the period of the rule is longer.
        hours = rule.by_hour or (tuple(range(24)) if unit < _DAY else (start.hour,))
        minutes = rule.by_minute or (tuple(range(60)) if unit < 3600 else (start.minute,))
        seconds = rule.by_second or (tuple(range(60)) if unit < 60 else (start.second,))
        levels = ((hours, 24), (minutes, 60), (seconds, 60))
        outer = {_DAY: 0, 3600: 1, 60: 2, 1: 3}[unit]
        counts = rule.frequency >= Frequency.DAILY
        self._unit = unit
        self._units = _mask(levels[:outer])
        self._inside = _mask(levels[outer:])
        if counts and rule.by_set_position:
            self._inside = _picked(self._inside, rule.by_set_position)
        self._interval = rule.interval if counts else 1
        self._first_unit = start.toordinal() * (_DAY // unit) + _second_of_day(start) // unit

    def on_or_after(self, day: int, second: int) -> int | None:
        """Return the first chosen second of a day (by ordinal) that is not before ``second``, or None."""
        unit, rest = divmod(second, self._unit)
        units = self._units_of(day) >> unit
        if units & 1 and (later := self._inside >> rest):
            return second + _lowest(later)
        units >>= 1
        if not units or not self._inside:
            return None
        return (unit + 1 + _lowest(units)) * self._unit + _lowest(self._inside)

    def all(self) -> list[int]:
        """Return the chosen seconds of every day, for a rule whose periods are days or longer."""
        return list(_ones(self._inside))

    def _units_of(self, day: int) -> int:
        """Return the units of a day that count, as bits."""
        if self._interval == 1:
            return self._units
        units_a_day = _DAY // self._unit
        first = (self._first_unit - day * units_a_day) % self._interval
        return self._units & (_comb(self._interval, units_a_day) << first) if first < units_a_day else 0


@lru_cache(maxsize=64)
def _mask(levels: tuple[_Level, ...]) -> int:
    """Return every combination of values as bits, in the smallest of the units."""
    mask, width = 1, 1
    for values, size in reversed(levels):
        mask = sum(mask << value * width for value in values)
        width *= size
    return mask


@lru_cache(maxsize=64)
def _comb(interval: int, size: int) -> int:
    """Return the bits 0, ``interval``, 2 x ``interval`` and so on below ``size``, and perhaps some more."""
    mask = 1
    while interval < size:
        mask |= mask << interval
        interval *= 2
    return mask


def _picked(mask: int, positions: tuple[int, ...]) -> int:
    """Return the bits at some positions among those that are set: 1 is the lowest, -1 the highest."""
    ones = list(_ones(mask))
    indexes = {position - 1 if position > 0 else len(ones) + position for position in positions}
    return sum(1 << ones[index] for index in indexes if 0 <= index < len(ones))


def _ones(mask: int) -> Iterator[int]:
    return (at for at, bit in enumerate(reversed(f"{mask:b}")) if bit == "1")


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _second_of_day(local: datetime) -> int:
    return local.hour * 3600 + local.minute * 60 + local.second
