"""JobRunner: runs one firing, from building its job to telling the store how it ended."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from quartzite.abc import (
    Clock,
    FiringGate,
    FiringPass,
    JobFactory,
    JobScope,
    SchedulerListener,
    WorkerPool,
)
from quartzite.engine.completing import GroupCommit
from quartzite.engine.executing import ExecutingJobs
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.notifying import Notifier
from quartzite.engine.own_task import own_task
from quartzite.errors import JobExecutionError, JobExecutionProcessError, JobInstantiationError, SchedulerError
from quartzite.execution import JobCompletion, JobContext, SkippedFiring, TriggerFiredBundle
from quartzite.model.states import SchedulerInstruction

if TYPE_CHECKING:
    from quartzite.engine.scheduler import Scheduler

__all__ = ["JobRunner"]

logger: Final = logging.getLogger("quartzite.engine")


class _Outcome(NamedTuple):
    """How a firing ended: what the store is told, what the job raised, whether it was vetoed."""

    instruction: SchedulerInstruction
    error: JobExecutionError | asyncio.CancelledError | None = None
    vetoed: bool = False


_KEPT_FROM_RUNNING: Final = _Outcome(SchedulerInstruction.NO_INSTRUCTION)


class JobRunner:
    """Runs firings (spec 04 section 5, spec 05 section 4).

    * Whatever happens, each firing is completed exactly once, and its job goes back to the factory exactly once.
    * Errors of jobs, listeners and the factory are told to scheduler listeners and never leave the firing.
    * Nothing of an error is kept when the firing has ended.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        clock: Clock,
        job_factory: JobFactory,
        worker_pool: WorkerPool,
        listener_manager: ListenerManager,
        notifier: Notifier,
        executing: ExecutingJobs,
        completions: GroupCommit,
        gate: FiringGate | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._gate = gate
        self._clock = clock
        self._job_factory = job_factory
        self._workers = worker_pool
        self._listeners = listener_manager
        self._notifier = notifier
        self._executing = executing
        self._completions = completions

    async def run(self, bundle: TriggerFiredBundle) -> None:
        """Run a firing, in a task of its own. It was counted as dispatched before."""
        own_task.set((self._executing, asyncio.current_task()))
        try:
            if self._gate is None:
                await self._build_and_run(bundle, None)
            else:
                await self._run_with_pass(bundle, self._gate)
        finally:
            self._executing.ended(bundle.trigger.execution_group)
            # Else the task would hold its context and the context its task: garbage that only a collection frees.
            own_task.set(None)

    async def abandon(self, bundle: TriggerFiredBundle, instruction: SchedulerInstruction) -> None:
        """Complete a firing that no worker took. It was counted as dispatched before."""
        try:
            await self._complete_unrun(bundle, instruction)
        finally:
            self._executing.ended(bundle.trigger.execution_group)

    async def _complete_unrun(self, bundle: TriggerFiredBundle, instruction: SchedulerInstruction) -> None:
        await self._completions.complete(JobCompletion(bundle.trigger, bundle.job, instruction), bundle.job)

    async def _build_and_run(self, bundle: TriggerFiredBundle, admitted: FiringPass | None) -> None:
        scope = await self._create(bundle)
        if scope is not None:
            await self._run(bundle, scope, admitted)

    async def _run(self, bundle: TriggerFiredBundle, scope: JobScope, admitted: FiringPass | None) -> None:
        context = JobContext(bundle, self._scheduler)
        context.job_instance = scope.job
        if admitted is not None:
            admitted.when_lost(self._teller(context))
        error: BaseException | None = None
        completing = False
        try:
            outcome = await self._attempts(bundle, context, scope)
            error = outcome.error
            completing = True
            await self._complete(context, outcome.instruction)
            if outcome.vetoed:
                await self._finalized(context)
        except BaseException as outside:  # cancelled outside its job, for example in a listener
            self._executing.end(context)
            error = error or outside
            if not completing:
                await self._complete(context, SchedulerInstruction.NO_INSTRUCTION)
            raise
        finally:
            # The factory is told what the job raised, not what the engine wrapped it in; and of an interruption, so
            # that half of a transaction is not committed.
            try:
                await self._return(scope, context, error if error is None else error.__cause__ or error)
            finally:
                error = None

    async def _attempts(self, bundle: TriggerFiredBundle, context: JobContext, scope: JobScope) -> _Outcome:
        listeners = self._listeners
        with self._clock.busy(bundle.job.key):
            while True:
                if not listeners.hears_firings:
                    self._executing.begin(context)
                elif (stopped := await self._begin(context)) is not None:
                    return stopped
                raised = await self._execute(context, scope)
                # An interrupted run counts as ended normally.
                error = raised if isinstance(raised, JobExecutionError) else None
                try:
                    instruction = _follow_up(context, error)
                except Exception as cause:  # noqa: BLE001 - a kind of trigger with a fault of its own
                    instruction = await self._unclear(context, cause)
                if instruction is not SchedulerInstruction.RE_EXECUTE_JOB:
                    break
                context.refire_count += 1
                # A job that fails at once, again and again, must not keep everything else from running.
                await asyncio.sleep(0)
            self._executing.end(context)
            if listeners.hears_firings:
                await self._end(context, error, instruction)
            elif listeners.hears_scheduler:
                await self._finalized(context)
        return _Outcome(instruction, raised)

    async def _unclear(self, context: JobContext, cause: Exception) -> SchedulerInstruction:
        await self._report(f"Trigger {context.trigger.key} failed to say what follows a run.", context, cause)
        return SchedulerInstruction.NO_INSTRUCTION

    async def _complete(self, context: JobContext, instruction: SchedulerInstruction) -> None:
        stored = job = context.job
        try:
            job = context.job_after_run()
        except Exception as cause:  # noqa: BLE001 - data that can not be compared or copied
            await self._report(f"The data that job {stored.key} left can not be read, and is lost.", context, cause)
        # Not busy: the commit says so itself, and may have to wait for the store.
        await self._completions.complete(JobCompletion(context.trigger, job, instruction), stored)

    # The gate -------------------------------------------------------------------------------------------------

    async def _run_with_pass(self, bundle: TriggerFiredBundle, gate: FiringGate) -> None:
        admitted = await self._admitted(bundle, gate)
        if admitted is None:
            return
        try:
            await self._build_and_run(bundle, admitted)
        finally:
            await self._leave(bundle, admitted)

    async def _admitted(self, bundle: TriggerFiredBundle, gate: FiringGate) -> FiringPass | None:
        """Return the pass of a firing. None when it does not run here, which is told and completes the firing."""
        try:
            with self._clock.busy(bundle.job.key):
                answer = await gate.enter(bundle)
        except Exception as cause:  # noqa: BLE001 - whatever it is, this firing alone does not run
            await self._not_admitted(bundle, cause)
            return None
        except BaseException:  # cancelled
            await self._complete_unrun(bundle, SchedulerInstruction.NO_INSTRUCTION)
            raise
        if isinstance(answer, SkippedFiring):
            await self._skipped(bundle, answer)
            return None
        return answer

    async def _not_admitted(self, bundle: TriggerFiredBundle, cause: Exception) -> None:
        message = (
            f"Job {bundle.job.key} (trigger {bundle.trigger.key}) does not run: whether another node has the firing "
            f"of {bundle.scheduled_fire_time.isoformat()} can not be known."
        )
        failure = JobExecutionProcessError(
            f"{message} {type(cause).__name__}: {cause}", job=bundle.job, trigger_key=bundle.trigger.key
        )
        failure.__cause__ = cause
        try:
            await self._notifier.error(message, failure)
        finally:
            await self._complete_unrun(bundle, _without_a_run(bundle))

    async def _skipped(self, bundle: TriggerFiredBundle, skipped: SkippedFiring) -> None:
        self._executing.skipped += 1
        logger.debug(
            "A firing was left to another node.",
            extra={"trigger": str(skipped.trigger_key), "holder": skipped.holder},
        )
        try:
            await self._notifier.tell(SchedulerListener.firing_skipped, skipped)
        finally:
            await self._complete_unrun(bundle, _without_a_run(bundle))
        if bundle.next_fire_time is None:
            await self._notifier.tell(SchedulerListener.trigger_finalized, bundle.trigger)

    async def _leave(self, bundle: TriggerFiredBundle, admitted: FiringPass) -> None:
        try:
            with self._clock.busy(bundle.job.key):
                await admitted.leave()
        except Exception as cause:  # noqa: BLE001 - the firing has ended; the error is told
            await self._notifier.error(f"What let job {bundle.job.key} run could not be given back.", cause)

    def _teller(self, context: JobContext) -> Callable[[str], None]:
        """Return what tells a run from any thread that it lost its pass: its token at once, its task soon after."""
        loop = asyncio.get_running_loop()

        def tell(reason: str) -> None:
            context.cancellation_token.set(reason)
            interrupt = partial(self._executing.interrupt_fire_instance, context.fire_instance_id, reason)
            with suppress(RuntimeError):  # the event loop was closed: there is no task any more
                loop.call_soon_threadsafe(interrupt)

        return tell

    # The job object -------------------------------------------------------------------------------------------

    async def _create(self, bundle: TriggerFiredBundle) -> JobScope | None:
        """Return the job of a firing. None when it can not be built, which is told and completes the firing."""
        try:
            with self._clock.busy(bundle.job.key):
                scope = await self._job_factory.create_job(bundle, self._scheduler)
            if scope is None:
                _refuse_nothing(self._job_factory)
        except (Exception, SystemExit) as cause:  # noqa: BLE001 - whatever it is, this firing alone fails
            await self._not_built(bundle, cause)
            return None
        except BaseException:  # cancelled
            await self._complete_unrun(bundle, SchedulerInstruction.NO_INSTRUCTION)
            raise
        return scope

    async def _not_built(self, bundle: TriggerFiredBundle, cause: BaseException) -> None:
        reason = f"{type(cause).__name__}: {cause}"
        failure = JobInstantiationError(bundle.job, bundle.trigger.key, bundle.fire_instance_id, reason)
        failure.__cause__ = cause
        instruction = SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR
        if self._scheduler.is_shutting_down:  # what the job needs may be closed already: no fault of the job's
            instruction = SchedulerInstruction.NO_INSTRUCTION
        try:
            await self._notifier.error(str(failure), failure)
        finally:
            await self._complete_unrun(bundle, instruction)

    async def _return(self, scope: JobScope, context: JobContext, error: BaseException | None) -> None:
        try:
            with self._clock.busy(context.job.key):
                await self._job_factory.return_job(scope, error)
        except Exception as cause:  # noqa: BLE001 - the firing has ended; the error is told
            await self._report(f"Job {context.job.key} could not be closed after its run.", context, cause)

    # The listeners --------------------------------------------------------------------------------------------

    async def _begin(self, context: JobContext) -> _Outcome | None:
        """Tell listeners that a run begins; the outcome when it shall not."""
        try:
            if await self._notifier.fired(context):
                return await self._vetoed(context)
            self._executing.begin(context)
            await self._notifier.to_be_executed(context)
        except JobExecutionProcessError as failure:
            self._executing.end(context)
            await self._notifier.error(str(failure), failure)
            return _KEPT_FROM_RUNNING
        return None

    async def _vetoed(self, context: JobContext) -> _Outcome:
        self._executing.end(context)  # a refire may be vetoed, too
        try:
            await self._notifier.vetoed(context)
        except JobExecutionProcessError as failure:
            await self._notifier.error(str(failure), failure)
        try:
            instruction = _follow_up(context, None)
        except Exception as cause:  # noqa: BLE001 - a kind of trigger with a fault of its own
            instruction = await self._unclear(context, cause)
        return _Outcome(instruction, vetoed=True)

    async def _end(
        self, context: JobContext, error: JobExecutionError | None, instruction: SchedulerInstruction
    ) -> None:
        try:
            await self._notifier.was_executed(context, error)
        except JobExecutionProcessError as failure:
            await self._notifier.error(str(failure), failure)
            return
        try:
            await self._notifier.complete(context, instruction)
        except JobExecutionProcessError as failure:
            await self._notifier.error(str(failure), failure)
        await self._finalized(context)

    async def _finalized(self, context: JobContext) -> None:
        if context.trigger.next_fire_time is None and self._listeners.hears_scheduler:
            await self._notifier.tell(SchedulerListener.trigger_finalized, context.trigger)

    # One attempt ----------------------------------------------------------------------------------------------

    async def _execute(self, context: JobContext, scope: JobScope) -> JobExecutionError | asyncio.CancelledError | None:
        """Run the job once and return what it raised (spec 01 sections 7 and 8)."""
        # An error's frames lead here: a name that still held the error would keep both alive.
        clock = self._clock
        began = clock.monotonic()
        try:
            if scope.is_async and not scope.hard_cancel:
                returned = await scope.call(context)
            else:
                returned = await self._execute_apart(context, scope)
            if returned is not None:
                context.result = returned
        except JobExecutionError as error:
            logger.warning(
                "Job %s reported a failure.",
                context.job.key,
                exc_info=True,
                extra={"job": str(context.job.key), "trigger": str(context.trigger.key)},
            )
            return error
        except asyncio.CancelledError as error:
            if not context.cancellation_token.is_set:
                return await self._job_failed(context, error)
            logger.info("A job was interrupted.", extra={"job": str(context.job.key)})
            return error
        except (KeyboardInterrupt, GeneratorExit):  # the process is to end, or the loop that ran this was closed
            raise
        except BaseException as error:  # noqa: BLE001 - a job may raise whatever it likes
            return await self._job_failed(context, error)
        finally:
            context.record_run_time(clock.monotonic() - began)
        return None

    async def _execute_apart(self, context: JobContext, scope: JobScope) -> Any:
        """Run the job in a thread, or in a task of its own that an interruption may cancel."""
        if not scope.is_async:
            returned = await self._in_thread(context, scope)
            return await returned if isawaitable(returned) else returned
        task = asyncio.ensure_future(_without_exit(scope.call(context)))
        self._executing.cancel_hard(context, task)
        try:
            return await task
        finally:
            del task  # the error that it holds leads to this frame

    async def _in_thread(self, context: JobContext, scope: JobScope) -> Any:
        call = asyncio.ensure_future(self._workers.call_in_thread(partial(scope.call, context)))
        try:
            while True:
                try:
                    return await asyncio.shield(call)
                except asyncio.CancelledError:
                    if call.done():
                        raise
                    # The thread goes on, so the firing does: else a sibling would run beside it.
                    context.cancellation_token.set("its task was cancelled")
        finally:
            del call  # the error that it holds leads to this frame

    async def _job_failed(self, context: JobContext, cause: BaseException) -> JobExecutionError:
        await self._report(f"Job {context.job.key} threw an exception.", context, cause)
        wrapped = JobExecutionError(f"job {context.job.key} failed: {type(cause).__name__}: {cause}")
        wrapped.__cause__ = cause
        return wrapped

    async def _report(self, message: str, context: JobContext, cause: BaseException) -> None:
        failure = JobExecutionProcessError(
            f"{message} Its error is the cause: {type(cause).__name__}: {cause}",
            job=context.job,
            trigger_key=context.trigger.key,
        )
        failure.__cause__ = cause
        await self._notifier.error(message, failure)


def _refuse_nothing(factory: JobFactory) -> None:
    raise SchedulerError(f"{type(factory).__name__} returned no job: return a JobScope")


def _without_a_run(bundle: TriggerFiredBundle) -> SchedulerInstruction:
    """Return what the trigger says about a firing that did not run here."""
    try:
        return bundle.trigger.execution_complete(None)
    except Exception:
        logger.exception("A trigger failed to say what follows.", extra={"trigger": str(bundle.trigger.key)})
        return SchedulerInstruction.NO_INSTRUCTION


def _follow_up(context: JobContext, error: JobExecutionError | None) -> SchedulerInstruction:
    """Return what the trigger says about the end of a run; one that was told to stop is not run again."""
    if error is not None and error.refire_immediately and context.cancellation_token.is_set:
        error = None
    return context.trigger.execution_complete(error)


async def _without_exit(work: Awaitable[Any]) -> Any:
    """Await a job that has a task of its own: one that is told to exit would end the event loop."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(f"the job raised SystemExit: {error}") from error
