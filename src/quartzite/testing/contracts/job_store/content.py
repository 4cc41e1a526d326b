"""Jobs and triggers in one line each, and the instants of the store suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from quartzite.calendars.base import Calendar
from quartzite.model.job import JobDetail, JobType
from quartzite.model.job_data import JobData
from quartzite.model.keys import DEFAULT_GROUP, JobKey, TriggerKey
from quartzite.testing.contracts.subjects import QuietJob
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import calendar_interval
from quartzite.triggers.cron import cron
from quartzite.triggers.daily_time_interval import MONDAY_THROUGH_FRIDAY, daily
from quartzite.triggers.recurrence import recurrence
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import every, once

__all__ = ["DISCORDANT_NAMES", "MICROSECOND", "SCHEDULES", "START", "a_job", "a_trigger", "at", "keys_of", "plain"]

START: Final = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
"""The instant at which each test of the store suite begins: a Monday noon."""
MICROSECOND: Final = timedelta(microseconds=1)
DISCORDANT_NAMES: Final = ("B", "Z", "a", "a ", "a%", "a_", "b", "e", "z", "Ä", "ß", "é", "ａ", "😀")
"""In the order of code points; other collations, UTF-16 among them, put them otherwise or take some for equal."""
SCHEDULES: Final[dict[str, Schedule]] = {
    "SIMPLE once": once(),
    "SIMPLE for ever": every(seconds=1.5),
    "SIMPLE ten times": every(days=1, times=10).with_misfire_instruction(4),
    "CRON": cron("0 0/15 9-17 ? * MON-FRI"),
    "CRON in a zone": cron("0 30 2 * * ?", time_zone="America/New_York").with_misfire_instruction(2),
    "CAL_INT": calendar_interval(months=1, time_zone="Asia/Kolkata"),
    "CAL_INT that keeps the hour": calendar_interval(
        weeks=2,
        time_zone="Europe/Berlin",
        preserve_hour_of_day_across_daylight_savings=True,
        skip_day_if_hour_does_not_exist=True,
        misfire_instruction=2,
    ),
    "DAILY_I": daily(minutes=90),
    "DAILY_I on working days": daily(
        time(9, 0, 1), time(17, 30), hours=2, times=3, on=MONDAY_THROUGH_FRIDAY, time_zone="Australia/Lord_Howe"
    ),
    "RECUR": recurrence("FREQ=MONTHLY;BYDAY=-1FR", time_zone="America/Sao_Paulo", misfire_instruction=2),
    "RECUR counted": recurrence("FREQ=DAILY;INTERVAL=2;COUNT=3"),
}
"""Schedules of every kind, by the discriminator of the kind and some words."""
_UTC_ZONE: Final = ZoneInfo("UTC")


def at(seconds: float) -> datetime:
    """Return the instant some seconds after the start of the test."""
    return START + timedelta(seconds=seconds)


def a_job(name: str = "job", group: str = DEFAULT_GROUP, *, runs: type = QuietJob, **fields: Any) -> JobDetail:
    """Return a durable job; ``fields`` are those of :class:`JobDetail`, ``job_data`` may be any mapping."""
    fields.setdefault("durable", True)
    if "job_data" in fields:
        fields["job_data"] = JobData(fields["job_data"])
    return JobDetail(key=JobKey(name, group), job_type=JobType.of(runs), **fields)


def a_trigger(
    name: str = "trigger",
    group: str = DEFAULT_GROUP,
    *,
    job: JobDetail | JobKey | str = "job",
    when: datetime = START,
    schedule: Schedule | None = None,
    calendar: Calendar | None = None,
    **fields: Any,
) -> Trigger:
    """Return a trigger with its first fire time, as a scheduler hands it to a store; it fires once by default.

    Args:
        name: The name within the group.
        group: The group.
        job: What is fired, by its detail, key or name.
        when: The start time, and where the schedule does not say otherwise the first fire time.
        schedule: When it fires.
        calendar: The calendar that the first fire time respects.
        fields: Those that all kinds have.
    """
    if isinstance(job, str):
        job = JobKey(job)
    given = {
        "key": TriggerKey(name, group),
        "job_key": job.key if isinstance(job, JobDetail) else job,
        "start_time": when,
        **fields,
    }
    if isinstance(given.get("job_data"), Mapping):
        given["job_data"] = JobData(given["job_data"])
    made = (schedule or once()).make(given, time_zone=_UTC_ZONE, named=True)
    return made.compute_first_fire_time(calendar, when)


def keys_of(values: Iterable[Any]) -> list[Any]:
    """Return the keys of jobs, triggers or headers."""
    return [value.key for value in values]


def plain(trigger: Trigger) -> Trigger:
    """Return the trigger without the id of a firing, which no store needs to keep with it."""
    return trigger.copy_with(fire_instance_id=None)
