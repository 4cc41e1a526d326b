"""ExecutingJobs: what runs on this node right now, and how it is told to stop."""

from __future__ import annotations

import asyncio
from typing import Any

from quartzite.execution import JobContext
from quartzite.model.acquisition import ExecutionLimits
from quartzite.model.keys import JobKey

__all__ = ["ExecutingJobs"]


class ExecutingJobs:
    """The registry that the runner writes and the scheduler reads (spec 05 section 4).

    * A job is executing from before the first ``job_to_be_executed`` until before ``job_was_executed``.
    * Firings per execution group count from their dispatch to the end of their run, with limits or without, so that
      limits which are set later are right at once (spec 04 section 4.2).
    """

    __slots__ = ("_by_context", "_groups", "_stopping", "skipped", "started")

    def __init__(self) -> None:
        # A context maps to the task that an interruption cancels, or None when the token is all it gets.
        self._by_context: dict[JobContext, asyncio.Task[Any] | None] = {}
        self._groups: dict[str | None, int] = {}
        self._stopping: str | None = None
        self.started = 0
        """How many times a job was started, refires included."""
        self.skipped = 0
        """How many firings were left to another node."""

    # Execution groups -----------------------------------------------------------------------------------------

    def dispatched(self, group: str | None) -> None:
        """Count a firing of an execution group."""
        self._groups[group] = self._groups.get(group, 0) + 1

    def ended(self, group: str | None) -> None:
        """Take a firing off its execution group; a group without firings is forgotten."""
        left = self._groups[group] - 1
        if left:
            self._groups[group] = left
        else:
            del self._groups[group]

    def left_of(self, limits: ExecutionLimits | None) -> ExecutionLimits | None:
        """Return what the running firings leave of the limits, None when nothing is limited."""
        return None if limits is None or limits.is_empty else limits.minus(self._groups)

    # Executing jobs -------------------------------------------------------------------------------------------

    def begin(self, context: JobContext) -> None:
        """Note that a job is about to execute; each attempt counts as a start."""
        self.started += 1
        if context not in self._by_context:
            self._by_context[context] = None
            if self._stopping is not None:
                context.cancellation_token.set(self._stopping)

    def end(self, context: JobContext) -> None:
        """Note that a job does not execute any more; nothing happens when it did not."""
        self._by_context.pop(context, None)

    def cancel_hard(self, context: JobContext, task: asyncio.Task[Any]) -> None:
        """Let an interruption of this execution cancel a task as well, at once when it was interrupted before."""
        self._by_context[context] = task
        if context.cancellation_token.is_set:
            task.cancel(context.cancellation_token.reason)

    def contexts(self) -> list[JobContext]:
        """Return the contexts of all executing jobs: a snapshot, in the order of their start."""
        return list(self._by_context)

    # Interruption ---------------------------------------------------------------------------------------------

    def interrupt_job(self, key: JobKey) -> bool:
        """Tell every execution of a job to stop; tell whether there was one."""
        return self._interrupt([context for context in self._by_context if context.job.key == key])

    def interrupt_fire_instance(self, fire_instance_id: str, reason: str = "interrupted") -> bool:
        """Tell one execution to stop; tell whether it was there."""
        found = [context for context in self._by_context if context.fire_instance_id == fire_instance_id]
        return self._interrupt(found, reason)

    def interrupt_all(self, reason: str) -> None:
        """Tell every execution to stop, and each that begins later."""
        self._stopping = reason
        self._interrupt(self.contexts(), reason)

    def _interrupt(self, contexts: list[JobContext], reason: str = "interrupted") -> bool:
        for context in contexts:
            context.cancellation_token.set(reason)
            task = self._by_context.get(context)
            if task is not None:
                task.cancel(reason)
        return bool(contexts)

    def __len__(self) -> int:
        return len(self._by_context)
