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
from quartzite.serialization.triggers import CronTriggerSerializer, SimpleTriggerSerializer, TriggerSerializer

__all__ = [
    "AnnualCalendarSerializer",
    "CalendarSerializer",
    "CronCalendarSerializer",
    "CronTriggerSerializer",
    "DailyCalendarSerializer",
    "Field",
    "HolidayCalendarSerializer",
    "JsonSerializer",
    "MonthlyCalendarSerializer",
    "SimpleTriggerSerializer",
    "TriggerSerializer",
    "WeeklyCalendarSerializer",
]
