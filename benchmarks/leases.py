"""How many leases can be taken and given back in a second, beside redis-py's own lock and the bare commands.

Everything runs in one process and takes turns in short slices, so that all have the same machine: `python -m
benchmarks.leases [--seconds 8]`. Servers are looked for where the tests look for them.
"""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

from quartzite.clock import SystemClock
from quartzite.leases import LockConfiguration, LockProvider, RedisLockProvider, SqlLockProvider
from tests.services import MARIADB, POSTGRESQL, REDIS, new_mariadb_database, new_postgresql_schema, redis_client

MINUTE = timedelta(minutes=1)
SLICE = 0.1  # seconds
UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

Pair = Callable[[int], Awaitable[None]]


def of_provider(provider: LockProvider) -> Pair:
    """Return what takes and gives back one lease of a provider."""

    async def pair(number: int) -> None:
        lease = await provider.lock(LockConfiguration(name=f"bench {number}", lock_at_most_for=MINUTE))
        assert lease is not None
        assert await lease.unlock()

    return pair


async def measure(pairs: dict[str, Pair], tasks: int, seconds: float) -> dict[str, float]:
    """Let the contestants take turns; return pairs per second, the median of the slices."""
    rates: dict[str, list[float]] = {name: [] for name in pairs}
    for pair in pairs.values():
        await asyncio.gather(*(pair(number) for number in range(tasks)))
    end = time.perf_counter() + seconds * len(pairs)
    while time.perf_counter() < end:
        for name, pair in pairs.items():
            rates[name].append(await _slice(pair, tasks))
    return {name: statistics.median(found) for name, found in rates.items()}


async def _slice(pair: Pair, tasks: int) -> float:
    count = 0
    began = time.perf_counter()

    async def one(number: int) -> None:
        nonlocal count
        while time.perf_counter() - began < SLICE:
            await pair(number)
            count += 1

    await asyncio.gather(*(one(number) for number in range(tasks)))
    return count / (time.perf_counter() - began)


async def redis_pairs(opened: AsyncExitStack, prefix: str) -> dict[str, Pair]:
    """Return the contestants on Redis: all through clients of the same kind."""
    clients = [await opened.enter_async_context(redis_client(REDIS.url)) for _ in range(3)]
    ours = RedisLockProvider(clients[0], clock=SystemClock(), key_prefix=prefix)
    unlock = clients[2].register_script(UNLOCK)

    async def of_redis_py(number: int) -> None:
        lock = clients[1].lock(f"{prefix}theirs {number}", timeout=60, blocking=False)
        assert await lock.acquire()
        await lock.release()

    async def bare(number: int) -> None:
        key = f"{prefix}bare {number}"
        assert await clients[2].set(key, "owner", nx=True, px=60_000)
        assert await unlock(keys=[key], args=["owner"])

    return {"RedisLockProvider": of_provider(ours), "redis-py Lock": of_redis_py, "SET and EVALSHA": bare}


async def run(seconds: float) -> None:
    """Measure and print one JSON line per figure."""
    name = f"bench_leases_{time.time_ns()}"
    async with AsyncExitStack() as opened:
        contestants = await redis_pairs(opened, f"{name}:")
        schema = await opened.enter_async_context(new_postgresql_schema(POSTGRESQL.url, name))
        url = await opened.enter_async_context(new_mariadb_database(MARIADB.url, name))
        for title, provider in (
            ("PostgreSQL", SqlLockProvider(POSTGRESQL.url, clock=SystemClock(), schema=schema)),
            ("MariaDB", SqlLockProvider(url, clock=SystemClock())),
        ):
            opened.push_async_callback(provider.close)
            await provider.create_table()
            contestants[f"SqlLockProvider {title}"] = of_provider(provider)
        for tasks in (1, 10):
            for peer, rate in (await measure(contestants, tasks, seconds)).items():
                line = {"peer": peer, "workload": f"LEASE x{tasks}", "metric": "pairs", "value": round(rate)}
                print(json.dumps(line | {"unit": "/s"}), flush=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=8, help="for each contestant")
    asyncio.run(run(options.parse_args().seconds))
