"""Definitions: from what callers hand over to the job and the triggers that are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo

from quartzite.errors import InvalidValueError, SchedulerError
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import NO_JOB, Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.schedule import Schedule

__all__ = ["AnyJob", "AnyTrigger", "built_job", "built_trigger", "built_triggers", "with_job"]

AnyJob: TypeAlias = JobDetail | JobBuilder | type | Callable[..., Any]
"""A job, a builder of one, or what it runs: then it is named after the class or function, in the default group."""
AnyTrigger: TypeAlias = Trigger | TriggerBuilder | Schedule
"""A trigger, a builder of one, or a schedule: then it is named after the job."""


def built_job(job: AnyJob) -> JobDetail:
    """Return the job.

    Raises:
        InvalidValueError: it is none.
        SchedulerError: a builder was not told what to run.
    """
    if isinstance(job, JobDetail):
        return job
    if isinstance(job, JobBuilder):
        return job.build()
    if not callable(job):
        raise InvalidValueError(
            f"{job!r} is no job: give a JobDetail, a JobBuilder, a class with an execute method, or a function"
        )
    job_type = JobType.of(job)
    return JobBuilder.create(job_type).with_identity(JobKey(job_type.simple_name)).build()


def built_trigger(trigger: AnyTrigger, *, job_key: JobKey | None, time_zone: ZoneInfo) -> Trigger:
    """Return the trigger; a bare schedule gets the job's key as its own.

    Args:
        trigger: The trigger, in any form.
        job_key: The job that is known, None when the trigger itself must name it.
        time_zone: Used when the schedule names none.

    Raises:
        InvalidValueError: it is no trigger, or parts do not go together.
        SchedulerError: a bare schedule names no job.
    """
    if isinstance(trigger, Trigger):
        return trigger
    if isinstance(trigger, TriggerBuilder):
        return trigger.build(time_zone=time_zone)
    if not isinstance(trigger, Schedule):
        raise InvalidValueError(
            f"{trigger!r} is no trigger: give a Trigger, a TriggerBuilder, or a schedule such as every(...), cron(...)"
        )
    if job_key is None:
        raise SchedulerError(
            "a schedule alone names no job: call schedule_job(job, schedule), or use TriggerBuilder and for_job(...)"
        )
    builder = TriggerBuilder.create().with_identity(TriggerKey(job_key.name, job_key.group))
    return builder.for_job(job_key).with_schedule(trigger).build(time_zone=time_zone)


def built_triggers(
    triggers: AnyTrigger | Iterable[AnyTrigger], *, job_key: JobKey, time_zone: ZoneInfo
) -> list[Trigger]:
    """Return one trigger or several as a list."""
    # A text is iterable, too: it is refused whole, not by its letters.
    several = triggers if isinstance(triggers, Iterable) and not isinstance(triggers, Schedule | str) else (triggers,)
    return [built_trigger(one, job_key=job_key, time_zone=time_zone) for one in several]


def with_job(trigger: Trigger, job_key: JobKey) -> Trigger:
    """Return a trigger that fires a job; one that names none takes it.

    Raises:
        SchedulerError: it names another job.
    """
    if trigger.job_key == job_key:
        return trigger
    if trigger.job_key != NO_JOB:
        raise SchedulerError(
            f"trigger {trigger.key} names job {trigger.job_key}, and is scheduled with job {job_key}: "
            "give a trigger without for_job, or the right one"
        )
    return trigger.copy_with(job_key=job_key)
