"""SimpleJobFactory: jobs without a container."""

from typing import Any

import pytest

from quartzite.abc import Job, JobScope
from quartzite.engine.job_factory import SimpleJobFactory
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.errors import TypeLoadError
from quartzite.execution import JobContext, TriggerFiredBundle
from quartzite.model.job import JobDetail, JobType, job
from quartzite.model.keys import JobKey
from tests.unit.engine.test_executing import context

SCHEDULER: Any = None


@pytest.fixture
def factory() -> SimpleJobFactory:
    """A factory whose type loader knows nothing."""
    return SimpleJobFactory(type_loader=ImportTypeLoader())


def bundle(target: Any) -> TriggerFiredBundle:
    """Return a firing of a class, a function or a stored name."""
    given = context()
    detail = JobDetail(key=JobKey("job"), job_type=JobType.of(target))
    return TriggerFiredBundle(
        job=detail,
        trigger=given.trigger,
        calendar=None,
        recovering=False,
        fire_time=given.fire_time,
        scheduled_fire_time=given.fire_time,
        previous_fire_time=None,
        next_fire_time=None,
    )


async def scope_of(factory: SimpleJobFactory, target: Any) -> JobScope:
    """Return the scope that the factory makes."""
    return await factory.create_job(bundle(target), SCHEDULER)


class Closing(Job):
    """A job that notes how it was used."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    async def execute(self, context: JobContext) -> None:
        """Note the run."""
        self.notes.append("run")

    async def aclose(self) -> None:
        """Note the end."""
        self.notes.append("closed")


class ClosingPlainly:
    """A job that runs in a thread and is closed without waiting."""

    def __init__(self) -> None:
        self.closed = 0

    def execute(self, context: JobContext) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Note the end."""
        self.closed += 1


async def test_a_class_is_made_anew_for_each_firing(factory: SimpleJobFactory) -> None:
    """Two firings get two objects, called through ``execute``."""
    first, second = await scope_of(factory, Closing), await scope_of(factory, Closing)
    assert first.job is not second.job
    assert first.is_async
    await first.call(context())
    assert (first.job.notes, second.job.notes) == (["run"], [])


async def test_an_object_is_closed_when_it_comes_back(factory: SimpleJobFactory) -> None:
    """``aclose`` is awaited, ``close`` is called, once."""
    scope = await scope_of(factory, Closing)
    await factory.return_job(scope, None)
    assert scope.job.notes == ["closed"]
    plain = await scope_of(factory, ClosingPlainly)
    await factory.return_job(plain, RuntimeError())
    assert plain.job.closed == 1
    assert not plain.is_async


async def test_a_function_is_called_with_the_context(factory: SimpleJobFactory) -> None:
    """A function gets the context; the same scope serves every firing."""
    seen = []

    async def remember(given: JobContext) -> None:
        seen.append(given)

    one = context()
    scope = await scope_of(factory, remember)
    await scope.call(one)
    assert seen == [one]
    assert await scope_of(factory, remember) is scope
    await factory.return_job(scope, None)


async def test_a_function_without_arguments_gets_none(factory: SimpleJobFactory) -> None:
    """A function that takes nothing is called bare."""

    def answer() -> int:
        return 42

    scope = await scope_of(factory, answer)
    assert scope.call(context()) == 42
    assert not scope.is_async


async def test_a_function_that_wants_more_fails_with_its_own_error(factory: SimpleJobFactory) -> None:
    """A function that can be called neither with the context nor bare is called with it: the error names it."""

    def needs_two(one: object, two: object) -> None:
        """Nobody gives two."""

    scope = await scope_of(factory, needs_two)
    with pytest.raises(TypeError, match="needs_two"):
        scope.call(context())


async def test_a_builtin_without_a_signature_gets_the_context(factory: SimpleJobFactory) -> None:
    """What does not say what it takes is called with the context."""
    scope = await scope_of(factory, print)
    scope.call(context())


async def test_hard_cancel_is_passed_on(factory: SimpleJobFactory) -> None:
    """What the decorator says about interruption reaches the runner."""

    @job(hard_cancel=True)
    async def stubborn(given: JobContext) -> None:
        """Do nothing."""

    assert (await scope_of(factory, stubborn)).hard_cancel
    assert not (await scope_of(factory, Closing)).hard_cancel


async def test_a_stored_name_goes_through_the_type_loader(factory: SimpleJobFactory) -> None:
    """A job of which only the name is known is looked up; a name that leads nowhere is an error that says so."""
    loader = ImportTypeLoader()
    loader.register(JobType.of(Closing))
    scope = await scope_of(SimpleJobFactory(type_loader=loader), JobType.of(Closing).full_name)
    assert isinstance(scope.job, Closing)
    with pytest.raises(TypeLoadError, match="nowhere:run"):
        await scope_of(factory, "nowhere:run")


async def test_the_functions_that_are_remembered_are_limited(factory: SimpleJobFactory) -> None:
    """Functions that are made on the fly do not pile up in the factory."""
    for _ in range(3000):
        await scope_of(factory, lambda given: given)
    assert factory._scope_of_function.cache_info().currsize <= 1024
