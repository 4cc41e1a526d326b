"""Cron expressions: when something is due, in Quartz's dialect of cron."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from quartzite.cron.compiled import CronFields
from quartzite.cron.grammar import read
from quartzite.cron.search import next_fire, next_unmatched, previous_fire
from quartzite.errors import CronSyntaxError, InvalidValueError
from quartzite.timezones import ZoneOffsets, offsets_of, zone

__all__ = ["CronExpression"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class CronExpression:
    """When something is due: six or seven fields of text and the time zone they are read in (spec 02 section 3).

    ``second minute hour day-of-month month day-of-week [year]``; Sunday is 1. An expression is immutable, equal to
    another of the same resolved text and zone, and reads no clock. It fires in whole seconds. A search gives up a
    hundred years from its argument. Clock changes follow decision 9: a time that the clocks skip fires later by the
    width of the gap; one that they show twice fires at the first, and at both when the expression has ``*``, ``/``
    or ``-`` in its second, minute or hour.

    Attributes:
        text: The resolved text: H replaced, upper case, one space between the fields.
        time_zone: The zone whose clocks the fields mean.
    """

    text: str
    time_zone: ZoneInfo
    _fields: CronFields
    _offsets: ZoneOffsets

    def __init__(
        self, text: str, time_zone: ZoneInfo | str | None = None, *, hash_key: str | int | None = None
    ) -> None:
        """Parse an expression.

        Args:
            text: The fields, separated by spaces or tabs; letters of either case.
            time_zone: A zone or the id of one (IANA or Windows); None for UTC.
            hash_key: What every H in the text is spread by: usually ``trigger_hash_key(group, name)``.

        Raises:
            CronSyntaxError: the text is no expression, or has an H and no key is given.
            InvalidValueError: the zone is not known.
        """
        resolved, fields = read(text, hash_key)
        time_zone = zone(time_zone)
        set_field = object.__setattr__
        set_field(self, "text", resolved)
        set_field(self, "time_zone", time_zone)
        set_field(self, "_fields", fields)
        set_field(self, "_offsets", offsets_of(time_zone))

    @classmethod
    def from_crontab(
        cls, text: str, time_zone: ZoneInfo | str | None = None, *, hash_key: str | int | None = None
    ) -> CronExpression:
        """Read a line of the Unix dialect: five fields, Sunday is 0 or 7; or an alias such as ``@daily``.

        It is translated once, and fires at second 0. When both day fields are restricted a day matches when either
        does.

        Raises:
            CronSyntaxError: croniter refuses the text, or the other dialect has no words for it.
        """
        from quartzite.cron.crontab import translate  # croniter is slow to import and seldom needed

        return cls(translate(text, hash_key), time_zone)

    @staticmethod
    def validate(text: str, *, hash_key: str | int | None = None) -> None:
        """Refuse a text that is no expression.

        Raises:
            CronSyntaxError: it is none, or has an H and no key is given.
        """
        read(text, hash_key)

    @staticmethod
    def is_valid(text: str, *, hash_key: str | int | None = None) -> bool:
        """Tell whether the text is an expression."""
        try:
            read(text, hash_key)
        except CronSyntaxError:
            return False
        return True

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first fire time strictly after an aware instant, in UTC; None when there is none.

        Parts of a second do not count: the search starts at the second after the one that holds ``instant``.

        Raises:
            InvalidValueError: the instant is naive.
        """
        return _instant(next_fire(self._fields, self._offsets, _second(instant) + 1))

    def previous_before(self, instant: datetime) -> datetime | None:
        """Return the last fire time strictly before an aware instant, in UTC; None when there is none.

        Fire times are those of a walk with ``next_after`` from long ago: the second pass of an overlap has none for
        an expression of fixed times.

        Raises:
            InvalidValueError: the instant is naive.
        """
        second = _second(instant)
        return _instant(previous_fire(self._fields, self._offsets, second if instant.microsecond else second - 1))

    def next_invalid_after(self, instant: datetime) -> datetime | None:
        """Return the end of the run of fire times, a second apart, at an aware instant, in UTC.

        That is the first second, from the one that holds ``instant`` on, at which nothing fires (spec 02 section
        3.1); None when there is none within a hundred years.

        Raises:
            InvalidValueError: the instant is naive.
        """
        return _instant(next_unmatched(self._fields, self._offsets, _second(instant)))

    def is_satisfied_by(self, instant: datetime) -> bool:
        """Tell whether the clocks of the zone match the fields at an aware instant; parts of a second do not count.

        A fire that a gap moved does not satisfy the expression, unless the time it moved to matches by itself.

        Raises:
            InvalidValueError: the instant is naive.
        """
        second = _second(instant)
        return self._fields.matches(second + self._offsets.segment(second).offset)

    def describe(self) -> str:
        """Say in plain English words when it fires, as in "At 09:30:00, Monday to Friday"; the zone is left out."""
        from quartzite.cron.description import describe  # for people: no scheduler needs the words

        return describe(self.text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CronExpression):
            return NotImplemented
        return self.text == other.text and self.time_zone.key == other.time_zone.key

    def __hash__(self) -> int:
        return hash((self.text, self.time_zone.key))

    def __repr__(self) -> str:
        return f"CronExpression({self.text!r}, time_zone={self.time_zone.key!r})"

    def __reduce__(self) -> tuple[type[CronExpression], tuple[str, ZoneInfo]]:
        # The compiled fields are shared and made again, not carried along.
        return CronExpression, (self.text, self.time_zone)


def _second(instant: datetime) -> int:
    try:
        since = instant - _EPOCH
    except TypeError:
        raise InvalidValueError(f"{instant!r} is no aware datetime: give it a time zone, for instance UTC") from None
    return since.days * 86_400 + since.seconds


def _instant(second: int | None) -> datetime | None:
    if second is None:
        return None
    try:
        return _EPOCH + timedelta(seconds=second)
    except OverflowError:  # in the last hours of the year 9999, or before the first
        return None
