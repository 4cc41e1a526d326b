"""per_run and RunScope: opened at first use in a firing, told how it ended, closed once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context
from typing import Any, Self

import pytest
from dependency_injector import containers, providers

from quartzite.container.per_run import PerRun, per_run, per_run_providers
from quartzite.container.run_scope import RunScope, current_scope
from quartzite.errors import SchedulerConfigError, SchedulerError

tenant: ContextVar[str] = ContextVar("tenant", default="nobody")


class Session:
    """Notes what happens to it."""

    def __init__(self, log: list[str], name: str) -> None:
        self.log, self.name = log, name
        log.append(f"open {name}")

    def close(self, error: BaseException | None) -> None:
        self.log.append(f"close {self.name} {error!r}")


async def open_async(log: list[str], name: str = "async") -> AsyncIterator[Session]:
    session = Session(log, name)
    try:
        yield session
    except BaseException as error:
        session.close(error)
        raise
    else:
        session.close(None)


def open_plain(log: list[str], name: str = "plain", *_: object) -> Iterator[Session]:
    session = Session(log, name)
    try:
        yield session
    except BaseException as error:
        session.close(error)
        raise
    else:
        session.close(None)


class Service:
    def __init__(self, session: Session) -> None:
        self.session = session


class Application(containers.DeclarativeContainer):
    log: providers.Singleton[list[str]] = providers.Singleton(list)
    session = per_run(open_async, log)
    transaction = per_run(open_plain, log, "transaction", session)
    orders = providers.Factory(Service, session)
    invoices = providers.Factory(Service, session)


@asynccontextmanager
async def firing(error: BaseException | None = None, *resources: PerRun[Any]) -> AsyncIterator[RunScope]:
    """Do what the job factory does around one firing."""
    scope = RunScope()
    token = current_scope.set(scope)
    for resource in resources:
        await scope.open(resource)
    try:
        yield scope
    finally:
        await scope.close(error)
        current_scope.reset(token)


async def test_everything_within_a_firing_gets_the_same_object() -> None:
    """Two services share the session of their firing, and another firing has another one."""
    app = Application()
    async with firing(None, app.session):
        first, second = app.orders(), app.invoices()
        assert first is not second
        assert first.session is second.session
    async with firing(None, app.session):
        assert app.orders().session is not first.session
    assert app.log() == ["open async", "close async None"] * 2


async def test_closing_is_in_reverse_order_and_tells_the_exception() -> None:
    """What was opened last is closed first; each is told how the run ended."""
    app = Application()
    error = RuntimeError("no")
    async with firing(error, app.session, app.transaction):
        pass
    assert app.log() == [
        "open async",
        "open transaction",
        "close transaction RuntimeError('no')",
        "close async RuntimeError('no')",
    ]


async def test_what_raises_while_closing_keeps_nothing_else_open() -> None:
    """The others are closed all the same, and the error comes out."""
    log: list[str] = []

    @contextmanager
    def stubborn() -> Iterator[int]:
        yield 1
        raise OSError("stuck")

    resource: PerRun[int] = per_run(stubborn)
    with pytest.raises(OSError, match="stuck"):
        async with firing(None, per_run(open_async, log), resource):
            pass
    assert log == ["open async", "close async OSError('stuck')"]


async def test_tasks_of_the_job_see_the_same_object() -> None:
    """Tasks that start within the firing inherit its scope; overlapping firings do not mix."""
    app = Application()

    async def run() -> set[Any]:
        async with firing(None, app.session):
            tasks = [asyncio.create_task(asyncio.to_thread(app.orders)) for _ in range(3)]
            return {service.session for service in await asyncio.gather(*tasks)}

    sessions = await asyncio.gather(run(), run(), run())
    assert [len(found) for found in sessions] == [1, 1, 1]
    assert len(set.union(*sessions)) == 3


async def test_opening_happens_in_the_task_of_the_run() -> None:
    """Context variables that are set while opening reach the job."""

    async def as_tenant() -> AsyncIterator[str]:
        tenant.set("acme")
        yield "acme"

    async with firing(None, per_run(as_tenant)):
        assert tenant.get() == "acme"


async def test_a_late_plain_use_opens_at_once() -> None:
    """A plain one that no argument named is opened where it is asked for, in a thread too, and closed with the rest."""
    app = Application()
    app.session.override(providers.Object(None))
    async with firing():
        assert app.log() == []
        opened = await asyncio.to_thread(app.transaction)
        assert app.transaction() is opened
    assert app.log() == ["open transaction", "close transaction None"]


async def test_a_late_async_use_is_awaited_and_opens_once() -> None:
    """Several that ask at the same time share one opening."""
    app = Application()
    async with firing():
        # The type of a provider does not tell that it may answer with a future.
        late: list[Any] = [app.session(), app.session()]
        first, second = await asyncio.gather(*late)
        assert first is second is app.session()
    assert app.log() == ["open async", "close async None"]


async def test_a_late_async_use_in_a_thread_says_what_to_do() -> None:
    """A thread has no event loop to open it on."""
    app = Application()
    async with firing():
        with pytest.raises(SchedulerError, match="let the job ask for it as an argument"):
            await asyncio.to_thread(app.session)


async def test_after_its_end_a_firing_opens_nothing() -> None:
    """A task that outlives its firing gets an error instead of something that nobody closes."""
    app = Application()
    async with firing():
        context = copy_context()
    with pytest.raises(SchedulerError, match="after its firing had ended"):
        context.run(app.session)


def test_outside_of_a_firing_nothing_is_opened() -> None:
    """The error names the function and the alternative."""
    with pytest.raises(SchedulerConfigError, match=r"per_run\(open_async\) is opened for one firing.*Resource"):
        Application().session()


async def test_classes_and_functions_that_give_context_managers_do() -> None:
    """Generators are not the only way to open something."""

    class Connection:
        def __init__(self) -> None:
            self.closed = 0

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            self.closed += 1

    resource: PerRun[Connection] = per_run(Connection)
    async with firing(None, resource):
        connection = resource()
        assert connection.closed == 0
    assert connection.closed == 1


async def test_what_gives_no_context_manager_is_refused() -> None:
    """A coroutine function is refused when it is declared, any other function when it is used."""

    async def connect() -> int:
        return 1

    with pytest.raises(SchedulerConfigError, match="give a generator function"):
        per_run(connect)  # type: ignore[arg-type]
    with pytest.raises(SchedulerConfigError, match="returned 1, which is no context manager"):
        async with firing(None, PerRun(lambda: 1)):
            pass


def test_what_a_provider_uses_is_found_in_the_order_of_opening() -> None:
    """Each comes after those that it depends on itself; an overridden one is not opened."""
    app = Application()
    uses_both = providers.Factory(Service, app.transaction, extra=app.orders)
    assert per_run_providers(uses_both) == [app.session, app.transaction]
    app.session.override(providers.Object(None))
    assert per_run_providers(uses_both) == [app.transaction]


def test_providers_that_are_called_later_open_nothing_beforehand() -> None:
    """A provider that is injected itself, and the branches of a selector, are opened when they are called."""
    app = Application()
    assert per_run_providers(providers.Factory(Service, app.session.provider)) == []
    assert per_run_providers(providers.Selector(lambda: "a", a=app.orders)) == []


@pytest.mark.parametrize("keeper", [providers.Singleton, providers.ThreadSafeSingleton, providers.Resource])
def test_a_singleton_can_not_keep_what_one_firing_closes(keeper: Any) -> None:
    """It would hand out a closed object, whatever stands between the two."""
    app = Application()
    captor = keeper(Service, app.orders)
    with pytest.raises(SchedulerConfigError, match=r"Service\) uses per_run\(open_async\).*make it a Factory"):
        per_run_providers(providers.Factory(Service, app.session, captor))


def test_a_container_copies_its_per_run_providers() -> None:
    """Each instance of an application's container has its own, with its own arguments and overrides."""
    first, second = Application(), Application()
    fake = object()
    first.session.override(providers.Object(fake))
    assert first.session() is fake
    assert second.session.last_overriding is None
    assert per_run_providers(second.orders) == [second.session]
