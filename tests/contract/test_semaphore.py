"""The lock handlers keep the contract of semaphores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.schema import CreateTable

from quartzite.abc import Semaphore
from quartzite.locks import (
    DbSemaphore,
    LocalSemaphore,
    MemoryOptimizedUpdateRowSemaphore,
    PostgreSqlAdvisorySemaphore,
    PostgreSqlSelectForUpdateSemaphore,
    SelectForUpdateSemaphore,
    SqliteSemaphore,
    UpdateRowSemaphore,
)
from quartzite.locks.redis import RedisLockOptions, RedisSemaphore
from quartzite.model.identity import SemaphoreContext
from quartzite.sql.engine import create_engine
from quartzite.sql.tables import tables
from quartzite.testing import FakeClock
from quartzite.testing.contracts import Capability, Connect, MakeSemaphore, SemaphoreContract

PREFIX = "SEM_"
CLUSTERED = frozenset({Capability.INDEPENDENT_LOCKS, Capability.SHARED_LOCKS})


def making(build: Callable[[], Semaphore]) -> MakeSemaphore:
    """Return what builds a handler and tells it about the scheduler."""

    async def make(context: SemaphoreContext) -> Semaphore:
        semaphore = build()
        await semaphore.initialize(context)
        return semaphore

    return make


class TestLocalSemaphore(SemaphoreContract):
    """LocalSemaphore."""

    capabilities: ClassVar = frozenset({Capability.INDEPENDENT_LOCKS})

    @pytest.fixture
    def make_semaphore(self) -> MakeSemaphore:
        """How the handler is made."""
        return making(LocalSemaphore)


class TestSqliteSemaphore(SemaphoreContract):
    """SqliteSemaphore, which has one lock behind both names."""

    @pytest.fixture
    def make_semaphore(self) -> MakeSemaphore:
        """How the handler is made."""
        return making(SqliteSemaphore)


class RowContract(SemaphoreContract):
    """The contract for handlers of rows: what their subjects share."""

    capabilities: ClassVar = CLUSTERED
    handler: ClassVar[Callable[[], DbSemaphore]]

    @pytest.fixture
    def make_semaphore(self) -> MakeSemaphore:
        """How the handler is made."""
        return making(type(self).handler)

    @pytest.fixture
    def connect(self, engine: AsyncEngine) -> Connect:
        """How a connection with a transaction is opened."""

        @asynccontextmanager
        async def open_connection() -> AsyncIterator[AsyncConnection]:
            async with engine.begin() as connection:
                yield connection

        return open_connection


async def _empty(engine: AsyncEngine, schema: str | None = None) -> None:
    """Create the table of locks, without a row."""
    async with engine.begin() as connection:
        await connection.execute(CreateTable(tables(PREFIX, schema).locks))


class PostgreSqlContract(RowContract):
    """On PostgreSQL, in a schema of the test."""

    @pytest.fixture
    async def engine(self, postgresql_url: str, postgresql_schema: str) -> AsyncIterator[AsyncEngine]:
        """An engine."""
        async with AsyncExitStack() as stack:
            engine = create_engine(postgresql_url)
            stack.push_async_callback(engine.dispose)
            await _empty(engine, postgresql_schema)
            yield engine

    @pytest.fixture
    def context(self, postgresql_schema: str) -> SemaphoreContext:
        """What the handlers are told."""
        return SemaphoreContext(
            scheduler_name="contract",
            instance_id="node-1",
            clock=FakeClock(),
            table_prefix=PREFIX,
            schema=postgresql_schema,
        )


class MariaDbContract(RowContract):
    """On MariaDB, in a database of the test."""

    @pytest.fixture
    async def engine(self, mariadb_database: str) -> AsyncIterator[AsyncEngine]:
        """An engine."""
        async with AsyncExitStack() as stack:
            engine = create_engine(mariadb_database)
            stack.push_async_callback(engine.dispose)
            await _empty(engine)
            yield engine

    @pytest.fixture
    def context(self) -> SemaphoreContext:
        """What the handlers are told; statements have a time limit that is never reached."""
        return SemaphoreContext(
            scheduler_name="contract",
            instance_id="node-1",
            clock=FakeClock(),
            table_prefix=PREFIX,
            command_timeout=timedelta(seconds=15),
        )


class TestUpdateRowOnPostgreSql(PostgreSqlContract):
    """UpdateRowSemaphore."""

    handler = UpdateRowSemaphore


class TestSelectForUpdateOnPostgreSql(PostgreSqlContract):
    """SelectForUpdateSemaphore."""

    handler = SelectForUpdateSemaphore


class TestPostgreSqlSelectForUpdate(PostgreSqlContract):
    """PostgreSqlSelectForUpdateSemaphore, with a time limit that is never reached."""

    handler = PostgreSqlSelectForUpdateSemaphore

    @pytest.fixture
    def context(self, postgresql_schema: str) -> SemaphoreContext:
        """What the handlers are told."""
        told = SemaphoreContext(scheduler_name="contract", instance_id="node-1", clock=FakeClock())
        return replace(told, table_prefix=PREFIX, schema=postgresql_schema, command_timeout=timedelta(seconds=15))


class TestPostgreSqlAdvisory(PostgreSqlContract):
    """PostgreSqlAdvisorySemaphore."""

    handler = PostgreSqlAdvisorySemaphore


class TestUpdateRowOnMariaDb(MariaDbContract):
    """UpdateRowSemaphore."""

    handler = UpdateRowSemaphore


class TestMemoryOptimizedUpdateRowOnMariaDb(MariaDbContract):
    """MemoryOptimizedUpdateRowSemaphore."""

    handler = MemoryOptimizedUpdateRowSemaphore


class TestSelectForUpdateOnMariaDb(MariaDbContract):
    """SelectForUpdateSemaphore."""

    handler = SelectForUpdateSemaphore


class TestRedisSemaphore(SemaphoreContract):
    """RedisSemaphore."""

    capabilities: ClassVar = CLUSTERED

    @pytest.fixture
    async def make_semaphore(self, redis_url: str, redis_prefix: str) -> AsyncIterator[MakeSemaphore]:
        """How the handler is made; each one is shut down after the test."""
        async with AsyncExitStack() as stack:
            options = RedisLockOptions(redis_configuration=redis_url, key_prefix=redis_prefix)

            async def make(context: SemaphoreContext) -> Semaphore:
                semaphore = RedisSemaphore(options)
                stack.push_async_callback(semaphore.shutdown)
                await semaphore.initialize(context)
                return semaphore

            yield make
