"""Every calendar is read back equal, also from the forms that older programs wrote."""

import json
from dataclasses import dataclass, replace
from datetime import date, time
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from quartzite.calendars.annual import AnnualCalendar
from quartzite.calendars.base import Calendar
from quartzite.calendars.cron import CronCalendar
from quartzite.calendars.daily import DailyCalendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.calendars.monthly import MonthlyCalendar
from quartzite.calendars.weekly import WeeklyCalendar
from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.serialization import CalendarSerializer, Field, HolidayCalendarSerializer, JsonSerializer
from quartzite.serialization.fields import text

BERLIN = ZoneInfo("Europe/Berlin")
CALENDARS: list[Calendar] = [
    AnnualCalendar(days_excluded=frozenset({(2, 29), (12, 25)}), time_zone=BERLIN),
    AnnualCalendar(),
    CronCalendar(cron_expression=CronExpression("* * 0-7 ? * *", BERLIN), description="nights"),
    DailyCalendar(range_start=time(8), range_end=time(17, 30, 15, 999_000), invert_time_range=True),
    HolidayCalendar(days_excluded=frozenset({date(2026, 1, 1), date(9999, 12, 31)}), time_zone=BERLIN),
    MonthlyCalendar(days_excluded=frozenset({1, 31})),
    MonthlyCalendar(days_excluded=frozenset(range(1, 32))),
    WeeklyCalendar(),
    WeeklyCalendar(days_excluded=frozenset()),
    WeeklyCalendar(days_excluded=frozenset(DayOfWeek)),
]


@pytest.fixture
def serializer() -> JsonSerializer:
    """The default serializer."""
    return JsonSerializer()


def read(serializer: JsonSerializer, node: Any) -> Calendar:
    """Return the calendar of a stored JSON object."""
    return serializer.deserialize(json.dumps(node).encode(), Calendar)


@pytest.mark.parametrize("calendar", CALENDARS, ids=lambda calendar: type(calendar).__name__)
def test_a_calendar_comes_back_equal(serializer: JsonSerializer, calendar: Calendar) -> None:
    """Each kind survives with all its fields, alone and as the base of another one."""
    chained = WeeklyCalendar(base=replace(calendar, description="grüße"), description="top")
    for value in (calendar, chained, replace(chained, base=chained)):
        back = serializer.deserialize(serializer.serialize(value), Calendar)
        assert back == value
        assert type(back) is type(value)
        serializer.check(value)


def test_the_names_are_those_of_quartz(serializer: JsonSerializer) -> None:
    """A stored calendar has the keys that spec 07 section 8 lists."""
    weekly = WeeklyCalendar(base=MonthlyCalendar(days_excluded=frozenset({3})), time_zone=BERLIN)
    assert json.loads(serializer.serialize(weekly)) == {
        "Type": "WeeklyCalendar",
        "Description": None,
        "TimeZoneId": "Europe/Berlin",
        "BaseCalendar": {
            "Type": "MonthlyCalendar",
            "Description": None,
            "TimeZoneId": "UTC",
            "BaseCalendar": None,
            "ExcludedDays": [3],
        },
        "ExcludedDays": ["Sunday", "Saturday"],
    }


@pytest.mark.parametrize(
    ("node", "calendar"),
    [
        ({"Type": "WeeklyCalendar"}, WeeklyCalendar()),
        ({"Type": "WeeklyCalendar", "ExcludedDays": []}, WeeklyCalendar(days_excluded=frozenset())),
        (
            {"Type": "WeeklyCalendar", "ExcludedDays": [0, "monday"]},
            WeeklyCalendar(days_excluded=frozenset({DayOfWeek.SUNDAY, DayOfWeek.MONDAY})),
        ),
        (
            {"Type": "WeeklyCalendar", "ExcludedDays": [False, True, False, False, False, False, False]},
            WeeklyCalendar(days_excluded=frozenset({DayOfWeek.MONDAY})),
        ),
        (
            {"Type": "MonthlyCalendar", "ExcludedDays": [True] + [False] * 29 + [True]},
            MonthlyCalendar(days_excluded=frozenset({1, 31})),
        ),
        (
            {"Type": "AnnualCalendar", "ExcludedDays": ["2000-12-25T00:00:00"], "TimeZoneId": None},
            AnnualCalendar(days_excluded=frozenset({(12, 25)})),
        ),
        (
            {"Type": "HolidayCalendar", "ExcludedDates": ["2026-01-01T00:00:00"]},
            HolidayCalendar(days_excluded=frozenset({date(2026, 1, 1)})),
        ),
        (
            {"Type": "DailyCalendar", "RangeStart": "8:00", "RangeEnd": "17:00:00:500"},
            DailyCalendar(range_start=time(8), range_end=time(17, 0, 0, 500_000)),
        ),
        (
            {"Type": "CronCalendar", "CronExpressionString": "0 0 * * * ?", "TimeZoneId": "China Standard Time"},
            CronCalendar(cron_expression=CronExpression("0 0 * * * ?", "Asia/Shanghai")),
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_other_forms_are_read(serializer: JsonSerializer, node: Any, calendar: Calendar) -> None:
    """Flags, numbers of days, timestamps, zone ids of Windows and missing entries are understood."""
    assert read(serializer, node) == calendar


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        ({}, "the calendar type None has no serializer here"),
        ({"Type": "os:system"}, "the calendar type 'os:system' has no serializer here"),
        ({"Type": ["WeeklyCalendar"]}, "has no serializer here"),
        ({"Type": "WeeklyCalendar", "ExcludedDays": ["Someday"]}, "ExcludedDays"),
        ({"Type": "WeeklyCalendar", "ExcludedDays": [7]}, "ExcludedDays"),
        ({"Type": "MonthlyCalendar", "ExcludedDays": [32]}, "32"),
        ({"Type": "MonthlyCalendar", "ExcludedDays": 5}, "it must be a list"),
        ({"Type": "DailyCalendar", "RangeStart": "08:00"}, "range_end"),
        ({"Type": "DailyCalendar", "RangeStart": None, "RangeEnd": "17:00"}, "range_start"),
        ({"Type": "CronCalendar"}, "missing 1 required positional argument: 'text'"),
        ({"Type": "CronCalendar", "CronExpressionString": 5}, "CronExpressionString 5: it must be a text"),
        ({"Type": "CronCalendar", "CronExpressionString": "x"}, "cron expression 'x'"),
        ({"Type": "WeeklyCalendar", "TimeZoneId": "Mars/Olympus"}, "Mars/Olympus"),
        ({"Type": "WeeklyCalendar", "BaseCalendar": 5}, "5 is no calendar"),
        ({"Type": "WeeklyCalendar", "BaseCalendar": {"Type": "X"}}, "'X'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unreadable_calendar_says_why(serializer: JsonSerializer, node: Any, reason: str) -> None:
    """A stored object that is no calendar is one clear error with the reason."""
    with pytest.raises(JobPersistenceError) as unreadable:
        read(serializer, node)
    assert reason in str(unreadable.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TideCalendar(HolidayCalendar):
    """A kind of an application."""

    calendar_type: ClassVar[str] = "tide"

    harbour: str = "Cuxhaven"


class TideCalendarSerializer(HolidayCalendarSerializer):
    """Derived from the serializer of the kind that the calendar derives from."""

    calendar_class = TideCalendar
    type_name = "TideCalendar"
    fields = (*HolidayCalendarSerializer.fields, Field("Harbour", "harbour", read=text))


def test_a_kind_of_an_application_is_stored_with_its_own_serializer(serializer: JsonSerializer) -> None:
    """Without a serializer a kind is refused with the remedy, also as a base; with one it comes back equal."""
    tide = TideCalendar(harbour="Husum", days_excluded=frozenset({date(2026, 1, 1)}))
    for value in (tide, WeeklyCalendar(base=tide)):
        with pytest.raises(InvalidValueError, match=r"TideCalendar .* add it with add_calendar_serializer"):
            serializer.check(value)
    serializer.add_calendar_serializer(TideCalendarSerializer())
    for value in (tide, WeeklyCalendar(base=tide)):
        serializer.check(value)
        assert serializer.deserialize(serializer.serialize(value), Calendar) == value
    assert serializer.deserialize(serializer.serialize(tide), TideCalendar).harbour == "Husum"


def test_a_serializer_that_forgets_a_field_is_found_when_the_calendar_is_added(serializer: JsonSerializer) -> None:
    """A calendar that would not come back equal is refused by check."""

    class Forgetful(TideCalendarSerializer):
        fields = HolidayCalendarSerializer.fields

    serializer.add_calendar_serializer(Forgetful())
    with pytest.raises(InvalidValueError, match="its serializer reads it back as"):
        serializer.check(TideCalendar(harbour="Husum"))


def test_one_name_is_one_kind(serializer: JsonSerializer) -> None:
    """A second serializer for a class, or for a stored name, is refused."""

    class SameName(TideCalendarSerializer):
        type_name = "HolidayCalendar"

    class SameClass(CalendarSerializer):
        calendar_class = HolidayCalendar
        type_name = "Other"

    with pytest.raises(InvalidValueError, match="'HolidayCalendar' belongs to HolidayCalendar"):
        serializer.add_calendar_serializer(SameName())
    with pytest.raises(InvalidValueError, match="HolidayCalendar has a serializer already"):
        serializer.add_calendar_serializer(SameClass())
    JsonSerializer().add_calendar_serializer(TideCalendarSerializer())
    serializer.add_calendar_serializer(TideCalendarSerializer())


def test_what_is_asked_for_is_what_is_read(serializer: JsonSerializer) -> None:
    """Asking for one kind and finding another is an error, not a surprise later."""
    with pytest.raises(JobPersistenceError, match="it is a WeeklyCalendar"):
        serializer.deserialize(serializer.serialize(WeeklyCalendar()), MonthlyCalendar)
    assert serializer.deserialize(serializer.serialize(WeeklyCalendar()), WeeklyCalendar) == WeeklyCalendar()
