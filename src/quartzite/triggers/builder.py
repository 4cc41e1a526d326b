"""TriggerBuilder: makes triggers, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from quartzite.errors import InvalidValueError
from quartzite.model.acquisition import check_group_name
from quartzite.model.job import JobDetail
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import DEFAULT_GROUP, JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.triggers.base import DEFAULT_PRIORITY, NO_JOB, START_WHEN_SCHEDULED, Trigger
from quartzite.triggers.schedule import Schedule

__all__ = ["TriggerBuilder"]

_UTC = ZoneInfo("UTC")


class TriggerBuilder:
    """Fluent builder of triggers (spec 01 section 4).

    Without an identity the trigger is named by a random UUID, without a start time it starts when it is
    scheduled, without a schedule it fires once. A schedule without a time zone takes that of the scheduler,
    which is UTC by default.
    """

    def __init__(self) -> None:
        self._key: TriggerKey | None = None
        self._job_key = NO_JOB
        self._description: str | None = None
        self._calendar_name: str | None = None
        self._data: dict[str, Any] = {}
        self._priority = DEFAULT_PRIORITY
        self._start_time = START_WHEN_SCHEDULED
        self._end_time: datetime | None = None
        self._execution_group: str | None = None
        self._preferred_node = PreferredNode.NONE
        self._schedule: Schedule | None = None

    @classmethod
    def create(cls) -> TriggerBuilder:
        """Return a new builder."""
        return cls()

    @classmethod
    def of(cls, trigger: Trigger) -> TriggerBuilder:
        """Return a builder that would make ``trigger`` again, without its progress."""
        builder = cls().with_identity(trigger.key).for_job(trigger.job_key).using_job_data(trigger.job_data)
        builder._description = trigger.description
        builder._calendar_name = trigger.calendar_name
        builder._priority = trigger.priority
        builder._start_time = trigger.start_time
        builder._end_time = trigger.end_time
        builder._execution_group = trigger.execution_group
        builder._preferred_node = trigger.preferred_node
        builder._schedule = trigger.schedule
        return builder

    @property
    def key(self) -> TriggerKey | None:
        """The identity given so far."""
        return self._key

    @property
    def job_key(self) -> JobKey | None:
        """The job given so far."""
        return None if self._job_key == NO_JOB else self._job_key

    def with_identity(self, key: TriggerKey | str, group: str = DEFAULT_GROUP) -> TriggerBuilder:
        """Set the key, or a name within a group."""
        self._key = key if isinstance(key, TriggerKey) else TriggerKey(key, group)
        return self

    def for_job(self, job: JobDetail | JobKey | str, group: str = DEFAULT_GROUP) -> TriggerBuilder:
        """Set the job that is fired."""
        if isinstance(job, JobDetail):
            job = job.key
        self._job_key = job if isinstance(job, JobKey) else JobKey(job, group)
        return self

    def with_description(self, description: str | None) -> TriggerBuilder:
        """Set the description."""
        self._description = description
        return self

    def with_priority(self, priority: int) -> TriggerBuilder:
        """Set the priority among equal fire times: the higher number fires first."""
        self._priority = priority
        return self

    def with_calendar_name(self, calendar_name: str | None) -> TriggerBuilder:
        """Set the calendar whose excluded times are skipped."""
        self._calendar_name = calendar_name
        return self

    def with_execution_group(self, name: str | None) -> TriggerBuilder:
        """Set the execution group; blank means none.

        Raises:
            InvalidValueError: the name is one of the reserved words ``*``, ``_`` and ``null``.
        """
        if name is None or (isinstance(name, str) and not name.strip()):
            self._execution_group = None
        else:
            self._execution_group = check_group_name(name)
        return self

    def with_preferred_node(self, node: PreferredNode) -> TriggerBuilder:
        """Set on which node the trigger would like to fire."""
        self._preferred_node = node
        return self

    def start_at(self, moment: datetime) -> TriggerBuilder:
        """Begin the schedule at an aware instant."""
        self._start_time = _checked("start time", moment)
        return self

    def start_now(self) -> TriggerBuilder:
        """Begin the schedule when the trigger is scheduled (the default)."""
        self._start_time = START_WHEN_SCHEDULED
        return self

    def end_at(self, moment: datetime | None) -> TriggerBuilder:
        """Let nothing fire later than an aware instant."""
        self._end_time = None if moment is None else _checked("end time", moment)
        return self

    def using_job_data(self, key: str | Mapping[str, Any], value: Any = None) -> TriggerBuilder:
        """Add one value, or all of a mapping; later ones win."""
        if isinstance(key, Mapping):
            self._data.update(key)
        else:
            self._data[key] = value
        return self

    def with_schedule(self, schedule: Schedule) -> TriggerBuilder:
        """Set when to fire: ``every(...)``, ``cron(...)`` or another schedule."""
        if not isinstance(schedule, Schedule):
            raise InvalidValueError(f"{schedule!r} is no schedule: give every(...), cron(...) or one of their kin")
        self._schedule = schedule
        return self

    def build(self, *, time_zone: ZoneInfo = _UTC) -> Trigger:
        """Return the trigger.

        Args:
            time_zone: Used when the schedule names none.

        Raises:
            InvalidValueError: parts do not go together.
        """
        fields = {
            "key": self._key or TriggerKey.random(),
            "job_key": self._job_key,
            "description": self._description,
            "calendar_name": self._calendar_name,
            "job_data": JobData(self._data) if self._data else EMPTY_JOB_DATA,
            "priority": self._priority,
            "start_time": self._start_time,
            "end_time": self._end_time,
            "execution_group": self._execution_group,
            "preferred_node": self._preferred_node,
        }
        return (self._schedule or _once()).make(fields, time_zone=time_zone, named=self._key is not None)


def _once() -> Schedule:
    from quartzite.triggers.simple import SimpleSchedule

    return SimpleSchedule()


def _checked(what: str, moment: datetime) -> datetime:
    if not isinstance(moment, datetime):
        raise InvalidValueError(f"{what} {moment!r} must be a datetime")
    if moment.utcoffset() is None:
        raise InvalidValueError(
            f"{what} {moment} has no time zone: give an aware datetime, for example with tzinfo=UTC"
        )
    return moment.astimezone(UTC)
