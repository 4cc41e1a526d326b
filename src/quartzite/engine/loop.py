"""SchedulingLoop: acquires triggers, waits until they are due, fires them, and hands them to the workers."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from quartzite.abc import Clock, JobStore, WorkerPool
from quartzite.engine.backoff import Backoff
from quartzite.engine.executing import ExecutingJobs
from quartzite.engine.notifying import Notifier
from quartzite.engine.own_task import own_task
from quartzite.engine.pulse import Pulse
from quartzite.engine.releasing import Releasing
from quartzite.engine.runner import JobRunner
from quartzite.engine.signals import SchedulingSignal
from quartzite.engine.time_jumps import TimeJumps
from quartzite.errors import SchedulerError
from quartzite.execution import TriggerFiredBundle, TriggerFiredResult
from quartzite.model.acquisition import ExecutionLimits, TriggerAcquisitionRequest
from quartzite.model.states import SchedulerInstruction
from quartzite.settings import SchedulerSettings
from quartzite.triggers.base import Trigger

__all__ = ["SchedulingLoop"]

logger: Final = logging.getLogger("quartzite.engine")
_JITTER: Final = 0.2
"""The largest part of the idle wait that is taken off at random, so that nodes do not look all at once."""
_SHORT: Final = timedelta(seconds=1)
"""The longest pause after triggers that could not be fired, while the store itself works."""
_TOLERANCE: Final = timedelta(seconds=1)
"""What is due later than this beyond what an acquisition asks for was acquired before the clock went back."""
_HALT_GRACE: Final = timedelta(seconds=5)
"""How long an operation of the store may still take when a shutdown does not wait."""


class SchedulingLoop:
    """The loop of one scheduler (spec 04 section 4).

    * No more triggers are acquired than workers are free.
    * Nothing fires before its time: after each wait the clock is asked again, and a trigger that was acquired ahead
      of its time (``batch_time_window``) waits for its own.
    * A wait never exceeds ``idle_wait_time``, so a clock that jumps is noticed.
    * An error in one turn is logged, counted and followed by a bounded pause; the loop goes on. An outage is told
      to scheduler listeners once.
    * Standby and shutdown release what was acquired and has not fired.
    """

    def __init__(
        self,
        *,
        settings: SchedulerSettings,
        store: JobStore,
        clock: Clock,
        worker_pool: WorkerPool,
        runner: JobRunner,
        executing: ExecutingJobs,
        notifier: Notifier,
        releasing: Releasing,
        backoff: Backoff,
    ) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock
        self._workers = worker_pool
        self._runner = runner
        self._executing = executing
        self._notifier = notifier
        self._releasing = releasing
        self._backoff = backoff
        self._idle_wait = settings.idle_wait_time.total_seconds()
        self._farthest = (settings.idle_wait_time + settings.batch_time_window + _TOLERANCE).total_seconds()
        self.limits: ExecutionLimits | None = settings.execution_limits
        self.signal = SchedulingSignal(persistent=store.supports_persistence)
        releasing.on_freed = partial(self.signal.set, None)
        self.pulse = Pulse(clock)
        self._jumps = TimeJumps(store=store, clock=clock)
        self._paused = True
        self._halted = False
        self._task: asyncio.Task[None] | None = None
        # Set while the loop holds nothing and asks the store for nothing: it may then be stopped at any moment.
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._over = asyncio.Event()
        self._given_up = False
        self._failed_firings = 0
        self._abandoning: set[asyncio.Task[None]] = set()
        self._released: list[Trigger] = []

    # Life -----------------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether the loop runs and is not paused."""
        return self._task is not None and not self._task.done() and not self._paused

    def resume(self) -> None:
        """Run, or run again. A loop that was ended from outside is started anew."""
        self._paused = False
        if self._task is None or self._task.done():
            self.signal.bind()
            self.pulse.begins()
            self._over.clear()
            self._task = asyncio.get_running_loop().create_task(self._run(), name="quartzite-loop")
            self._task.add_done_callback(self._ended)
        self.signal.wake()

    def hold(self) -> None:
        """Acquire no more; what has not fired is released."""
        self._paused = True
        self.signal.wake()

    async def pause(self) -> None:
        """Acquire no more, release what has not fired, and return when that is done."""
        self.hold()
        if asyncio.current_task() is not self._task:
            await self._at_rest.wait()

    async def halt(self, *, wait: bool, timeout: timedelta | None) -> list[Trigger]:
        """End the loop and return the triggers that it released for that.

        When not waiting, and after ``timeout``, an operation of the store that does not end is given up.
        """
        self._halted = True
        self.signal.wake()
        if self._task is not None and not self._task.done():
            await self._come_to_rest(timeout if wait else _HALT_GRACE)
            self._task.cancel()
            # A store may even ignore that.
            await self._clock.wait(self._over, _HALT_GRACE.total_seconds())
        return self._released

    async def _come_to_rest(self, limit: timedelta | None) -> None:
        if limit is None:
            await self._at_rest.wait()
        elif not await self._clock.wait(self._at_rest, limit.total_seconds()):
            self._given_up = True
            logger.error("The job store did not answer in time; the scheduling loop ends without it.")

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._at_rest.set()
        self._over.set()
        if not self._halted:
            self.pulse.ended("the scheduling loop was cancelled from outside; call start() to run it again")
            logger.critical("The scheduling loop was cancelled from outside; nothing fires until it is started again.")

    # The loop -------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        own_task.set((self._executing, None))
        while not self._halted:
            try:
                await self._turn()
            except Exception as error:  # noqa: BLE001 - whatever it is, the loop goes on
                await self._failed("A turn of the scheduling loop failed.", error)

    async def _turn(self) -> None:
        if self._paused:
            await self._stand_by()
            return
        if self.pulse.failures > 1 or self._failed_firings:
            await self._back_off()
        self.pulse.waits_for_workers()
        free = await self._workers.wait_for_available()
        if self._paused or self._halted:
            return
        if free <= 0:
            raise SchedulerError("the worker pool was shut down while the scheduler runs: shut down the scheduler")
        self._at_rest.clear()
        try:
            found = await self._acquire_and_fire(free)
        finally:
            self._at_rest.set()
        if not found:
            await self._idle()

    async def _stand_by(self) -> None:
        self.pulse.stands_by()
        while self._paused and not self._halted:
            self.signal.clear()
            await self.signal.event.wait()
        self.pulse.succeeded()
        self._failed_firings = 0

    async def _back_off(self) -> None:
        delay = self._backoff.delay(max(self.pulse.failures, self._failed_firings))
        if self.pulse.failures <= 1:
            delay = min(delay, _SHORT)
        self.pulse.ticks(delay.total_seconds())
        # A signal from now on ends the pause: what is stored shows that the store is back.
        self.signal.clear()
        await self._clock.wait(self.signal.event, delay.total_seconds())

    async def _idle(self) -> None:
        # What was signalled since the acquisition began has set the event: then there is nothing to wait for.
        jitter = random.random() * _JITTER * self._idle_wait
        self.pulse.ticks(self._idle_wait)
        await self._clock.wait(self.signal.event, self._idle_wait - jitter)

    # One batch ------------------------------------------------------------------------------------------------

    async def _acquire_and_fire(self, free: int) -> bool:
        """Acquire a batch and fire it; False when there was nothing to acquire."""
        with self._clock.busy("acquisition of triggers"):
            await self._jumps.look()
            triggers = await self._acquire(free)
        if not triggers:
            return triggers is None
        try:
            while triggers and await self._wait_until(triggers[0]):
                with self._clock.busy("firing of triggers"):
                    now = self._clock.now()
                    due = [trigger for trigger in triggers if _is_due(trigger, now)]
                    triggers = [] if len(due) == len(triggers) else [t for t in triggers if not _is_due(t, now)]
                    bundles = await self._fire(due)
                if triggers and _comes_before(bundles, triggers[0]):
                    break
        finally:
            await self._give_back(triggers)
        return True

    async def _acquire(self, free: int) -> list[Trigger] | None:
        """Return what the store hands out; None when it failed."""
        # Cleared before: what changes during the acquisition is signalled again.
        self.signal.clear()
        self.pulse.ticks()
        settings = self._settings
        try:
            request = TriggerAcquisitionRequest(
                no_later_than=self._clock.now() + settings.idle_wait_time,
                max_count=min(free, settings.max_batch_size),
                time_window=settings.batch_time_window,
                execution_limits=self._executing.left_of(self.limits),
            )
            triggers = await self._store.acquire_next_triggers(request)
        except Exception as error:  # noqa: BLE001 - whatever it is, the loop goes on
            await self._failed("An error occurred while scanning for the next trigger to fire.", error)
            return None
        if not triggers:
            self.pulse.succeeded()
        return triggers

    async def _wait_until(self, trigger: Trigger) -> bool:
        """Wait until a trigger is due; False when what was acquired shall be given back instead."""
        due = trigger.next_fire_time
        while not (self._halted or self._paused):
            left = 0.0 if due is None else (due - self._clock.now()).total_seconds()
            if due is None or left <= 0:
                return True
            if self.signal.is_earlier(due, left) or left > self._farthest:
                return False
            wait = min(left, self._idle_wait)
            self.pulse.ticks(wait)
            await self._clock.wait(self.signal.event, wait)
        return False

    async def _give_back(self, triggers: Sequence[Trigger]) -> None:
        if not triggers or self._given_up:
            return
        with self._clock.busy("release of triggers"):
            await self._releasing.release(triggers)
        if self._halted:
            self._released.extend(triggers)

    async def _fire(self, triggers: Sequence[Trigger]) -> list[TriggerFiredBundle]:
        """Fire triggers that are due, and hand over those that did."""
        try:
            results = await self._store.triggers_fired(triggers)
        except Exception as error:  # noqa: BLE001 - whatever it is, the loop goes on
            await self._failed("An error occurred while firing triggers.", error)
            await self._give_back(triggers)
            return []
        self.pulse.succeeded()
        bundles = [result.bundle for result in results if result.bundle is not None]
        for bundle in bundles:
            if not self._dispatch(bundle):
                await self._dispatch_late(bundle)
        if len(bundles) == len(triggers):
            self._failed_firings = 0
        else:
            await self._not_fired(triggers, results, bundles)
        return bundles

    async def _not_fired(
        self,
        triggers: Sequence[Trigger],
        results: Sequence[TriggerFiredResult],
        bundles: Sequence[TriggerFiredBundle],
    ) -> None:
        """Give back the triggers that did not fire; log those that failed, the first time."""
        ragged = len(results) != len(triggers)
        if ragged:
            store = type(getattr(self._store, "inner_job_store", self._store)).__name__
            wrong = f"{store}.triggers_fired answered {len(results)} of {len(triggers)} triggers"
            await self._notifier.error(wrong, SchedulerError(f"{wrong}: it must return one result for each, in order"))
        fired = {bundle.trigger.key for bundle in bundles}
        await self._releasing.release([trigger for trigger in triggers if trigger.key not in fired])
        errors = [result.exception for result in results if result.exception is not None]
        if errors and not self._failed_firings:  # the store has told listeners what it thinks they need to know
            logger.error(
                "Triggers could not be fired.", exc_info=errors[0], extra={"failed": len(errors), "of": len(triggers)}
            )
        self._failed_firings = self._failed_firings + 1 if (errors or ragged) and not bundles else 0

    async def _failed(self, message: str, error: Exception) -> None:
        first = not self.pulse.failures
        self.pulse.failed(error)
        if first:  # once per outage, not per attempt
            await self._notifier.error(message, error)

    # The workers ----------------------------------------------------------------------------------------------

    def _dispatch(self, bundle: TriggerFiredBundle) -> bool:
        group = bundle.trigger.execution_group
        self._executing.dispatched(group)
        try:
            if self._workers.try_run(partial(self._runner.run, bundle)):
                return True
        except Exception:
            logger.exception("The worker pool failed.")
        self._executing.ended(group)
        return False

    async def _dispatch_late(self, bundle: TriggerFiredBundle) -> None:
        """Hand over a firing that found no free worker, though no more were acquired than there were."""
        try:
            if await self._workers.wait_for_available() > 0 and self._dispatch(bundle):
                return
        except Exception:
            logger.exception("The worker pool failed.")
        instruction = SchedulerInstruction.NO_INSTRUCTION
        if not self._halted:
            instruction = SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR
            logger.error("No worker took a firing.", extra={"trigger": str(bundle.trigger.key)})
        self._executing.dispatched(bundle.trigger.execution_group)
        # Not awaited: it lasts as long as the store is away.
        task = asyncio.get_running_loop().create_task(self._runner.abandon(bundle, instruction))
        self._abandoning.add(task)
        task.add_done_callback(self._abandoning.discard)


def _is_due(trigger: Trigger, now: datetime) -> bool:
    return trigger.next_fire_time is None or trigger.next_fire_time <= now


def _comes_before(bundles: Sequence[TriggerFiredBundle], trigger: Trigger) -> bool:
    """Tell whether one that has just fired is due again before a trigger: nobody signals that."""
    due = trigger.next_fire_time
    return due is not None and any(
        bundle.next_fire_time is not None and bundle.next_fire_time < due for bundle in bundles
    )
