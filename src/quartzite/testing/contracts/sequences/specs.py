"""What random operations are about: few keys, so that they meet, and triggers that are made when they are stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from quartzite.calendars.base import Calendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.model.job import JobDetail
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.testing.contracts.job_store.content import a_job, a_trigger
from quartzite.testing.contracts.subjects import OtherJob, QuietJob
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import calendar_interval
from quartzite.triggers.cron import cron
from quartzite.triggers.daily_time_interval import MONDAY_THROUGH_FRIDAY, daily
from quartzite.triggers.misfire import MisfireInstruction, SimpleMisfireInstruction
from quartzite.triggers.recurrence import recurrence
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import every, once

__all__ = [
    "CALENDARS",
    "CALENDAR_NAMES",
    "EXECUTION_GROUPS",
    "GROUPS",
    "JOB_KEYS",
    "SCHEDULES",
    "TRIGGER_KEYS",
    "JobSpec",
    "TriggerSpec",
]

GROUPS: Final = ("DEFAULT", "a", "A", "a_")
JOB_KEYS: Final = (JobKey("j"), JobKey("J"), JobKey("j", "a"))
TRIGGER_KEYS: Final = tuple(TriggerKey(name, group) for group in GROUPS for name in ("t", "T"))[:6]
EXECUTION_GROUPS: Final = (None, "g", "h")
CALENDAR_NAMES: Final = ("c", "d")
CALENDARS: Final[tuple[Calendar, ...]] = (
    HolidayCalendar(),
    HolidayCalendar(days_excluded=frozenset({date(2026, 1, 5)})),
    HolidayCalendar(days_excluded=frozenset({date(2026, 1, 6)})),
)
SCHEDULES: Final[tuple[Schedule, ...]] = (
    once(),
    once().with_misfire_instruction(SimpleMisfireInstruction.IGNORE_MISFIRES),
    every(seconds=4),
    every(seconds=4).with_misfire_instruction(SimpleMisfireInstruction.IGNORE_MISFIRES),
    every(seconds=7, times=3),
    every(hours=13),
    cron("0/10 * * * * ?"),
    cron("0/10 * * * * ?").with_misfire_instruction(MisfireInstruction.DO_NOTHING),
    calendar_interval(days=1, time_zone="Asia/Kolkata"),
    daily(seconds=5, on=MONDAY_THROUGH_FRIDAY),
    recurrence("FREQ=SECONDLY;INTERVAL=3;COUNT=6"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """A job, by what matters to a store."""

    key: JobKey
    exclusive: bool = False
    durable: bool = True
    persists: bool = False
    other_type: bool = False
    data: int | None = None

    def make(self) -> JobDetail:
        """Return the job."""
        return a_job(
            self.key.name,
            self.key.group,
            runs=OtherJob if self.other_type else QuietJob,
            durable=self.durable,
            concurrent_execution_disallowed=self.exclusive,
            persist_job_data_after_execution=self.persists,
            job_data={} if self.data is None else {"n": self.data},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerSpec:
    """A trigger, relative to the instant at which it is stored.

    Attributes:
        key: Its key.
        job: The key of its job.
        delay: Seconds until its start, negative for one that is due already.
        schedule: Index into the schedules.
        priority: Its priority.
        lifetime: Seconds until its end, None for no end.
        calendar: The name of its calendar, which need not be stored, or None.
        execution_group: Its execution group, or None.
        data: A value of its data, or None.
    """

    key: TriggerKey
    job: JobKey
    delay: float = 0
    schedule: int = 0
    priority: int = 5
    lifetime: float | None = None
    calendar: str | None = None
    execution_group: str | None = None
    data: int | None = None

    def make(self, now: datetime, calendar: Calendar | None) -> Trigger:
        """Return the trigger as a scheduler stores it now; None of its times may be left."""
        start = now + timedelta(seconds=self.delay)
        end = None if self.lifetime is None else max(start, now + timedelta(seconds=self.lifetime))
        return a_trigger(
            self.key.name,
            self.key.group,
            job=self.job,
            when=start,
            schedule=SCHEDULES[self.schedule],
            calendar=calendar,
            priority=self.priority,
            end_time=end,
            calendar_name=self.calendar,
            execution_group=self.execution_group,
            job_data=JobData() if self.data is None else JobData(n=self.data),
        )
