"""The calendars of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, time
from typing import Any

from quartzite.calendars import (
    AnnualCalendar,
    Calendar,
    CronCalendar,
    DailyCalendar,
    HolidayCalendar,
    MonthlyCalendar,
    WeeklyCalendar,
)
from quartzite.timezones import zone
from tests.conformance.vectors import Record


def calendar_of(record: Record | None) -> Calendar | None:
    """Return the calendar that a record describes, with the chain of its bases."""
    if record is None:
        return None
    common = {"time_zone": zone(record["tz"]), "base": calendar_of(record.get("base"))}
    return _MAKERS[record["type"]](record, common)


def chain(record: Record | None) -> Iterator[Record]:
    """Yield the descriptions of a calendar and of its bases, the outermost first."""
    while record is not None:
        yield record
        record = record.get("base")


def _annual(record: Record, common: dict[str, Any]) -> Calendar:
    days = (text.split("-") for text in record["excluded_month_days"])
    return AnnualCalendar(days_excluded=frozenset((int(month), int(day)) for month, day in days), **common)


def _cron(record: Record, common: dict[str, Any]) -> Calendar:
    return CronCalendar(cron_expression=record["expr"], **common)


def _daily(record: Record, common: dict[str, Any]) -> Calendar:
    return DailyCalendar(
        range_start=time.fromisoformat(record["range_start"]),
        range_end=time.fromisoformat(record["range_end"]),
        invert_time_range=record["invert"],
        **common,
    )


def _holiday(record: Record, common: dict[str, Any]) -> Calendar:
    days = frozenset(date.fromisoformat(text) for text in record["excluded_dates"])
    return HolidayCalendar(days_excluded=days, **common)


def _monthly(record: Record, common: dict[str, Any]) -> Calendar:
    return MonthlyCalendar(days_excluded=frozenset(record["excluded_days"]), **common)


def _weekly(record: Record, common: dict[str, Any]) -> Calendar:
    return WeeklyCalendar(days_excluded=frozenset(record["excluded_days"]), **common)


_MAKERS: dict[str, Callable[[Record, dict[str, Any]], Calendar]] = {
    "annual": _annual,
    "cron": _cron,
    "daily": _daily,
    "holiday": _holiday,
    "monthly": _monthly,
    "weekly": _weekly,
}
