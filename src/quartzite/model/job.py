"""Jobs: what is run, and how it wants to be run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from quartzite.errors import InvalidValueError
from quartzite.model.field_types import FieldTypes
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import JobKey
from quartzite.model.policies import Overlap, RetryPolicy

if TYPE_CHECKING:
    from quartzite.model.builders import JobBuilder

__all__ = [
    "JobDetail",
    "JobOptions",
    "JobType",
    "disallow_concurrent_execution",
    "is_async_job",
    "is_marked_as_job",
    "job",
    "job_options",
    "persist_job_data_after_execution",
]

F = TypeVar("F", bound=Callable[..., Any])
_OPTIONS_ATTRIBUTE: Final = "__quartzite_job__"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """What the decorators of a job class or function say; None means that nothing was said.

    Attributes:
        name: A stored name of its own, for functions that can not be found by module and name.
        disallow_concurrent_execution: At most one run per job key at a time, cluster-wide.
        persist_job_data_after_execution: Changed job data is written back after each run.
        requests_recovery: A run that died with its process is run again.
        retry: What to do when a run fails.
        overlap: What to do when a firing is due while another one runs.
        concurrency_key: What non-concurrency is counted by, the job key when None.
        hard_cancel: Interruption cancels the task instead of only signalling the token.
    """

    name: str | None = None
    disallow_concurrent_execution: bool | None = None
    persist_job_data_after_execution: bool | None = None
    requests_recovery: bool | None = None
    retry: RetryPolicy | None = None
    overlap: Overlap | None = None
    concurrency_key: str | None = None
    hard_cancel: bool | None = None


_NOTHING_SAID: Final = JobOptions()


def job_options(target: object) -> JobOptions:
    """Return what the decorators of a job class (inherited ones too) or function say."""
    options = getattr(target, _OPTIONS_ATTRIBUTE, _NOTHING_SAID)
    return options if isinstance(options, JobOptions) else _NOTHING_SAID


def is_marked_as_job(target: object) -> bool:
    """Tell whether a decorator of this module was put on a class, an ancestor of it or a function."""
    return job_options(target) is not _NOTHING_SAID


@overload
def job(target: F) -> F: ...
@overload
def job(
    *,
    name: str | None = None,
    disallow_concurrent_execution: bool | None = None,
    persist_job_data_after_execution: bool | None = None,
    requests_recovery: bool | None = None,
    retry: RetryPolicy | None = None,
    overlap: Overlap | None = None,
    concurrency_key: str | None = None,
    hard_cancel: bool | None = None,
) -> Callable[[F], F]: ...
def job(target: Any = None, **options: Any) -> Any:
    """Say how a job class or function wants to be run; see :class:`JobOptions` for the arguments.

    What is not said here keeps what an outer or inherited decorator says.

    Raises:
        TypeError: an argument is unknown.
    """

    def decorate(decorated: F) -> F:
        said = replace(job_options(decorated), **options)
        setattr(decorated, _OPTIONS_ATTRIBUTE, said)
        return decorated

    return decorate if target is None else decorate(target)


def disallow_concurrent_execution(target: F) -> F:
    """Let at most one run per job key happen at a time, cluster-wide (spec 01 section 2)."""
    return job(disallow_concurrent_execution=True)(target)


def persist_job_data_after_execution(target: F) -> F:
    """Write changed job data back after each run (spec 01 section 3)."""
    return job(persist_job_data_after_execution=True)(target)


@dataclass(frozen=True, slots=True)
class JobType:
    """The stored name of what a job runs, and the thing itself when it is at hand.

    The name is ``package.module:Qualified.Name``, or the name that ``@job(name=...)`` gave. Two types are equal
    when their names are.

    Attributes:
        full_name: The persisted spelling, the same in every table, header and request.
        target: The class or function, or None when only the name is known.
    """

    full_name: str
    target: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.full_name, str) or not self.full_name.strip():
            raise InvalidValueError(f"job type name {self.full_name!r} must be a text that is not blank")

    @classmethod
    def of(cls, target: JobType | type | Callable[..., Any] | str) -> JobType:
        """Return the type of a job class, a function or a stored name.

        Raises:
            InvalidValueError: the target is neither, is a class that is abstract or has no ``execute`` method, or is a
                generator, which a call does not run.
        """
        if isinstance(target, JobType):
            return target
        if isinstance(target, str):
            return cls(target)
        if not callable(target):
            raise InvalidValueError(f"{target!r} is no job: give a class with an execute method, or a function")
        if isinstance(target, type) and not callable(getattr(target, "execute", None)):
            raise InvalidValueError(f"class {target.__qualname__} is no job: it has no execute method")
        if isinstance(target, type) and inspect.isabstract(target):
            raise InvalidValueError(f"class {target.__qualname__} is no job: it is abstract, give a subclass")
        if _is_generator(target):
            raise InvalidValueError(
                f"{_dotted_name(target)} is no job: it is a generator, and calling it would not run it: leave out yield"
            )
        return cls(job_options(target).name or _dotted_name(target), target)

    @property
    def simple_name(self) -> str:
        """The last part of the name: what content without a key is named after."""
        return self.full_name.rpartition(":")[2].rpartition(".")[2]

    @property
    def is_storable(self) -> bool:
        """Whether another process can find the job by its name.

        Lambdas, closures, partials and whatever lives in ``__main__`` can not be found, unless
        ``@job(name=...)`` names them.
        """
        if self.target is not None and job_options(self.target).name is not None:
            return True
        module, _, path = self.full_name.partition(":")
        return module != "__main__" and "<" not in path


def _dotted_name(target: Any) -> str:
    described = target if hasattr(target, "__qualname__") else getattr(target, "func", type(target))
    name = f"{described.__module__}:{described.__qualname__}"
    return name if described is target else f"{name}.<{type(target).__name__}>"


_TYPES: Final = FieldTypes(
    key=(JobKey,),
    job_type=(JobType,),
    description=(str, None),
    job_data=(JobData,),
    durable=(bool,),
    persist_job_data_after_execution=(bool,),
    concurrent_execution_disallowed=(bool,),
    requests_recovery=(bool,),
    retry=(RetryPolicy, None),
    overlap=(Overlap, None),
    concurrency_key=(str, None),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetail:
    """A job as it is stored (spec 01 section 2). A value: changes make a new one.

    Attributes:
        key: Unique within the scheduler.
        job_type: What is run.
        description: For people.
        job_data: Values for every run; a trigger's own values win over them.
        durable: Stays when its last trigger is gone.
        persist_job_data_after_execution: Data that a run changed is written back.
        concurrent_execution_disallowed: At most one run per key at a time, cluster-wide.
        requests_recovery: A run that died with its process is run again.
        retry: What to do when a run fails, or None.
        overlap: What to do when a firing is due while another one runs, or None for the default.
        concurrency_key: What non-concurrency is counted by, the job key when None.

    Raises:
        InvalidValueError: a field holds another type than it should.
    """

    key: JobKey
    job_type: JobType
    description: str | None = None
    job_data: JobData = field(default_factory=lambda: EMPTY_JOB_DATA)
    durable: bool = False
    persist_job_data_after_execution: bool = False
    concurrent_execution_disallowed: bool = False
    requests_recovery: bool = False
    retry: RetryPolicy | None = None
    overlap: Overlap | None = None
    concurrency_key: str | None = None

    def __post_init__(self) -> None:
        _TYPES.check(f"job {self.key}", self)

    def __hash__(self) -> int:
        return hash(self.key)

    def with_job_data(self, job_data: JobData) -> JobDetail:
        """Return the job with other data."""
        return replace(self, job_data=job_data)

    def to_builder(self) -> JobBuilder:
        """Return a builder that would make this job again (round trip)."""
        from quartzite.model.builders import JobBuilder

        return JobBuilder.of(self)


def is_async_job(target: Any) -> bool:
    """Tell whether a job class or function runs on the event loop (otherwise in a worker thread)."""
    called = _called(target)
    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(type(called).__call__)


def _is_generator(target: Any) -> bool:
    called = _called(target)
    return any(
        inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one) for one in (called, type(called).__call__)
    )


def _called(target: Any) -> Any:
    """Return what a run of a job class or function calls, out of the partials around it."""
    called = getattr(target, "execute", None) if isinstance(target, type) else target
    while isinstance(called, partial):
        called = called.func
    return called
