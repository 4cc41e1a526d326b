"""JobChainingJobListener: when one job has run, the next one is fired."""

from __future__ import annotations

import logging
from typing import Final

from quartzite.abc import JobListener
from quartzite.errors import InvalidValueError, JobExecutionError
from quartzite.execution import JobContext
from quartzite.model.keys import JobKey

__all__ = ["JobChainingJobListener"]

logger: Final = logging.getLogger("quartzite.listeners")


class JobChainingJobListener(JobListener):
    """Fires the job that is linked to one that has just run, whether that succeeded or failed.

    The next job is fired before the store is told that the first one ended, so it may begin while a first job that
    disallows concurrency still counts as running. The links are not stored: declare them in every process, and for
    all nodes of a cluster alike.

    Args:
        name: Identity in the listener manager.

    Raises:
        InvalidValueError: the name is blank.
    """

    def __init__(self, name: str) -> None:
        if not name.strip():
            raise InvalidValueError(f"the name {name!r} of a chaining listener is blank: give it a text")
        self._name = name
        self._next: dict[JobKey, JobKey] = {}

    @property
    def name(self) -> str:
        """Identity in the listener manager."""
        return self._name

    def add_job_chain_link(self, first: JobKey, second: JobKey) -> None:
        """Fire ``second`` whenever ``first`` has run.

        Raises:
            InvalidValueError: another job follows ``first`` already.
        """
        if first in self._next:
            raise InvalidValueError(
                f"job {first} is followed by job {self._next[first]} already, so {second} can not follow it: "
                "link it behind that one, or use a listener of another name"
            )
        self._next[first] = second

    async def job_was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:  # noqa: ARG002
        """Fire the next job; a failure is logged."""
        following = self._next.get(context.job.key)
        if following is None:
            return
        try:
            await context.scheduler.trigger_job(following)
        except Exception:
            logger.exception(
                "The next job of a chain could not be fired.",
                extra={"job": str(context.job.key), "next_job": str(following)},
            )
