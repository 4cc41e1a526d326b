"""Schedulers for tests, put together by hand: every part of one can be chosen."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from quartzite.abc import Clock, FiringGate, JobFactory, JobStore, SchedulerListener, WorkerPool
from quartzite.engine.instance_id import HostInstanceIdGenerator
from quartzite.engine.job_factory import SimpleJobFactory
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.signaler import SchedulerSignaler
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.engine.workers import AsyncWorkerPool
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import TriggerKey
from quartzite.serialization.json import JsonSerializer
from quartzite.settings import SchedulerSettings
from quartzite.stores.ram.store import RamJobStore
from quartzite.testing import FakeClock, RecordingSchedulerListener
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import SimpleTrigger

WrapStore = Callable[[JobStore], JobStore]


def make_scheduler(
    clock: Clock | None = None,
    *,
    wrap_store: WrapStore = lambda store: store,
    job_factory: JobFactory | None = None,
    worker_pool: WorkerPool | None = None,
    listeners: ListenerManager | None = None,
    firing_gate: FiringGate | None = None,
    **settings: Any,
) -> Scheduler:
    """Return a scheduler on a store in memory, which ``wrap_store`` may decorate; ``settings`` are those by name."""
    clock = clock or FakeClock()
    checked = SchedulerSettings(**settings)
    signaler, type_loader = SchedulerSignaler(), ImportTypeLoader()
    store = RamJobStore(clock=clock, signaler=signaler, serializer=JsonSerializer())
    return Scheduler(
        settings=checked,
        job_store=wrap_store(store),
        clock=clock,
        signaler=signaler,
        type_loader=type_loader,
        job_factory=job_factory or SimpleJobFactory(type_loader=type_loader),
        worker_pool=worker_pool or AsyncWorkerPool(max_concurrency=checked.max_concurrency, clock=clock),
        listener_manager=listeners or ListenerManager(),
        instance_id_generator=HostInstanceIdGenerator(),
        firing_gate=firing_gate,
    )


@asynccontextmanager
async def running_scheduler(clock: Clock | None = None, **parts: Any) -> AsyncIterator[Scheduler]:
    """Start a scheduler and shut it down at the end, waiting for its jobs; see :func:`make_scheduler`."""
    scheduler = make_scheduler(clock, **parts)
    await scheduler.start()
    try:
        yield scheduler
    finally:
        await scheduler.shutdown(wait=True)


def listen(scheduler: Scheduler, listener: SchedulerListener | None = None) -> RecordingSchedulerListener:
    """Register a scheduler listener, a recording one unless another is given, and return it."""
    chosen = listener or RecordingSchedulerListener()
    scheduler.listener_manager.add_scheduler_listener(chosen)
    return chosen  # type: ignore[return-value]


async def one_shots(scheduler: Scheduler, run: Any, count: int, **fields: Any) -> list[Trigger]:
    """Store a durable job that does ``run`` and ``count`` triggers that fire it once each, now; return the triggers."""
    name = fields.pop("job", "job")
    job = JobBuilder.create(run).with_identity(name).store_durably().build()
    await scheduler.add_job(job, replace=True)
    now = scheduler.clock.now()
    triggers = [
        SimpleTrigger(key=TriggerKey(f"{name}-{number}"), job_key=job.key, **{"start_time": now, **fields})
        for number in range(count)
    ]
    for trigger in triggers:
        await scheduler.schedule_job(trigger)
    return list(triggers)
