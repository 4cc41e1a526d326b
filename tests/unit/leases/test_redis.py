"""The lease provider on Redis: its records, its clients, and a server that comes and goes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quartzite.clock import SystemClock
from quartzite.errors import LockError, SchedulerConfigError
from quartzite.leases import RedisLockProvider
from quartzite.leases.redis import RECORD_LIFE
from tests.servers import PrivateRedis
from tests.services import redis_client
from tests.unit.leases.values import MINUTE, TICK, asked


async def test_the_record_lives_a_week_longer_than_the_lease(redis_url: str, redis_prefix: str) -> None:
    """The key of a lock goes away seven days after its lease would have ended, with it the latest tick."""
    provider = RedisLockProvider(redis_url, clock=SystemClock(), key_prefix=redis_prefix)
    lease = await provider.lock(asked(tick=TICK))
    assert lease is not None
    async with redis_client(redis_url) as client:
        taken = await client.pttl(f"{redis_prefix}lock")
        assert await lease.extend(60 * MINUTE)
        extended = await client.pttl(f"{redis_prefix}lock")
        assert await lease.unlock()
        released = await client.pttl(f"{redis_prefix}lock")
    await provider.close()
    assert taken == pytest.approx((RECORD_LIFE + MINUTE) / timedelta(milliseconds=1), abs=5_000)
    assert extended == pytest.approx((RECORD_LIFE + 60 * MINUTE) / timedelta(milliseconds=1), abs=5_000)
    assert released == pytest.approx(extended, abs=5_000)


@pytest.mark.parametrize("decode", [False, True])
async def test_a_client_of_the_application_is_used_and_not_closed(
    redis_url: str, redis_prefix: str, decode: bool
) -> None:
    """The application's client works whether it decodes answers or not, and stays open."""
    from redis.asyncio import Redis

    client = Redis.from_url(redis_url, decode_responses=decode)
    provider = RedisLockProvider(client, clock=SystemClock(), key_prefix=redis_prefix, holder="nöde")
    lease = await provider.lock(asked(tick=TICK))
    assert lease is not None
    info = await provider.holder("lock")
    assert info is not None
    assert (info.holder, info.tick, info.token) == ("nöde", TICK, lease.token)
    twin = provider.twin()
    assert await twin.prolong(lease, MINUTE, timedelta(0))
    await twin.close()
    await provider.close()
    assert await client.ping()
    await client.aclose()


async def test_a_function_may_make_the_clients(redis_url: str, redis_prefix: str) -> None:
    """A function is asked for a client, and for another one by the twin; both are closed by who asked."""
    from redis.asyncio import Redis

    made: list[Any] = []

    def make() -> Redis:
        client = Redis.from_url(redis_url)
        made.append(client)
        return client

    provider = RedisLockProvider(make, clock=SystemClock(), key_prefix=redis_prefix)
    twin = provider.twin()
    lease = await provider.lock(asked())
    assert lease is not None
    assert await twin.release(lease)
    await twin.close()
    await provider.close()
    assert [client.connection_pool._available_connections[0].is_connected for client in made] == [False, False]


@pytest.mark.parametrize("server", [7, None, lambda: "redis://localhost"])
def test_what_is_no_server_is_refused(server: Any) -> None:
    """Something else than a URL, a client or a function that makes one is refused."""
    with pytest.raises(SchedulerConfigError, match="neither a URL nor a client"):
        RedisLockProvider(server, clock=SystemClock())


async def test_how_to_make_another_client_may_not_be_known() -> None:
    """A client of a sentinel does not tell how to make another one: the error asks for a function."""
    from redis.asyncio import Sentinel

    sentinel: Any = Sentinel
    client = sentinel([("127.0.0.1", 1)]).master_for("master")
    provider = RedisLockProvider(client, clock=SystemClock())
    with pytest.raises(SchedulerConfigError, match="give a function that makes a client"):
        provider.twin()
    await client.aclose()


async def test_a_claim_whose_answer_was_lost_is_granted_again(redis_url: str, redis_prefix: str) -> None:
    """The same call that comes twice, because the client sent it again, gets the same lease."""
    provider = RedisLockProvider(redis_url, clock=SystemClock(), key_prefix=redis_prefix)
    arguments = ("one", MINUTE // timedelta(microseconds=1), f"p{'-' * 18}", "0123456789abcdef", 60_000)
    first = await provider._lock(f"{redis_prefix}lock", *arguments)
    assert await provider._lock(f"{redis_prefix}lock", *arguments) == first
    assert await provider.lock(asked()) is None
    await provider.close()


@pytest.mark.parametrize("year", [1, 1969, 2300, 9998])
async def test_ticks_of_every_year_are_exact(redis_url: str, redis_prefix: str, year: int) -> None:
    """A tick is compared and kept to the microsecond, however far away it is."""
    provider = RedisLockProvider(redis_url, clock=SystemClock(), key_prefix=redis_prefix)
    tick = datetime(year, 6, 1, 12, 30, 15, 123457, tzinfo=UTC)
    assert await provider.lock(asked(tick=tick))
    assert await provider.lock(asked(tick=tick)) is None
    info = await provider.holder("lock")
    assert info is not None
    assert info.tick == tick
    assert await provider.lock(asked(tick=tick + timedelta.resolution))
    await provider.close()


async def test_the_longest_lease_fits(redis_url: str, redis_prefix: str) -> None:
    """A lease of a hundred years is held, and known."""
    provider = RedisLockProvider(redis_url, clock=SystemClock(), key_prefix=redis_prefix)
    lease = await provider.lock(asked(lock_at_most_for=timedelta(days=36_500)))
    info = await provider.holder("lock")
    assert lease is not None
    assert info is not None
    assert info.locked_until == lease.locked_at + timedelta(days=36_500)
    assert await provider.lock(asked()) is None
    await provider.close()


async def test_a_restart_of_the_server_goes_unnoticed(private_redis: PrivateRedis) -> None:
    """Connections and scripts that died with the server are replaced; while it is away, the error names the lock."""
    provider = RedisLockProvider(private_redis.url, clock=SystemClock())
    before = await provider.lock(asked("before"))
    assert before is not None
    await asyncio.to_thread(private_redis.restart)
    assert await provider.lock(asked("after"))
    assert not await before.unlock()
    await asyncio.to_thread(private_redis.stop)
    with pytest.raises(LockError, match="'away'"):
        await provider.lock(asked("away"))
    with pytest.raises(LockError, match="'away'"):
        await provider.holder("away")
    await provider.close()
