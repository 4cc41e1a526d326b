"""PartVerbs: what one scheduler is made of, and its settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Self, TypeAlias, overload
from zoneinfo import ZoneInfo

from dependency_injector.providers import Provider, ThreadSafeSingleton

from quartzite.abc import (
    Clock,
    InstanceIdGenerator,
    JobFactory,
    JobStore,
    Semaphore,
    Serializer,
    Signaler,
    TypeLoader,
    WorkerPool,
)
from quartzite.builder.core import BuilderCore
from quartzite.builder.job_locks import DEFAULT_AT_MOST, JobLocksByJob, job_locks, locks_by_key
from quartzite.builder.store import StoreBuilder
from quartzite.container.choose import Choice
from quartzite.container.layers import Layer, layer_of
from quartzite.container.scheduler import SchedulerContainer
from quartzite.errors import SchedulerConfigError
from quartzite.leases.decorator import JobLock
from quartzite.leases.provider import LockProvider
from quartzite.model.acquisition import ExecutionLimits, ExecutionLimitsBuilder
from quartzite.settings import SchedulerSettings
from quartzite.stores.ram.store import RamJobStore
from quartzite.stores.sql.store import SqlJobStore

__all__ = ["PartVerbs"]

Limits: TypeAlias = (
    ExecutionLimits | Mapping[str | None, int | None] | Callable[[ExecutionLimitsBuilder], ExecutionLimitsBuilder]
)


class PartVerbs(BuilderCore):
    """The verbs that choose parts and give settings."""

    # The job store ----------------------------------------------------------------------------------------------

    def use_ram_store(self, *, misfire_threshold: timedelta | None = None) -> Self:
        """Keep jobs and triggers in memory, as is the default.

        Args:
            misfire_threshold: How late a firing may be before it counts as missed; 5 s when not given.

        Raises:
            SchedulerConfigError: a job store was chosen already.
        """
        values = {} if misfire_threshold is None else {"misfire_threshold": misfire_threshold}
        return self._choose_store(RamJobStore, "use_ram_store", values=values)

    def use_persistent_store(self, choose: Callable[[StoreBuilder], StoreBuilder]) -> Self:
        """Keep jobs and triggers in a database, where they outlive the process.

        ::

            q.use_persistent_store(lambda store: store.use_sqlite("schedule.db"))
            q.use_persistent_store(
                lambda store: store.use_postgresql("postgresql://db/billing").configure(table_prefix="BILLING_")
            )

        Args:
            choose: Is given a :class:`StoreBuilder`, and returns it.

        Raises:
            SchedulerConfigError: a job store was chosen already, no database was chosen, or a setting can not be used.
        """
        store = StoreBuilder(self.use_lock_handler)
        choose(store)
        return self._choose_store(SqlJobStore, "use_persistent_store", values=store.values())

    @overload
    def use_job_store(self, store: type[JobStore], *, options: object = None) -> Self: ...
    @overload
    def use_job_store(self, store: JobStore | Provider[JobStore]) -> Self: ...
    @overload
    def use_job_store(self, store: Callable[[SchedulerContainer], JobStore]) -> Self: ...
    def use_job_store(
        self,
        store: Choice[JobStore] | Provider[JobStore],
        *,
        options: object = None,
    ) -> Self:
        """Keep jobs and triggers in a store of your own.

        ::

            q.use_job_store(DocumentStore)
            q.use_job_store(DocumentStore, options=DocumentOptions(url="..."))
            q.use_job_store(existing_store)
            q.use_job_store(lambda parts: MetricsStore(create(RamJobStore, parts), meter))

        Args:
            store: A class, an instance, a provider or a factory.
            options: Given to the argument of a class that is annotated with their type.

        Raises:
            SchedulerConfigError: a job store was chosen already, or this is none.
        """
        return self._choose_store(store, "use_job_store", options=options)

    @overload
    def decorate_job_store(self, layer: type[JobStore], *, options: object = None) -> Self: ...
    @overload
    def decorate_job_store(self, layer: Callable[[JobStore], JobStore]) -> Self: ...
    def decorate_job_store(self, layer: type[JobStore] | Layer, *, options: object = None) -> Self:
        """Wrap the job store, whichever it is, in another one; the first layer is the innermost.

        Args:
            layer: A function of the store inside, or a class: the store inside goes to the argument that is annotated
                with :class:`JobStore`, the others are filled in by annotation.
            options: Given to the argument of a class that is annotated with their type.

        Raises:
            SchedulerConfigError: this is neither, or the container is running.
        """
        self._refuse_while_running("decorate_job_store")
        self._parts.job_store_layers().append(layer_of(layer, self._parts, options=options))
        return self

    @overload
    def use_lock_handler(self, handler: type[Semaphore], *, options: object = None) -> Self: ...
    @overload
    def use_lock_handler(self, handler: Semaphore | Provider[Semaphore]) -> Self: ...
    @overload
    def use_lock_handler(self, handler: Callable[[SchedulerContainer], Semaphore]) -> Self: ...
    def use_lock_handler(self, handler: Choice[Semaphore] | Provider[Semaphore], *, options: object = None) -> Self:
        """Guard the store with locks of your own; the store initializes them.

        Args:
            handler: A class, an instance, a provider or a factory.
            options: Given to the argument of a class that is annotated with their type.

        Raises:
            SchedulerConfigError: a lock handler was chosen already, or this is none.
        """
        if self._parts.lock_handler.last_overriding is not None:
            raise SchedulerConfigError(
                f"use_lock_handler: scheduler {self.scheduler_name!r} has a lock handler already"
            )
        return self._choose(self._parts.lock_handler, Semaphore, handler, "use_lock_handler", options)

    @overload
    def use_job_locks(
        self,
        provider: type[LockProvider],
        *,
        options: object = None,
        default_at_most_for: timedelta = ...,
        default_at_least_for: timedelta = ...,
        jobs: JobLocksByJob | None = None,
        keep_alive: bool = True,
    ) -> Self: ...
    @overload
    def use_job_locks(
        self,
        provider: LockProvider | Provider[LockProvider] | Callable[[SchedulerContainer], LockProvider],
        *,
        default_at_most_for: timedelta = ...,
        default_at_least_for: timedelta = ...,
        jobs: JobLocksByJob | None = None,
        keep_alive: bool = True,
    ) -> Self: ...
    def use_job_locks(
        self,
        provider: Choice[LockProvider] | Provider[LockProvider],
        *,
        options: object = None,
        default_at_most_for: timedelta = DEFAULT_AT_MOST,
        default_at_least_for: timedelta = timedelta(0),
        jobs: JobLocksByJob | None = None,
        keep_alive: bool = True,
    ) -> Self:
        """Let each tick of the schedule run on one of several equal nodes, without a database for scheduling.

        Every node runs a schedule of its own, in memory; who claims a trigger's tick first runs its job, and the
        others hear of it by ``firing_skipped``. Triggers need the same keys on all nodes, and a schedule that depends
        on its start, a start time; an interval without one begins at the Unix epoch.

        ::

            q.use_job_locks(lambda parts: RedisLockProvider("redis://cache:6379", clock=parts.clock()))

        Args:
            provider: A class, an instance, a provider or a factory.
            options: Given to the argument of a class that is annotated with their type.
            default_at_most_for: How long the lease of a job lasts when its node dies.
            default_at_least_for: How long at least, however short the job is.
            jobs: What holds for single jobs, by their key, name, function or class; None runs one on every node.
            keep_alive: Whether the lease of a job that must not overlap is extended for as long as the job runs.

        Raises:
            SchedulerConfigError: this is no provider, or job locks were chosen already; when the scheduler is built:
                its store is clustered, and so gives each firing to one node by itself.
            InvalidValueError: the durations do not go together.
        """
        if self._parts.firing_gate.last_overriding is not None:
            raise SchedulerConfigError(f"use_job_locks: scheduler {self.scheduler_name!r} has job locks already")
        make = self._maker(LockProvider, provider, "use_job_locks", options)
        defaults = JobLock(at_most_for=default_at_most_for, at_least_for=default_at_least_for)
        build = partial(job_locks, self._parts, make, defaults, locks_by_key(jobs or {}), keep_alive=keep_alive)
        self._parts.firing_gate.override(ThreadSafeSingleton(build))
        return self

    # Other parts ------------------------------------------------------------------------------------------------

    def use_clock(self, clock: Choice[Clock] | Provider[Clock], *, options: object = None) -> Self:
        """Take the time from a clock of this scheduler's own."""
        return self._choose(self._parts.clock, Clock, clock, "use_clock", options)

    def use_serializer(self, serializer: Choice[Serializer] | Provider[Serializer], *, options: object = None) -> Self:
        """Turn job data, triggers and calendars into bytes in a way of your own."""
        return self._choose(self._parts.serializer, Serializer, serializer, "use_serializer", options)

    def use_type_loader(self, loader: Choice[TypeLoader] | Provider[TypeLoader], *, options: object = None) -> Self:
        """Find jobs by their stored names in a way of your own."""
        return self._choose(self._parts.type_loader, TypeLoader, loader, "use_type_loader", options)

    def use_job_factory(self, factory: Choice[JobFactory] | Provider[JobFactory], *, options: object = None) -> Self:
        """Build jobs in a way of your own."""
        return self._choose(self._parts.job_factory, JobFactory, factory, "use_job_factory", options)

    def use_worker_pool(self, pool: Choice[WorkerPool] | Provider[WorkerPool], *, options: object = None) -> Self:
        """Run firings in a pool of your own."""
        return self._choose(self._parts.worker_pool, WorkerPool, pool, "use_worker_pool", options)

    def use_signaler(self, signaler: Choice[Signaler] | Provider[Signaler], *, options: object = None) -> Self:
        """Bring what the store tells to the scheduler in a way of your own."""
        return self._choose(self._parts.signaler, Signaler, signaler, "use_signaler", options)

    def use_instance_id_generator(
        self, generator: Choice[InstanceIdGenerator] | Provider[InstanceIdGenerator], *, options: object = None
    ) -> Self:
        """Make the ids of nodes in a way of your own."""
        return self._choose(
            self._parts.instance_id_generator, InstanceIdGenerator, generator, "use_instance_id_generator", options
        )

    # Settings ---------------------------------------------------------------------------------------------------

    def configure(self, **settings: Any) -> Self:
        """Give settings by name; see :class:`SchedulerSettings` for all of them.

        Raises:
            SchedulerConfigError: a setting is unknown or out of its range, or the name of the scheduler is among them.
        """
        self._refuse_while_running("configure")
        if "name" in settings:
            raise SchedulerConfigError("configure: a scheduler gets its name from add_quartz(container, name)")
        configured = self._parts.configured()
        SchedulerSettings(**{**configured, **settings, "name": self.scheduler_name})
        configured.update(settings)
        return self

    def use_workers(self, max_concurrency: int) -> Self:
        """Let at most so many jobs run at once, threads included."""
        return self.configure(max_concurrency=max_concurrency)

    def use_time_zone(self, time_zone: ZoneInfo | str) -> Self:
        """Set the zone of schedules that name none; UTC otherwise."""
        return self.configure(time_zone=time_zone)

    def use_execution_limits(self, limits: Limits) -> Self:
        """Limit how many firings of an execution group run on this node at once.

        ::

            q.use_execution_limits({"reports": 2, "*": 5})
            q.use_execution_limits(lambda limits: limits.for_group("reports", 2).for_default_group(10))
        """
        chosen = limits(ExecutionLimitsBuilder()).build() if callable(limits) else limits
        return self.configure(execution_limits=chosen)

    def _choose_store(
        self, store: Any, verb: str, *, options: object = None, values: dict[str, Any] | None = None
    ) -> Self:
        if self._parts.base_job_store.last_overriding is not None:
            raise SchedulerConfigError(f"{verb}: scheduler {self.scheduler_name!r} has a job store already: choose one")
        return self._choose(self._parts.base_job_store, JobStore, store, verb, options, values)
