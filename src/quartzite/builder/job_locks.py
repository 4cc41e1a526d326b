"""Job locks: how the builder makes the gate that gives each tick to one node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

from quartzite.container.scheduler import SchedulerContainer
from quartzite.errors import SchedulerConfigError
from quartzite.leases.decorator import JobLock
from quartzite.leases.job_locks import JobLocks
from quartzite.leases.keep_alive import KeepAliveLockProvider
from quartzite.leases.provider import LockProvider
from quartzite.model.job import JobType
from quartzite.model.keys import JobKey

__all__ = ["DEFAULT_AT_MOST", "JobLocksByJob", "job_locks", "locks_by_key"]

JobLocksByJob: TypeAlias = Mapping[JobKey | str | type[Any] | Callable[..., Any], JobLock | None]
DEFAULT_AT_MOST: Final = timedelta(seconds=30)
_NO_MINIMUM: Final = timedelta(milliseconds=1)


def locks_by_key(jobs: JobLocksByJob) -> dict[JobKey, JobLock | None]:
    """Return the locks of single jobs by key; a function or class stands for the key that it gives its job."""
    return {_key_of(job): lock for job, lock in jobs.items()}


def job_locks(
    parts: SchedulerContainer,
    make: Callable[[], LockProvider],
    defaults: JobLock,
    jobs: Mapping[JobKey, JobLock | None],
    *,
    keep_alive: bool,
) -> JobLocks:
    """Build the gate of a scheduler.

    Raises:
        SchedulerConfigError: the store of the scheduler is clustered.
    """
    if parts.job_store().clustered:
        raise SchedulerConfigError(
            f"scheduler {parts.name()!r} has a clustered store, which gives each firing to one node by itself: leave "
            "out use_job_locks, or let every node have a store of its own"
        )
    provider = make()
    if keep_alive and not isinstance(provider, KeepAliveLockProvider):
        # Who asks for short leases here knows why: without the extension they would be no safer.
        provider = KeepAliveLockProvider(
            provider, heartbeat=parts.heartbeat(), clock=parts.clock(), minimum_at_most_for=_NO_MINIMUM
        )
    return JobLocks(
        provider,
        scheduler_name=parts.name(),
        type_loader=parts.type_loader(),
        defaults=defaults,
        jobs=jobs,
    )


def _key_of(job: JobKey | str | type[Any] | Callable[..., Any]) -> JobKey:
    if isinstance(job, JobKey):
        return job
    return JobKey(job if isinstance(job, str) else JobType.of(job).simple_name)
