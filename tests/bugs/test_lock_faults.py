"""Reported faults of locks, on every handler that could have them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from uuid import uuid4

import pytest

from quartzite.clock import SystemClock
from quartzite.errors import LockError
from quartzite.locks import LocalSemaphore, OwningSemaphore, SqliteSemaphore
from quartzite.locks.keeper import LeaseKeeper
from quartzite.locks.redis import RedisLockOptions, RedisSemaphore
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from tests.services import REDIS, new_redis_prefix

TRIGGERS = SchedulerLock.TRIGGER_ACCESS
CONTEXT = SemaphoreContext(scheduler_name="s", instance_id="a", clock=SystemClock())


class StandingStill(LeaseKeeper):
    """What renews the locks of a process that stands still."""

    def every(self, seconds: float, work: Callable[[], Awaitable[bool]]) -> Callable[[], None]:
        """Do nothing."""
        return lambda: None


@pytest.fixture(params=["local", "sqlite", pytest.param("redis", marks=pytest.mark.redis)])
async def semaphore(request: pytest.FixtureRequest, unique_name: str) -> AsyncIterator[OwningSemaphore]:
    """A handler of each kind that waits by itself; the contract says the same of those whose database waits."""
    async with AsyncExitStack() as stack:
        found: OwningSemaphore = LocalSemaphore() if request.param == "local" else SqliteSemaphore()
        if request.param == "redis":
            prefix = await stack.enter_async_context(new_redis_prefix(REDIS.url, unique_name))
            found = RedisSemaphore(RedisLockOptions(redis_configuration=REDIS.url, key_prefix=prefix))
        await found.initialize(CONTEXT)
        yield found
        await found.shutdown()


async def test_b071_a_cancelled_call_never_answers_false(semaphore: OwningSemaphore) -> None:
    """B071: cancelled while waiting, a call raises CancelledError, and the next one gets the lock."""
    holder, cancelled, next_one = uuid4(), uuid4(), uuid4()
    await semaphore.obtain_lock(holder, None, TRIGGERS)
    waiting = asyncio.ensure_future(semaphore.obtain_lock(cancelled, None, TRIGGERS))
    await asyncio.wait({waiting}, timeout=0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not semaphore.holds(cancelled, TRIGGERS)
    await semaphore.release_lock(holder, TRIGGERS)
    assert await asyncio.wait_for(semaphore.obtain_lock(next_one, None, TRIGGERS), 5) is True
    await semaphore.release_lock(next_one, TRIGGERS)


async def test_b071_false_means_re_entry_and_frees_nothing(semaphore: OwningSemaphore) -> None:
    """B071: the second call of the holder answers False, and whoever waits waits until the first is given back."""
    holder, other = uuid4(), uuid4()
    assert await semaphore.obtain_lock(holder, None, TRIGGERS) is True
    assert await semaphore.obtain_lock(holder, None, TRIGGERS) is False
    waiting = asyncio.ensure_future(semaphore.obtain_lock(other, None, TRIGGERS))
    await asyncio.wait({waiting}, timeout=0.05)
    assert not waiting.done()
    await semaphore.release_lock(holder, TRIGGERS)
    assert await asyncio.wait_for(waiting, 5) is True
    await semaphore.release_lock(other, TRIGGERS)


async def test_b072_a_lease_that_ended_stops_its_holder_and_frees_nobody_elses(
    redis_url: str, redis_prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B072: a holder that was not renewed is told so before it commits, and its release leaves the second's lock."""
    options = RedisLockOptions(
        redis_configuration=redis_url, key_prefix=redis_prefix, lock_time_to_live=timedelta(milliseconds=300)
    )
    first, second = RedisSemaphore(options, keeper=StandingStill()), RedisSemaphore(options)
    one, two = uuid4(), uuid4()
    for each in (first, second):
        await each.initialize(CONTEXT)
    await first.obtain_lock(one, None, TRIGGERS)
    assert await asyncio.wait_for(second.obtain_lock(two, None, TRIGGERS), 5)
    with caplog.at_level(logging.ERROR, "quartzite.locks"), pytest.raises(LockError, match="lost"):
        await first.verify_lock(one, TRIGGERS)
    assert [record.message for record in caplog.records] == ["a lock on Redis was lost while it was held"]
    await first.release_lock(one, TRIGGERS)
    await second.verify_lock(two, TRIGGERS)
    for each in (first, second):
        await each.shutdown()
