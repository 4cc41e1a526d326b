"""Row locks on real servers: time limits, and what is left of a transaction after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.schema import CreateTable

from quartzite.clock import SystemClock
from quartzite.errors import LockError
from quartzite.locks import (
    AttemptingSemaphore,
    PostgreSqlSelectForUpdateSemaphore,
    SelectForUpdateSemaphore,
    UpdateRowSemaphore,
)
from quartzite.locks.time_limit import TimeLimit
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from quartzite.sql.engine import create_engine
from quartzite.sql.tables import tables
from tests.services import MARIADB, POSTGRESQL, new_mariadb_database, new_postgresql_schema

TRIGGERS, STATE = SchedulerLock.TRIGGER_ACCESS, SchedulerLock.STATE_ACCESS
LIMIT = timedelta(milliseconds=200)
SUBJECTS = [
    pytest.param((POSTGRESQL.name, PostgreSqlSelectForUpdateSemaphore), marks=pytest.mark.postgresql, id="pg-own"),
    pytest.param((POSTGRESQL.name, SelectForUpdateSemaphore), marks=pytest.mark.postgresql, id="pg-select"),
    pytest.param((POSTGRESQL.name, UpdateRowSemaphore), marks=pytest.mark.postgresql, id="pg-update"),
    pytest.param((MARIADB.name, SelectForUpdateSemaphore), marks=pytest.mark.mariadb, id="mariadb-select"),
    pytest.param((MARIADB.name, UpdateRowSemaphore), marks=pytest.mark.mariadb, id="mariadb-update"),
]


class Subject:
    """A handler on an empty table, whose statements have a time limit."""

    def __init__(self, engine: AsyncEngine, kind: type[Any], schema: str | None) -> None:
        self.engine = engine
        self.is_postgresql = schema is not None
        self.kind = kind
        self.semaphore: AttemptingSemaphore = kind()
        self.semaphore.retry_period = timedelta(milliseconds=10)
        self.context = SemaphoreContext(
            scheduler_name="s", instance_id="a", clock=SystemClock(), schema=schema, command_timeout=LIMIT
        )

    async def take(self, connection: AsyncConnection, lock: SchedulerLock = TRIGGERS) -> bool:
        """Take a lock as somebody new."""
        return await self.semaphore.obtain_lock(uuid4(), connection, lock)


@pytest.fixture(params=SUBJECTS)
async def subject(request: pytest.FixtureRequest, unique_name: str) -> AsyncIterator[Subject]:
    """A handler on an empty database."""
    server, kind = request.param
    async with AsyncExitStack() as stack:
        schema = None
        if server == POSTGRESQL.name:
            url = POSTGRESQL.url
            schema = await stack.enter_async_context(new_postgresql_schema(url, unique_name))
        else:
            url = await stack.enter_async_context(new_mariadb_database(MARIADB.url, unique_name))
        engine = create_engine(url)
        stack.push_async_callback(engine.dispose)
        async with engine.begin() as connection:
            await connection.execute(CreateTable(tables(schema=schema).locks))
        subject = Subject(engine, kind, schema)
        await subject.semaphore.initialize(subject.context)
        yield subject


async def test_nodes_that_begin_at_once_get_the_lock_one_after_the_other(subject: Subject) -> None:
    """Six that find no row all get the lock, without a deadlock that any of them would hear of."""
    order: list[int] = []

    async def begin(number: int) -> None:
        async with subject.engine.begin() as connection:
            assert await subject.take(connection)
            order.append(number)

    await asyncio.gather(*(begin(number) for number in range(6)))
    assert sorted(order) == list(range(6))


async def test_behind_a_dead_peer_a_node_goes_on(subject: Subject) -> None:
    """The statement gives up in time, and what the transaction did before is neither lost nor unusable."""
    async with subject.engine.begin() as connection:
        await subject.take(connection)  # so that the row is there
    async with subject.engine.connect() as dead, subject.engine.connect() as going:
        await subject.take(dead)
        assert await subject.take(going, STATE)
        async with asyncio.timeout(LIMIT.total_seconds() * 3 + 2):
            with pytest.raises(LockError, match="TRIGGER_ACCESS"):
                await subject.take(going)
        assert await going.scalar(text("SELECT 1")) == 1
        async with subject.engine.connect() as other:
            with pytest.raises(LockError, match="STATE_ACCESS"):
                await subject.take(other, STATE)  # it is still held by the transaction that went on


async def test_the_limit_is_of_the_lock_alone(subject: Subject) -> None:
    """Statements of others in the same transaction are as free as before."""
    async with subject.engine.begin() as connection:
        await subject.take(connection)
        sleeping = "SELECT 1 FROM pg_sleep(0.4)" if subject.is_postgresql else "SELECT 1 + SLEEP(0.4)"
        assert await connection.scalar(text(sleeping)) == 1


@pytest.mark.parametrize("subject", SUBJECTS[3:], indirect=True)
async def test_a_lost_transaction_is_not_tried_again(subject: Subject) -> None:
    """MariaDB ends the transaction of a deadlock's victim: going on would go on without the lock held before."""
    semaphore = subject.kind()
    await semaphore.initialize(SemaphoreContext(scheduler_name="s", instance_id="a", clock=SystemClock()))
    async with subject.engine.begin() as connection:
        for lock in SchedulerLock:
            await semaphore.obtain_lock(uuid4(), connection, lock)
    async with subject.engine.connect() as one, subject.engine.connect() as two:
        await semaphore.obtain_lock(uuid4(), one, STATE)
        await semaphore.obtain_lock(uuid4(), two, TRIGGERS)
        answers = await asyncio.wait_for(
            asyncio.gather(crossing(semaphore, one, TRIGGERS), crossing(semaphore, two, STATE), return_exceptions=True),
            10,
        )
    assert [type(answer) for answer in answers].count(LockError) == 1
    assert answers.count(True) == 1


async def crossing(semaphore: AttemptingSemaphore, connection: AsyncConnection, lock: SchedulerLock) -> bool:
    """Take a second lock, and give everything back."""
    taken = await semaphore.obtain_lock(uuid4(), connection, lock)
    await connection.rollback()
    return taken


async def test_where_the_server_can_not_stop_a_statement_the_client_does(tmp_path: Any) -> None:
    """The wait ends in time, and the connection is not used again."""
    engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT MAX(i) FROM n"
    async with engine.connect() as connection:
        with pytest.raises(TimeoutError):
            await TimeLimit(timedelta(milliseconds=50)).execute(connection, text(counting), {})
        assert connection.invalidated
    await engine.dispose()
