"""SchedulingData: the calendars, jobs and triggers that a scheduler is to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quartzite.calendars.base import Calendar
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import Trigger

__all__ = ["ContentRules", "NamedCalendar", "SchedulingData"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentRules:
    """What happens to content that the store has already (spec 10 section 10.1).

    Attributes:
        overwrite_existing: A stored job or trigger whose definition differs takes the declared one.
        ignore_duplicates: Without overwriting, a stored one is left as it is; otherwise it is an error.
        relative_to_replaced: A trigger without a start of its own goes on from the last firing of the one that it
            replaces, so that a time which was missed meanwhile is made up for.
    """

    overwrite_existing: bool = True
    ignore_duplicates: bool = False
    relative_to_replaced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCalendar:
    """A calendar under its name.

    Attributes:
        name: What triggers call it.
        calendar: The calendar.
        replace: Whether it takes the place of a stored one that differs.
        update_triggers: Whether triggers that use that one look for their next fire time again.
    """

    name: str
    calendar: Calendar
    replace: bool = True
    update_triggers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulingData:
    """What a scheduler is to have, each under its key.

    Attributes:
        calendars: By name.
        jobs: By key.
        triggers: By key; each names its job.
        rules: What happens to content that the store has already.
    """

    calendars: Mapping[str, NamedCalendar] = field(default_factory=dict)
    jobs: Mapping[JobKey, JobDetail] = field(default_factory=dict)
    triggers: Mapping[TriggerKey, Trigger] = field(default_factory=dict)
    rules: ContentRules = field(default_factory=ContentRules)
