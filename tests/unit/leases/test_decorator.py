"""Functions that run on one node at a time, and what they can find out about their lock."""

from __future__ import annotations

import asyncio
import inspect
from datetime import timedelta
from typing import Any

import pytest

from quartzite.errors import InvalidValueError, LockError, SchedulerConfigError
from quartzite.leases import (
    InMemoryLockProvider,
    JobLock,
    LockingExecutor,
    assert_locked,
    current_lease,
    extend_lock,
    extend_lock_blocking,
    scheduler_lock,
)
from quartzite.leases.decorator import lock_of
from quartzite.testing import FakeClock
from tests.unit.leases.values import MINUTE, asked


class World:
    """Two nodes."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.provider = InMemoryLockProvider(clock=self.clock, holder="one")
        self.other = self.provider.as_node("two")


@pytest.fixture
def world() -> World:
    """Two nodes."""
    return World()


async def test_an_async_function_runs_under_its_lock(world: World) -> None:
    """It runs when the lock is free, and returns None without running when it is not."""
    runs: list[str] = []

    @scheduler_lock(name="report", at_most_for=MINUTE, at_least_for=MINUTE, provider=world.provider)
    async def report(day: str) -> str:
        assert_locked()
        runs.append(day)
        return day

    assert await report("monday") == "monday"
    assert await report("tuesday") is None
    await world.clock.advance(MINUTE)
    assert await report(day="wednesday") == "wednesday"
    assert runs == ["monday", "wednesday"]


def test_a_plain_function_runs_under_its_lock(world: World) -> None:
    """Plain functions are locked where there is no event loop, too; the provider may be found when it is called."""

    @scheduler_lock(name="report", at_most_for=MINUTE, at_least_for=MINUTE, provider=lambda: world.provider)
    def report(day: str) -> str:
        assert_locked()
        return day

    assert report("monday") == "monday"
    assert report("tuesday") is None


async def test_the_name_may_be_made_of_the_arguments(world: World) -> None:
    """A template over the arguments gives each value a lock of its own, defaults included."""

    @scheduler_lock(name="report-{region}-{order[id]}", at_most_for=MINUTE, provider=world.provider)
    async def report(order: dict[str, int], region: str = "north") -> str | None:
        lease = current_lease()
        return None if lease is None else lease.name

    assert await report({"id": 7}) == "report-north-7"
    await world.other.lock(asked("report-south-7"))
    assert await report({"id": 7}, "south") is None
    assert await report({"id": 8}, region="south") == "report-south-8"
    with pytest.raises(InvalidValueError, match="filled in"):
        await report({})


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"name": "report-{planet}", "at_most_for": MINUTE}, "no argument 'planet'"),
        ({"name": "", "at_most_for": MINUTE}, "lock name"),
        ({"name": "report", "at_most_for": timedelta(0)}, "more than 0"),
        ({"name": "report", "at_most_for": MINUTE, "at_least_for": 2 * MINUTE}, "between 0"),
    ],
)
def test_a_mistake_is_found_where_it_is_made(said: dict[str, Any], reason: str) -> None:
    """A name or duration that can not be used is refused when the function is decorated."""
    with pytest.raises(InvalidValueError, match=reason):

        @scheduler_lock(**said)
        async def report(region: str) -> None: ...


async def test_without_a_provider_the_remedy_is_named() -> None:
    """Called where nobody provides locks, the function does not run unlocked."""

    @scheduler_lock(name="report", at_most_for=MINUTE)
    async def report() -> None:
        raise AssertionError("it ran")

    with pytest.raises(SchedulerConfigError, match="provider=") as caught:
        await report()
    assert "use_job_locks" in str(caught.value)


def test_it_stays_the_function_that_it_was() -> None:
    """Name, signature and kind survive, so that it can be stored and injected as a job."""

    @scheduler_lock(name="report", at_most_for=MINUTE)
    async def report(region: str) -> None:
        """Write it."""

    @scheduler_lock(name="report", at_most_for=MINUTE)
    def plain(region: str) -> None: ...

    assert (report.__name__, report.__doc__, str(inspect.signature(report))) == (
        "report",
        "Write it.",
        "(region: 'str') -> 'None'",
    )
    assert (inspect.iscoroutinefunction(report), inspect.iscoroutinefunction(plain)) == (True, False)
    assert lock_of(report) == JobLock(at_most_for=MINUTE, at_least_for=timedelta(0))
    assert lock_of(lambda: None) is None


async def test_a_job_class_is_locked_too(world: World) -> None:
    """On a class it locks ``execute``; derived classes inherit it."""

    @scheduler_lock(name="report", at_most_for=MINUTE, at_least_for=MINUTE, provider=world.provider)
    class Report:
        async def execute(self, context: str) -> str:
            assert_locked()
            return context

    class Special(Report): ...

    assert await Special().execute("one") == "one"
    assert await Report().execute("two") is None
    assert lock_of(Special) == JobLock(at_most_for=MINUTE, at_least_for=MINUTE)


# From inside ------------------------------------------------------------------------------------------------------


async def test_unlocked_code_finds_out() -> None:
    """Where no lock is held, asserting or extending one is an error that names the ways to get one."""
    assert current_lease() is None
    with pytest.raises(LockError, match="LockingExecutor"):
        assert_locked()
    with pytest.raises(LockError, match="no lock is held"):
        await extend_lock(MINUTE)
    with pytest.raises(LockError, match="no lock is held"):
        extend_lock_blocking(MINUTE)


async def test_a_lock_that_was_lost_or_is_over_is_none(world: World) -> None:
    """Code that must never run unlocked stops when its lease was lost, or has lasted its at-most time."""
    executor = LockingExecutor(world.provider)

    async def lose() -> None:
        lease = current_lease()
        assert lease is not None
        lease.lose("the server is gone")
        assert_locked()

    async def overrun() -> None:
        await world.clock.advance(MINUTE)
        assert_locked()

    with pytest.raises(LockError, match="the server is gone"):
        await executor.run(lose, asked())
    with pytest.raises(LockError, match="lock_at_most_for"):
        await executor.run(overrun, asked())


async def test_a_lock_is_extended_from_inside(world: World) -> None:
    """Work that finds it takes longer extends its lock; nobody else gets it meanwhile."""
    refused: list[bool] = []

    @scheduler_lock(name="report", at_most_for=MINUTE, provider=world.provider)
    async def report() -> None:
        await extend_lock(10 * MINUTE)
        await world.clock.advance(5 * MINUTE)
        refused.append(await world.other.lock(asked("report")) is None)

    await report()
    assert refused == [True]
    assert await world.other.lock(asked("report"))


async def test_a_lock_that_has_ended_is_not_extended(world: World) -> None:
    """An extension that comes too late is an error, so that the work stops."""

    @scheduler_lock(name="report", at_most_for=MINUTE, provider=world.provider)
    async def report() -> None:
        await world.clock.advance(2 * MINUTE)
        await extend_lock(MINUTE)

    with pytest.raises(LockError, match="had ended"):
        await report()


def test_plain_code_extends_its_lock(world: World) -> None:
    """A plain function extends its lock from its thread."""

    @scheduler_lock(name="report", at_most_for=MINUTE, provider=world.provider)
    def report() -> float:
        lease = current_lease()
        assert lease is not None
        before = lease.deadline
        extend_lock_blocking(10 * MINUTE)
        return lease.deadline - before

    assert report() == 9 * 60


async def test_on_the_event_loop_the_blocking_way_is_refused(world: World) -> None:
    """An event loop can not wait for itself: the error names what to await instead."""

    @scheduler_lock(name="report", at_most_for=MINUTE, provider=world.provider)
    async def report() -> None:
        extend_lock_blocking(MINUTE)

    with pytest.raises(LockError, match="await extend_lock"):
        await report()


async def test_another_event_loop_extends_it_as_well(world: World) -> None:
    """Code that the work started on another event loop reaches the lease through the first one."""

    @scheduler_lock(name="report", at_most_for=MINUTE, provider=world.provider)
    async def report() -> float:
        lease = current_lease()
        assert lease is not None
        before = lease.deadline
        await asyncio.to_thread(lambda: asyncio.run(_extend()))
        return lease.deadline - before

    async def _extend() -> None:
        await extend_lock(3 * MINUTE)

    assert await report() == 2 * 60
