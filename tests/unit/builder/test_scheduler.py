"""SchedulerBuilder: every verb is one choice, and what is wrong is said where it was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from dependency_injector import containers, providers

from quartzite import (
    DelegatingJobStore,
    ExecutionLimits,
    GroupMatcher,
    HolidayCalendar,
    JobBuilder,
    JobContext,
    JobKey,
    QuartzContainer,
    RamJobStore,
    SchedulerBuilder,
    TriggerBuilder,
    add_quartz,
    cron,
    every,
    once,
    running,
)
from quartzite.abc import (
    InstanceIdGenerator,
    JobListener,
    JobStore,
    Plugin,
    SchedulerListener,
    Signaler,
    TriggerListener,
    WorkerPool,
)
from quartzite.builder.content import DeclaredContent
from quartzite.builder.scheduling_data import ContentRules, SchedulingData
from quartzite.clock import SystemClock
from quartzite.container import InjectingJobFactory
from quartzite.engine.job_factory import SimpleJobFactory
from quartzite.engine.signaler import SchedulerSignaler
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.engine.workers import AsyncWorkerPool
from quartzite.errors import InvalidValueError, SchedulerConfigError, SchedulerError
from quartzite.locks import LocalSemaphore, SqliteSemaphore
from quartzite.model.keys import TriggerKey
from quartzite.serialization.json import JsonSerializer
from quartzite.testing import FakeClock
from quartzite.triggers import CronTrigger

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - what is refused
START = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def container() -> QuartzContainer:
    """A container that is empty."""
    return QuartzContainer()


@pytest.fixture
def builder(container: QuartzContainer) -> SchedulerBuilder:
    """The builder of the default scheduler."""
    return add_quartz(container)


# --------------------------------------------------------------------------------------------------------- names
def test_the_default_scheduler_may_be_added_again(container: QuartzContainer) -> None:
    """Both calls contribute to the one scheduler."""
    add_quartz(container).use_workers(3)
    again = add_quartz(container).use_time_zone("Europe/Berlin")
    assert again.scheduler_name == "default"
    assert again.parts.settings().max_concurrency == 3
    assert again.parts.settings().time_zone == ZoneInfo("Europe/Berlin")
    assert list(container.schedulers()) == ["default"]


def test_a_named_scheduler_is_added_once(container: QuartzContainer) -> None:
    """The second call is a mistake, and says so."""
    add_quartz(container, "reports")
    with pytest.raises(SchedulerConfigError, match="scheduler 'reports' exists already: give each one a name"):
        add_quartz(container, "reports")


@pytest.mark.parametrize("name", ["", "  ", "x" * 121, "a\0b"])
def test_a_name_must_be_storable(container: QuartzContainer, name: str) -> None:
    """A name that no table holds is refused before anything is added."""
    with pytest.raises(InvalidValueError, match="scheduler name"):
        add_quartz(container, name)
    assert len(container.schedulers()) == 0


# --------------------------------------------------------------------------------------------------------- parts
@dataclass(frozen=True)
class DocumentOptions:
    url: str


class DocumentStore(RamJobStore):
    def __init__(self, signaler: Signaler, options: DocumentOptions | None = None, **_: Any) -> None:
        super().__init__(clock=SystemClock(), signaler=signaler, serializer=JsonSerializer())
        self.options = options


class Metrics(DelegatingJobStore):
    pass


def test_a_store_is_given_in_four_shapes(container: QuartzContainer) -> None:
    """A class, a class with options, an instance, a factory of the parts."""
    existing = DocumentStore(SchedulerSignaler())
    options = DocumentOptions(url="mongodb://localhost")
    by_class = add_quartz(container, "a").use_job_store(DocumentStore).parts
    with_options = add_quartz(container, "b").use_job_store(DocumentStore, options=options).parts
    by_instance = add_quartz(container, "c").use_job_store(existing).parts
    by_factory = add_quartz(container, "d").use_job_store(lambda parts: DocumentStore(parts.signaler())).parts
    assert isinstance(by_class.job_store(), DocumentStore)
    store = with_options.job_store()
    assert isinstance(store, DocumentStore)
    assert store.options is options
    assert by_instance.job_store() is existing
    assert isinstance(by_factory.job_store(), DocumentStore)


def test_a_provider_of_the_application_may_be_the_store() -> None:
    """What the application's container builds anyway can be chosen as it is."""

    class Application(containers.DeclarativeContainer):
        signaler = providers.Singleton(SchedulerSignaler)
        store = providers.Singleton(DocumentStore, signaler)

    application = Application()
    container = QuartzContainer(application=application)
    parts = add_quartz(container).use_job_store(application.store).use_signaler(application.signaler).parts
    assert parts.job_store() is application.store()


@pytest.mark.parametrize("second", ["use_ram_store", "use_job_store"])
def test_a_second_store_is_refused(builder: SchedulerBuilder, second: str) -> None:
    """Which of two was meant can not be known."""
    builder.use_ram_store()
    with pytest.raises(SchedulerConfigError, match=f"{second}: scheduler 'default' has a job store already"):
        getattr(builder, second)(*([DocumentStore] if second == "use_job_store" else []))


def test_the_ram_store_takes_its_misfire_threshold(builder: SchedulerBuilder) -> None:
    """Given with the store it wins over the setting; the setting reaches the default store."""
    store = builder.configure(misfire_threshold=timedelta(seconds=9)).parts.job_store()
    assert isinstance(store, RamJobStore)
    assert store.misfire_threshold == timedelta(seconds=9)
    other = add_quartz(QuartzContainer()).use_ram_store(misfire_threshold=timedelta(seconds=2)).parts.job_store()
    assert isinstance(other, RamJobStore)
    assert other.misfire_threshold == timedelta(seconds=2)


def test_a_second_lock_handler_is_refused(builder: SchedulerBuilder) -> None:
    """As with stores."""
    builder.use_lock_handler(LocalSemaphore)
    with pytest.raises(SchedulerConfigError, match="has a lock handler already"):
        builder.use_lock_handler(SqliteSemaphore)
    assert isinstance(builder.parts.semaphore(), LocalSemaphore)


def test_layers_are_added_in_their_order(builder: SchedulerBuilder) -> None:
    """The first one is the innermost; they wrap whichever store is chosen, before or after."""
    log: list[JobStore] = []

    def watched(inner: JobStore) -> JobStore:
        log.append(inner)
        return Metrics(inner)

    store = builder.decorate_job_store(watched).decorate_job_store(Metrics).use_ram_store().parts.job_store()
    assert isinstance(log[0], RamJobStore)
    assert isinstance(store, Metrics)
    assert store.inner_job_store is log[0]


class OwnPool(AsyncWorkerPool):
    pass


class OwnIds(InstanceIdGenerator):
    def generate(self) -> str:
        return "mine"


class OwnFactory(InjectingJobFactory):
    pass


@pytest.mark.parametrize(
    ("verb", "part", "choice"),
    [
        ("use_clock", "clock", FakeClock),
        ("use_serializer", "serializer", JsonSerializer),
        ("use_type_loader", "type_loader", ImportTypeLoader),
        ("use_job_factory", "job_factory", SimpleJobFactory),
        ("use_job_factory", "job_factory", OwnFactory),
        ("use_worker_pool", "worker_pool", OwnPool),
        ("use_signaler", "signaler", SchedulerSignaler),
        ("use_instance_id_generator", "instance_id_generator", OwnIds),
        ("use_lock_handler", "semaphore", SqliteSemaphore),
    ],
)
def test_each_part_can_be_replaced(container: QuartzContainer, verb: str, part: str, choice: type) -> None:
    """The class is built from the parts, the scheduler uses it, and another scheduler is left alone."""
    chosen, other = add_quartz(container, "chosen"), add_quartz(container, "other")
    assert getattr(chosen, verb)(choice) is chosen
    assert type(chosen.parts.providers[part]()) is choice
    assert chosen.parts.providers[part]() is not other.parts.providers[part]()
    chosen.parts.scheduler()


def test_the_last_choice_of_another_part_holds(builder: SchedulerBuilder) -> None:
    """A test may replace the clock that the application chose."""
    clock = FakeClock()
    assert builder.use_clock(SystemClock).use_clock(clock).parts.clock() is clock


def test_a_wrong_choice_is_refused_where_it_is_written(builder: SchedulerBuilder) -> None:
    """The error names the verb, and nothing has changed."""
    with pytest.raises(SchedulerConfigError, match=r"use_worker_pool: .*JsonSerializer is no WorkerPool"):
        builder.use_worker_pool(JsonSerializer)  # type: ignore[arg-type]
    assert isinstance(builder.parts.worker_pool(), WorkerPool)


# ------------------------------------------------------------------------------------------------------ settings
def test_settings_are_checked_at_once(builder: SchedulerBuilder) -> None:
    """A misspelt or wrong setting names itself, and leaves the others as they were."""
    builder.configure(max_batch_size=7)
    with pytest.raises(SchedulerConfigError, match="max_batchsize: there is no such setting; did you mean"):
        builder.configure(max_batchsize=8)
    with pytest.raises(SchedulerConfigError, match="max_batch_size"):
        builder.configure(max_batch_size=0)
    assert builder.parts.settings().max_batch_size == 7


def test_the_name_is_no_setting(builder: SchedulerBuilder) -> None:
    """It is given once, where the scheduler is added."""
    with pytest.raises(SchedulerConfigError, match="gets its name from add_quartz"):
        builder.configure(name="other")


def test_an_unknown_time_zone_is_refused(builder: SchedulerBuilder) -> None:
    """At the border, not at the first cron expression."""
    with pytest.raises(SchedulerConfigError, match="Europe/Nowhere"):
        builder.use_time_zone("Europe/Nowhere")


@pytest.mark.parametrize(
    "limits",
    [
        {"reports": 2, "*": 5},
        ExecutionLimits({"reports": 2, "*": 5}),
        lambda limits: limits.for_group("reports", 2).for_other_groups(5),
    ],
)
def test_execution_limits_in_three_forms(builder: SchedulerBuilder, limits: Any) -> None:
    """A mapping, the value, or a function over the fluent builder; the scheduler has them."""
    scheduler = builder.use_execution_limits(limits).parts.scheduler()
    assert scheduler.get_execution_limits() == ExecutionLimits({"reports": 2, "*": 5})


def test_workers_limit_the_pool(builder: SchedulerBuilder) -> None:
    """The number reaches the default pool."""
    assert builder.use_workers(2).parts.worker_pool().size == 2


# ------------------------------------------------------------------------------------------ listeners and plugins
class Heard(JobListener):
    def __init__(self, store: JobStore, log: list[str] | None = None, label: str = "heard") -> None:
        self.store, self.log, self.label = store, [] if log is None else log, label

    @property
    def name(self) -> str:
        return self.label

    async def job_to_be_executed(self, context: JobContext) -> None:
        self.log.append(context.job.key.name)


class HeardTrigger(TriggerListener):
    pass


class HeardScheduler(SchedulerListener):
    pass


class OwnPlugin(Plugin):
    pass


async def a() -> None: ...


async def b() -> None: ...


async def test_listeners_are_given_in_every_shape_and_hear_what_they_match(
    container: QuartzContainer, builder: SchedulerBuilder
) -> None:
    """A class, an instance or a factory of the parts; matchers limit the jobs."""
    clock = FakeClock()
    log: list[str] = []
    builder.use_clock(clock).schedule(a, every(hours=1)).schedule(b, every(hours=1), key=JobKey("b", "reports"))
    builder.add_job_listener(lambda parts: Heard(parts.job_store(), log), GroupMatcher[JobKey].group_equals("reports"))
    builder.add_trigger_listener(HeardTrigger).add_scheduler_listener(HeardScheduler())
    async with running(container):
        manager = builder.parts.listener_manager()
        await clock.settle()
        assert [type(one) for one in manager.get_job_listeners()] == [Heard]
        assert [type(one) for one in manager.get_trigger_listeners()] == [HeardTrigger]
        assert [type(one) for one in manager.get_scheduler_listeners()] == [HeardScheduler]
        heard = manager.get_job_listener("heard")
        assert isinstance(heard, Heard)
        assert heard.store is builder.parts.job_store()
    assert log == ["b"]


async def test_two_listeners_of_one_name_are_refused(container: QuartzContainer, builder: SchedulerBuilder) -> None:
    """The second one would silently take the place of the first."""
    builder.add_job_listener(Heard).add_job_listener(Heard)
    with pytest.raises(SchedulerConfigError, match="2 listeners of one kind are called 'heard'"):
        async with running(container):
            pytest.fail("it started")


async def test_listeners_and_plugins_are_built_anew_for_each_run(
    container: QuartzContainer, builder: SchedulerBuilder
) -> None:
    """A class that was declared makes one object for each life of the scheduler."""
    builder.add_trigger_listener(HeardTrigger)
    seen = set()
    for _ in range(2):
        async with running(container):
            seen.add(builder.parts.listener_manager().get_trigger_listener("HeardTrigger"))
    assert len(seen) == 2


def test_a_plugin_is_named_after_its_class_or_function(builder: SchedulerBuilder) -> None:
    """Its name is its identity: the same name twice is refused, whatever the plugins are."""
    builder.add_plugin(OwnPlugin).add_plugin(OwnPlugin, name="other").add_plugin(OwnPlugin(), name="third")
    with pytest.raises(SchedulerConfigError, match="plugin OwnPlugin was declared already"):
        builder.add_plugin(OwnPlugin())
    built = builder.parts.content().build(builder.parts)
    assert list(built.plugins) == ["OwnPlugin", "other", "third"]


# ------------------------------------------------------------------------------------------------------- content
def declared(builder: SchedulerBuilder) -> SchedulingData:
    """Return what was declared, for a scheduler in UTC."""
    content = builder.parts.content()
    assert isinstance(content, DeclaredContent)
    return content.data(ZoneInfo("UTC"))


class Report:
    async def execute(self, context: JobContext) -> None: ...


def test_content_is_named_after_its_function_or_class(builder: SchedulerBuilder) -> None:
    """The trigger is named like its job."""
    data = declared(builder.schedule(a, every(hours=1)).schedule(Report, every(hours=1)))
    assert list(data.jobs) == [JobKey("a"), JobKey("Report")]
    assert [(key, one.job_key) for key, one in data.triggers.items()] == [
        (TriggerKey("a"), JobKey("a")),
        (TriggerKey("Report"), JobKey("Report")),
    ]


def test_keys_may_be_given_as_text_or_key(builder: SchedulerBuilder) -> None:
    """A text is a name in the default group; the trigger follows the key of its job."""
    builder.schedule(a, every(hours=1), key="first", trigger_key="t")
    builder.schedule(a, every(hours=1), key=JobKey("second", "reports"))
    data = declared(builder)
    assert list(data.jobs) == [JobKey("first"), JobKey("second", "reports")]
    assert list(data.triggers) == [TriggerKey("t"), TriggerKey("second", "reports")]


def test_a_clash_of_names_is_refused_and_leaves_nothing(builder: SchedulerBuilder) -> None:
    """One function twice without keys: the error says what to do, and neither half of the second was added."""
    builder.schedule(a, every(hours=1))
    with pytest.raises(SchedulerConfigError, match=r"job DEFAULT\.a was declared already: give this one another key="):
        builder.schedule(a, every(hours=2))
    with pytest.raises(SchedulerConfigError, match=r"trigger DEFAULT\.a was declared already"):
        builder.schedule(b, every(hours=2), trigger_key="a")
    data = declared(builder)
    assert (len(data.jobs), len(data.triggers)) == (1, 1)


def test_everything_about_a_job_and_its_trigger_can_be_said(builder: SchedulerBuilder) -> None:
    """Each argument reaches the value it belongs to."""
    builder.add_calendar("holidays", HolidayCalendar()).schedule(
        a,
        every(hours=1),
        data={"n": 1},
        description="counts",
        start_at=START,
        end_at=END,
        priority=9,
        calendar_name="holidays",
        execution_group="reports",
    )
    data = declared(builder)
    job, trigger = data.jobs[JobKey("a")], data.triggers[TriggerKey("a")]
    assert (dict(job.job_data), job.description, job.durable) == ({"n": 1}, "counts", False)
    assert (trigger.start_time, trigger.end_time, trigger.priority) == (START, END, 9)
    assert (trigger.calendar_name, trigger.execution_group) == ("holidays", "reports")


def test_builders_and_values_say_the_same(builder: SchedulerBuilder) -> None:
    """The long forms are taken as they are; what they have no key for is named like the rest."""
    job = JobBuilder.create(Report).request_recovery()
    trigger = TriggerBuilder.create().with_schedule(every(hours=1)).with_priority(8)
    detail = JobBuilder.create(a).with_identity("detail").store_durably().build()
    built = TriggerBuilder.create().with_identity("built").for_job("detail").with_schedule(once()).build()
    data = declared(builder.schedule_job(job, trigger).schedule_job(detail, built))
    assert data.jobs[JobKey("Report")].requests_recovery
    assert data.triggers[TriggerKey("Report")].priority == 8
    assert data.jobs[JobKey("detail")] == detail
    assert data.triggers[TriggerKey("built")] == built


def test_a_trigger_builder_may_be_used_again(builder: SchedulerBuilder) -> None:
    """Declaring changes nothing about the builder that was given."""
    hourly = TriggerBuilder.create().with_schedule(every(hours=1))
    data = declared(builder.schedule(a, hourly).schedule(b, hourly))
    assert list(data.triggers) == [TriggerKey("a"), TriggerKey("b")]
    assert hourly.key is None


def test_jobs_and_triggers_may_be_declared_apart(builder: SchedulerBuilder) -> None:
    """A job without a trigger is durable unless it says otherwise; a trigger names its job in any form."""
    builder.add_job(a, data={"x": 1}).add_job(JobBuilder.create(b))
    builder.add_trigger(every(hours=1), job=a).add_trigger(every(hours=2), job="b", key="second", data={"y": 2})
    builder.add_trigger(TriggerBuilder.create().for_job("a").with_schedule(once()), key="third")
    data = declared(builder)
    assert data.jobs[JobKey("a")].durable
    assert not data.jobs[JobKey("b")].durable
    assert [one.job_key.name for one in data.triggers.values()] == ["a", "b", "a"]
    assert data.triggers[TriggerKey("second")].job_data == {"y": 2}


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda q: q.add_trigger(every(hours=1)), "has no job: say which one, job="),
        (lambda q: q.add_trigger(_for_job("a"), job="b"), r"job DEFAULT\.a was given another key, DEFAULT\.b"),
        (lambda q: q.schedule(_keyed_job("x"), every(hours=1), key="y"), r"job DEFAULT\.x was given another key"),
        (lambda q: q.schedule(a, _for_job("b")), r"job DEFAULT\.b was given another key, DEFAULT\.a"),
        (lambda q: q.schedule(object(), every(hours=1)), "is no job"),
        (lambda q: q.schedule(a, "0 0 * * * ?"), "is no schedule: give every"),
        (lambda q: q.schedule(a, every(hours=1), start_at=NAIVE), "has no time zone"),
        (lambda q: q.schedule(a, every(hours=1), start_at=END, end_at=START), "lies before start time"),
        (lambda q: q.schedule(a, cron("61 * * * * ?")), "cron expression"),
    ],
)
def test_what_is_wrong_is_refused_where_it_is_declared(
    builder: SchedulerBuilder, declare: Callable[[SchedulerBuilder], Any], message: str
) -> None:
    """The error names the thing and the reason, and nothing was declared."""
    with pytest.raises(SchedulerError, match=message):
        declare(builder)
    data = declared(builder)
    assert not data.jobs
    assert not data.triggers


def _for_job(name: str) -> TriggerBuilder:
    return TriggerBuilder.create().for_job(name).with_schedule(every(hours=1))


def _keyed_job(name: str) -> JobBuilder:
    return JobBuilder.create(a).with_identity(name)


def test_schedules_without_a_zone_take_that_of_the_scheduler(builder: SchedulerBuilder) -> None:
    """They are built when the zone is known; one that names its zone keeps it."""
    builder.schedule(a, cron("0 0 2 * * ?")).schedule(b, cron("0 0 2 * * ?", time_zone="Asia/Tokyo"))
    content = builder.parts.content()
    assert isinstance(content, DeclaredContent)
    triggers = content.data(ZoneInfo("Europe/Berlin")).triggers
    zones = [one.time_zone.key for one in triggers.values() if isinstance(one, CronTrigger)]
    assert zones == ["Europe/Berlin", "Asia/Tokyo"]


def test_a_calendar_is_declared_once(builder: SchedulerBuilder) -> None:
    """Its name is its identity."""
    builder.add_calendar("holidays", HolidayCalendar())
    with pytest.raises(SchedulerConfigError, match="calendar holidays was declared already"):
        builder.add_calendar("holidays", HolidayCalendar())


def test_every_verb_returns_the_builder(builder: SchedulerBuilder) -> None:
    """Whatever is said, more can be said."""
    assert builder.use_content_rules(ignore_duplicates=True).add_calendar("x", HolidayCalendar()) is builder
    assert declared(builder).rules == ContentRules(ignore_duplicates=True)
