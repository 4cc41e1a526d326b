"""TaskKeeper repeats work until it is told to end."""

from __future__ import annotations

from quartzite.locks.keeper import TaskKeeper
from quartzite.testing import FakeClock


async def test_work_is_repeated_until_the_end() -> None:
    """It is done first after one period, and not once more after the end."""
    clock, done = FakeClock(), []

    async def work() -> bool:
        done.append(clock.monotonic())
        return True

    end = TaskKeeper(clock).every(10, work)
    await clock.advance(seconds=9)
    assert done == []
    await clock.advance(seconds=21)
    assert done == [10, 20, 30]
    end()
    await clock.advance(seconds=60)
    assert done == [10, 20, 30]


async def test_work_that_is_done_ends_by_itself() -> None:
    """The answer False is the last one."""
    clock, done = FakeClock(), []

    async def work() -> bool:
        done.append(clock.monotonic())
        return False

    TaskKeeper(clock).every(10, work)
    await clock.advance(minutes=5)
    assert done == [10]
