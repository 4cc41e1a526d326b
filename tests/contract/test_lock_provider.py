"""The lock providers keep their contract: in memory, on each database by its own time and by a clock, and on Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from quartzite.clock import SystemClock
from quartzite.leases import InMemoryLockProvider, LockProvider, RedisLockProvider, SqlLockProvider
from quartzite.sql.engine import create_engine
from quartzite.sql.time import ClockTime
from quartzite.testing import FakeClock
from quartzite.testing.contracts import LetPass, LockProviderContract, MakeProvider


@asynccontextmanager
async def making(make: Callable[[str], LockProvider]) -> AsyncIterator[MakeProvider]:
    """Make providers, each with its table if it needs one, and close them at the end."""
    async with AsyncExitStack() as opened:
        tables = 0

        async def make_one(holder: str) -> LockProvider:
            nonlocal tables
            provider = make(holder)
            opened.push_async_callback(provider.close)
            if isinstance(provider, SqlLockProvider) and not tables:
                tables += 1
                await provider.create_table()
            return provider

        yield make_one


class OnFakeClock(LockProviderContract):
    """The suite on a clock that it moves itself."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        """The clock of all providers."""
        return FakeClock()

    @pytest.fixture
    def let_pass(self, clock: FakeClock) -> LetPass:
        """How time passes."""

        async def advance(span: timedelta) -> None:
            await clock.advance(span)

        return advance


class TestInMemory(OnFakeClock):
    """InMemoryLockProvider."""

    @pytest.fixture
    def make_provider(self, clock: FakeClock) -> MakeProvider:
        """How a provider is made: the nodes share the records of the first one."""
        shared = InMemoryLockProvider(clock=clock)

        async def make(holder: str) -> LockProvider:
            return shared.as_node(holder)

        return make


class TestSqlite(OnFakeClock):
    """SqlLockProvider on a SQLite file, by the clock of its process."""

    @pytest.fixture
    async def make_provider(self, clock: FakeClock, tmp_path: Path) -> AsyncIterator[MakeProvider]:
        """How a provider is made."""
        url = f"sqlite:///{tmp_path / 'leases.db'}"
        async with making(lambda holder: SqlLockProvider(url, clock=clock, holder=holder)) as make:
            yield make


class TestPostgresql(LockProviderContract):
    """SqlLockProvider on PostgreSQL, by the database's time."""

    @pytest.fixture
    async def make_provider(self, postgresql_url: str, postgresql_schema: str) -> AsyncIterator[MakeProvider]:
        """How a provider is made."""

        def make(holder: str) -> LockProvider:
            return SqlLockProvider(postgresql_url, clock=SystemClock(), schema=postgresql_schema, holder=holder)

        async with making(make) as made:
            yield made


class TestPostgresqlOnAnEngine(OnFakeClock):
    """SqlLockProvider inside the application's own engine on PostgreSQL, by a clock."""

    @pytest.fixture
    async def make_provider(
        self, clock: FakeClock, postgresql_url: str, postgresql_schema: str
    ) -> AsyncIterator[MakeProvider]:
        """How a provider is made."""
        engine = create_engine(postgresql_url)

        def make(holder: str) -> LockProvider:
            return SqlLockProvider(engine, clock=clock, time=ClockTime(), schema=postgresql_schema, holder=holder)

        try:
            async with making(make) as made:
                yield made
        finally:
            await engine.dispose()


class TestMariaDb(LockProviderContract):
    """SqlLockProvider on MariaDB, by the database's time."""

    @pytest.fixture
    async def make_provider(self, mariadb_database: str) -> AsyncIterator[MakeProvider]:
        """How a provider is made."""
        clock = SystemClock()
        async with making(lambda holder: SqlLockProvider(mariadb_database, clock=clock, holder=holder)) as make:
            yield make


class TestMariaDbOnAnEngine(OnFakeClock):
    """SqlLockProvider inside the application's own engine on MariaDB, by a clock."""

    @pytest.fixture
    async def make_provider(self, clock: FakeClock, mariadb_database: str) -> AsyncIterator[MakeProvider]:
        """How a provider is made."""
        engine = create_engine(mariadb_database)
        try:
            async with making(
                lambda holder: SqlLockProvider(engine, clock=clock, time=ClockTime(), holder=holder)
            ) as made:
                yield made
        finally:
            await engine.dispose()


class TestRedis(LockProviderContract):
    """RedisLockProvider, by the server's time."""

    @pytest.fixture
    async def make_provider(self, redis_url: str, redis_prefix: str) -> AsyncIterator[MakeProvider]:
        """How a provider is made."""

        def make(holder: str) -> LockProvider:
            return RedisLockProvider(redis_url, clock=SystemClock(), key_prefix=redis_prefix, holder=holder)

        async with making(make) as made:
            yield made
