"""Dates for start and end times: built part by part, or found from a date that is at hand (spec 02 section 9).

Nothing here reads a clock: what "now" is, the caller says. Local parts mean the clocks of the given zone, UTC when
none is given; results are instants in UTC, by the rules of ``timezones`` where clocks change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from quartzite.errors import InvalidValueError
from quartzite.timezones import local_time, offsets_of, resolve, zone

__all__ = [
    "DateBuilder",
    "even_hour_date",
    "even_hour_date_before",
    "even_minute_date",
    "even_minute_date_before",
    "even_second_date",
    "even_second_date_before",
    "next_given_minute_date",
    "next_given_second_date",
    "next_given_time_of_day",
    "today_at",
    "tomorrow_at",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = 60
_HOUR: Final = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class DateBuilder:
    """Build a date; the parts that are not set are those of ``now`` in the zone, and parts of a second are zero.

    ``DateBuilder.new_date_in_time_zone("Europe/Berlin", now).at_hour_minute_and_second(9, 0, 0).build()``

    Every verb returns a new builder and raises InvalidValueError for a value that no date has.

    Attributes:
        now: The instant that gives the other parts.
        time_zone: The zone of the parts.
    """

    now: datetime
    time_zone: ZoneInfo
    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None

    @classmethod
    def new_date(cls, now: datetime) -> DateBuilder:
        """Start from an aware instant, in UTC."""
        return cls.new_date_in_time_zone(None, now)

    @classmethod
    def new_date_in_time_zone(cls, time_zone: ZoneInfo | str | None, now: datetime) -> DateBuilder:
        """Start from an aware instant, in a zone."""
        return cls(now=_aware(now), time_zone=zone(time_zone))

    def in_time_zone(self, time_zone: ZoneInfo | str) -> DateBuilder:
        """Read all parts in another zone."""
        return replace(self, time_zone=zone(time_zone))

    def in_year(self, year: int) -> DateBuilder:
        """Set the year, 1970 to 2199."""
        return replace(self, year=_checked("year", year, 1970, 2199))

    def in_month(self, month: int) -> DateBuilder:
        """Set the month, 1 to 12."""
        return replace(self, month=_checked("month", month, 1, 12))

    def on_day(self, day: int) -> DateBuilder:
        """Set the day of the month, 1 to 31."""
        return replace(self, day=_checked("day", day, 1, 31))

    def in_month_on_day(self, month: int, day: int) -> DateBuilder:
        """Set month and day of the month."""
        return self.in_month(month).on_day(day)

    def at_hour_of_day(self, hour: int) -> DateBuilder:
        """Set the hour, 0 to 23."""
        return replace(self, hour=_checked("hour", hour, 0, 23))

    def at_minute(self, minute: int) -> DateBuilder:
        """Set the minute, 0 to 59."""
        return replace(self, minute=_checked("minute", minute, 0, 59))

    def at_second(self, second: int) -> DateBuilder:
        """Set the second, 0 to 59."""
        return replace(self, second=_checked("second", second, 0, 59))

    def at_hour_minute_and_second(self, hour: int, minute: int, second: int) -> DateBuilder:
        """Set the time of day."""
        return self.at_hour_of_day(hour).at_minute(minute).at_second(second)

    def build(self) -> datetime:
        """Return the instant, in UTC.

        Raises:
            InvalidValueError: the month does not have the day.
        """
        local = local_time(self.now, self.time_zone)
        names = ("year", "month", "day", "hour", "minute", "second")
        parts = [getattr(local, name) if getattr(self, name) is None else getattr(self, name) for name in names]
        try:
            return resolve(datetime(*parts), self.time_zone)  # noqa: DTZ001
        except ValueError:
            year, month, day = parts[:3]
            raise InvalidValueError(f"{year}-{month:02} has no day {day}: set month and day together") from None


def today_at(
    hour: int, minute: int, second: int = 0, *, now: datetime, time_zone: ZoneInfo | str | None = None
) -> datetime:
    """Return a time of the local day that holds ``now``; it may be past."""
    return _on_day_of(now, 0, _time_of_day(hour, minute, second), zone(time_zone))


def tomorrow_at(
    hour: int, minute: int, second: int = 0, *, now: datetime, time_zone: ZoneInfo | str | None = None
) -> datetime:
    """Return a time of the local day behind the one that holds ``now``."""
    return _on_day_of(now, 1, _time_of_day(hour, minute, second), zone(time_zone))


def next_given_time_of_day(time_of_day: time, *, after: datetime, time_zone: ZoneInfo | str | None = None) -> datetime:
    """Return the first instant strictly after ``after`` at which a local day comes to ``time_of_day``.

    A time that the clocks skip that day comes later by the width of the gap; one that they show twice comes at the
    first, once.
    """
    if time_of_day.tzinfo is not None:
        raise InvalidValueError(f"the time of day {time_of_day} has a zone of its own: pass it as time_zone")
    where = zone(time_zone)
    candidates = (_on_day_of(after, days, time_of_day, where) for days in range(-1, 3))
    return next(instant for instant in candidates if instant > after)


def even_hour_date(date: datetime, time_zone: ZoneInfo | str | None = None) -> datetime:
    """Return the next full hour strictly after an aware instant."""
    return _next_multiple(date, _HOUR, _HOUR, time_zone)


def even_hour_date_before(date: datetime, time_zone: ZoneInfo | str | None = None) -> datetime:
    """Return the last full hour at or before an aware instant."""
    return _multiple_before(date, _HOUR, time_zone)


def even_minute_date(date: datetime, time_zone: ZoneInfo | str | None = None) -> datetime:
    """Return the next full minute strictly after an aware instant."""
    return _next_multiple(date, _MINUTE, _MINUTE, time_zone)


def even_minute_date_before(date: datetime, time_zone: ZoneInfo | str | None = None) -> datetime:
    """Return the last full minute at or before an aware instant."""
    return _multiple_before(date, _MINUTE, time_zone)


def even_second_date(date: datetime) -> datetime:
    """Return the next full second strictly after an aware instant."""
    return _next_multiple(date, 1, 1, None)


def even_second_date_before(date: datetime) -> datetime:
    """Return the last full second at or before an aware instant."""
    return _multiple_before(date, 1, None)


def next_given_minute_date(date: datetime, minute_base: int, time_zone: ZoneInfo | str | None = None) -> datetime:
    """Return the next full minute strictly after an aware instant that is a multiple of ``minute_base`` in its hour.

    After 08:13 a base of 20 gives 08:20, after 08:46 one of 17 gives 08:51 and one of 45 gives 09:00; a base of 0
    gives the next full hour.
    """
    base = _checked("minute base", minute_base, 0, 59) * _MINUTE
    return _next_multiple(date, base or _HOUR, _HOUR, time_zone)


def next_given_second_date(date: datetime, second_base: int) -> datetime:
    """Return the next full second strictly after an aware instant that is a multiple of ``second_base`` in its minute.

    A base of 0 gives the next full minute.
    """
    base = _checked("second base", second_base, 0, 59)
    return _next_multiple(date, base or _MINUTE, _MINUTE, None)


def _next_multiple(date: datetime, base: int, whole: int, time_zone: ZoneInfo | str | None) -> datetime:
    """Return the next instant at which the clocks show a multiple of ``base`` seconds, counted from each ``whole``."""
    offsets = offsets_of(zone(time_zone))
    second = _second_of(date) + 1
    while True:
        segment = offsets.segment(second)
        behind = (second + segment.offset) % whole
        found = second - behind + min(-(-behind // base) * base, whole)
        if found < segment.end:
            return _instant(found)
        second = segment.end


def _multiple_before(date: datetime, base: int, time_zone: ZoneInfo | str | None) -> datetime:
    offsets = offsets_of(zone(time_zone))
    second = _second_of(date)
    while True:
        segment = offsets.segment(second)
        found = second - (second + segment.offset) % base
        if found >= segment.start:
            return _instant(found)
        second = segment.start - 1


def _on_day_of(instant: datetime, days: int, time_of_day: time, time_zone: ZoneInfo) -> datetime:
    """Return a time of the local day so many days behind the one that holds an instant."""
    day = local_time(_aware(instant), time_zone).date() + timedelta(days=days)
    return resolve(datetime.combine(day, time_of_day), time_zone)


def _time_of_day(hour: int, minute: int, second: int) -> time:
    return time(_checked("hour", hour, 0, 23), _checked("minute", minute, 0, 59), _checked("second", second, 0, 59))


def _checked(name: str, value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise InvalidValueError(f"{name} {value} is out of range: {low} to {high}")
    return value


def _aware(instant: datetime) -> datetime:
    if instant.utcoffset() is None:
        raise InvalidValueError(f"{instant!r} is no aware datetime: give it a time zone, for instance UTC")
    return instant


def _second_of(instant: datetime) -> int:
    return (_aware(instant) - _EPOCH) // timedelta(seconds=1)


def _instant(second: int) -> datetime:
    return _EPOCH + timedelta(seconds=second)
