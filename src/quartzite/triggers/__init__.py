"""Triggers: when a job fires, one kind a module."""

from quartzite.triggers.base import DEFAULT_PRIORITY, NO_JOB, START_WHEN_SCHEDULED, Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.calendar_interval import (
    CalendarIntervalSchedule,
    CalendarIntervalTrigger,
    calendar_interval,
)
from quartzite.triggers.cron import CronSchedule, CronTrigger, cron
from quartzite.triggers.daily_time_interval import (
    EVERY_DAY,
    MONDAY_THROUGH_FRIDAY,
    SATURDAY_AND_SUNDAY,
    DailyTimeIntervalSchedule,
    DailyTimeIntervalTrigger,
    daily,
)
from quartzite.triggers.fire_times import (
    compute_end_time_to_allow_particular_number_of_firings,
    compute_fire_times,
    compute_fire_times_between,
)
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.misfire import MisfireInstruction, SimpleMisfireInstruction
from quartzite.triggers.recurrence import RecurrenceSchedule, RecurrenceTrigger, recurrence
from quartzite.triggers.recurrence_rule import RecurrenceRule
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import REPEAT_FOREVER, SimpleSchedule, SimpleTrigger, every, once

__all__ = [
    "DEFAULT_PRIORITY",
    "EVERY_DAY",
    "MONDAY_THROUGH_FRIDAY",
    "NO_JOB",
    "REPEAT_FOREVER",
    "SATURDAY_AND_SUNDAY",
    "START_WHEN_SCHEDULED",
    "CalendarIntervalSchedule",
    "CalendarIntervalTrigger",
    "CronSchedule",
    "CronTrigger",
    "DailyTimeIntervalSchedule",
    "DailyTimeIntervalTrigger",
    "IntervalUnit",
    "MisfireInstruction",
    "RecurrenceRule",
    "RecurrenceSchedule",
    "RecurrenceTrigger",
    "Schedule",
    "SimpleMisfireInstruction",
    "SimpleSchedule",
    "SimpleTrigger",
    "Trigger",
    "TriggerBuilder",
    "calendar_interval",
    "compute_end_time_to_allow_particular_number_of_firings",
    "compute_fire_times",
    "compute_fire_times_between",
    "cron",
    "daily",
    "every",
    "once",
    "recurrence",
]
