"""Lifecycle: created, initialized, started, in standby, shut down."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from quartzite.abc import Clock, FiringGate, Heartbeat, JobStore, Plugin, SchedulerListener, WorkerPool
from quartzite.engine.cycle import FireCycle
from quartzite.engine.notifying import Notifier
from quartzite.engine.own_task import own_task
from quartzite.engine.shutdown import RunningJob, ShutdownReport
from quartzite.errors import InvalidValueError, SchedulerError
from quartzite.settings import SchedulerSettings

if TYPE_CHECKING:
    from quartzite.engine.scheduler import Scheduler

__all__ = ["Lifecycle"]

logger: Final = logging.getLogger("quartzite.engine")
_RETRY_GRACE: Final = timedelta(seconds=10)
"""How long after the begin of a shutdown a store that fails is still asked again."""
_STEP_LIMIT: Final = timedelta(seconds=30)
"""How long each of the last steps of a shutdown may take: a plugin or a store that hangs is left behind."""


class _Phase(Enum):
    CREATED = "created"
    INITIALIZED = "initialized"
    RUNNING = "running"
    STANDBY = "in standby"
    SHUTTING_DOWN = "shutting down"
    CLOSED = "shut down"


class Lifecycle:
    """Takes a scheduler from its creation to its end (spec 04 section 2, spec 10 section 9)."""

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        settings: SchedulerSettings,
        store: JobStore,
        clock: Clock,
        worker_pool: WorkerPool,
        cycle: FireCycle,
        notifier: Notifier,
        gate: FiringGate | None = None,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._gate = gate
        self._heartbeat = heartbeat
        self._identity = scheduler.identity
        self._settings = settings
        self._store = store
        self._clock = clock
        self._workers = worker_pool
        self._loop = cycle.loop
        self._completions = cycle.completions
        self._releasing = cycle.releasing
        self._backoff = cycle.backoff
        self._executing = cycle.executing
        self._notifier = notifier
        self._phase = _Phase.CREATED
        self._changing = asyncio.Lock()
        self._plugins: list[Plugin] = []
        self._plugins_started = 0
        self._delayed: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[ShutdownReport] | None = None
        self._others_ended: asyncio.Future[ShutdownReport] | None = None
        self._report = ShutdownReport()
        self.running_since: datetime | None = None

    # What it is -----------------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither stands by nor was shut down."""
        return self._phase is _Phase.RUNNING

    @property
    def is_shutting_down(self) -> bool:
        """Whether a shutdown has begun."""
        return self._phase in {_Phase.SHUTTING_DOWN, _Phase.CLOSED}

    @property
    def is_closed(self) -> bool:
        """Whether it has been shut down."""
        return self._phase is _Phase.CLOSED

    def check_open(self) -> None:
        """Refuse to go on when the scheduler has been shut down.

        Raises:
            SchedulerError: it has.
        """
        if self._phase is _Phase.CLOSED:
            raise SchedulerError(
                f"scheduler {self._identity.scheduler_name!r} has been shut down: make a new one; "
                "to stop for a while, use standby() and start()"
            )

    # Creation -------------------------------------------------------------------------------------------------

    async def initialize(self, plugins: Mapping[str, Plugin]) -> None:
        """Get everything ready; what was ready is shut down again when something fails."""
        if self._phase is not _Phase.CREATED:
            raise SchedulerError(f"scheduler {self._identity.scheduler_name!r} is {self._phase.value} already")
        undo: list[Callable[[], Awaitable[Any]]] = [
            part.close for part in (self._heartbeat, self._gate) if part is not None
        ]
        try:
            undo.append(self._workers.shutdown)
            await self._workers.initialize()
            undo.append(self._store.shutdown)
            await self._store.initialize(self._identity)
            for name, plugin in plugins.items():
                undo.append(plugin.shutdown)
                await plugin.initialize(name, self._scheduler)
        except BaseException:
            self._phase = _Phase.CLOSED
            for step in reversed(undo):
                await _quietly(step)
            raise
        self._plugins = list(plugins.values())
        self._phase = _Phase.INITIALIZED

    # Start and standby ----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start, or go on after standby; a running scheduler stays as it is."""
        self._check_startable()
        if self._is_firing:
            return
        async with self._changing:
            if self._phase is _Phase.CREATED:
                await self.initialize({})
        await self._notifier.tell(SchedulerListener.scheduler_starting)
        async with self._changing:
            if self._is_firing:  # somebody else was faster
                return
            await self._start_store()
            await self._start_plugins()
            self._check_startable()
            self._loop.resume()
            self._phase = _Phase.RUNNING
        await self._notifier.tell(SchedulerListener.scheduler_started)

    def start_delayed(self, delay: timedelta) -> None:
        """Start in the background, after a while; a failure is logged."""
        _check_span("delay", delay)
        self._check_startable()
        task = asyncio.get_running_loop().create_task(self._start_later(delay), name="quartzite-start")
        self._delayed.add(task)
        task.add_done_callback(self._delayed.discard)

    async def standby(self) -> None:
        """Fire nothing until the next start; running jobs go on."""
        self.check_open()
        if not self.is_running:
            return
        async with self._changing:
            self._phase = _Phase.STANDBY
            await self._store.scheduler_paused()
            await self._loop.pause()
        await self._notifier.tell(SchedulerListener.scheduler_in_standby_mode)

    @property
    def _is_firing(self) -> bool:
        return self.is_running and self._loop.is_running

    def _check_startable(self) -> None:
        if self.is_shutting_down:
            raise SchedulerError(
                f"scheduler {self._identity.scheduler_name!r} is {self._phase.value} and can not be started: make a "
                "new one; to stop for a while, use standby() and start()"
            )

    async def _start_later(self, delay: timedelta) -> None:
        await self._clock.sleep(delay.total_seconds())
        try:
            with self._clock.busy("delayed start"):
                await self.start()
        except Exception:
            logger.exception("The delayed start failed.", extra={"scheduler": self._identity.scheduler_name})

    async def _start_store(self) -> None:
        if self.running_since is not None:
            await self._store.scheduler_resumed()
            return
        # A store that refuses is asked again by the next start: only then has it recovered what was left.
        await self._store.scheduler_started()
        self.running_since = self._clock.now()

    async def _start_plugins(self) -> None:
        while self._plugins_started < len(self._plugins):
            await self._plugins[self._plugins_started].start()
            self._plugins_started += 1

    # Shutdown -------------------------------------------------------------------------------------------------

    async def shutdown(self, *, wait: bool, timeout: timedelta | None) -> ShutdownReport:
        """End everything, in a task of its own that cancelling the caller does not stop."""
        if timeout is not None:
            _check_span("timeout", timeout)
        own = own_task.get()
        inside = own is not None and own[0] is self._executing
        loop = asyncio.get_running_loop()
        first = self._closing is None
        if self._closing is None:
            self._phase = _Phase.SHUTTING_DOWN
            self._others_ended = loop.create_future()
            self._closing = loop.create_task(self._shut_down(wait=wait, timeout=timeout), name="quartzite-shutdown")
        if not inside:
            return await asyncio.shield(self._closing)
        # Code of the engine and its jobs must not wait for itself. A job that is the first to ask waits for the others.
        if first and own is not None and own[1] is not None and self._others_ended is not None:
            return await asyncio.shield(self._others_ended)
        return self._reported()

    async def _shut_down(self, *, wait: bool, timeout: timedelta | None) -> ShutdownReport:
        own = own_task.get()
        if own is None or own[0] is not self._executing:
            # A listener or plugin that hears of the shutdown and asks for one must not wait for itself.
            own_task.set((self._executing, None))
        deadline = None if timeout is None else self._clock.monotonic() + timeout.total_seconds()
        for task in self._delayed:
            task.cancel()
        self._loop.hold()
        if self.running_since is not None:
            await _quietly(self._store.scheduler_paused)
        await self._notifier.tell(SchedulerListener.scheduler_in_standby_mode)
        released = await self._loop.halt(wait=wait, timeout=timeout)
        self._report = ShutdownReport(released=tuple(trigger.key for trigger in released))
        await self._notifier.tell(SchedulerListener.scheduler_shutting_down)
        if self._interrupts(wait=wait):
            self._executing.interrupt_all("the scheduler is shutting down")
        self._backoff.close(grace=_RETRY_GRACE)
        await self._end_workers(wait=wait, deadline=deadline)
        return await self._close()

    def _interrupts(self, *, wait: bool) -> bool:
        settings = self._settings
        return settings.interrupt_jobs_on_shutdown_with_wait if wait else settings.interrupt_jobs_on_shutdown

    async def _end_workers(self, *, wait: bool, deadline: float | None) -> None:
        left = None if deadline is None else timedelta(seconds=max(0.0, deadline - self._clock.monotonic()))
        await _quietly(lambda: self._workers.shutdown(wait=wait, timeout=left))
        own = own_task.get()
        if self._others_ended is not None:
            self._others_ended.set_result(self._reported())
        if own is not None and own[0] is self._executing and own[1] is not None:
            await self._own_run_ended(own[1], deadline)

    async def _own_run_ended(self, run: asyncio.Task[Any], deadline: float | None) -> None:
        """Wait for the run that asked for the shutdown: what comes next would take the store from under it."""
        ended = asyncio.Event()
        run.add_done_callback(lambda _: ended.set())
        if run.done():
            return
        if deadline is None:
            await ended.wait()
        else:
            await self._clock.wait(ended, max(0.0, deadline - self._clock.monotonic()))

    async def _close(self) -> ShutdownReport:
        self._backoff.close()
        await self._bounded(self._releasing.close)
        await self._bounded(self._completions.close)
        self._report = self._reported()
        self._phase = _Phase.CLOSED
        for plugin in self._plugins:
            await self._bounded(plugin.shutdown)
        await self._bounded(self._store.shutdown)
        if self._gate is not None:
            await self._bounded(self._gate.close)
        if self._heartbeat is not None:  # last: whatever still runs above needs it
            await self._bounded(self._heartbeat.close)
        await self._notifier.tell(SchedulerListener.scheduler_shutdown)
        return self._report

    async def _bounded(self, step: Callable[[], Awaitable[Any]]) -> None:
        """Do one of the last steps; one that hangs is given up, so that the others are done."""
        ended = asyncio.Event()
        task = asyncio.ensure_future(_quietly(step))
        task.add_done_callback(lambda _: ended.set())
        if not await self._clock.wait(ended, _STEP_LIMIT.total_seconds()):
            logger.error("A step of the shutdown did not end in time.", extra={"step": _name_of(step)})
            task.cancel()

    def _reported(self) -> ShutdownReport:
        if self._phase is _Phase.CLOSED:
            return self._report
        running = tuple(RunningJob.of(context) for context in self._executing.contexts())
        return ShutdownReport(released=self._report.released, left_running=running)


async def _quietly(step: Callable[[], Awaitable[Any]]) -> None:
    """Do one step of an ending: the next one is done whatever happens."""
    try:
        await step()
    except (Exception, SystemExit):  # a plugin that exits must not end the event loop in the middle of the shutdown
        logger.exception("A step of the shutdown failed.", extra={"step": _name_of(step)})


def _name_of(step: Callable[[], Awaitable[Any]]) -> str:
    return getattr(step, "__qualname__", repr(step))


def _check_span(what: str, span: timedelta) -> None:
    if not isinstance(span, timedelta) or span < timedelta(0):
        raise InvalidValueError(f"{what} is {span!r}: give a timedelta that is not negative")
