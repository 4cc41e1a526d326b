"""Notifier: tells the listeners of a scheduler, in order, and keeps their failures from everybody else."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Concatenate, Final, ParamSpec

from quartzite.abc import JobListener, SchedulerListener, TriggerListener
from quartzite.engine.listeners import ListenerManager
from quartzite.errors import JobExecutionError, JobExecutionProcessError
from quartzite.execution import JobContext
from quartzite.model.states import SchedulerInstruction
from quartzite.triggers.base import Trigger

__all__ = ["Notifier"]

P = ParamSpec("P")
logger: Final = logging.getLogger("quartzite.engine")


class Notifier:
    """Calls listeners as spec 05 sections 4 to 6 say.

    * A scheduler listener that fails is logged; the others are told all the same.
    * A job or trigger listener that fails ends the notification: the failure is raised as
      :class:`JobExecutionProcessError`, which names listener, job and trigger. The caller reports it and decides
      what becomes of the firing.
    * A listener that calls ``sys.exit`` has failed like any other: raised in a task it would end the event loop.
    * A listener method may be a plain function: it need not be ``async``.
    """

    __slots__ = ("_manager",)

    def __init__(self, manager: ListenerManager) -> None:
        self._manager = manager

    # The scheduler --------------------------------------------------------------------------------------------

    async def tell(
        self,
        event: Callable[Concatenate[SchedulerListener, P], Awaitable[None]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        """Tell every scheduler listener: ``tell(SchedulerListener.job_paused, key)``."""
        if not self._manager.hears_scheduler:
            return
        for listener in self._manager.get_scheduler_listeners():
            try:
                await _called(getattr(listener, event.__name__), *args, **kwargs)
            except (Exception, SystemExit):
                logger.exception(
                    "A scheduler listener failed.", extra={"listener": listener.name, "event": event.__name__}
                )

    async def error(self, message: str, error: Exception) -> None:
        """Tell scheduler listeners of an error, then log it."""
        await self.tell(SchedulerListener.scheduler_error, message, error)
        logger.error("%s", message, exc_info=error)

    # One firing -----------------------------------------------------------------------------------------------

    async def fired(self, context: JobContext) -> bool:
        """Tell trigger listeners that a trigger fired and ask each for a veto; tell whether there was one.

        All are asked, also after one has vetoed.

        Raises:
            JobExecutionProcessError: a listener failed; the remaining ones were not told.
        """
        vetoed = False
        trigger = context.trigger
        for listener in self._manager.trigger_listeners_for(trigger.key):
            await self._guarded(listener, "trigger_fired", context, trigger, context)
            if await self._guarded(listener, "veto_job_execution", context, trigger, context):
                vetoed = True
        return vetoed

    async def vetoed(self, context: JobContext) -> None:
        """Tell job listeners of a veto.

        Raises:
            JobExecutionProcessError: a listener failed; the remaining ones were not told.
        """
        await self._job_listeners("job_execution_vetoed", context, context)

    async def to_be_executed(self, context: JobContext) -> None:
        """Tell job listeners that a job is about to run.

        Raises:
            JobExecutionProcessError: a listener failed; the remaining ones were not told.
        """
        await self._job_listeners("job_to_be_executed", context, context)

    async def was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:
        """Tell job listeners that a run ended.

        Raises:
            JobExecutionProcessError: a listener failed; the remaining ones were not told.
        """
        await self._job_listeners("job_was_executed", context, context, error)

    async def complete(self, context: JobContext, instruction: SchedulerInstruction) -> None:
        """Tell trigger listeners that a firing ended.

        Raises:
            JobExecutionProcessError: a listener failed; the remaining ones were not told.
        """
        for listener in self._manager.trigger_listeners_for(context.trigger.key):
            await self._guarded(listener, "trigger_complete", context, context.trigger, context, instruction)

    async def misfired(self, trigger: Trigger) -> None:
        """Tell trigger listeners of a missed fire time; one that fails is reported, the others are told."""
        for listener in self._manager.trigger_listeners_for(trigger.key):
            try:
                await _called(listener.trigger_misfired, trigger)
            except (Exception, SystemExit) as cause:  # noqa: BLE001 - whatever it is, the misfire is handled
                await self._misfire_listener_failed(listener, trigger, cause)

    async def _misfire_listener_failed(self, listener: TriggerListener, trigger: Trigger, cause: BaseException) -> None:
        failure = _failure(listener, "trigger_misfired", trigger)
        failure.__cause__ = cause
        await self.error(str(failure), failure)

    async def _job_listeners(self, method: str, context: JobContext, *args: Any) -> None:
        for listener in self._manager.job_listeners_for(context.job.key):
            await self._guarded(listener, method, context, *args)

    async def _guarded(
        self, listener: JobListener | TriggerListener, method: str, context: JobContext, *args: Any
    ) -> Any:
        try:
            return await _called(getattr(listener, method), *args)
        except (Exception, SystemExit) as cause:
            raise _failure(listener, method, context.trigger, context) from cause


async def _called(method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    outcome = method(*args, **kwargs)
    return await outcome if isawaitable(outcome) else outcome


def _failure(
    listener: JobListener | TriggerListener, method: str, trigger: Trigger, context: JobContext | None = None
) -> JobExecutionProcessError:
    kind = "Job" if isinstance(listener, JobListener) else "Trigger"
    return JobExecutionProcessError(
        f"{kind} listener {listener.name!r} failed in {method} (job {trigger.job_key}, trigger {trigger.key}): "
        "its own error is the cause",
        job=None if context is None else context.job,
        trigger_key=trigger.key,
    )
