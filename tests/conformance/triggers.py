"""What the tests of all trigger kinds ask."""

from __future__ import annotations

from datetime import datetime

from quartzite.calendars.base import Calendar
from quartzite.triggers.base import Trigger


def first_fires(trigger: Trigger, count: int, calendar: Calendar | None = None) -> tuple[list[datetime], Trigger]:
    """Schedule a trigger at its start, fire it at most ``count`` times, and return the times and what is left."""
    left = trigger.compute_first_fire_time(calendar, trigger.start_time)
    times: list[datetime] = []
    while left.next_fire_time is not None and len(times) < count:
        times.append(left.next_fire_time)
        left = left.triggered(calendar)
    return times, left
