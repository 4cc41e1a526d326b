"""How long it takes to get a lock: each handler, alone and with several processes that want the same one.

Run ``python -m benchmarks.locks``; servers are found as the tests find them. Each process takes TRIGGER_ACCESS again
and again, holds it for two milliseconds (as long as a short transaction takes) and lets go of it.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.schema import CreateTable

from quartzite.abc import Semaphore
from quartzite.clock import SystemClock
from quartzite.locks import (
    PostgreSqlAdvisorySemaphore,
    PostgreSqlSelectForUpdateSemaphore,
    SelectForUpdateSemaphore,
    UpdateRowSemaphore,
)
from quartzite.locks.redis import RedisLockOptions, RedisSemaphore
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from quartzite.sql.engine import create_engine
from quartzite.sql.tables import tables
from tests.services import MARIADB, POSTGRESQL, REDIS

PREFIX = "BENCH_"
HOLD = 0.002
LOCK = SchedulerLock.TRIGGER_ACCESS


@dataclass(frozen=True)
class Subject:
    """One handler on one server."""

    title: str
    make: type[Semaphore]
    url: str | None = None
    limit: timedelta | None = None


def redis_semaphore() -> RedisSemaphore:
    return RedisSemaphore(RedisLockOptions(redis_configuration=REDIS.url, key_prefix="bench:lock:"))


SUBJECTS = [
    Subject("PostgreSQL, SELECT FOR UPDATE", PostgreSqlSelectForUpdateSemaphore, POSTGRESQL.url),
    Subject(
        "PostgreSQL, SELECT FOR UPDATE, time limit",
        PostgreSqlSelectForUpdateSemaphore,
        POSTGRESQL.url,
        timedelta(seconds=10),
    ),
    Subject("PostgreSQL, advisory lock", PostgreSqlAdvisorySemaphore, POSTGRESQL.url),
    Subject("PostgreSQL, UPDATE", UpdateRowSemaphore, POSTGRESQL.url),
    Subject("MariaDB, SELECT FOR UPDATE", SelectForUpdateSemaphore, MARIADB.url),
    Subject("MariaDB, UPDATE", UpdateRowSemaphore, MARIADB.url),
    Subject("Redis", redis_semaphore),
]


async def contend(subject, ready, seconds):
    """Return the seconds that each acquisition took, from asking to having the lock."""
    engine = create_engine(subject.url) if subject.url else None
    semaphore = subject.make()
    await semaphore.initialize(
        SemaphoreContext(
            scheduler_name="bench",
            instance_id=str(uuid4()),
            clock=SystemClock(),
            table_prefix=PREFIX,
            command_timeout=subject.limit,
        )
    )
    waits = []
    ready.wait()  # all begin together, however long their imports took
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        requestor = uuid4()
        async with engine.connect() if engine else nullcontext() as connection:
            asked = time.perf_counter()
            await semaphore.obtain_lock(requestor, connection, LOCK)
            waits.append(time.perf_counter() - asked)
            await asyncio.sleep(HOLD)
            if connection is not None:
                await connection.commit()
            await semaphore.release_lock(requestor, LOCK)
    await semaphore.shutdown()
    if engine:
        await engine.dispose()
    return waits


def run_node(index, ready, seconds, results):
    results.put(asyncio.run(contend(SUBJECTS[index], ready, seconds)))


async def prepare(subject, create):
    if subject.url is None:
        return
    engine = create_engine(subject.url)
    locks = tables(PREFIX).locks
    async with engine.begin() as connection:
        if create:
            await connection.execute(CreateTable(locks))
        else:
            await connection.execute(text(f"DROP TABLE {locks.name}"))
    await engine.dispose()


def measure(index, processes, seconds):
    subject = SUBJECTS[index]
    asyncio.run(prepare(subject, create=True))
    try:
        spawn = multiprocessing.get_context("spawn")
        results = spawn.Queue()
        ready = spawn.Barrier(processes)
        nodes = [spawn.Process(target=run_node, args=(index, ready, seconds, results)) for _ in range(processes)]
        for node in nodes:
            node.start()
        counts = [results.get(timeout=seconds + 60) for _ in nodes]
        for node in nodes:
            node.join()
    finally:
        asyncio.run(prepare(subject, create=False))
    waits = sorted(wait for one in counts for wait in one)
    return {
        "rate": len(waits) / seconds,
        "p50": statistics.median(waits) * 1000,
        "p99": waits[int(len(waits) * 0.99)] * 1000,
        "max": waits[-1] * 1000,
        "least share": min(map(len, counts)) / len(waits),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", default="", help="part of a title")
    options = parser.parse_args()
    print("| handler | processes | locks/s | wait p50 ms | p99 ms | longest ms | least share |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for index, subject in enumerate(SUBJECTS):
        if options.only not in subject.title:
            continue
        for processes in (1, 4):
            r = measure(index, processes, options.seconds)
            figures = f"{r['rate']:.0f} | {r['p50']:.2f} | {r['p99']:.1f} | {r['max']:.0f} | {r['least share']:.0%}"
            print(f"| {subject.title} | {processes} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
