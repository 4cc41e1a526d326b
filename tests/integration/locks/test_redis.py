"""Locks on Redis: they last as long as they are needed, and a loss is noticed."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from quartzite.clock import SystemClock
from quartzite.errors import LockError
from quartzite.locks.redis import RedisLockOptions, RedisSemaphore
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from tests.integration.locks.processes import node
from tests.servers import PrivateRedis
from tests.services import redis_client

TRIGGERS, STATE = SchedulerLock.TRIGGER_ACCESS, SchedulerLock.STATE_ACCESS
SHORT = timedelta(milliseconds=600)
Make = Callable[..., Awaitable[RedisSemaphore]]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Make handlers, which are shut down at the end."""
    async with AsyncExitStack() as stack:

        async def made(url: str, prefix: str, ttl: timedelta = SHORT) -> RedisSemaphore:
            options = RedisLockOptions(redis_configuration=url, key_prefix=prefix, lock_time_to_live=ttl)
            semaphore = RedisSemaphore(options)
            stack.push_async_callback(semaphore.shutdown)
            clock = SystemClock()
            await semaphore.initialize(SemaphoreContext(scheduler_name="fight", instance_id="here", clock=clock))
            return semaphore

        yield made


async def waits(asked: asyncio.Future[Any], seconds: float) -> bool:
    """Tell whether a call has not been answered after some seconds."""
    await asyncio.wait({asked}, timeout=seconds)
    return not asked.done()


async def test_a_lock_is_held_longer_than_it_lives(make: Make, redis_url: str, redis_prefix: str) -> None:
    """Work that takes three lives of a lock keeps it, because it is renewed meanwhile."""
    here, there = await make(redis_url, redis_prefix), await make(redis_url, redis_prefix)
    holder, other = uuid4(), uuid4()
    assert await here.obtain_lock(holder, None, TRIGGERS)
    waiting = asyncio.ensure_future(there.obtain_lock(other, None, TRIGGERS))
    assert await waits(waiting, 3 * SHORT.total_seconds())
    await here.verify_lock(holder, TRIGGERS)
    await here.release_lock(holder, TRIGGERS)
    assert await asyncio.wait_for(waiting, 5)
    await there.release_lock(other, TRIGGERS)


async def test_the_key_names_scheduler_and_lock(make: Make, redis_url: str, redis_prefix: str) -> None:
    """The key is prefix, scheduler and lock; each acquisition has a token of its own; nothing is left behind."""
    semaphore, requestor, tokens = await make(redis_url, redis_prefix), uuid4(), set()
    async with redis_client(redis_url) as client:
        for _ in range(2):
            await semaphore.obtain_lock(requestor, None, STATE)
            tokens.add(await client.get(f"{redis_prefix}fight:STATE_ACCESS"))
            assert 0 < await client.pttl(f"{redis_prefix}fight:STATE_ACCESS") <= SHORT.total_seconds() * 1000
            await semaphore.release_lock(requestor, STATE)
        assert None not in tokens
        assert len(tokens) == 2
        assert await client.exists(f"{redis_prefix}fight:STATE_ACCESS") == 0


async def test_the_next_one_is_woken(make: Make, redis_url: str, redis_prefix: str) -> None:
    """Whoever waits is told of the release, and need not wait for the next time it would ask."""
    here = await make(redis_url, redis_prefix)
    slow = RedisLockOptions(
        redis_configuration=redis_url, key_prefix=redis_prefix, lock_retry_interval=timedelta(hours=1)
    )
    there = RedisSemaphore(slow)
    await there.initialize(here.context)
    holder, other = uuid4(), uuid4()
    await here.obtain_lock(holder, None, TRIGGERS)
    waiting = asyncio.ensure_future(there.obtain_lock(other, None, TRIGGERS))
    assert await waits(waiting, 0.3)
    await here.release_lock(holder, TRIGGERS)
    assert await asyncio.wait_for(waiting, 5)
    await there.release_lock(other, TRIGGERS)
    await there.shutdown()


async def test_a_holder_that_was_stopped_commits_nothing(make: Make, redis_url: str, redis_prefix: str) -> None:
    """A process that stands still longer than its lock lives learns that it lost it, and leaves the next one's."""
    told = {"handler": "RedisSemaphore", "url": redis_url, "prefix": redis_prefix, "ttl": 600}
    semaphore, requestor = await make(redis_url, redis_prefix), uuid4()
    async with node(do="hold", **told) as holder, redis_client(redis_url) as client:
        assert (await holder.says())["event"] == "held"
        holder.send(signal.SIGSTOP)
        assert await asyncio.wait_for(semaphore.obtain_lock(requestor, None, TRIGGERS), 10)
        token = await client.get(redis_prefix + "fight:TRIGGER_ACCESS")
        await holder.go_on()
        holder.send(signal.SIGCONT)
        assert [(await holder.says())["event"] for _ in range(2)] == ["lost", "released"]
        assert await holder.ended() == 0
        assert await client.get(redis_prefix + "fight:TRIGGER_ACCESS") == token
        assert await client.get(redis_prefix + "number") is None
    await semaphore.verify_lock(requestor, TRIGGERS)
    await semaphore.release_lock(requestor, TRIGGERS)


async def test_a_server_that_is_not_there_is_an_error(make: Make, private_redis: PrivateRedis) -> None:
    """No answer is a LockError that holds nothing; when the server is back, the lock is granted."""
    semaphore, requestor = await make(private_redis.url, "out:"), uuid4()
    await asyncio.to_thread(private_redis.stop)
    for _ in range(2):
        with pytest.raises(LockError, match="did not answer"):
            await semaphore.obtain_lock(requestor, None, TRIGGERS)
        assert not semaphore.holds(requestor, TRIGGERS)
    await asyncio.to_thread(private_redis.start)
    assert await semaphore.obtain_lock(uuid4(), None, TRIGGERS)


async def test_a_restart_is_survived(make: Make, private_redis: PrivateRedis) -> None:
    """A lock that the server forgot is lost to its holder; others get it, and those who waited go on waiting."""
    here, there = await make(private_redis.url, "re:"), await make(private_redis.url, "re:")
    first, second = uuid4(), uuid4()
    await here.obtain_lock(first, None, TRIGGERS)
    await asyncio.to_thread(private_redis.restart)
    assert await there.obtain_lock(second, None, TRIGGERS)
    with pytest.raises(LockError, match="lost"):
        await here.verify_lock(first, TRIGGERS)
    await here.release_lock(first, TRIGGERS)
    waiting = asyncio.ensure_future(here.obtain_lock(first, None, TRIGGERS))
    assert await waits(waiting, 0.3)
    await there.verify_lock(second, TRIGGERS)
    await there.release_lock(second, TRIGGERS)
    assert await asyncio.wait_for(waiting, 5)


async def test_a_loss_is_logged_when_it_happens(
    make: Make, private_redis: PrivateRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The renewal that finds the lock gone says so, before anybody asks."""
    semaphore, requestor = await make(private_redis.url, "log:"), uuid4()
    await semaphore.obtain_lock(requestor, None, TRIGGERS)
    async with redis_client(private_redis.url) as client:
        await client.delete("log:fight:TRIGGER_ACCESS")
    lost = asyncio.Event()
    monkeypatch.setattr(logging.getLogger("quartzite.locks"), "error", lambda *_, **__: lost.set())
    await asyncio.wait_for(lost.wait(), 5)
    with pytest.raises(LockError, match="lost"):
        await semaphore.verify_lock(requestor, TRIGGERS)
    await semaphore.release_lock(requestor, TRIGGERS)


async def test_a_handler_that_is_shut_down_holds_nothing(make: Make, redis_url: str, redis_prefix: str) -> None:
    """What is held when a handler is shut down is given back, not renewed for ever; its holder is told."""
    here, there, requestor = await make(redis_url, redis_prefix), await make(redis_url, redis_prefix), uuid4()
    await here.obtain_lock(requestor, None, TRIGGERS)
    await here.shutdown()
    assert await asyncio.wait_for(there.obtain_lock(requestor, None, TRIGGERS), 5)
    with pytest.raises(LockError, match="shut down"):
        await here.verify_lock(requestor, TRIGGERS)
    await here.release_lock(requestor, TRIGGERS)
    await there.verify_lock(requestor, TRIGGERS)


async def test_passwords_and_databases_are_used(make: Make) -> None:
    """A server with a password lets in who knows it; a wrong one is a LockError that does not repeat it."""
    with PrivateRedis("--requirepass", "secret") as server:
        right = await make(f"redis://:secret@127.0.0.1:{server.port}/3", "pw:")
        assert await right.obtain_lock(uuid4(), None, TRIGGERS)
        wrong = await make(f"redis://:guessed@127.0.0.1:{server.port}/3", "pw:")
        with pytest.raises(LockError) as caught:
            await wrong.obtain_lock(uuid4(), None, TRIGGERS)
    assert "guessed" not in str(caught.value)


async def test_the_master_is_found_through_sentinels(make: Make) -> None:
    """The sentinel that answers names the master of the service."""
    with PrivateRedis() as server, PrivateSentinel(server.port) as sentinel:
        found = await make(f"sentinel://127.0.0.1:1,127.0.0.1:{sentinel.port}/service", "sen:")
        assert await found.obtain_lock(uuid4(), None, TRIGGERS)
        async with redis_client(server.url) as client:
            assert await client.exists("sen:fight:TRIGGER_ACCESS") == 1


class PrivateSentinel(PrivateRedis):
    """A sentinel that watches one server under the name ``service``."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self._watched = port

    def _prepare(self) -> None:
        file = self.folder / "sentinel.conf"
        file.write_text(f"sentinel monitor service 127.0.0.1 {self._watched} 1\n")
        file.chmod(0o666)  # the sentinel, which runs as another user, writes down what it learns

    def _command(self) -> list[str]:
        program = super()._command()[0]
        own = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        return [program, str(self.folder / "sentinel.conf"), "--sentinel", *own]
