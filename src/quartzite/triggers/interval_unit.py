"""IntervalUnit: what the intervals of calendar interval and daily time interval triggers are counted in."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from types import MappingProxyType
from typing import Final

__all__ = ["IntervalUnit"]


class IntervalUnit(Enum):
    """A unit of time. The values are persisted."""

    SECOND = "Second"
    MINUTE = "Minute"
    HOUR = "Hour"
    DAY = "Day"
    WEEK = "Week"
    MONTH = "Month"
    YEAR = "Year"

    @property
    def length(self) -> timedelta | None:
        """The elapsed time of the unit on clocks that never change, None for months and years."""
        return _LENGTHS.get(self)

    @property
    def months(self) -> int:
        """How many months the unit has, 0 for those with a length."""
        return _MONTHS.get(self, 0)

    @property
    def is_within_a_day(self) -> bool:
        """Whether it is a second, a minute or an hour."""
        return self in _WITHIN_A_DAY


_LENGTHS: Final = MappingProxyType(
    {
        IntervalUnit.SECOND: timedelta(seconds=1),
        IntervalUnit.MINUTE: timedelta(minutes=1),
        IntervalUnit.HOUR: timedelta(hours=1),
        IntervalUnit.DAY: timedelta(days=1),
        IntervalUnit.WEEK: timedelta(weeks=1),
    }
)
_MONTHS: Final = MappingProxyType({IntervalUnit.MONTH: 1, IntervalUnit.YEAR: 12})
_WITHIN_A_DAY: Final = frozenset({IntervalUnit.SECOND, IntervalUnit.MINUTE, IntervalUnit.HOUR})
