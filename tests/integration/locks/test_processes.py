"""Several processes and one lock: one holder at a time, and none that keeps it after its death."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.schema import CreateTable

from quartzite.sql.engine import create_engine
from quartzite.sql.tables import tables
from tests.integration.locks.node import LOCK, PREFIX, InDatabase, OnRedis, Place
from tests.integration.locks.processes import node
from tests.services import (
    MARIADB,
    POSTGRESQL,
    REDIS,
    new_mariadb_database,
    new_postgresql_schema,
    new_redis_prefix,
    redis_client,
)

ON_POSTGRESQL = (
    "PostgreSqlAdvisorySemaphore",
    "PostgreSqlSelectForUpdateSemaphore",
    "SelectForUpdateSemaphore",
    "UpdateRowSemaphore",
)
SUBJECTS = [
    *(pytest.param((POSTGRESQL.name, h), marks=pytest.mark.postgresql, id=f"postgresql-{h}") for h in ON_POSTGRESQL),
    *(pytest.param((MARIADB.name, h), marks=pytest.mark.mariadb, id=f"mariadb-{h}") for h in ON_POSTGRESQL[2:]),
    pytest.param((REDIS.name, "RedisSemaphore"), marks=pytest.mark.redis, id="redis"),
]
TTL = 800


@pytest.fixture(params=SUBJECTS)
async def told(request: pytest.FixtureRequest, unique_name: str) -> AsyncIterator[dict[str, Any]]:
    """What the processes of a test are told: a handler, and a place with a number that is 0."""
    server, handler = request.param
    async with AsyncExitStack() as stack:
        if server == REDIS.name:
            prefix = await stack.enter_async_context(new_redis_prefix(REDIS.url, unique_name))
            yield {"handler": handler, "url": REDIS.url, "prefix": prefix, "ttl": TTL}
            return
        schema = None
        if server == POSTGRESQL.name:
            url = POSTGRESQL.url
            schema = await stack.enter_async_context(new_postgresql_schema(url, unique_name))
        else:
            url = await stack.enter_async_context(new_mariadb_database(MARIADB.url, unique_name))
        place = {"handler": handler, "url": url, "schema": schema}
        await create_tables(url, schema)
        yield place


async def create_tables(url: str, schema: str | None) -> None:
    """Create the table of locks, empty, and the number."""
    engine = create_engine(url)
    where = f"{schema}." if schema else ""
    async with engine.begin() as connection:
        await connection.execute(CreateTable(tables(PREFIX, schema).locks))
        await connection.execute(text(f"CREATE TABLE {where}numbers (n INTEGER)"))
        await connection.execute(text(f"INSERT INTO {where}numbers VALUES (0)"))  # noqa: S608
    await engine.dispose()


async def number(told: dict[str, Any]) -> int:
    """Return what the processes have counted to."""
    if told["handler"] == "RedisSemaphore":
        async with redis_client(told["url"]) as client:
            return int(await client.get(told["prefix"] + "number") or 0)
    place = InDatabase(told)
    async with place.work() as connection:
        found = (await connection.execute(text(f"SELECT n FROM {place.table}"))).scalar_one()  # noqa: S608
    await place.engine.dispose()
    return int(found)


def place_of(told: dict[str, Any]) -> Place:
    """Return what this very process needs to want the same lock."""
    return OnRedis(told) if told["handler"] == "RedisSemaphore" else InDatabase(told)


async def take_once(place: Place) -> None:
    """Take the lock, count, and give it back."""
    await place.semaphore.initialize(place.context)
    requestor = uuid4()
    try:
        async with place.work() as connection:
            await place.semaphore.obtain_lock(requestor, connection, LOCK)
            await place.count(connection)
        await place.semaphore.release_lock(requestor, LOCK)
    finally:
        await place.semaphore.shutdown()
        if isinstance(place, InDatabase):
            await place.engine.dispose()


async def test_no_two_processes_hold_a_lock(told: dict[str, Any]) -> None:
    """Three processes that begin with an empty table add to one number, and no addition is lost."""
    async with AsyncExitStack() as stack:
        nodes = [await stack.enter_async_context(node(do="count", rounds=25, **told)) for _ in range(3)]
        for one in nodes:
            assert (await one.says())["event"] == "counted"
            assert await one.ended() == 0
    assert await number(told) == 75


async def test_the_lock_of_a_killed_process_is_free(told: dict[str, Any]) -> None:
    """A holder that is killed keeps nobody waiting: the server frees a row at once, Redis a key when its time is up."""
    async with node(do="hold", **told) as holder:
        assert (await holder.says())["event"] == "held"
        waiting = asyncio.ensure_future(take_once(place_of(told)))
        await asyncio.wait({waiting}, timeout=TTL / 1000 * 1.5)
        assert not waiting.done(), "the lock was granted while another process held and renewed it"
        holder.send(signal.SIGKILL)
        await asyncio.wait_for(waiting, 10)
    assert await number(told) == 1
