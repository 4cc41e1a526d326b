"""What all calendars share."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import FrozenInstanceError, dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import ClassVar

import pytest

from quartzite.calendars import (
    AnnualCalendar,
    Calendar,
    CronCalendar,
    DailyCalendar,
    HolidayCalendar,
    MonthlyCalendar,
    WeeklyCalendar,
)
from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import InvalidValueError
from quartzite.timezones import UTC_ZONE, zone
from tests.unit.calendars.instants import at

CALENDARS: dict[str, Calendar] = {
    "annual": AnnualCalendar(days_excluded=frozenset({(12, 25)})),
    "cron": CronCalendar(cron_expression=CronExpression("* * 12 * * ?")),
    "daily": DailyCalendar(range_start=time(12), range_end=time(13)),
    "holiday": HolidayCalendar(days_excluded=frozenset({date(2026, 12, 25)})),
    "monthly": MonthlyCalendar(days_excluded=frozenset({25})),
    "weekly": WeeklyCalendar(days_excluded=frozenset({DayOfWeek.FRIDAY})),
}
CHRISTMAS = at("2026-12-25T12:30")  # a Friday
every_kind = pytest.mark.parametrize("calendar", CALENDARS.values(), ids=list(CALENDARS))


@every_kind
def test_a_calendar_is_a_value(calendar: Calendar) -> None:
    """A calendar can not be changed; equality and hash are by all fields, the base and the zone included."""
    with pytest.raises(FrozenInstanceError):
        calendar.description = "changed"  # type: ignore[misc]
    assert deepcopy(calendar) == calendar
    assert hash(deepcopy(calendar)) == hash(calendar)
    assert replace(calendar, base=WeeklyCalendar()) != calendar
    assert replace(calendar, description="other") != calendar


@every_kind
def test_every_kind_excludes_christmas_noon(calendar: Calendar) -> None:
    """All of these exclude that instant, and include the next one they name and what lies a day before."""
    assert not calendar.is_time_included(CHRISTMAS)
    following = calendar.next_included(CHRISTMAS)
    assert following is not None
    assert following > CHRISTMAS
    assert calendar.is_time_included(following)
    assert not calendar.is_time_included(following - timedelta.resolution)
    assert calendar.is_time_included(at("2026-12-24T11:00"))


@every_kind
def test_an_included_instant_is_its_own_next_one(calendar: Calendar) -> None:
    """What is included already is the earliest included instant, to the microsecond."""
    moment = at("2026-12-24T10:20:30.000007")
    assert calendar.next_included(moment) == moment


@every_kind
def test_an_instant_is_the_same_in_every_zone(calendar: Calendar) -> None:
    """Instants may come with any offset; naive ones are refused."""
    assert not calendar.is_time_included(CHRISTMAS.astimezone(zone("Asia/Tokyo")))
    for ask in (calendar.is_time_included, calendar.next_included):
        with pytest.raises(InvalidValueError, match="give an aware datetime"):
            ask(datetime(2026, 1, 1))  # noqa: DTZ001


@every_kind
def test_the_base_must_include_too(calendar: Calendar) -> None:
    """A chain excludes what any of its calendars excludes."""
    chained = replace(calendar, base=MonthlyCalendar(days_excluded=frozenset({24, 26}), base=WeeklyCalendar()))
    assert not chained.is_time_included(CHRISTMAS)
    assert not chained.is_time_included(at("2026-12-24T11:00"))
    assert not chained.is_time_included(at("2026-12-27T11:00"))
    assert chained.is_time_included(at("2026-12-28T11:00"))
    following = chained.next_included(at("2026-12-26T00:00"))
    assert following == at("2026-12-28T00:00")


@pytest.mark.parametrize("moment", ["0001-12-31T23:59", "9999-01-01T00:00"])
def test_the_outermost_years_are_refused(moment: str) -> None:
    """Where the clocks of a zone may show what no datetime can hold, there is no answer."""
    for ask in (WeeklyCalendar().is_time_included, WeeklyCalendar().next_included):
        with pytest.raises(InvalidValueError, match="outside the years 2 to 9998"):
            ask(at(moment))


def test_zones_are_names_too() -> None:
    """The id of a zone becomes the zone, that of Windows too; an unknown one is refused."""
    named = WeeklyCalendar(time_zone="W. Europe Standard Time")  # type: ignore[arg-type]
    assert named.time_zone is zone("Europe/Berlin")
    assert WeeklyCalendar().time_zone is UTC_ZONE
    with pytest.raises(InvalidValueError, match="Mars"):
        WeeklyCalendar(time_zone="Mars")  # type: ignore[arg-type]


def test_a_base_is_a_calendar() -> None:
    """The name of a calendar is no base."""
    with pytest.raises(InvalidValueError, match="is no calendar"):
        WeeklyCalendar(base="holidays")  # type: ignore[arg-type]


def test_a_chain_without_included_times_has_no_next_one() -> None:
    """Two calendars that exclude everything together give None, in bounded time, whichever is the base."""
    days, weekend = WeeklyCalendar(days_excluded=frozenset(DayOfWeek) - {DayOfWeek.SUNDAY}), WeeklyCalendar()
    assert replace(days, base=weekend).next_included(CHRISTMAS) is None
    assert replace(weekend, base=days).next_included(CHRISTMAS) is None
    even = CronCalendar(cron_expression=CronExpression("0/2 * * * * ?"))
    odd = CronCalendar(cron_expression=CronExpression("1/2 * * * * ?"), base=even)
    assert odd.next_included(CHRISTMAS) is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaydayCalendar(Calendar):
    """A calendar of an application's own: a day of every month."""

    calendar_type: ClassVar[str] = "payday"

    day: int

    def _includes(self, moment: datetime) -> bool:
        return moment.day != self.day

    def _skip(self, moment: datetime) -> datetime | None:
        return moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def test_a_kind_of_ones_own() -> None:
    """A rule and a way out of what it excludes make a calendar, with chains and all."""
    calendar = PaydayCalendar(day=30, base=WeeklyCalendar())
    assert not calendar.is_time_included(at("2026-01-30T12:00"))
    assert calendar.next_included(at("2026-01-30T12:00")) == at("2026-02-02T00:00")
    assert calendar.next_included(at("2026-01-29T12:00")) == at("2026-01-29T12:00")
    assert calendar != PaydayCalendar(day=29, base=WeeklyCalendar())
