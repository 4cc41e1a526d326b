"""The lock handlers within one process, and the rules of ownership that every handler keeps."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest

from quartzite.errors import LockError
from quartzite.locks import LocalSemaphore, OwningSemaphore, SqliteSemaphore
from quartzite.locks.fair import FairLock
from quartzite.model.identity import SchedulerLock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

TRIGGERS, STATE = SchedulerLock.TRIGGER_ACCESS, SchedulerLock.STATE_ACCESS
A, B, C = (uuid4() for _ in range(3))
KINDS: list[Callable[[], OwningSemaphore]] = [LocalSemaphore, SqliteSemaphore]


async def waiting(semaphore: OwningSemaphore, requestor: UUID, lock: SchedulerLock = TRIGGERS) -> asyncio.Task[bool]:
    """Return a task that asks for a lock which somebody else holds, and waits for it."""
    task = asyncio.create_task(semaphore.obtain_lock(requestor, None, lock))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not task.done()
    return task


@pytest.mark.parametrize("kind", KINDS)
async def test_asking_again_takes_nothing(kind: Callable[[], OwningSemaphore]) -> None:
    """The second call of one requestor answers False; one release is enough."""
    semaphore = kind()
    assert await semaphore.obtain_lock(A, None, TRIGGERS) is True
    assert await semaphore.obtain_lock(A, None, TRIGGERS) is False
    await semaphore.release_lock(A, TRIGGERS)
    assert await semaphore.obtain_lock(B, None, TRIGGERS) is True
    await semaphore.release_lock(B, TRIGGERS)


@pytest.mark.parametrize("kind", KINDS)
async def test_locks_are_granted_in_order(kind: Callable[[], OwningSemaphore]) -> None:
    """Whoever asked first is granted first, one at a time."""
    semaphore = kind()
    await semaphore.obtain_lock(A, None, TRIGGERS)
    second, third = await waiting(semaphore, B), await waiting(semaphore, C)
    await semaphore.release_lock(A, TRIGGERS)
    assert await second is True
    assert not third.done()
    await semaphore.release_lock(B, TRIGGERS)
    assert await third is True
    await semaphore.release_lock(C, TRIGGERS)


@pytest.mark.parametrize("kind", KINDS)
async def test_no_connection_is_needed(kind: Callable[[], OwningSemaphore]) -> None:
    """The store may open its connection once it has the lock."""
    assert kind().requires_connection is False


@pytest.mark.parametrize("kind", KINDS)
async def test_the_release_by_a_stranger_warns(
    kind: Callable[[], OwningSemaphore], caplog: pytest.LogCaptureFixture
) -> None:
    """It says where it came from, raises nothing, and leaves the lock with its holder."""
    semaphore = kind()
    await semaphore.obtain_lock(A, None, TRIGGERS)
    with caplog.at_level(logging.WARNING, "quartzite.locks"):
        await semaphore.release_lock(B, TRIGGERS)
    (record,) = caplog.records
    assert "test_local.py" in (record.stack_info or "")
    other = await waiting(semaphore, B)
    await semaphore.release_lock(A, TRIGGERS)
    assert await other is True
    await semaphore.release_lock(B, TRIGGERS)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_cancelled_wait_holds_nothing(kind: Callable[[], OwningSemaphore]) -> None:
    """Cancellation is an exception, and the lock goes to the next in line."""
    semaphore = kind()
    await semaphore.obtain_lock(A, None, TRIGGERS)
    second, third = await waiting(semaphore, B), await waiting(semaphore, C)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert not semaphore.holds(B, TRIGGERS)
    await semaphore.release_lock(A, TRIGGERS)
    assert await third is True
    await semaphore.release_lock(C, TRIGGERS)


async def test_two_locks_are_independent() -> None:
    """Who holds one of the two locks keeps nobody from the other."""
    semaphore = LocalSemaphore()
    assert await semaphore.obtain_lock(A, None, TRIGGERS) is True
    assert await semaphore.obtain_lock(B, None, STATE) is True
    await semaphore.release_lock(A, TRIGGERS)
    await semaphore.release_lock(B, STATE)


async def test_one_lock_under_two_names() -> None:
    """Its holder is granted the other name at once; it is free when both are given back, in any order."""
    semaphore = SqliteSemaphore()
    assert await semaphore.obtain_lock(A, None, STATE) is True
    assert await semaphore.obtain_lock(A, None, TRIGGERS) is True
    assert await semaphore.obtain_lock(A, None, TRIGGERS) is False
    other = await waiting(semaphore, B, TRIGGERS)
    await semaphore.release_lock(A, STATE)
    await asyncio.sleep(0)
    assert not other.done()
    await semaphore.release_lock(A, TRIGGERS)
    assert await other is True
    await semaphore.release_lock(B, TRIGGERS)


class Refusing(OwningSemaphore):
    """A handler that never grants."""

    released = 0

    @property
    def requires_connection(self) -> bool:
        """None is needed."""
        return False

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:
        """Refuse."""
        raise LockError("the lock is not to be had")

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:
        """Count."""
        self.released += 1


async def test_a_lock_that_was_refused_is_not_held() -> None:
    """Ownership is noted only once a lock was granted, so it is never given up otherwise."""
    semaphore = Refusing()
    with pytest.raises(LockError):
        await semaphore.obtain_lock(A, None, TRIGGERS)
    assert not semaphore.holds(A, TRIGGERS)
    await semaphore.release_lock(A, TRIGGERS)
    assert semaphore.released == 0


async def test_a_grant_and_a_cancellation_in_one_moment() -> None:
    """A wait that is cancelled after it was granted, and before it woke up, hands the lock on."""
    lock = FairLock()
    await lock.take()
    second, third = asyncio.create_task(lock.take()), asyncio.create_task(lock.take())
    await asyncio.sleep(0)
    lock.give_up()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await asyncio.wait_for(third, 5)
    lock.give_up()
    await asyncio.wait_for(lock.take(), 5)


async def test_waiters_on_several_event_loops() -> None:
    """A lock is handed from one event loop to another, each in its thread."""
    lock, inside, most = FairLock(), [0], [0]

    async def work() -> None:
        for _ in range(50):
            await lock.take()
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            await asyncio.sleep(0)
            inside[0] -= 1
            lock.give_up()

    threads = [threading.Thread(target=lambda: asyncio.run(work())) for _ in range(3)]
    for thread in threads:
        thread.start()
    await work()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert (inside[0], most[0]) == (0, 1)


def test_a_waiter_whose_loop_is_gone_is_passed_over() -> None:
    """A loop that was closed while a call waited on it does not keep the lock from the others."""
    lock = FairLock()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(lock.take())
    forgotten = loop.create_task(lock.take())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    lock.give_up()
    asyncio.run(asyncio.wait_for(lock.take(), 5))
    setattr(forgotten, "_log_destroy_pending", False)  # noqa: B010  # that it is pending is the point
    forgotten.get_coro().close()
    del forgotten
    gc.collect()
