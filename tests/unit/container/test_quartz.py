"""QuartzContainer and SchedulerContainer: separate parts, plain overrides, wiring by marker."""

from typing import Any

import pytest
from dependency_injector import containers, providers
from dependency_injector.wiring import Provide, inject

from quartzite import QuartzContainer, Scheduler, SchedulerContainer, add_quartz, every, running, scheduler_named
from quartzite.abc import WorkerPool
from quartzite.clock import SystemClock
from quartzite.container.quartz import quartz_of
from quartzite.engine.workers import AsyncWorkerPool
from quartzite.errors import SchedulerConfigError
from quartzite.locks.local import LocalSemaphore
from quartzite.stores.ram.store import RamJobStore
from quartzite.testing import FakeClock

PARTS = [
    "job_store",
    "base_job_store",
    "signaler",
    "semaphore",
    "job_factory",
    "worker_pool",
    "listener_manager",
    "instance_id_generator",
    "scheduler",
    "settings",
]


class Greeting:
    pass


class Application(containers.DeclarativeContainer):
    __self__ = providers.Self()
    greeting = providers.Singleton(Greeting)
    quartz = providers.Container(QuartzContainer, application=__self__)


@pytest.mark.parametrize("part", PARTS)
def test_two_schedulers_share_no_part(part: str) -> None:
    """Each scheduler has parts of its own, and always the same one."""
    container = QuartzContainer()
    first, second = add_quartz(container, "first").parts, add_quartz(container, "second").parts
    assert first.providers[part]() is first.providers[part]()
    assert first.providers[part]() is not second.providers[part]()


def test_defaults() -> None:
    """Without a choice everything is in memory, on the machine's time."""
    parts = add_quartz(QuartzContainer()).parts
    assert isinstance(parts.job_store(), RamJobStore)
    assert isinstance(parts.clock(), SystemClock)
    assert isinstance(parts.semaphore(), LocalSemaphore)
    assert parts.scheduler().name == "default"
    assert parts.application() is None


def test_an_override_of_one_scheduler_reaches_only_that_one() -> None:
    """The shared clock drives all that have none of their own, whatever came first."""
    container = QuartzContainer()
    mine, shared = FakeClock(), FakeClock()
    first, second = add_quartz(container, "first").parts, add_quartz(container, "second").parts
    first.clock.override(mine)
    container.clock.override(shared)
    assert (first.clock(), second.clock()) == (mine, shared)
    first.clock.reset_last_overriding()
    assert first.clock() is shared


def test_two_containers_know_nothing_of_each_other() -> None:
    """Schedulers of one container are not found in another one."""
    one, other = QuartzContainer(), QuartzContainer()
    add_quartz(one, "reports")
    assert list(one.schedulers()) == ["reports"]
    assert list(other.schedulers()) == []


def test_an_unknown_name_tells_the_known_ones() -> None:
    """The error names what there is; the map is a mapping all the same."""
    container = QuartzContainer()
    with pytest.raises(SchedulerConfigError, match=r"there is no scheduler 'reports': none was added; call add_quartz"):
        container.schedulers()["reports"]
    add_quartz(container, "fast")
    with pytest.raises(SchedulerConfigError, match="there is no scheduler 'reports': there are 'fast'"):
        container.scheduler("reports")
    assert "reports" not in container.schedulers()
    assert container.schedulers().get("reports") is None


def test_a_scheduler_that_does_not_run_is_not_handed_out() -> None:
    """It would be another one than the one that runs later."""
    container = QuartzContainer()
    add_quartz(container)
    with pytest.raises(SchedulerConfigError, match="scheduler 'default' is not running: ask for it within"):
        container.scheduler()


async def test_a_running_scheduler_is_found_by_name() -> None:
    """Within the block the container leads to the schedulers, and afterwards no more."""
    container = QuartzContainer()
    add_quartz(container)
    add_quartz(container, "reports")
    async with running(container):
        assert container.scheduler().name == "default"
        assert container.scheduler("reports") is container.schedulers()["reports"].scheduler()
        assert container.scheduler("reports").is_started
    with pytest.raises(SchedulerConfigError, match="not running"):
        container.scheduler("reports")


async def test_it_stands_in_the_container_of_an_application() -> None:
    """The nested container finds the application, and both forms lead to the same schedulers."""
    application, other = Application(), Application()
    clock = FakeClock()
    seen: list[Greeting] = []

    async def greet(greeting: Greeting) -> None:
        seen.append(greeting)

    add_quartz(application.quartz).use_clock(clock).schedule(greet, every(hours=1))
    assert application.quartz.application() is application
    assert list(application.quartz().schedulers()) == ["default"]
    assert list(other.quartz.schedulers()) == []
    async with running(application.quartz) as quartz:
        await clock.settle()
        assert quartz.scheduler() is application.quartz().scheduler()
    assert seen == [application.greeting()]


def test_schedulers_on_the_class_of_an_application_are_refused() -> None:
    """They would be lost when the application's container is made."""

    class Filled(containers.DeclarativeContainer):
        quartz = providers.Container(QuartzContainer)

    add_quartz(Filled.quartz)
    with pytest.raises(SchedulerConfigError, match="call add_quartz on the instance"):
        Filled()


def test_what_is_no_container_is_refused() -> None:
    """The error says what is wanted."""
    for wrong in (None, object(), containers.DynamicContainer(), Application()):
        with pytest.raises(SchedulerConfigError, match="is no QuartzContainer"):
            quartz_of(wrong)


REPORTING = scheduler_named("reporting")
NESTED_REPORTING = scheduler_named("reporting", Application.quartz)


@inject
def default_scheduler(scheduler: Scheduler = Provide[QuartzContainer.scheduler]) -> str:
    return scheduler.name


@inject
def named_scheduler(scheduler: Scheduler = Provide[REPORTING]) -> str:
    return scheduler.name


@inject
def nested_scheduler(
    default: Scheduler = Provide[Application.quartz.scheduler],
    named: Scheduler = Provide[NESTED_REPORTING],
) -> list[str]:
    return [default.name, named.name]


async def test_wired_functions_get_their_scheduler() -> None:
    """The default one by its provider, a named one by the marker, from a nested container too."""
    container, application = QuartzContainer(), Application()
    for one in (container, application.quartz):
        add_quartz(one)
        add_quartz(one, "reporting")
    for wired, functions in ((container, [default_scheduler, named_scheduler]), (application, [nested_scheduler])):
        wired.wire(modules=[__name__])
        try:
            target: Any = wired if wired is container else application.quartz
            async with running(target):
                names = [function() for function in functions]
        finally:
            wired.unwire()
        assert names in (["default", "reporting"], [["default", "reporting"]])


def test_a_copied_container_changes_the_graph_for_good() -> None:
    """A part that is replaced in a copy reaches the parts that depend on it."""

    class SmallPool(AsyncWorkerPool):
        pass

    @containers.copy(SchedulerContainer)
    class Small(SchedulerContainer):
        worker_pool: providers.Provider[WorkerPool] = providers.ThreadSafeSingleton(
            SmallPool, max_concurrency=2, clock=SchedulerContainer.clock
        )

    quartz = QuartzContainer()
    shared = {"clock": quartz.clock, "serializer": quartz.serializer, "type_loader": quartz.type_loader}
    parts = Small(name="small", **shared)
    assert isinstance(parts.worker_pool(), SmallPool)
    assert parts.scheduler().get_metadata().worker_pool_size == 2
    assert parts.scheduler().name == "small"
