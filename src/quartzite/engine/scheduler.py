"""Scheduler: what users hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from quartzite.abc import (
    Clock,
    FiringGate,
    Heartbeat,
    InstanceIdGenerator,
    JobFactory,
    JobStore,
    Plugin,
    SchedulerListener,
    Signaler,
    TypeLoader,
    WorkerPool,
)
from quartzite.engine.checkup import Checkup
from quartzite.engine.core import SchedulerCore
from quartzite.engine.cycle import FireCycle
from quartzite.engine.health import Health
from quartzite.engine.instance_id import settle_identity
from quartzite.engine.lifecycle import Lifecycle
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.metadata import SchedulerMetadata, installed_version
from quartzite.engine.notifying import Notifier
from quartzite.engine.pausing import Pausing
from quartzite.engine.querying import Querying
from quartzite.engine.scheduling import Scheduling
from quartzite.engine.shutdown import ShutdownReport
from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.model.acquisition import ExecutionLimits
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.keys import JobKey
from quartzite.settings import SchedulerSettings

__all__ = ["Scheduler"]

_NO_PLUGINS: Mapping[str, Plugin] = {}


class Scheduler(Scheduling, Pausing, Querying):
    """Stores jobs and triggers and runs the jobs when their triggers are due (spec 04).

    A scheduler that was made does nothing yet: no task, no thread. ``initialize`` gets its parts ready, ``start``
    begins to fire. It belongs to the event loop that started it; its methods are called there.

    Args:
        settings: How it works.
        job_store: Where its data lives.
        clock: Its only source of time.
        signaler: How the store tells it what happened; it attaches itself.
        type_loader: Finds jobs by their stored names.
        job_factory: Builds the job of each firing.
        worker_pool: Runs firings, some at a time.
        listener_manager: Its listeners.
        instance_id_generator: Makes its instance id when it needs one.
        firing_gate: Decides which firings run on this node; None lets all run.
        heartbeat: Closed after everything else; None when no part has one.

    Raises:
        SchedulerConfigError: the instance id does not go with the store.
    """

    def __init__(
        self,
        *,
        settings: SchedulerSettings,
        job_store: JobStore,
        clock: Clock,
        signaler: Signaler,
        type_loader: TypeLoader,
        job_factory: JobFactory,
        worker_pool: WorkerPool,
        listener_manager: ListenerManager,
        instance_id_generator: InstanceIdGenerator,
        firing_gate: FiringGate | None = None,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self._settings = settings
        self._store = job_store
        self._clock = clock
        self._workers = worker_pool
        self._listeners = listener_manager
        self._identity = settle_identity(settings, instance_id_generator, clustered=job_store.clustered)
        self._context = dict(settings.context)
        self._notifier = Notifier(listener_manager)
        cycle = FireCycle(
            scheduler=self,
            settings=settings,
            store=job_store,
            clock=clock,
            job_factory=job_factory,
            worker_pool=worker_pool,
            listener_manager=listener_manager,
            notifier=self._notifier,
            gate=firing_gate,
        )
        self._executing, self._loop = cycle.executing, cycle.loop
        self._lifecycle = Lifecycle(
            scheduler=self,
            settings=settings,
            store=job_store,
            clock=clock,
            worker_pool=worker_pool,
            cycle=cycle,
            notifier=self._notifier,
            gate=firing_gate,
            heartbeat=heartbeat,
        )
        self._checkup = Checkup(settings=settings, clock=clock, lifecycle=self._lifecycle, cycle=cycle)
        self._core = SchedulerCore(
            store=job_store,
            clock=clock,
            time_zone=settings.time_zone,
            type_loader=type_loader,
            notifier=self._notifier,
            signal=self._loop.signal,
            lifecycle=self._lifecycle,
            gate=firing_gate,
        )
        signaler.attach(self)

    def __repr__(self) -> str:
        return f"<Scheduler {self.name!r}, node {self.instance_id!r}>"

    # Who it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name that all nodes of a cluster share."""
        return self._identity.scheduler_name

    @property
    def instance_id(self) -> str:
        """The id of this node."""
        return self._identity.instance_id

    @property
    def identity(self) -> SchedulerIdentity:
        """Name and instance id."""
        return self._identity

    @property
    def context(self) -> dict[str, Any]:
        """Values by name that all jobs of this scheduler may read and change."""
        return self._context

    @property
    def clock(self) -> Clock:
        """The only source of time."""
        return self._clock

    @property
    def time_zone(self) -> ZoneInfo:
        """Zone of schedules that name none."""
        return self._settings.time_zone

    @property
    def listener_manager(self) -> ListenerManager:
        """Where listeners are registered."""
        return self._listeners

    @property
    def notifier(self) -> Notifier:
        """What tells the listeners; for signalers."""
        return self._notifier

    # Life -----------------------------------------------------------------------------------------------------

    async def initialize(self, plugins: Mapping[str, Plugin] = _NO_PLUGINS) -> None:
        """Get the workers, the store and the plugins ready, in this order; called once, before anything else.

        When something fails, what was ready is shut down in reverse, and the scheduler can not be used any more.

        Args:
            plugins: Plugins by name. They are initialized here, started with the first ``start``, shut down at the end.

        Raises:
            SchedulerError: it was initialized already, or a part failed.
        """
        await self._lifecycle.initialize(plugins)

    async def start(self) -> None:
        """Begin to fire, or go on after standby. A running scheduler stays as it is.

        Raises:
            SchedulerError: it is shutting down or has been shut down.
        """
        await self._lifecycle.start()

    async def start_delayed(self, delay: timedelta) -> None:
        """Start after a while, in the background; a failure is logged.

        Raises:
            InvalidValueError: the delay is negative, or no timedelta.
            SchedulerError: it is shutting down or has been shut down.
        """
        self._lifecycle.start_delayed(delay)

    async def standby(self) -> None:
        """Stop firing until the next ``start``; running jobs go on.

        What was acquired and has not fired is given back. Fire times that pass in standby are misfires afterwards.
        """
        await self._lifecycle.standby()

    async def shutdown(self, wait: bool = False, *, timeout: timedelta | None = None) -> ShutdownReport:
        """End the scheduler for good, and report what was given back and what was left running.

        Triggers that were acquired and not started are released. Cancelling the call does not stop the shutdown. A
        second call waits for the first one, and its arguments do not count. Called by a job of this scheduler it
        returns without waiting for that job; the store is closed when the job has ended.

        Args:
            wait: Wait for running jobs.
            timeout: How long at most.

        Raises:
            InvalidValueError: the time limit is negative, or no timedelta.
        """
        return await self._lifecycle.shutdown(wait=wait, timeout=timeout)

    @property
    def is_started(self) -> bool:
        """Whether it fires: started, not in standby, not shutting down."""
        return self._lifecycle.is_running

    @property
    def in_standby_mode(self) -> bool:
        """Whether it does not fire: not started yet, in standby, or shut down."""
        return not self._lifecycle.is_running

    @property
    def is_shutting_down(self) -> bool:
        """Whether a shutdown has begun."""
        return self._lifecycle.is_shutting_down

    @property
    def is_shutdown(self) -> bool:
        """Whether it has been shut down."""
        return self._lifecycle.is_closed

    def health(self) -> Health:
        """Return whether it does its work, and what keeps it from that."""
        return self._checkup.health()

    def get_metadata(self) -> SchedulerMetadata:
        """Return what it is made of and how far it got."""
        return SchedulerMetadata(
            scheduler_name=self.name,
            scheduler_instance_id=self.instance_id,
            scheduler_type=_type_name(self),
            is_remote=False,
            started=self.is_started,
            in_standby_mode=self.in_standby_mode,
            shutdown=self.is_shutdown,
            running_since=self._lifecycle.running_since,
            jobs_executed=self._executing.started,
            firings_skipped=self._executing.skipped,
            job_store_type=_type_name(getattr(self._store, "inner_job_store", self._store)),
            job_store_supports_persistence=self._store.supports_persistence,
            job_store_clustered=self._store.clustered,
            worker_pool_type=_type_name(self._workers),
            worker_pool_size=self._workers.size,
            version=installed_version(),
        )

    # What runs ------------------------------------------------------------------------------------------------

    def get_currently_executing_jobs(self) -> list[JobContext]:
        """Return the contexts of the jobs that run on this node: a snapshot."""
        return self._executing.contexts()

    async def interrupt(self, key: JobKey) -> bool:
        """Tell every run of a job on this node to stop; tell whether there was one.

        The token of the run is set; whether the job looks at it is its own affair. A job with
        ``@job(hard_cancel=True)`` is cancelled as well.
        """
        self._lifecycle.check_open()
        found = self._executing.interrupt_job(JobKey.checked(key))
        if found:
            await self._notifier.tell(SchedulerListener.job_interrupted, key)
        return found

    async def interrupt_fire_instance(self, fire_instance_id: str) -> bool:
        """Tell one run on this node to stop, see :meth:`interrupt`; tell whether it was there."""
        self._lifecycle.check_open()
        return self._executing.interrupt_fire_instance(fire_instance_id)

    def set_execution_limits(self, limits: ExecutionLimits | None) -> None:
        """Limit how many firings of an execution group run on this node, from the next acquisition on."""
        self._lifecycle.check_open()
        if limits is not None and not isinstance(limits, ExecutionLimits):
            raise InvalidValueError(
                f"{limits!r} is no ExecutionLimits: give ExecutionLimits({{group: number}}), or None"
            )
        self._loop.limits = limits
        self._loop.signal.set(None)

    def get_execution_limits(self) -> ExecutionLimits | None:
        """Return the limits of this node, None when there are none."""
        return self._loop.limits

    def signal_scheduling_change(self, candidate: datetime | None) -> None:
        """Wake the scheduling loop: something may fire at ``candidate``, or at a time not known. From any thread."""
        self._loop.signal.set(candidate)


def _type_name(part: object) -> str:
    return f"{type(part).__module__}:{type(part).__qualname__}"
