"""The jobs of the RAM store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from quartzite.model.job import JobDetail
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import JobHeader, JobQuery
from quartzite.stores.ram.rows import section
from quartzite.stores.session import JobTable

__all__ = ["RamJobs"]


class RamJobs(JobTable):
    """Jobs by key.

    Attributes:
        by_key: The jobs.
        with_triggers: The jobs that have a trigger; kept by the triggers.
    """

    __slots__ = ("by_key", "with_triggers")

    def __init__(self) -> None:
        self.by_key: dict[JobKey, JobDetail] = {}
        self.with_triggers: Collection[JobKey] = ()

    async def read(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Return the jobs of these keys that are there."""
        return [self.by_key[key] for key in keys if key in self.by_key]

    async def existing(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Return which of these keys are taken."""
        return {key for key in keys if key in self.by_key}

    async def insert(self, jobs: Sequence[JobDetail]) -> None:
        """Add jobs."""
        self.by_key.update((job.key, _settled(job)) for job in jobs)

    async def replace(self, jobs: Sequence[JobDetail]) -> None:
        """Write jobs over those of the same keys."""
        await self.insert(jobs)

    async def save_data(self, data: Mapping[JobKey, JobData]) -> None:
        """Write the data of jobs that are there."""
        for key, values in data.items():
            if key in self.by_key:
                self.by_key[key] = self.by_key[key].with_job_data(values.settled())

    async def delete(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Delete jobs; return which were there."""
        return {key for key in set(keys) if self.by_key.pop(key, None) is not None}

    async def delete_orphans(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Delete those of these jobs that are not durable and have no trigger."""
        jobs = [self.by_key[key] for key in keys if key in self.by_key and key not in self.with_triggers]
        return await self.delete([job.key for job in jobs if not job.durable])

    async def keys(self, matcher: GroupMatcher[JobKey]) -> list[JobKey]:
        """Return the keys in the groups that match."""
        return [key for key in self.by_key if matcher.matches(key)]

    async def lock(self, keys: Collection[JobKey]) -> None:
        """Do nothing: no other unit of work runs meanwhile."""

    async def query(self, query: JobQuery, limit: int | None) -> list[JobHeader]:
        """Return headers of what the filters select."""
        keys = sorted(self._selected(query), key=lambda key: key.paging_order)
        return [_header(self.by_key[key]) for key in section(keys, query, limit)]

    async def count(self, query: JobQuery) -> int:
        """Return how many the filters select."""
        return sum(1 for _ in self._selected(query))

    async def groups(self) -> set[str]:
        """Return the groups that have a job."""
        return {key.group for key in self.by_key}

    def _selected(self, query: JobQuery) -> Iterator[JobKey]:
        matchers = [matcher for matcher in (query.group, query.name) if matcher is not None]
        return (key for key in self.by_key if all(matcher.matches(key) for matcher in matchers))


def _settled(job: JobDetail) -> JobDetail:
    return job.with_job_data(job.job_data.settled()) if job.job_data.changed else job


def _header(job: JobDetail) -> JobHeader:
    return JobHeader(
        key=job.key,
        description=job.description,
        job_type_name=job.job_type.full_name,
        durable=job.durable,
        concurrent_execution_disallowed=job.concurrent_execution_disallowed,
        persist_job_data_after_execution=job.persist_job_data_after_execution,
        requests_recovery=job.requests_recovery,
    )
