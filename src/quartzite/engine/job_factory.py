"""SimpleJobFactory: builds jobs without a container."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from quartzite.abc import JobFactory, JobScope, TypeLoader
from quartzite.execution import JobContext, TriggerFiredBundle
from quartzite.model.job import is_async_job, job_options

if TYPE_CHECKING:
    from quartzite.engine.scheduler import Scheduler

__all__ = ["SimpleJobFactory"]

_REMEMBERED: Final = 1024


class SimpleJobFactory(JobFactory):
    """Calls a class without arguments and a function with the context (spec 10 section 8).

    * A function that takes no argument is called without one.
    * An object with ``aclose`` or ``close`` is closed after its firing, once.
    """

    def __init__(self, *, type_loader: TypeLoader) -> None:
        self._type_loader = type_loader
        # What is known of a function is the same for every firing. Limited, since functions may be made on the fly.
        self._scope_of_function = lru_cache(maxsize=_REMEMBERED)(_scope_of_function)

    async def create_job(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:  # noqa: ARG002
        """Return the job of a firing, built.

        Raises:
            TypeLoadError: its name does not lead to a job.
            Exception: whatever the constructor of the class raises.
        """
        job_type = bundle.job.job_type
        target = job_type.target if job_type.target is not None else self._type_loader.load(job_type)
        return _scope_of_class(target) if isinstance(target, type) else self._scope_of_function(target)

    async def return_job(self, scope: JobScope, error: BaseException | None) -> None:  # noqa: ARG002
        """Close the object that was made for a firing."""
        if scope.state is not None:
            closed = scope.state()
            if inspect.isawaitable(closed):
                await closed


def _scope_of_class(target: type) -> JobScope:
    job = target()
    close = getattr(job, "aclose", None) or getattr(job, "close", None)
    return JobScope(
        job=job,
        call=job.execute,
        is_async=is_async_job(target),
        state=close if callable(close) else None,
        hard_cancel=bool(job_options(target).hard_cancel),
    )


def _scope_of_function(target: Callable[..., Any]) -> JobScope:
    return JobScope(
        job=target,
        call=target if _takes_an_argument(target) else _without_argument(target),
        is_async=is_async_job(target),
        hard_cancel=bool(job_options(target).hard_cancel),
    )


def _without_argument(target: Callable[[], Any]) -> Callable[[JobContext], Any]:
    return lambda _: target()


def _takes_an_argument(target: Callable[..., Any]) -> bool:
    try:
        inspect.signature(target).bind(None)
    except ValueError:  # a built-in without a signature
        return True
    except TypeError:
        # Neither callable with the context nor without: the error is the job's, and names the function.
        return not _can_be_called_bare(target)
    return True


def _can_be_called_bare(target: Callable[..., Any]) -> bool:
    try:
        inspect.signature(target).bind()
    except TypeError:
        return False
    return True
