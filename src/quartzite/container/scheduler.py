"""SchedulerContainer: the parts of one scheduler, each built once."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from dependency_injector import containers, providers

from quartzite.abc import (
    Clock,
    FiringGate,
    Heartbeat,
    InstanceIdGenerator,
    JobFactory,
    JobStore,
    Semaphore,
    Serializer,
    Signaler,
    TypeLoader,
    WorkerPool,
)
from quartzite.container.activate import create
from quartzite.container.application import ApplicationProviders
from quartzite.container.content import Content, NoContent
from quartzite.container.layers import Layer, layered
from quartzite.container.own import Own
from quartzite.engine.heartbeat import SchedulerHeartbeat
from quartzite.engine.instance_id import HostInstanceIdGenerator
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.signaler import SchedulerSignaler
from quartzite.engine.workers import AsyncWorkerPool
from quartzite.locks.local import LocalSemaphore
from quartzite.settings import SchedulerSettings
from quartzite.stores.ram.store import RamJobStore

__all__ = ["SchedulerContainer"]


def _container_of(dependency: Any) -> Any:
    # providers.Self would lead to the class in a subclass or a copy of the container; a dependency knows its instance.
    return dependency.parent


def _job_factory(parts: Any) -> JobFactory:
    # Derived factories are built by annotation, and theirs names the class below: this one is imported late instead.
    from quartzite.container.job_factory import InjectingJobFactory

    return InjectingJobFactory(parts)


def _settings(name: str, configured: dict[str, Any]) -> SchedulerSettings:
    return SchedulerSettings(**{**configured, "name": name})


def _semaphore(chosen: Semaphore | None) -> Semaphore:
    return chosen or LocalSemaphore()


class SchedulerContainer(containers.DeclarativeContainer):
    """Holds one scheduler's own parts; ``add_quartz`` makes one for each name.

    The parts of two schedulers are different objects, so that nothing is shared by accident. Any part is replaced by
    ``override``, before the container is run; the builder's ``use_*`` verbs do just that. Constructors are matched by
    annotation (see :func:`create`), and a part that is overridden reaches all that ask for its contract.

    To change the graph for good, copy it, since a plain subclass would leave the dependents with the old part::

        @containers.copy(SchedulerContainer)
        class MyScheduler(SchedulerContainer):
            worker_pool = providers.ThreadSafeSingleton(MyPool)

    Attributes:
        name: The scheduler's name.
        parts: This container itself.
        application: The application's own container, or None.
        clock: The only source of time; that of the :class:`QuartzContainer` unless overridden.
        serializer: Likewise.
        type_loader: Likewise.
        configured: The settings that code gave, by name.
        settings: All settings, checked.
        time_zone: Of schedules that name none.
        application_providers: What the application provides, by type and name.
        signaler: How the store tells the scheduler what happened.
        lock_handler: The lock handler that was chosen, or None.
        semaphore: That one, or else the in-process one.
        base_job_store: The store without its layers.
        job_store_layers: What wraps it, innermost first.
        job_store: The store that the scheduler uses.
        job_factory: Builds the job of each firing.
        worker_pool: Runs firings, some at a time.
        instance_id_generator: Makes the id of a node.
        heartbeat: What goes on however busy jobs and the event loop are.
        firing_gate: Decides which firings run on this node; None lets all run.
        listener_manager: The listeners.
        scheduler: The scheduler itself.
        content: Jobs, triggers, calendars, listeners and plugins.
    """

    name: providers.Provider[str] = providers.Dependency(instance_of=str)
    parts: providers.Provider[Any] = providers.Callable(_container_of, name.provider)
    application: providers.Provider[containers.Container | None] = providers.Dependency(default=providers.Object(None))
    clock: providers.Provider[Clock] = providers.Dependency(instance_of=Clock)
    serializer: providers.Provider[Serializer] = providers.Dependency(instance_of=Serializer)
    type_loader: providers.Provider[TypeLoader] = providers.Dependency(instance_of=TypeLoader)

    configured: providers.Provider[dict[str, Any]] = Own(dict)
    settings: providers.Provider[SchedulerSettings] = providers.ThreadSafeSingleton(_settings, name, configured)
    time_zone: providers.Provider[ZoneInfo] = settings.provided.time_zone
    application_providers: providers.Provider[ApplicationProviders] = providers.ThreadSafeSingleton(
        ApplicationProviders, application
    )
    signaler: providers.Provider[Signaler] = providers.ThreadSafeSingleton(create, SchedulerSignaler, parts)
    lock_handler: providers.Provider[Semaphore | None] = providers.Object(None)
    semaphore: providers.Provider[Semaphore] = providers.ThreadSafeSingleton(_semaphore, lock_handler)
    base_job_store: providers.Provider[JobStore] = providers.ThreadSafeSingleton(create, RamJobStore, parts)
    job_store_layers: providers.Provider[list[Layer]] = Own(list)
    job_store: providers.Provider[JobStore] = providers.ThreadSafeSingleton(layered, base_job_store, job_store_layers)
    job_factory: providers.Provider[JobFactory] = providers.ThreadSafeSingleton(_job_factory, parts)
    worker_pool: providers.Provider[WorkerPool] = providers.ThreadSafeSingleton(
        AsyncWorkerPool, max_concurrency=settings.provided.max_concurrency, clock=clock, name=name
    )
    instance_id_generator: providers.Provider[InstanceIdGenerator] = providers.ThreadSafeSingleton(
        HostInstanceIdGenerator
    )
    heartbeat: providers.Provider[Heartbeat] = providers.ThreadSafeSingleton(SchedulerHeartbeat, clock=clock, name=name)
    firing_gate: providers.Provider[FiringGate | None] = providers.Object(None)
    listener_manager: providers.Provider[ListenerManager] = providers.ThreadSafeSingleton(ListenerManager)
    scheduler: providers.Provider[Scheduler] = providers.ThreadSafeSingleton(create, Scheduler, parts)
    content: providers.Provider[Content] = providers.Dependency(
        instance_of=Content, default=providers.ThreadSafeSingleton(NoContent)
    )
