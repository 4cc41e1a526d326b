"""Calendars: spans of time in which a trigger does not fire."""

from quartzite.calendars.annual import AnnualCalendar
from quartzite.calendars.base import Calendar
from quartzite.calendars.cron import CronCalendar
from quartzite.calendars.daily import DailyCalendar
from quartzite.calendars.days import DayCalendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.calendars.monthly import MonthlyCalendar
from quartzite.calendars.weekly import WeeklyCalendar

__all__ = [
    "AnnualCalendar",
    "Calendar",
    "CronCalendar",
    "DailyCalendar",
    "DayCalendar",
    "HolidayCalendar",
    "MonthlyCalendar",
    "WeeklyCalendar",
]
