"""JobBuilder: makes job details, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quartzite.errors import InvalidValueError, SchedulerError
from quartzite.model.job import JobDetail, JobOptions, JobType, job_options
from quartzite.model.job_data import JobData
from quartzite.model.keys import DEFAULT_GROUP, JobKey
from quartzite.model.policies import Overlap, RetryPolicy

__all__ = ["JobBuilder"]


class JobBuilder:
    """Fluent builder of :class:`JobDetail` (spec 01 section 4).

    Without an identity the job is named by a random UUID. What is not said is taken from the decorators of the
    job class or function.
    """

    def __init__(self, target: JobType | type | Callable[..., Any] | str | None = None) -> None:
        self._job_type = None if target is None else JobType.of(target)
        self._key: JobKey | None = None
        self._description: str | None = None
        self._data: dict[str, Any] = {}
        self._durable = False
        self._requests_recovery: bool | None = None
        self._disallow_concurrent: bool | None = None
        self._persist_data: bool | None = None
        self._retry: RetryPolicy | None = None
        self._overlap: Overlap | None = None
        self._concurrency_key: str | None = None

    @classmethod
    def create(cls, target: JobType | type | Callable[..., Any] | str | None = None) -> JobBuilder:
        """Return a new builder, of a job class, a function or a stored name."""
        return cls(target)

    @classmethod
    def of(cls, detail: JobDetail) -> JobBuilder:
        """Return a builder that would make ``detail`` again."""
        builder = cls(detail.job_type).with_identity(detail.key).using_job_data(detail.job_data)
        builder._description = detail.description
        builder._durable = detail.durable
        builder._requests_recovery = detail.requests_recovery
        builder._disallow_concurrent = detail.concurrent_execution_disallowed
        builder._persist_data = detail.persist_job_data_after_execution
        builder._retry = detail.retry
        builder._overlap = detail.overlap
        builder._concurrency_key = detail.concurrency_key
        return builder

    @property
    def key(self) -> JobKey | None:
        """The identity given so far."""
        return self._key

    def of_type(self, target: JobType | type | Callable[..., Any] | str) -> JobBuilder:
        """Set what is run."""
        self._job_type = JobType.of(target)
        return self

    def with_identity(self, key: JobKey | str, group: str = DEFAULT_GROUP) -> JobBuilder:
        """Set the key, or a name within a group."""
        self._key = key if isinstance(key, JobKey) else JobKey(key, group)
        return self

    def with_description(self, description: str | None) -> JobBuilder:
        """Set the description."""
        self._description = description
        return self

    def store_durably(self, flag: bool = True) -> JobBuilder:
        """Keep the job when its last trigger is gone."""
        self._durable = flag
        return self

    def request_recovery(self, flag: bool = True) -> JobBuilder:
        """Run a run again that died with its process."""
        self._requests_recovery = flag
        return self

    def disallow_concurrent_execution(self, flag: bool = True) -> JobBuilder:
        """Let at most one run happen at a time."""
        self._disallow_concurrent = flag
        return self

    def persist_job_data_after_execution(self, flag: bool = True) -> JobBuilder:
        """Write changed data back after each run."""
        self._persist_data = flag
        return self

    def with_retry(self, retry: RetryPolicy | None) -> JobBuilder:
        """Set what to do when a run fails."""
        self._retry = retry
        return self

    def with_overlap(self, overlap: Overlap | None) -> JobBuilder:
        """Set what to do when a firing is due while another one runs."""
        self._overlap = overlap
        return self

    def with_concurrency_key(self, concurrency_key: str | None) -> JobBuilder:
        """Set what non-concurrency is counted by."""
        self._concurrency_key = concurrency_key
        return self

    def using_job_data(self, key: str | Mapping[str, Any], value: Any = None) -> JobBuilder:
        """Add one value, or all of a mapping; later ones win."""
        if isinstance(key, Mapping):
            self._data.update(key)
        else:
            self._data[key] = value
        return self

    def build(self) -> JobDetail:
        """Return the job.

        Raises:
            SchedulerError: no job type was given.
            InvalidValueError: a data key is no text.
        """
        if self._job_type is None:
            raise SchedulerError(f"job {self._key or ''}: no type was given: call of_type with a class or function")
        said = job_options(self._job_type.target)
        return JobDetail(
            key=self._key or JobKey.random(),
            job_type=self._job_type,
            description=self._description,
            job_data=JobData(self._data),
            durable=self._durable,
            requests_recovery=_first(self._requests_recovery, said.requests_recovery),
            concurrent_execution_disallowed=_first(self._disallow_concurrent, said.disallow_concurrent_execution),
            persist_job_data_after_execution=_first(self._persist_data, said.persist_job_data_after_execution),
            retry=self._retry or said.retry,
            overlap=self._overlap or said.overlap,
            concurrency_key=_concurrency_key(self._concurrency_key, said),
        )


def _first(given: bool | None, said: bool | None) -> bool:
    return bool(said) if given is None else given


def _concurrency_key(given: str | None, said: JobOptions) -> str | None:
    key = given or said.concurrency_key
    if isinstance(key, str) and not key.strip():
        raise InvalidValueError("the concurrency key is blank: give a text, or None for the job key")
    return key
