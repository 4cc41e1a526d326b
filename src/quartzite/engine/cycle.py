"""FireCycle: the parts that take turns in firing, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quartzite.abc import Clock, FiringGate, JobFactory, JobStore, WorkerPool
from quartzite.engine.backoff import Backoff
from quartzite.engine.completing import GroupCommit
from quartzite.engine.executing import ExecutingJobs
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.loop import SchedulingLoop
from quartzite.engine.notifying import Notifier
from quartzite.engine.releasing import Releasing
from quartzite.engine.runner import JobRunner
from quartzite.settings import SchedulerSettings

if TYPE_CHECKING:
    from quartzite.engine.scheduler import Scheduler

__all__ = ["FireCycle"]


class FireCycle:
    """What acquires, runs and completes the firings of one scheduler.

    Attributes:
        executing: What runs on this node.
        backoff: Until when a store that fails is asked again.
        completions: Tells the store how firings ended.
        releasing: Gives back what did not fire.
        loop: Drives the others.
    """

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        settings: SchedulerSettings,
        store: JobStore,
        clock: Clock,
        job_factory: JobFactory,
        worker_pool: WorkerPool,
        listener_manager: ListenerManager,
        notifier: Notifier,
        gate: FiringGate | None,
    ) -> None:
        self.executing = ExecutingJobs()
        self.backoff = Backoff(store, clock)
        self.completions = GroupCommit(
            store=store, clock=clock, notifier=notifier, backoff=self.backoff, owner=self.executing
        )
        self.releasing = Releasing(store=store, clock=clock, backoff=self.backoff)
        runner = JobRunner(
            scheduler=scheduler,
            clock=clock,
            job_factory=job_factory,
            worker_pool=worker_pool,
            listener_manager=listener_manager,
            notifier=notifier,
            executing=self.executing,
            completions=self.completions,
            gate=gate,
        )
        self.loop = SchedulingLoop(
            settings=settings,
            store=store,
            clock=clock,
            worker_pool=worker_pool,
            runner=runner,
            executing=self.executing,
            notifier=notifier,
            releasing=self.releasing,
            backoff=self.backoff,
        )
