"""InjectingJobFactory: jobs built per firing, with what they ask for."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from dependency_injector import containers, providers

from quartzite.abc import Clock, JobScope
from quartzite.container import InjectingJobFactory, Named, PerRun, SchedulerContainer, per_run
from quartzite.errors import SchedulerConfigError, TypeLoadError
from quartzite.execution import JobContext, TriggerFiredBundle
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobType, job
from quartzite.triggers import TriggerBuilder
from tests.unit.container.conftest import MakeParts

if TYPE_CHECKING:
    from quartzite import JobContext as HiddenContext
    from quartzite.container.own import Own as Hidden

NOW = datetime(2026, 1, 1, tzinfo=UTC)
tenant: ContextVar[str] = ContextVar("tenant", default="nobody")


class Mailer:
    pass


class Session:
    def __init__(self) -> None:
        self.ended: list[BaseException | None] = []


async def open_session() -> AsyncIterator[Session]:
    session = Session()
    try:
        yield session
    except BaseException as error:
        session.ended.append(error)
        raise
    session.ended.append(None)


def open_plain() -> Iterator[Session]:
    yield Session()


class Orders:
    def __init__(self, session: Session) -> None:
        self.session = session


class SendMail:
    def __init__(self, mailer: Mailer, orders: Orders, clock: Clock) -> None:
        self.mailer, self.orders, self.clock = mailer, orders, clock

    async def execute(self, context: JobContext) -> None: ...


class Configured:
    """Its argument can not be found by its type: the application says how it is made."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.closed = 0

    async def execute(self, context: JobContext) -> None: ...

    async def aclose(self) -> None:
        self.closed += 1


class Application(containers.DeclarativeContainer):
    mailer = providers.Singleton(Mailer)
    session = per_run(open_session)
    orders = providers.Factory(Orders, session)
    configured = providers.Factory(Configured, "from the application")


class Plain(containers.DeclarativeContainer):
    mailer = providers.Singleton(Mailer)


def bundle(target: Any) -> TriggerFiredBundle:
    detail = JobBuilder.create(target).build()
    trigger = TriggerBuilder().for_job(detail).build().copy_with(start_time=NOW, next_fire_time=NOW)
    return TriggerFiredBundle(
        job=detail,
        trigger=trigger,
        calendar=None,
        recovering=False,
        fire_time=NOW,
        scheduled_fire_time=NOW,
        previous_fire_time=None,
        next_fire_time=None,
    )


class Firing:
    """Does with a factory what the engine does around one firing."""

    def __init__(self, parts: SchedulerContainer, target: Any) -> None:
        self.factory = parts.job_factory()
        self.bundle = bundle(target)
        self.scheduler = parts.scheduler()

    async def create(self) -> JobScope:
        return await self.factory.create_job(self.bundle, self.scheduler)

    async def run(self, error: BaseException | None = None) -> Any:
        scope = await self.create()
        result = scope.call(JobContext(self.bundle, self.scheduler))
        if scope.is_async:
            result = await result
        await self.factory.return_job(scope, error)
        return result


# ---------------------------------------------------------------------------------------------------- functions
async def test_a_function_gets_its_arguments_after_the_context(make_parts: MakeParts) -> None:
    """The application's providers and the scheduler's parts are found by annotation."""
    application = Application()
    parts = make_parts(application)

    async def send(context: JobContext, mailer: Mailer, clock: Clock, *, orders: Orders, size: int = 3) -> Any:
        return context, mailer, clock, orders, size

    context, mailer, clock, orders, size = await Firing(parts, send).run()
    assert isinstance(context, JobContext)
    assert mailer is application.mailer()
    assert clock is parts.clock()
    assert orders.session.ended == [None]
    assert size == 3


def without_context() -> str:
    return "nothing"


def only_a_mailer(mailer: Mailer) -> str:
    return type(mailer).__name__


def context_last(mailer: Mailer, context: JobContext) -> str:
    return f"{type(mailer).__name__} {type(context).__name__}"


def context_by_name(*, mailer: Mailer, ctx: JobContext) -> str:
    return f"{type(mailer).__name__} {type(ctx).__name__}"


def unannotated(ctx) -> str:  # type: ignore[no-untyped-def]
    return type(ctx).__name__


def anything(ctx: Any, mailer: Mailer) -> str:
    return f"{type(mailer).__name__} {type(ctx).__name__}"


def for_type_checkers(context: HiddenContext) -> str:
    return type(context).__name__


def positional_only(context: JobContext, mailer: Mailer, /) -> str:
    return f"{type(mailer).__name__} {type(context).__name__}"


def wrapped(function: Callable[..., str]) -> Callable[..., str]:
    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> str:
        return function(*args, **kwargs)

    return wrapper


def forwards_everything(*args: Any) -> str:
    return " ".join(type(one).__name__ for one in args)


class Callee:
    def __call__(self, context: JobContext, mailer: Mailer) -> str:
        return f"{type(mailer).__name__} {type(context).__name__}"

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (without_context, "nothing"),
        (only_a_mailer, "Mailer"),
        (context_last, "Mailer JobContext"),
        (context_by_name, "Mailer JobContext"),
        (unannotated, "JobContext"),
        (anything, "Mailer JobContext"),
        (for_type_checkers, "JobContext"),
        (positional_only, "Mailer JobContext"),
        (wrapped(context_last), "Mailer JobContext"),
        (forwards_everything, "JobContext"),
        (partial(anything, mailer=Mailer()), "Mailer JobContext"),
        (lambda ctx: type(ctx).__name__, "JobContext"),
        (lambda value="bound": value, "bound"),
        (Callee(), "Mailer JobContext"),
        (Callee().__call__, "Mailer JobContext"),
        (repr, "<quartzite.execution.JobContext object"),
    ],
)
async def test_a_function_gets_what_it_asks_for(make_parts: MakeParts, target: Any, expected: str) -> None:
    """The context goes to the parameter that is annotated with it, else to a first one that asks for nothing else."""
    result = await Firing(make_parts(Plain()), target).run()
    assert result.startswith(expected)


async def test_a_function_without_arguments_costs_nothing(make_parts: MakeParts) -> None:
    """Its scope is made once, as long as nothing is opened per run."""
    parts = make_parts(Plain())
    first = await Firing(parts, without_context).create()
    assert await Firing(parts, without_context).create() is first
    assert first.state is None
    assert (first.job, first.is_async) == (without_context, False)


async def test_what_decorators_say_reaches_the_scope(make_parts: MakeParts) -> None:
    """Whether it is asynchronous and may be cancelled hard is read from the target."""

    @job(hard_cancel=True)
    async def hard(context: JobContext, mailer: Mailer) -> None: ...

    scope = await Firing(make_parts(Plain()), hard).create()
    assert scope.is_async
    assert scope.hard_cancel
    assert scope.job is hard


async def test_what_is_opened_need_not_be_declared_on_its_own(make_parts: MakeParts) -> None:
    """A per-run provider within another one, and one that does not tell its type, are opened and closed likewise."""
    log: list[str] = []

    def untyped(name: str):  # type: ignore[no-untyped-def]
        log.append(f"open {name}")
        yield Session()
        log.append(f"close {name}")

    class Nested(containers.DeclarativeContainer):
        orders = providers.Factory(Orders, PerRun(untyped, "nested"))

    class Untyped(containers.DeclarativeContainer):
        session: PerRun[Session] = PerRun(untyped, "untyped")

    def use(context: JobContext, orders: Orders) -> None: ...

    def by_name(context: JobContext, session: Annotated[Any, Named("session")]) -> None: ...

    await Firing(make_parts(Nested()), use).run()
    await Firing(make_parts(Untyped()), by_name).run()
    assert log == ["open nested", "close nested", "open untyped", "close untyped"]


async def test_new_closures_are_not_kept_for_ever(make_parts: MakeParts) -> None:
    """An application that makes a new function for each job does not fill the memory with plans."""
    parts = make_parts(Plain())
    factory = parts.job_factory()
    for number in range(3000):
        await Firing(parts, lambda context, number=number: number).create()
    assert isinstance(factory, InjectingJobFactory)
    assert len(factory._plans) <= 1024


# ------------------------------------------------------------------------------------------------------ classes
async def test_a_class_is_built_anew_for_each_firing(make_parts: MakeParts) -> None:
    """Its constructor arguments are injected; two of them share what is opened per run."""
    application = Application()
    parts = make_parts(application)
    first, second = await Firing(parts, SendMail).create(), await Firing(parts, SendMail).create()
    assert isinstance(first.job, SendMail)
    assert first.job is not second.job
    assert first.job.mailer is second.job.mailer is application.mailer()
    assert first.job.orders.session is not second.job.orders.session
    assert first.call == first.job.execute
    for scope in (first, second):
        await parts.job_factory().return_job(scope, None)


async def test_the_applications_provider_of_the_class_builds_it(make_parts: MakeParts) -> None:
    """A job class that the application provides is built as it says, and closed, since a factory made it."""
    parts = make_parts(Application())
    scope = await Firing(parts, Configured).create()
    assert scope.job.text == "from the application"
    await parts.job_factory().return_job(scope, None)
    assert scope.job.closed == 1


async def test_a_job_that_the_application_shares_is_not_closed(make_parts: MakeParts) -> None:
    """A singleton is the application's to close."""

    class Shared(containers.DeclarativeContainer):
        configured = providers.ThreadSafeSingleton(Configured, "shared")

    application = Shared()
    parts = make_parts(application)
    scope = await Firing(parts, Configured).create()
    await parts.job_factory().return_job(scope, None)
    assert scope.job is application.configured()
    assert scope.job.closed == 0


async def test_a_fake_takes_the_place_of_the_class(make_parts: MakeParts) -> None:
    """An override of the provider reaches the firing, whatever class the fake has."""

    class Fake:
        def execute(self, context: JobContext) -> str:
            return "fake"

    application = Application()
    application.configured.override(providers.Factory(Fake))
    assert await Firing(make_parts(application), Configured).run() == "fake"


async def test_a_blocking_close_runs_in_a_thread(make_parts: MakeParts) -> None:
    """A job with a plain ``execute`` runs in a thread, and is closed in one."""
    threads: list[threading.Thread] = []

    class Blocking:
        def execute(self, context: JobContext) -> None: ...

        def close(self) -> None:
            threads.append(threading.current_thread())

    parts = make_parts()
    await Firing(parts, Blocking).run()
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()
    await parts.worker_pool().shutdown()


async def test_the_job_is_closed_before_what_it_used(make_parts: MakeParts) -> None:
    """A job may still need its session to close itself."""

    class Closing:
        def __init__(self, session: Session) -> None:
            self.session = session

        async def execute(self, context: JobContext) -> None: ...

        async def aclose(self) -> None:
            assert self.session.ended == []
            self.session.ended.append(OSError("closed by the job"))

    error = RuntimeError("no")
    parts = make_parts(Application())
    scope = await Firing(parts, Closing).create()
    await parts.job_factory().return_job(scope, error)
    assert [str(ended) for ended in scope.job.session.ended] == ["closed by the job", "no"]


# ----------------------------------------------------------------------------------------------------- failures
async def test_what_was_opened_is_closed_when_building_fails(make_parts: MakeParts) -> None:
    """A constructor that raises leaves nothing open, and its own error comes out."""
    sessions: list[Session] = []

    class Broken:
        def __init__(self, session: Session) -> None:
            sessions.append(session)
            raise LookupError("no such thing")

        async def execute(self, context: JobContext) -> None: ...

    with pytest.raises(LookupError, match="no such thing"):
        await Firing(make_parts(Application()), Broken).create()
    assert [str(error) for error in sessions[0].ended] == ["no such thing"]


async def test_an_error_while_closing_does_not_hide_the_first(
    make_parts: MakeParts, caplog: pytest.LogCaptureFixture
) -> None:
    """The error of the constructor comes out; the other one is logged."""

    def stuck() -> Iterator[Session]:
        try:
            yield Session()
        finally:
            raise OSError("stuck")

    class Stuck(containers.DeclarativeContainer):
        session = per_run(stuck)

    class Broken:
        def __init__(self, session: Session) -> None:
            raise LookupError("first")

        async def execute(self, context: JobContext) -> None: ...

    with pytest.raises(LookupError, match="first"):
        await Firing(make_parts(Stuck()), Broken).create()
    assert "could not be built failed" in caplog.text


def test_check_names_the_job_and_each_argument(make_parts: MakeParts) -> None:
    """A dependency that nobody provides is found without building anything."""

    def lonely(context: JobContext, orders: Orders, hidden: Hidden[int]) -> None: ...

    with pytest.raises(SchedulerConfigError) as caught:
        make_parts(Plain()).job_factory().check(JobType.of(lonely))
    message = str(caught.value)
    assert message.startswith(f"job {JobType.of(lonely).full_name} can not be built:\n")
    assert "argument 'orders': nobody provides a Orders" in message
    assert "argument 'hidden': the annotation 'Hidden[int]' can not be read here" in message


def test_check_finds_a_singleton_that_would_keep_a_session(make_parts: MakeParts) -> None:
    """What lives longer than a firing can not use what is opened for one."""

    class Captive(containers.DeclarativeContainer):
        mailer = providers.Factory(Mailer)
        session = per_run(open_session)
        orders = providers.Singleton(Orders, session)

    with pytest.raises(SchedulerConfigError, match=r"SendMail can not be built: Singleton\(Orders\) uses per_run"):
        make_parts(Captive()).job_factory().check(JobType.of(SendMail))


def test_check_loads_a_job_that_is_known_by_name(make_parts: MakeParts) -> None:
    """A name that leads nowhere is found too."""
    with pytest.raises(TypeLoadError, match="nowhere:nothing"):
        make_parts().job_factory().check(JobType("nowhere:nothing"))


def test_a_context_that_can_not_be_given_is_refused(make_parts: MakeParts) -> None:
    """A context by place only must be the first argument."""

    def strange(mailer: Mailer, context: JobContext, /) -> None: ...

    with pytest.raises(SchedulerConfigError, match="let it be the first"):
        make_parts(Plain()).job_factory().check(JobType.of(strange))


# ----------------------------------------------------------------------------------------------------- the rest
async def test_context_variables_of_a_derived_factory_reach_the_job(make_parts: MakeParts) -> None:
    """``configure_scope`` runs in the task of the firing, before anything is opened."""

    class TenantFactory(InjectingJobFactory):
        async def configure_scope(self, bundle: TriggerFiredBundle) -> None:
            tenant.set("acme")

    def whose(context: JobContext) -> str:
        return tenant.get()

    parts = make_parts()
    parts.job_factory.override(providers.ThreadSafeSingleton(TenantFactory, parts))
    assert await Firing(parts, whose).run() == "acme"


async def test_an_initialized_asynchronous_resource_is_injected(make_parts: MakeParts) -> None:
    """A resource of the application is shared by all firings."""

    class WithResource(containers.DeclarativeContainer):
        session = providers.Resource(open_session)
        orders = providers.Factory(Orders, session)

    async def use(context: JobContext, session: Session, orders: Orders) -> Any:
        return session, orders.session

    application = WithResource()
    parts = make_parts(application)
    first, second = await Firing(parts, use).run(), await Firing(parts, use).run()
    assert len({*first, *second}) == 1
    await application.shutdown_resources()  # type: ignore[misc]
    assert first[0].ended == [None]
