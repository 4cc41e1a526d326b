"""Calendar: what excludes spans of time from the triggers that name it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from quartzite.errors import InvalidValueError
from quartzite.timezones import UTC_ZONE, zone

__all__ = ["Calendar"]

FIRST_YEAR: Final = 2
LAST_YEAR: Final = 9998
"""In the outermost years what the clocks of a zone show may not fit a datetime."""
_SEARCHED_YEARS: Final = timedelta(days=366 * 100)
_SEARCHED_SPANS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar(ABC):
    """Excludes instants; a base calendar excludes more (spec 03).

    An instant is included when the base chain and the own rule include it. Calendars are values: they compare by
    all fields, the base included, and change by ``dataclasses.replace``. A calendar of your own derives from this
    class with the same decorator and gives a rule and a way out of an excluded span.

    Attributes:
        description: For people.
        base: Another calendar that must include an instant too, or None.
        time_zone: Where the rule reads the local date and time of an instant; the id of a zone becomes the zone.

    Raises:
        InvalidValueError: the zone is not known, or the base is no calendar.
    """

    calendar_type: ClassVar[str]
    """Discriminator under which a serializer writes this kind."""

    description: str | None = None
    base: Calendar | None = None
    time_zone: ZoneInfo = UTC_ZONE

    @abstractmethod
    def _includes(self, moment: datetime) -> bool:
        """Tell whether the own rule, without the base, includes an aware UTC instant."""

    @abstractmethod
    def _skip(self, moment: datetime) -> datetime | None:
        """Return the first instant after ``moment`` where the own rule may include again.

        Called with an instant that the own rule excludes; the answer is later than it, in UTC, or None when
        everything from there on is excluded.
        """

    def __post_init__(self) -> None:
        if self.base is not None and not isinstance(self.base, Calendar):
            raise InvalidValueError(f"base {self.base!r} of a {type(self).__name__} is no calendar")
        object.__setattr__(self, "time_zone", zone(self.time_zone))

    def is_time_included(self, moment: datetime) -> bool:
        """Tell whether an aware instant is included by the base chain and the own rule.

        Raises:
            InvalidValueError: the instant is naive, or in the year 1 or 9999.
        """
        moment = _aware(moment)
        return (self.base is None or self.base.is_time_included(moment)) and self._includes(moment)

    def next_included(self, moment: datetime) -> datetime | None:
        """Return the earliest included instant that is not before ``moment``, in UTC.

        None when the chain excludes everything for a hundred years, or for a hundred thousand excluded spans.

        Raises:
            InvalidValueError: the instant is naive, or in the year 1 or 9999.
        """
        moment = _aware(moment)
        try:
            return self._search(moment)
        except OverflowError:  # behind the year 9999
            return None

    def _search(self, start: datetime) -> datetime | None:
        candidate = start
        for _ in range(_SEARCHED_SPANS):
            if candidate - start > _SEARCHED_YEARS:
                return None
            if self.base is not None:
                allowed = self.base._search(candidate)
                if allowed is None:
                    return None
                candidate = allowed
            if self._includes(candidate):
                return candidate
            skipped = self._skip(candidate)
            if skipped is None:
                return None
            candidate = skipped
        return None


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise InvalidValueError(f"{moment} has no time zone: give an aware datetime")
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise InvalidValueError(f"{moment} lies outside the years {FIRST_YEAR} to {LAST_YEAR}, where no zone shows it")
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
