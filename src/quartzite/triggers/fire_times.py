"""Fire times of a trigger that nobody fires: for previews and for end times (spec 02 section 9)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from quartzite.calendars.base import Calendar
from quartzite.errors import InvalidValueError
from quartzite.triggers.base import Trigger

__all__ = [
    "compute_end_time_to_allow_particular_number_of_firings",
    "compute_fire_times",
    "compute_fire_times_between",
]

_SECOND: Final = timedelta(seconds=1)


def compute_fire_times(
    trigger: Trigger, calendar: Calendar | None, count: int, *, now: datetime | None = None
) -> list[datetime]:
    """Return the next ``count`` fire times that the calendar includes, fewer when there are no more.

    They begin with the next fire time of a scheduled trigger, and with the first one of a trigger that is not
    scheduled yet.

    Args:
        trigger: It is not changed.
        calendar: The calendar that the trigger names, or None.
        count: How many.
        now: When a trigger that is not scheduled would be; its start time when None.

    Raises:
        InvalidValueError: the count is negative, or neither a start time nor ``now`` is given.
    """
    if count < 0:
        raise InvalidValueError(f"{count} fire times can not be computed: give a count from 0 on")
    return list(islice(_walk(_scheduled(trigger, calendar, now), calendar), count))


def compute_fire_times_between(
    trigger: Trigger, calendar: Calendar | None, start: datetime, end: datetime, *, now: datetime | None = None
) -> list[datetime]:
    """Return the fire times that the calendar includes from one aware instant to another, both included.

    Args:
        trigger: It is not changed.
        calendar: The calendar that the trigger names, or None.
        start: The first instant of interest.
        end: The last one.
        now: When a trigger that is not scheduled would be; its start time, or else ``start``, when None.

    Raises:
        InvalidValueError: an instant is naive.
    """
    if trigger.starts_when_scheduled and now is None:
        now = start
    scheduled = _scheduled(trigger, calendar, now)
    times: list[datetime] = []
    for moment in _walk(_skipped_to(scheduled, calendar, start), calendar):
        if moment > end:
            break
        if moment >= start:
            times.append(moment)
    return times


def compute_end_time_to_allow_particular_number_of_firings(
    trigger: Trigger, calendar: Calendar | None, count: int, *, now: datetime | None = None
) -> datetime | None:
    """Return an end time after which a trigger has fired so often: a second behind the n-th fire time.

    None when it fires less often. The arguments and errors are those of :func:`compute_fire_times`.
    """
    times = compute_fire_times(trigger, calendar, count, now=now)
    return times[-1] + _SECOND if times and len(times) == count else None


def _scheduled(trigger: Trigger, calendar: Calendar | None, now: datetime | None) -> Trigger:
    if trigger.next_fire_time is not None or trigger.previous_fire_time is not None:
        return trigger
    if now is None:
        if trigger.starts_when_scheduled:
            raise InvalidValueError(f"trigger {trigger.key} has no start time: say with now=... when it is scheduled")
        now = trigger.start_time
    return trigger.compute_first_fire_time(calendar, now)


def _skipped_to(trigger: Trigger, calendar: Calendar | None, start: datetime) -> Trigger:
    """Return the trigger with what lies before ``start`` left out, unless these firings decide about later ones."""
    following = trigger.next_fire_time
    if following is None or following >= start or trigger.ends_by_count:
        return trigger
    return trigger.copy_with(next_fire_time=trigger.next_included_fire_time(calendar, start - timedelta.resolution))


def _walk(trigger: Trigger, calendar: Calendar | None) -> Iterator[datetime]:
    while trigger.next_fire_time is not None:
        yield trigger.next_fire_time
        trigger = trigger.triggered(calendar)
