"""create and plan: constructor arguments by annotation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import pytest
from dependency_injector import containers, providers

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
from quartzite.clock import SystemClock
from quartzite.container import Named, SchedulerContainer, create
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import SchedulerConfigError
from quartzite.locks.local import LocalSemaphore
from quartzite.settings import SchedulerSettings
from quartzite.stores.ram.store import RamJobStore
from quartzite.testing import FakeClock
from tests.unit.container.conftest import MakeParts


class Mailer:
    pass


class Database:
    pass


class Options:
    pass


class Application(containers.DeclarativeContainer):
    config = providers.Configuration()
    mailer = providers.Singleton(Mailer)
    orders_db = providers.Singleton(Database)
    reports_db = providers.Singleton(Database)
    host = providers.Object("mail.example.org")


class WantsParts:
    def __init__(
        self,
        clock: Clock,
        signaler: Signaler,
        serializer: Serializer,
        type_loader: TypeLoader,
        semaphore: Semaphore,
        worker_pool: WorkerPool,
        job_factory: JobFactory,
        generator: InstanceIdGenerator,
        listeners: ListenerManager,
        settings: SchedulerSettings,
        time_zone: ZoneInfo,
        store: JobStore,
        scheduler: Scheduler,
        parts: SchedulerContainer,
    ) -> None:
        self.got = {name: value for name, value in locals().items() if name not in {"self", "__class__"}}


class WantsMailer:
    def __init__(self, mailer: Mailer) -> None:
        self.mailer = mailer


class WantsReports:
    def __init__(self, database: Annotated[Database, Named("reports_db")], host: Annotated[str, Named("host")]) -> None:
        self.database, self.host = database, host


class WantsMuch:
    def __init__(
        self,
        mailer: Mailer | None,
        logger: logging.Logger,
        options: Options | None = None,
        database: Database | None = None,
        size: int = 3,
    ) -> None:
        self.mailer, self.logger, self.options, self.database, self.size = mailer, logger, options, database, size


class WantsTheImpossible:
    def __init__(self, mailer: Mailer, plain, count: int, hidden: Hidden) -> None:  # type: ignore[name-defined, no-untyped-def]  # noqa: F821
        raise AssertionError


class PositionalOnly:
    def __init__(self, clock: Clock, /, *, mailer: Mailer) -> None:
        self.clock, self.mailer = clock, mailer


def test_every_part_is_found_by_its_contract(parts: SchedulerContainer) -> None:
    """Each contract of the scheduler leads to the part that the scheduler itself uses."""
    got = create(WantsParts, parts).got
    assert got == {
        "clock": parts.clock(),
        "signaler": parts.signaler(),
        "serializer": parts.serializer(),
        "type_loader": parts.type_loader(),
        "semaphore": parts.semaphore(),
        "worker_pool": parts.worker_pool(),
        "job_factory": parts.job_factory(),
        "generator": parts.instance_id_generator(),
        "listeners": parts.listener_manager(),
        "settings": parts.settings(),
        "time_zone": parts.time_zone(),
        "store": parts.job_store(),
        "scheduler": parts.scheduler(),
        "parts": parts,
    }


def test_the_application_provides_what_is_no_part(make_parts: MakeParts) -> None:
    """The one provider of the type in the application's container is used, and its lifetime kept."""
    application = Application()
    parts = make_parts(application)
    assert create(WantsMailer, parts).mailer is application.mailer()


def test_a_provider_is_chosen_by_name(make_parts: MakeParts) -> None:
    """``Named`` settles which of several is meant, and gives values that a type says too little about."""
    application = Application()
    built = create(WantsReports, make_parts(application))
    assert built.database is application.reports_db()
    assert built.host == "mail.example.org"


def test_given_values_come_first_and_values_by_name_before_all(make_parts: MakeParts) -> None:
    """Options are matched by their type; arguments by name need no annotation."""
    options, mailer = Options(), Mailer()
    built = create(WantsMuch, make_parts(Application()), options, mailer=mailer, database=None, size=7)
    assert (built.options, built.mailer, built.database, built.size) == (options, mailer, None, 7)


def test_what_nobody_provides_is_left_out_where_that_will_do(parts: SchedulerContainer) -> None:
    """A default is kept, and ``| None`` without a default is None; the logger is named for the class."""
    built = create(WantsMuch, parts)
    assert (built.mailer, built.options, built.database, built.size) == (None, None, None, 3)
    assert built.logger.name == "tests.unit.container.test_activate.WantsMuch"


def test_positional_only_arguments_are_given_by_place(make_parts: MakeParts) -> None:
    """Arguments that can not be named are passed in their order."""
    built = create(PositionalOnly, make_parts(Application()))
    assert isinstance(built.clock, SystemClock)
    assert isinstance(built.mailer, Mailer)


def test_a_function_is_called_likewise(make_parts: MakeParts) -> None:
    """Whatever can be called is filled in the same way."""

    def make(mailer: Mailer) -> list[Mailer]:
        return [mailer]

    application = Application()
    assert create(make, make_parts(application)) == [application.mailer()]


def test_every_missing_argument_is_listed(parts: SchedulerContainer) -> None:
    """One error names the class, each argument, why it can not be given, and what to do."""
    with pytest.raises(SchedulerConfigError) as caught:
        create(WantsTheImpossible, parts)
    lines = str(caught.value).splitlines()
    assert lines[0] == "tests.unit.container.test_activate.WantsTheImpossible can not be built:"
    assert "argument 'mailer': nobody provides a Mailer" in lines[1]
    assert "give one, QuartzContainer(application=...)" in lines[1]
    assert "argument 'plain': it has no annotation" in lines[2]
    assert "argument 'count': what is annotated int is asked for by name" in lines[3]
    assert "argument 'hidden': the annotation 'Hidden' can not be read here" in lines[4]
    assert len(lines) == 5


def test_an_ambiguous_argument_is_an_error(make_parts: MakeParts) -> None:
    """Two providers of one type: the error names both, and an argument with a default is no exception."""
    with pytest.raises(SchedulerConfigError, match=r"argument 'database': several providers of Database .*orders_db"):
        create(WantsMuch, make_parts(Application()))


def test_a_missing_provider_shows_how_to_add_one(make_parts: MakeParts) -> None:
    """With an application's container the remedy is a provider in it."""
    with pytest.raises(SchedulerConfigError, match=r"add one, providers\.Factory\(Mailer, \.\.\.\)"):
        create(WantsMailer, make_parts(containers.DynamicContainer()))


def test_values_that_nobody_takes_are_refused(parts: SchedulerContainer) -> None:
    """A misspelt argument and options of the wrong class do not vanish silently."""
    with pytest.raises(SchedulerConfigError) as caught:
        create(WantsMuch, parts, Database, Mailer(), weight=3)
    assert "there is no argument 'weight': there are mailer, logger, options, database, size" in str(caught.value)
    assert "no argument takes the type that was given" in str(caught.value)


def test_settings_of_parts_are_given_by_name(make_parts: MakeParts) -> None:
    """A store that is built by hand gets the misfire threshold that was configured; unset, its own default holds."""
    configured = make_parts()
    configured.configured()["misfire_threshold"] = timedelta(seconds=1)
    assert create(RamJobStore, configured).misfire_threshold == timedelta(seconds=1)
    assert create(RamJobStore, make_parts()).misfire_threshold == timedelta(seconds=5)
    explicit = create(RamJobStore, configured, misfire_threshold=timedelta(seconds=2))
    assert explicit.misfire_threshold == timedelta(seconds=2)


class WantsFakeClock:
    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock


def test_a_narrower_annotation_takes_the_part_when_it_is_one(make_parts: MakeParts) -> None:
    """A class may ask for the very kind of clock that the scheduler has, and is told when it has another."""
    clock = FakeClock()
    assert create(WantsFakeClock, make_parts(clock=clock)).clock is clock
    with pytest.raises(SchedulerConfigError, match="the clock of this scheduler is a SystemClock, not a FakeClock"):
        create(WantsFakeClock, make_parts())


class CanDoWithoutLocks:
    def __init__(self, semaphore: Semaphore | None = None) -> None:
        self.semaphore = semaphore


def test_who_can_do_without_a_lock_handler_gets_only_a_chosen_one(make_parts: MakeParts) -> None:
    """A store that picks its own lock handler must see that none was chosen."""
    chosen = LocalSemaphore()
    assert create(CanDoWithoutLocks, make_parts()).semaphore is None
    assert create(CanDoWithoutLocks, make_parts(lock_handler=chosen)).semaphore is chosen


class NeedsItself(RamJobStore):
    def __init__(self, scheduler: Scheduler) -> None:
        raise AssertionError


def test_a_class_that_needs_itself_is_an_error(parts: SchedulerContainer) -> None:
    """A store that asks for its scheduler can never be built; the error says so instead of recursing."""
    parts.base_job_store.override(providers.ThreadSafeSingleton(create, NeedsItself, parts))
    with pytest.raises(SchedulerConfigError, match=r"it needs itself \(.*Scheduler -> .*NeedsItself -> .*Scheduler\)"):
        parts.scheduler()
    assert isinstance(create(WantsMuch, parts).logger, logging.Logger)


async def open_database() -> AsyncIterator[Database]:
    yield Database()


class WantsDatabase:
    def __init__(self, database: Database) -> None:
        self.database = database


class WithResource(containers.DeclarativeContainer):
    database = providers.Resource(open_database)
    wrapper = providers.Factory(WantsDatabase, database)


class WantsWrapper:
    def __init__(self, wrapper: WantsDatabase) -> None:
        raise AssertionError


async def test_an_asynchronous_resource_is_there_once_it_is_initialized(make_parts: MakeParts) -> None:
    """Construction waits for nothing: an open resource is taken as it is, what must be awaited is refused."""
    application = WithResource()
    await application.init_resources()  # type: ignore[misc]
    parts = make_parts(application)
    assert isinstance(create(WantsDatabase, parts).database, Database)
    with pytest.raises(SchedulerConfigError, match=r"WantsWrapper can not be built: .* provided asynchronously"):
        create(WantsWrapper, parts)
    await asyncio.sleep(0)
    await application.shutdown_resources()  # type: ignore[misc]


def test_an_annotation_that_can_not_be_hashed_asks_for_no_part(parts: SchedulerContainer) -> None:
    """Strange annotations are nobody's, and no crash."""

    def function(strange: Annotated[Any, []] = 1) -> int:
        return strange  # type: ignore[no-any-return]

    assert create(function, parts) == 1
