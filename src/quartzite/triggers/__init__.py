"""Triggers: when a job fires, one kind a module."""

from quartzite.triggers.base import DEFAULT_PRIORITY, NO_JOB, START_WHEN_SCHEDULED, Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.cron import CronSchedule, CronTrigger, cron
from quartzite.triggers.misfire import MisfireInstruction, SimpleMisfireInstruction
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import REPEAT_FOREVER, SimpleSchedule, SimpleTrigger, every, once

__all__ = [
    "DEFAULT_PRIORITY",
    "NO_JOB",
    "REPEAT_FOREVER",
    "START_WHEN_SCHEDULED",
    "CronSchedule",
    "CronTrigger",
    "MisfireInstruction",
    "Schedule",
    "SimpleMisfireInstruction",
    "SimpleSchedule",
    "SimpleTrigger",
    "Trigger",
    "TriggerBuilder",
    "cron",
    "every",
    "once",
]
