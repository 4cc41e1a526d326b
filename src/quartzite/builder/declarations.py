"""Declarations: the jobs and triggers that a scheduler is to have, as they were declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from quartzite.errors import SchedulerConfigError
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobDetail, JobType
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, Key, TriggerKey
from quartzite.timezones import UTC_ZONE
from quartzite.triggers.base import NO_JOB, Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.schedule import Schedule

__all__ = ["DeclaredTrigger", "JobSource", "TriggerSource", "declared_job", "declared_trigger"]

K = TypeVar("K", bound=Key)
JobSource: TypeAlias = type[Any] | Callable[..., Any] | JobType | JobBuilder | JobDetail
"""What declares a job: a class with an ``execute`` method, a function, or something that says more."""
TriggerSource: TypeAlias = Schedule | TriggerBuilder | Trigger
"""What declares a trigger: ``every(...)``, ``cron(...)`` and their kin, or something that says more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTrigger:
    """A trigger that is built when the scheduler's time zone is known.

    Attributes:
        key: Its key.
        job_key: The job that it fires.
        make: Builds it, given the time zone of schedules that name none.
    """

    key: TriggerKey
    job_key: JobKey
    make: Callable[[ZoneInfo], Trigger]


def declared_job(
    source: JobSource,
    *,
    key: JobKey | str | None = None,
    data: Mapping[str, Any] | None = None,
    description: str | None = None,
    durable: bool | None = None,
) -> JobDetail:
    """Return the job that was declared; without a key it is named after its class or function.

    Raises:
        SchedulerConfigError: the key differs from the one that the source has.
        InvalidValueError: the source is no job, or a value is refused.
    """
    own, detail = _built_job(source)
    chosen = _one_key(key if key is None or isinstance(key, JobKey) else JobKey(key), own, "job")
    changes: dict[str, Any] = {"key": chosen or JobKey(detail.job_type.simple_name)}
    if data is not None:
        changes["job_data"] = detail.job_data.merged_with(JobData(data))
    if description is not None:
        changes["description"] = description
    if durable is not None:
        changes["durable"] = durable
    return replace(detail, **changes)


def declared_trigger(
    source: TriggerSource,
    *,
    job_key: JobKey | None,
    key: TriggerKey | str | None = None,
    data: Mapping[str, Any] | None = None,
    **said: Any,
) -> DeclaredTrigger:
    """Return the trigger that was declared; without a key it is named after its job.

    Args:
        source: The schedule, a builder or a trigger.
        job_key: The job that it fires, None when the source names it.
        key: Its key, None for that of the source or of the job.
        data: Values for its firings.
        said: More fields of the trigger; None means that nothing was said.

    Raises:
        SchedulerConfigError: the key or the job differs from the one that the source has, or there is no job.
        InvalidValueError: the source is no trigger, or a value is refused.
    """
    builder = _trigger_builder(source)
    own_key, own_job = (source.key, source.job_key) if isinstance(source, Trigger) else (builder.key, builder.job_key)
    job = _one_key(job_key, None if own_job == NO_JOB else own_job, "job")
    if job is None:
        raise SchedulerConfigError(f"trigger {own_key or key or source!r} has no job: say which one, job=...")
    wanted = key if key is None or isinstance(key, TriggerKey) else TriggerKey(key)
    chosen = _one_key(wanted, own_key, "trigger") or TriggerKey(job.name, job.group)
    changes = {name: value for name, value in said.items() if value is not None} | {"job_key": job}
    named = builder.with_identity(chosen)

    def make(time_zone: ZoneInfo) -> Trigger:
        trigger = source if isinstance(source, Trigger) else named.build(time_zone=time_zone)
        merged = trigger.job_data.merged_with(JobData(data)) if data is not None else trigger.job_data
        return replace(trigger, **changes, job_data=merged)

    make(UTC_ZONE)  # what is wrong with it is said where it was declared
    return DeclaredTrigger(key=chosen, job_key=job, make=make)


def _built_job(source: JobSource) -> tuple[JobKey | None, JobDetail]:
    if isinstance(source, JobDetail):
        return source.key, source
    builder = source if isinstance(source, JobBuilder) else JobBuilder.create(source)
    return builder.key, builder.build()


def _trigger_builder(source: TriggerSource) -> TriggerBuilder:
    if isinstance(source, TriggerBuilder):
        return copy(source)  # it may be used again for another trigger
    if isinstance(source, Trigger):
        return TriggerBuilder()
    return TriggerBuilder().with_schedule(source)


def _one_key(given: K | None, own: K | None, kind: str) -> K | None:
    if given is not None and own is not None and given != own:
        raise SchedulerConfigError(f"{kind} {own} was given another key, {given}: give one of them")
    return own if given is None else given
