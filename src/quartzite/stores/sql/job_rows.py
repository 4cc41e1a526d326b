"""JobRows: jobs as rows of the tables, and rows as jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, and_

from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job import JobDetail, JobType
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import JobKey
from quartzite.model.policies import Overlap, RetryPolicy
from quartzite.stores.sql.plan import StorePlan

__all__ = ["JOB_COLUMNS", "JOB_KEY", "POLICY_COLUMNS", "SIZE", "JobRows"]

JOB_KEY: Final = ("job_group", "job_name")
JOB_COLUMNS: Final = (
    *JOB_KEY,
    "description",
    "job_class_name",
    "is_durable",
    "is_nonconcurrent",
    "is_update_data",
    "requests_recovery",
    "job_data",
)
POLICY_COLUMNS: Final = (
    *JOB_KEY,
    "retry_max_attempts",
    "retry_delay",
    "retry_factor",
    "retry_max_delay",
    "retry_jitter",
    "overlap",
    "concurrency_key",
)
_POLICIES_AT: Final = len(JOB_COLUMNS)
SIZE: Final = len(JOB_COLUMNS) + len(POLICY_COLUMNS)
"""How many columns a whole job has."""


class JobRows:
    """Writes and reads jobs.

    Attributes:
        columns: What to select for :meth:`read`.
    """

    def __init__(self, plan: StorePlan) -> None:
        tables = plan.tables
        self._serializer = plan.serializer
        self._tables = tables
        self._limits = plan.limits
        policies = [tables.quartzite_policies.c[name] for name in POLICY_COLUMNS]
        self.columns: Sequence[ColumnElement[Any]] = (
            *(tables.job_details.c[name] for name in JOB_COLUMNS),
            *policies,
        )

    def joined(self, source: FromClause) -> FromClause:
        """Return the source, which holds the jobs, joined with their policies."""
        jobs, policies = self._tables.job_details, self._tables.quartzite_policies
        same = and_(*(policies.c[column] == jobs.c[column] for column in ("sched_name", *JOB_KEY)))
        return source.outerjoin(policies, same)

    def read(self, row: Sequence[Any]) -> JobDetail:
        """Return the job of a row.

        Raises:
            JobPersistenceError: the row can not be read, with the reason.
        """
        key = JobKey(row[1], row[0])
        try:
            return self._job(key, row)
        except Exception as error:
            raise JobPersistenceError(f"the row of job {key} can not be read: {error}") from error

    def _job(self, key: JobKey, row: Sequence[Any]) -> JobDetail:
        has_policies = row[_POLICIES_AT] is not None
        return JobDetail(
            key=key,
            job_type=JobType(row[3]),
            description=row[2],
            job_data=self._serializer.deserialize(row[8], JobData) if row[8] else EMPTY_JOB_DATA,
            durable=row[4],
            concurrent_execution_disallowed=row[5],
            persist_job_data_after_execution=row[6],
            requests_recovery=row[7],
            **(_policies(row[_POLICIES_AT:SIZE]) if has_policies else {}),
        )

    def base(self, job: JobDetail) -> tuple[Any, ...]:
        """Return the values of :data:`JOB_COLUMNS`."""
        return (
            job.key.group,
            job.key.name,
            job.description,
            job.job_type.full_name,
            job.durable,
            job.concurrent_execution_disallowed,
            job.persist_job_data_after_execution,
            job.requests_recovery,
            self._serializer.serialize(job.job_data) if job.job_data else None,
        )

    @staticmethod
    def policies(job: JobDetail) -> tuple[Any, ...] | None:
        """Return the values of :data:`POLICY_COLUMNS`, None for a job that says nothing of the kind."""
        retry = job.retry
        if retry is None and job.overlap is None and job.concurrency_key is None:
            return None
        attempts = (None,) * 5 if retry is None else (
            retry.max_attempts, retry.delay, retry.factor, retry.max_delay, retry.jitter
        )  # fmt: skip
        overlap = None if job.overlap is None else job.overlap.value
        return (job.key.group, job.key.name, *attempts, overlap, job.concurrency_key)

    def check(self, job: JobDetail) -> None:
        """Refuse a job that the columns can not hold, or that nobody could find again by its name.

        Raises:
            InvalidValueError: naming the job, the reason and the remedy.
        """
        if not job.job_type.is_storable:
            raise InvalidValueError(
                f"job {job.key} runs {job.job_type.full_name}, which another process could not find by that name: "
                'name it with @job(name="..."), or move it to the top level of a module that can be imported'
            )
        texts = {
            "job_group": job.key.group,
            "job_name": job.key.name,
            "description": job.description,
            "job_class_name": job.job_type.full_name,
        }
        self._limits.check(self._tables.job_details, f"job {job.key}", texts)
        key = {"concurrency_key": job.concurrency_key}
        self._limits.check(self._tables.quartzite_policies, f"job {job.key}", key)


def _policies(values: Sequence[Any]) -> dict[str, Any]:
    _, _, attempts, delay, factor, max_delay, jitter, overlap, concurrency_key = values
    retry = None
    if attempts is not None:
        retry = RetryPolicy(max_attempts=attempts, delay=delay, factor=factor, max_delay=max_delay, jitter=jitter)
    return {
        "retry": retry,
        "overlap": None if overlap is None else Overlap(overlap),
        "concurrency_key": concurrency_key,
    }
