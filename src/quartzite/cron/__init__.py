"""Cron expressions in Quartz's dialect, and lines of the Unix one."""

from quartzite.cron.builder import CronExpressionBuilder
from quartzite.cron.expression import CronExpression
from quartzite.cron.fields import DayOfWeek
from quartzite.cron.hashing import trigger_hash_key

__all__ = ["CronExpression", "CronExpressionBuilder", "DayOfWeek", "trigger_hash_key"]
