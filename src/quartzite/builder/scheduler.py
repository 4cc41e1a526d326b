"""SchedulerBuilder: the fluent verbs that say what one scheduler is made of and what it carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Self, TypeAlias, TypeVar, overload
from zoneinfo import ZoneInfo

from dependency_injector.providers import Provider

from quartzite.abc import (
    Clock,
    InstanceIdGenerator,
    JobFactory,
    JobListener,
    JobStore,
    Plugin,
    SchedulerListener,
    Semaphore,
    Serializer,
    Signaler,
    TriggerListener,
    TypeLoader,
    WorkerPool,
)
from quartzite.builder.content import DeclaredContent
from quartzite.builder.declarations import DeclaredTrigger, JobSource, TriggerSource, declared_job, declared_trigger
from quartzite.builder.scheduling_data import ContentRules, NamedCalendar
from quartzite.calendars.base import Calendar
from quartzite.container.choose import Choice, choose, maker_of
from quartzite.container.layers import Layer, layer_of
from quartzite.container.scheduler import SchedulerContainer
from quartzite.container.scheduler_map import SchedulerMap
from quartzite.errors import SchedulerConfigError
from quartzite.model.acquisition import ExecutionLimits, ExecutionLimitsBuilder
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import Matcher
from quartzite.settings import SchedulerSettings
from quartzite.stores.ram.store import RamJobStore

__all__ = ["SchedulerBuilder"]

T = TypeVar("T")
JobTarget: TypeAlias = type[Any] | Callable[..., Any]
Limits: TypeAlias = (
    ExecutionLimits | Mapping[str | None, int | None] | Callable[[ExecutionLimitsBuilder], ExecutionLimitsBuilder]
)


class SchedulerBuilder:
    """Says what one scheduler is made of and what it carries; every verb returns the builder.

    A part is chosen as a **class**, built by annotation from the scheduler's own parts first and the application's
    providers then; as an **instance**; as a **provider** of the application's container; or as a **factory**, any
    other callable, called with the scheduler's parts (see :func:`create`). Nothing is built before ``running(...)``.

    Choosing a second job store or lock handler is an error; of every other part and setting the last choice holds.
    """

    def __init__(self, parts: SchedulerContainer, content: DeclaredContent, schedulers: SchedulerMap) -> None:
        self._parts = parts
        self._content = content
        self._schedulers = schedulers

    @property
    def parts(self) -> SchedulerContainer:
        """The scheduler's container, for what no verb says."""
        return self._parts

    @property
    def scheduler_name(self) -> str:
        """The scheduler's name."""
        return self._parts.name()

    # The job store ----------------------------------------------------------------------------------------------

    def use_ram_store(self, *, misfire_threshold: timedelta | None = None) -> Self:
        """Keep jobs and triggers in memory, as is the default.

        Args:
            misfire_threshold: How late a firing may be before it counts as missed; 5 s when not given.

        Raises:
            SchedulerConfigError: a job store was chosen already.
        """
        values = {} if misfire_threshold is None else {"misfire_threshold": misfire_threshold}
        return self._choose_store(JobStore, RamJobStore, "use_ram_store", values=values)

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
        return self._choose_store(JobStore, store, "use_job_store", options=options)

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

    # Content ----------------------------------------------------------------------------------------------------

    def schedule(
        self,
        job: JobSource,
        schedule: TriggerSource,
        *,
        key: JobKey | str | None = None,
        trigger_key: TriggerKey | str | None = None,
        data: Mapping[str, Any] | None = None,
        description: str | None = None,
        start_at: datetime | None = None,
        end_at: datetime | None = None,
        priority: int | None = None,
        calendar_name: str | None = None,
        execution_group: str | None = None,
    ) -> Self:
        """Declare a job with a trigger: ``q.schedule(send_digest, every(minutes=5))``.

        What is stored already with the same definition is not disturbed at start-up; with another definition it is
        changed without an extra run. A start time that is not given is no part of a definition.

        Args:
            job: A function, a class with an ``execute`` method, or a :class:`JobBuilder` or :class:`JobDetail`.
            schedule: ``every(...)``, ``cron(...)`` or one of their kin, or a :class:`TriggerBuilder`.
            key: Key of the job, a text for a name in the group DEFAULT; None names it after its function or class.
            trigger_key: Key of the trigger; None names it like the job.
            data: Job data.
            description: Of the job, for people.
            start_at: When the schedule begins, an aware instant; None for when it is scheduled.
            end_at: When it ends, an aware instant.
            priority: Among equal fire times the higher number fires first.
            calendar_name: The calendar whose excluded times are skipped.
            execution_group: Counted against execution limits.

        Raises:
            SchedulerConfigError: a key is taken.
            InvalidValueError: a value is refused.
        """
        detail = declared_job(job, key=key, data=data, description=description)
        trigger = declared_trigger(
            schedule,
            job_key=detail.key,
            key=trigger_key,
            start_time=start_at,
            end_time=end_at,
            priority=priority,
            calendar_name=calendar_name,
            execution_group=execution_group,
        )
        return self._declare(detail, trigger)

    def schedule_job(self, job: JobSource, trigger: TriggerSource) -> Self:
        """Declare a job with a trigger, both as builders say: the long form of :meth:`schedule`.

        ::

            q.schedule_job(
                JobBuilder.create(SendDigest).with_identity("digest", "mail").request_recovery(),
                TriggerBuilder.create().with_schedule(cron("0 0 8 * * ?")).with_priority(8),
            )
        """
        return self.schedule(job, trigger)

    def add_job(
        self,
        job: JobSource,
        *,
        key: JobKey | str | None = None,
        data: Mapping[str, Any] | None = None,
        description: str | None = None,
        durable: bool | None = None,
    ) -> Self:
        """Declare a job that has its triggers elsewhere, or none.

        Args:
            job: A function, a class with an ``execute`` method, or a :class:`JobBuilder` or :class:`JobDetail`.
            key: Its key; None names it after its function or class.
            data: Job data.
            description: For people.
            durable: Whether it stays without a trigger; None for what a builder says, and True for a class or
                function.
        """
        says_so = isinstance(job, JobBuilder | JobDetail)
        kept = True if durable is None and not says_so else durable
        return self._declare(declared_job(job, key=key, data=data, description=description, durable=kept), None)

    def add_trigger(
        self,
        schedule: TriggerSource,
        *,
        job: JobKey | str | JobTarget | None = None,
        key: TriggerKey | str | None = None,
        data: Mapping[str, Any] | None = None,
        description: str | None = None,
        start_at: datetime | None = None,
        end_at: datetime | None = None,
        priority: int | None = None,
        calendar_name: str | None = None,
        execution_group: str | None = None,
    ) -> Self:
        """Declare one more trigger of a job that is declared too, or stored already.

        Args:
            schedule: ``every(...)``, ``cron(...)`` or one of their kin, or a :class:`TriggerBuilder`.
            job: The job's key, its name in the group DEFAULT, or the function or class that it is named after.
            key: The trigger's key; None names it like the job.
            data: Values for its firings; they win over the job's.
            description: For people.
            start_at: When the schedule begins, an aware instant; None for when it is scheduled.
            end_at: When it ends, an aware instant.
            priority: Among equal fire times the higher number fires first.
            calendar_name: The calendar whose excluded times are skipped.
            execution_group: Counted against execution limits.
        """
        trigger = declared_trigger(
            schedule,
            job_key=_job_key(job),
            key=key,
            data=data,
            description=description,
            start_time=start_at,
            end_time=end_at,
            priority=priority,
            calendar_name=calendar_name,
            execution_group=execution_group,
        )
        return self._declare(None, trigger)

    def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = True, update_triggers: bool = True
    ) -> Self:
        """Declare a calendar for triggers to name.

        Args:
            name: What triggers call it.
            calendar: The calendar.
            replace: Whether it takes the place of a stored one that differs; otherwise that is an error.
            update_triggers: Whether triggers that use that one look for their next fire time again.
        """
        self._refuse_while_running(f"add_calendar({name!r})")
        self._content.add_calendar(
            NamedCalendar(name=name, calendar=calendar, replace=replace, update_triggers=update_triggers)
        )
        return self

    def use_content_rules(
        self,
        *,
        overwrite_existing: bool = True,
        ignore_duplicates: bool = False,
        relative_to_replaced: bool = False,
    ) -> Self:
        """Say what happens to declared content that the store has already; see :class:`ContentRules`."""
        self._refuse_while_running("use_content_rules")
        self._content.rules = ContentRules(
            overwrite_existing=overwrite_existing,
            ignore_duplicates=ignore_duplicates,
            relative_to_replaced=relative_to_replaced,
        )
        return self

    # Listeners and plugins --------------------------------------------------------------------------------------

    def add_job_listener(
        self, listener: Choice[JobListener] | Provider[JobListener], *matchers: Matcher[JobKey], options: object = None
    ) -> Self:
        """Let a listener hear about the runs of the jobs that any of the matchers selects; of all without one."""
        self._content.add_job_listener(self._maker(JobListener, listener, "add_job_listener", options), matchers)
        return self

    def add_trigger_listener(
        self,
        listener: Choice[TriggerListener] | Provider[TriggerListener],
        *matchers: Matcher[TriggerKey],
        options: object = None,
    ) -> Self:
        """Let a listener hear about the firings of the triggers that any matcher selects; of all without one."""
        make = self._maker(TriggerListener, listener, "add_trigger_listener", options)
        self._content.add_trigger_listener(make, matchers)
        return self

    def add_scheduler_listener(
        self, listener: Choice[SchedulerListener] | Provider[SchedulerListener], *, options: object = None
    ) -> Self:
        """Let a listener hear about the scheduler itself."""
        make = self._maker(SchedulerListener, listener, "add_scheduler_listener", options)
        self._content.add_scheduler_listener(make)
        return self

    def add_plugin(
        self, plugin: Choice[Plugin] | Provider[Plugin], *, name: str | None = None, options: object = None
    ) -> Self:
        """Extend the scheduler; plugins are initialized, started and shut down in the order of their declaration.

        Args:
            plugin: A class, an instance, a provider or a factory.
            name: Its identity; None for the name of its class or function.
            options: Given to the argument of a class that is annotated with their type.
        """
        make = self._maker(Plugin, plugin, "add_plugin", options)
        self._content.add_plugin(name or str(getattr(plugin, "__name__", type(plugin).__name__)), make)
        return self

    # How it is done ---------------------------------------------------------------------------------------------

    def _choose_store(
        self,
        contract: type[JobStore],
        store: Any,
        verb: str,
        *,
        options: object = None,
        values: dict[str, Any] | None = None,
    ) -> Self:
        if self._parts.base_job_store.last_overriding is not None:
            raise SchedulerConfigError(f"{verb}: scheduler {self.scheduler_name!r} has a job store already: choose one")
        return self._choose(self._parts.base_job_store, contract, store, verb, options, values)

    def _choose(
        self,
        part: Provider[Any],
        contract: type[T],
        choice: Any,
        verb: str,
        options: object,
        values: dict[str, Any] | None = None,
    ) -> Self:
        self._refuse_while_running(verb)
        part.override(choose(contract, choice, self._parts, verb=verb, options=options, values=values))
        return self

    def _maker(self, contract: type[T], choice: Any, verb: str, options: object) -> Callable[[], T]:
        self._refuse_while_running(verb)
        return maker_of(contract, choice, self._parts, verb=verb, options=options)

    def _declare(self, job: JobDetail | None, trigger: DeclaredTrigger | None) -> Self:
        declared = job or trigger
        self._refuse_while_running(f"{declared.key if declared else 'content'} can not be declared")
        self._content.add_content(job, trigger)
        return self

    def _refuse_while_running(self, what: str) -> None:
        self._schedulers.refuse_while_running(what)


def _job_key(job: JobKey | str | JobTarget | None) -> JobKey | None:
    if job is None or isinstance(job, JobKey):
        return job
    return JobKey(job if isinstance(job, str) else JobType.of(job).simple_name)
