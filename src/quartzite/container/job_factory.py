"""InjectingJobFactory: builds the job of each firing, with what it needs from the application's container."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any, Final

from quartzite.abc import JobFactory, JobScope
from quartzite.container.job_plan import JobPlan, closer_of, plan_job
from quartzite.container.run_scope import RunScope, current_scope, is_pending
from quartzite.container.scheduler import SchedulerContainer
from quartzite.execution import TriggerFiredBundle
from quartzite.model.job import JobType, is_async_job

if TYPE_CHECKING:
    from quartzite.engine.scheduler import Scheduler

__all__ = ["InjectingJobFactory"]

_LOGGER: Final = logging.getLogger("quartzite.container")
_MOST_PLANS: Final = 1024
"""Closures are jobs too, and an application may make new ones for ever: plans must not keep them all alive."""


class InjectingJobFactory(JobFactory):
    """Builds jobs by annotation (spec 10 section 8).

    * A job class is built anew for each firing: by the application's provider of exactly that class when there is
      one, else by annotation like every part (see :func:`create`). A function gets its arguments after its context;
      one that asks for no context gets none.
    * What ``per_run`` declares is opened within the firing, told how the run ended, and closed once.
    * A job object with ``aclose`` or ``close`` is closed once, after the job listeners and before what it used. One
      that the application shares (any provider but a factory) is not.
    * A function that asks for nothing costs nothing: its scope is made once.

    Derive from it and override :meth:`configure_scope` to set context variables, such as a tenant, for each firing.
    """

    def __init__(self, parts: SchedulerContainer) -> None:
        self._parts = parts
        self._type_loader = parts.type_loader()
        self._plans: dict[Any, JobPlan] = {}
        self._has_per_run = parts.application_providers().has_per_run
        self._configures = type(self).configure_scope is not InjectingJobFactory.configure_scope

    async def configure_scope(self, bundle: TriggerFiredBundle) -> None:
        """Prepare the context of a firing before anything is opened or built; does nothing here.

        Context variables that are set here reach the job and what it opens.
        """

    def check(self, job_type: JobType) -> None:
        """Find what keeps jobs of a type from being built, before one is due.

        Raises:
            SchedulerConfigError: naming the job and each argument that nobody provides.
            TypeLoadError: only the name of the job is known, and it leads nowhere.
        """
        self._plan_of(job_type)

    async def create_job(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:  # noqa: ARG002
        """Return the job of a firing, built in the task of its run.

        Raises:
            SchedulerConfigError: an argument that nobody provides.
            TypeLoadError: the job's name leads nowhere.
            Exception: whatever a provider or the constructor raised; what was opened is closed again.
        """
        planned = self._plan_of(bundle.job.job_type)
        if self._configures:
            await self.configure_scope(bundle)
        if planned.ready is not None and not self._has_per_run:
            return planned.ready
        if not (self._has_per_run or planned.per_run or planned.may_close):
            return await self._build(planned, None)
        scope = RunScope()
        current_scope.set(scope)
        try:
            return await self._build(planned, scope)
        except BaseException as error:
            await _close_quietly(scope, error)
            raise

    async def return_job(self, scope: JobScope, error: BaseException | None) -> None:
        """Close the job and what was opened for it, each told of ``error``.

        Raises:
            Exception: what closing raised; everything else is closed nevertheless.
        """
        if scope.state is not None:
            await scope.state.close(error)

    def _plan_of(self, job_type: JobType) -> JobPlan:
        target = self._type_loader.load(job_type) if job_type.target is None else job_type.target
        try:
            known = self._plans.get(target)
        except TypeError:  # a callable that can not be hashed
            return plan_job(job_type, target, self._parts)
        if known is None or known.target is not target:
            known = plan_job(job_type, target, self._parts)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[target] = known
        return known

    async def _build(self, planned: JobPlan, scope: RunScope | None) -> JobScope:
        if scope is not None:
            for resource in planned.per_run:
                await scope.open(resource)
        args, kwargs = planned.arguments.arguments()
        for place, argument in enumerate(args):
            if is_pending(argument):
                args[place] = await argument
        for name, argument in kwargs.items():
            if is_pending(argument):
                kwargs[name] = await argument
        if planned.is_class:
            return await self._with_object(planned, scope, args, kwargs)
        return JobScope(
            job=planned.target,
            call=planned.call(args, kwargs),
            is_async=planned.is_async,
            state=scope,
            hard_cancel=planned.hard_cancel,
        )

    async def _with_object(
        self, planned: JobPlan, scope: RunScope | None, args: list[Any], kwargs: dict[str, Any]
    ) -> JobScope:
        job = planned.arguments.target(*args, **kwargs)
        if is_pending(job):
            job = await job
        is_async = planned.is_async if type(job) is planned.target else is_async_job(type(job))
        if scope is not None and planned.may_close:
            self._close_at_end(job, scope, is_async=is_async)
        return JobScope(job=job, call=job.execute, is_async=is_async, state=scope, hard_cancel=planned.hard_cancel)

    def _close_at_end(self, job: Any, scope: RunScope, *, is_async: bool) -> None:
        close = closer_of(job)
        if close is None:
            return

        async def close_job() -> None:
            # What runs in a thread closes there: it may block.
            blocking = not is_async and not inspect.iscoroutinefunction(close)
            closing = await self._parts.worker_pool().call_in_thread(close) if blocking else close()
            if inspect.isawaitable(closing):
                await closing

        scope.close_with(close_job)


async def _close_quietly(scope: RunScope, error: BaseException) -> None:
    """Close what a failed construction has opened; a second error must not hide the first."""
    try:
        await scope.close(error)
    except Exception:
        _LOGGER.exception("Closing what was opened for a job that could not be built failed.")
