"""The seven fields of a cron expression: their names, ranges and words (spec 02 section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

__all__ = [
    "DAY_OF_MONTH",
    "DAY_OF_WEEK",
    "FIELDS",
    "HOUR",
    "MINUTE",
    "MONTH",
    "MONTH_NAMES",
    "SECOND",
    "WEEKDAY_NAMES",
    "YEAR",
    "DayOfWeek",
    "Field",
    "FieldError",
]


class DayOfWeek(IntEnum):
    """The days of the week in Quartz's numbers: 1 is Sunday."""

    SUNDAY = 1
    MONDAY = 2
    TUESDAY = 3
    WEDNESDAY = 4
    THURSDAY = 5
    FRIDAY = 6
    SATURDAY = 7


MONTH_NAMES: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAY_NAMES: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """What one field of an expression may hold.

    Attributes:
        name: What messages call it.
        low: Smallest value.
        high: Largest value.
        largest_step: Largest step behind ``*`` or a single value; None when steps are not limited.
        wraps: Whether a range may run over the end, as 22-2 does for hours.
        numbers: The value of each name.
    """

    name: str
    low: int
    high: int
    largest_step: int | None
    wraps: bool = True
    numbers: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def size(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1


class FieldError(Exception):
    """One field was refused.

    Attributes:
        at: Index into the field's text of the wrong character.
        reason: What is wrong with it.
        hint: What to write instead, or None.
    """

    def __init__(self, at: int, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason
        self.hint = hint


def _numbered(names: tuple[str, ...]) -> Mapping[str, int]:
    return MappingProxyType({name: number for number, name in enumerate(names, start=1)})


SECOND: Final = Field(name="second", low=0, high=59, largest_step=59)
MINUTE: Final = Field(name="minute", low=0, high=59, largest_step=59)
HOUR: Final = Field(name="hour", low=0, high=23, largest_step=23)
DAY_OF_MONTH: Final = Field(name="day of month", low=1, high=31, largest_step=31)
MONTH: Final = Field(name="month", low=1, high=12, largest_step=12, numbers=_numbered(MONTH_NAMES))
DAY_OF_WEEK: Final = Field(name="day of week", low=1, high=7, largest_step=7, numbers=_numbered(WEEKDAY_NAMES))
YEAR: Final = Field(name="year", low=1970, high=2199, largest_step=None, wraps=False)

FIELDS: Final = (SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK, YEAR)
