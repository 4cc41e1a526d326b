"""Job data, triggers and calendars as bytes, and back."""

from quartzite.serialization.calendars import (
    AnnualCalendarSerializer,
    CalendarSerializer,
    CronCalendarSerializer,
    DailyCalendarSerializer,
    HolidayCalendarSerializer,
    MonthlyCalendarSerializer,
    WeeklyCalendarSerializer,
)
from quartzite.serialization.fields import Field
from quartzite.serialization.json import JsonSerializer
from quartzite.serialization.triggers import (
    CalendarIntervalTriggerSerializer,
    CronTriggerSerializer,
    DailyTimeIntervalTriggerSerializer,
    RecurrenceTriggerSerializer,
    SimpleTriggerSerializer,
    TriggerSerializer,
)

__all__ = [
    "AnnualCalendarSerializer",
    "CalendarIntervalTriggerSerializer",
    "CalendarSerializer",
    "CronCalendarSerializer",
    "CronTriggerSerializer",
    "DailyCalendarSerializer",
    "DailyTimeIntervalTriggerSerializer",
    "Field",
    "HolidayCalendarSerializer",
    "JsonSerializer",
    "MonthlyCalendarSerializer",
    "RecurrenceTriggerSerializer",
    "SimpleTriggerSerializer",
    "TriggerSerializer",
    "WeeklyCalendarSerializer",
]
