"""How calendars of each kind are written as JSON objects (spec 07 section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date
from typing import Any, ClassVar, Final

from quartzite.calendars.annual import AnnualCalendar
from quartzite.calendars.base import Calendar
from quartzite.calendars.cron import CronCalendar
from quartzite.calendars.daily import DailyCalendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.calendars.monthly import MonthlyCalendar
from quartzite.calendars.weekly import WeeklyCalendar
from quartzite.cron import CronExpression
from quartzite.serialization.fields import (
    Field,
    are_flags,
    boolean,
    integer,
    items,
    read_date,
    read_fields,
    read_time,
    read_week_days,
    read_zone,
    text,
    write_fields,
    write_time,
    write_week_days,
    write_zone,
)

__all__ = [
    "AnnualCalendarSerializer",
    "CalendarSerializer",
    "CronCalendarSerializer",
    "DailyCalendarSerializer",
    "HolidayCalendarSerializer",
    "MonthlyCalendarSerializer",
    "WeeklyCalendarSerializer",
]

_LEAP_YEAR: Final = 2000
"""The year in which days of every year are written: 29 February is one of them."""


class CalendarSerializer:
    """Writes one kind of calendar as a JSON object and reads it back equal, its chain of base calendars included.

    A kind of your own derives its serializer from this class, or from the one of the calendar it derives from::

        class TideCalendarSerializer(CalendarSerializer):
            calendar_class = TideCalendar
            type_name = "TideCalendar"
            fields = (Field("Harbour", "harbour", read=text),)

    Whatever does not fit one field overrides :meth:`write` and :meth:`read`. A field that a row does not have takes
    the default of the class, so a kind may grow.

    Attributes:
        calendar_class: The class that is built; values of subclasses need a serializer of their own.
        type_name: What the row says about the kind.
        fields: The entries of the kind, beside those that every calendar has.
    """

    calendar_class: ClassVar[type[Calendar]]
    type_name: ClassVar[str]
    fields: ClassVar[tuple[Field, ...]] = ()

    @property
    def kind_class(self) -> type[Calendar]:
        """The class whose values it writes."""
        return self.calendar_class

    def write(self, calendar: Any) -> dict[str, Any]:
        """Return the entries of the kind."""
        return write_fields(self.fields, calendar)

    def read(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the constructor arguments of the kind.

        Raises:
            ValueError: an entry is malformed.
        """
        return read_fields(self.fields, node)

    def serialize(self, calendar: Calendar, write_base: Callable[[Calendar], Any]) -> dict[str, Any]:
        """Return the whole object; ``write_base`` writes the base calendar."""
        return {
            "Type": self.type_name,
            **write_fields(_FIELDS, calendar),
            "BaseCalendar": None if calendar.base is None else write_base(calendar.base),
            **self.write(calendar),
        }

    def deserialize(self, node: Mapping[str, Any], read_base: Callable[[Any], Calendar]) -> Calendar:
        """Return the calendar of an object; ``read_base`` reads the base calendar.

        Raises:
            ValueError: an entry is malformed or missing, or the calendar can not be built of them.
        """
        arguments = read_fields(_FIELDS, node)
        if (base := node.get("BaseCalendar")) is not None:
            arguments["base"] = read_base(base)
        try:
            return self.calendar_class(**arguments, **self.read(node))
        except TypeError as error:
            raise ValueError(str(error)) from error


def _zone_or_utc(content: Any) -> Any:
    return read_zone(content or UTC)


_FIELDS: Final = (
    Field("Description", "description", read=text),
    Field("TimeZoneId", "time_zone", write_zone, _zone_or_utc),
)


_EXPRESSION: Final = (
    Field("CronExpressionString", "text", read=text),
    Field("TimeZoneId", "time_zone", read=read_zone),
)


def _write_year_days(days: Iterable[tuple[int, int]]) -> list[str]:
    return [date(_LEAP_YEAR, month, day).isoformat() for month, day in sorted(days)]


def _read_year_days(content: Any) -> frozenset[tuple[int, int]]:
    return frozenset((day.month, day.day) for day in map(read_date, items(content)))


class AnnualCalendarSerializer(CalendarSerializer):
    """Of :class:`AnnualCalendar`: its days as dates of the year 2000."""

    calendar_class = AnnualCalendar
    type_name = "AnnualCalendar"
    fields: ClassVar[tuple[Field, ...]] = (Field("ExcludedDays", "days_excluded", _write_year_days, _read_year_days),)


class CronCalendarSerializer(CalendarSerializer):
    """Of :class:`CronCalendar`: the text of its expression, whose zone is the calendar's."""

    calendar_class = CronCalendar
    type_name = "CronCalendar"

    def write(self, calendar: Any) -> dict[str, Any]:
        """Return the entries of the kind."""
        return {**CalendarSerializer.write(self, calendar), "CronExpressionString": calendar.cron_expression.text}

    def read(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the constructor arguments of the kind.

        Raises:
            ValueError: an entry is malformed.
        """
        expression = CronExpression(**read_fields(_EXPRESSION, node))
        return {**CalendarSerializer.read(self, node), "cron_expression": expression}


class DailyCalendarSerializer(CalendarSerializer):
    """Of :class:`DailyCalendar`."""

    calendar_class = DailyCalendar
    type_name = "DailyCalendar"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("InvertTimeRange", "invert_time_range", read=boolean),
        Field("RangeStart", "range_start", write_time, read_time),
        Field("RangeEnd", "range_end", write_time, read_time),
    )


def _write_dates(days: Iterable[date]) -> list[str]:
    return [day.isoformat() for day in sorted(days)]


def _read_dates(content: Any) -> frozenset[date]:
    return frozenset(map(read_date, items(content)))


class HolidayCalendarSerializer(CalendarSerializer):
    """Of :class:`HolidayCalendar`."""

    calendar_class = HolidayCalendar
    type_name = "HolidayCalendar"
    fields: ClassVar[tuple[Field, ...]] = (Field("ExcludedDates", "days_excluded", _write_dates, _read_dates),)


def _read_month_days(content: Any) -> frozenset[int]:
    """Read numbers, or one truth value for each day of the month as older programs wrote it."""
    days = items(content)
    if are_flags(days, 31):
        return frozenset(number for number, excluded in enumerate(days, 1) if excluded)
    return frozenset(map(integer, days))


class MonthlyCalendarSerializer(CalendarSerializer):
    """Of :class:`MonthlyCalendar`."""

    calendar_class = MonthlyCalendar
    type_name = "MonthlyCalendar"
    fields: ClassVar[tuple[Field, ...]] = (Field("ExcludedDays", "days_excluded", sorted, _read_month_days),)


class WeeklyCalendarSerializer(CalendarSerializer):
    """Of :class:`WeeklyCalendar`; an empty list excludes no day, not even the weekend."""

    calendar_class = WeeklyCalendar
    type_name = "WeeklyCalendar"
    fields: ClassVar[tuple[Field, ...]] = (Field("ExcludedDays", "days_excluded", write_week_days, read_week_days),)
