"""Short ways to triggers and instants."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from quartzite.calendars import Calendar
from quartzite.model.keys import JobKey
from quartzite.timezones import UTC_ZONE
from quartzite.triggers import Schedule, Trigger, TriggerBuilder


def at(text: str) -> datetime:
    """Read an instant; without an offset it is UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def trigger_of(
    schedule: Schedule,
    *,
    start: str | None = None,
    end: str | None = None,
    time_zone: ZoneInfo | str = UTC_ZONE,
    **changes: Any,
) -> Any:
    """Build a trigger called ``trigger`` for a job called ``job``; its kind is the schedule's."""
    builder = TriggerBuilder.create().with_identity("trigger").for_job(JobKey("job")).with_schedule(schedule)
    if start is not None:
        builder = builder.start_at(at(start))
    if end is not None:
        builder = builder.end_at(at(end))
    built = builder.build(time_zone=time_zone if isinstance(time_zone, ZoneInfo) else ZoneInfo(time_zone))
    return built.copy_with(**changes)


def fires(trigger: Trigger, count: int, calendar: Calendar | None = None) -> list[datetime]:
    """Schedule a trigger at its start and return its first fire times, at most ``count``."""
    left = trigger.compute_first_fire_time(calendar, trigger.start_time)
    times: list[datetime] = []
    while left.next_fire_time is not None and len(times) < count:
        times.append(left.next_fire_time)
        left = left.triggered(calendar)
    return times


def ats(*texts: str) -> list[datetime]:
    """Read several instants."""
    return [at(text) for text in texts]
