"""Work that runs when its lock is granted."""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial

import pytest

from quartzite.errors import LockError
from quartzite.leases import InMemoryLockProvider, LockingExecutor, assert_locked, current_lease
from quartzite.testing import FakeClock
from tests.unit.leases.values import MINUTE, FailingProvider, asked


class World:
    """Two nodes, of which the first one runs the work."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        shared = InMemoryLockProvider(clock=self.clock, holder="one")
        self.provider = FailingProvider(shared)
        self.other = shared.as_node("two")
        self.executor = LockingExecutor(self.provider)


@pytest.fixture
def world() -> World:
    """Two nodes."""
    return World()


async def double(number: int) -> int:
    """Return twice a number, under a lock."""
    assert_locked()
    return 2 * number


async def test_work_runs_when_its_lock_is_free(world: World) -> None:
    """The work runs under the lock, its result is returned, and the lock is free afterwards."""
    done = await world.executor.run(partial(double, 4), asked())
    assert (done.executed, done.value, done.holder) == (True, 8, None)
    assert current_lease() is None
    assert await world.other.lock(asked())


async def test_work_is_left_out_when_somebody_else_has_the_lock(world: World) -> None:
    """The work does not run, nobody waits, and the answer names the holder."""
    await world.other.lock(asked())
    done = await world.executor.run(partial(double, 4), asked())
    assert (done.executed, done.value) == (False, None)
    assert done.holder is not None
    assert done.holder.holder == "two"


async def test_a_plain_function_runs_in_a_thread(world: World) -> None:
    """Blocking work does not block the event loop, and knows its lock there."""

    def work() -> tuple[bool, str]:
        assert_locked()
        return threading.current_thread() is threading.main_thread(), str(current_lease() and current_lease().name)  # type: ignore[union-attr]

    done = await world.executor.run(work, asked())
    assert done.value == (False, "lock")


async def test_the_lock_is_given_back_when_the_work_fails(world: World) -> None:
    """What the work raises goes to the caller, and the lock is free."""

    async def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await world.executor.run(fail, asked())
    assert await world.other.lock(asked())


async def test_the_at_least_time_is_kept(world: World) -> None:
    """Short work keeps its lock for the at-least time."""
    await world.executor.run(partial(double, 4), asked(lock_at_least_for=MINUTE))
    assert await world.other.lock(asked()) is None
    await world.clock.advance(MINUTE)
    assert await world.other.lock(asked())


async def test_work_within_its_own_lock_runs_at_once(world: World) -> None:
    """Work that holds the lock already runs under it; another name is another lock."""

    async def outer() -> tuple[bool, bool]:
        inner = await world.executor.run(partial(double, 4), asked())
        blocked = await world.executor.run(partial(double, 4), asked("taken"))
        assert_locked()
        return inner.executed, blocked.executed

    await world.other.lock(asked("taken"))
    done = await world.executor.run(outer, asked())
    assert done.value == (True, False)
    assert world.provider.calls.count("lock") == 2


async def test_without_an_answer_nothing_runs(world: World) -> None:
    """When the provider can not be reached the work does not run, and the caller is told."""
    world.provider.fails = {"lock"}
    ran: list[int] = []
    with pytest.raises(LockError):
        await world.executor.run(lambda: ran.append(1), asked())
    assert ran == []


async def test_a_lock_that_can_not_be_given_back_is_no_failure_of_the_work(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """The work has run: its result counts, and the lock ends by itself."""
    world.provider.fails = {"release"}
    done = await world.executor.run(partial(double, 4), asked())
    assert done.value == 8
    assert [record.message for record in caplog.records] == ["A lock could not be given back."]


async def test_work_that_outlasts_its_lock_is_warned_about(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """When somebody else has got the lock meanwhile, that is logged; the at-most time was too short."""

    async def slow() -> None:
        await world.clock.advance(MINUTE)
        assert await world.other.lock(asked())

    await world.executor.run(slow, asked())
    assert [record.message for record in caplog.records] == ["A lock had ended before its work did."]


def test_it_works_without_an_event_loop(world: World) -> None:
    """Plain code runs in its own thread under a lock, and is left out when somebody else has it."""

    def work() -> tuple[int, bool]:
        assert_locked()
        again = world.executor.run_blocking(lambda: 1, asked())
        return threading.get_ident(), again.executed

    first = world.executor.run_blocking(work, asked(lock_at_least_for=MINUTE))
    second = world.executor.run_blocking(work, asked())
    assert (first.executed, first.value) == (True, (threading.get_ident(), True))
    assert (second.executed, second.holder and second.holder.holder) == (False, "one")


def test_without_an_event_loop_a_failure_gives_the_lock_back(world: World) -> None:
    """What plain code raises goes to the caller, and the lock is free."""

    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        world.executor.run_blocking(fail, asked())
    assert world.executor.run_blocking(lambda: 1, asked(lock_at_most_for=timedelta(hours=1))).executed
