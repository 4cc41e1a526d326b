"""The lease provider on a database: its table, what it shares with ShedLock, and a server that comes and goes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import mssql

from quartzite.clock import SystemClock
from quartzite.errors import InvalidValueError, LockError, SchedulerConfigError
from quartzite.leases import LockConfiguration, SqlLockProvider
from quartzite.leases.sql import _words, lease_table
from quartzite.sql.engine import create_engine
from quartzite.testing import FakeClock
from tests.servers import PrivatePostgresql
from tests.unit.leases.values import MINUTE, TICK, asked

SHEDLOCK = ["name", "lock_until", "locked_at", "locked_by"]


def test_the_table_is_shedlocks_with_columns_that_may_be_missing_there() -> None:
    """The four columns of ShedLock come first and must be given; ours may be NULL, so that both can write rows."""
    table = lease_table()
    required = [column.name for column in table.columns if not column.nullable]
    assert (table.name, required) == ("shedlock", SHEDLOCK)
    assert [column.name for column in table.columns][:4] == SHEDLOCK


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A SQLite file."""
    return f"sqlite:///{tmp_path / 'leases.db'}"


async def test_a_row_that_shedlock_wrote_is_respected(url: str) -> None:
    """A lock that ShedLock holds is refused until its end; then its row is used on, with a token of ours."""
    clock = FakeClock()
    provider = SqlLockProvider(url, clock=clock)
    await provider.create_table()
    row = {"until": "2026-01-01 00:01:00.000000", "at": "2026-01-01 00:00:00.000000"}
    async with provider._engine.begin() as connection:
        await connection.execute(
            text("INSERT INTO shedlock (name, lock_until, locked_at, locked_by) VALUES ('lock', :until, :at, 'java')"),
            row,
        )
    assert await provider.lock(asked()) is None
    info = await provider.holder("lock")
    assert info is not None
    assert (info.holder, info.token, info.locked_until) == ("java", 0, datetime(2026, 1, 1, 0, 1, tzinfo=UTC))
    await clock.advance(MINUTE)
    lease = await provider.lock(asked(tick=TICK, exclusive=True))
    assert lease is not None
    assert lease.token > 0
    await provider.close()


async def test_the_table_may_be_created_by_all_nodes_at_once(url: str) -> None:
    """Nodes that start together each create the table, and none of them fails."""
    providers = [SqlLockProvider(url, clock=SystemClock(), holder=f"node {n}") for n in range(4)]
    await asyncio.gather(*(provider.create_table() for provider in providers))
    granted = await asyncio.gather(*(provider.lock(asked()) for provider in providers))
    assert sum(lease is not None for lease in granted) == 1
    for provider in providers:
        await provider.close()


async def test_the_tables_name_and_schema_are_free(postgresql_url: str, postgresql_schema: str) -> None:
    """The table may have another name in another schema, also one that has to be quoted."""
    provider = SqlLockProvider(
        postgresql_url, clock=SystemClock(), table="Job Locks", schema=postgresql_schema, holder="one"
    )
    await asyncio.gather(*(provider.create_table() for _ in range(4)))
    assert await provider.lock(asked())
    assert await provider.lock(asked()) is None
    await provider.close()


async def test_without_its_table_the_error_says_so(url: str) -> None:
    """A missing table is told with the name of the lock and the database's words."""
    provider = SqlLockProvider(url, clock=SystemClock())
    with pytest.raises(LockError, match=r"'lock'.*no such table: shedlock"):
        await provider.lock(asked())
    await provider.close()


async def test_the_applications_engine_is_not_closed(url: str) -> None:
    """Closing a provider leaves the application's engine as it is."""
    engine = create_engine(url)
    provider = SqlLockProvider(engine, clock=SystemClock())
    await provider.create_table()
    async with engine.connect() as connection:
        await provider.close()
        assert (await connection.execute(text("SELECT 1"))).scalar() == 1
    await engine.dispose()


@pytest.mark.parametrize("database", [None, 7, object()])
def test_what_is_no_database_is_refused(database: Any) -> None:
    """Something else than a URL or an engine is refused."""
    with pytest.raises(InvalidValueError, match="neither a URL nor an engine"):
        SqlLockProvider(database, clock=SystemClock())


def test_a_holder_that_does_not_fit_its_column_is_refused(url: str) -> None:
    """The name of the node has 255 characters at most."""
    with pytest.raises(InvalidValueError, match="256 characters"):
        SqlLockProvider(url, clock=SystemClock(), holder="x" * 256)


def test_a_database_whose_time_is_not_known_is_refused() -> None:
    """For another database the remedy is named: its nodes' clocks, or another server."""
    dialect: Any = mssql.dialect
    with pytest.raises(SchedulerConfigError, match="ClockTime"):
        _words(dialect(), by_clock=False)
    assert _words(dialect(), by_clock=True).now == ":now"


async def test_a_database_in_memory_has_no_twin() -> None:
    """A SQLite database in memory can not be reached from another event loop: the error names what can."""
    provider = SqlLockProvider("sqlite:///:memory:", clock=SystemClock())
    with pytest.raises(SchedulerConfigError, match="InMemoryLockProvider"):
        provider.twin()
    await provider.close()


async def test_a_restart_of_the_server_goes_unnoticed(private_postgresql: PrivatePostgresql) -> None:
    """Connections that died with the server are replaced; while it is away, the error names the lock."""
    provider = SqlLockProvider(private_postgresql.url, clock=SystemClock())
    await provider.create_table()
    assert await provider.lock(asked("before"))
    await asyncio.to_thread(private_postgresql.restart)
    assert await provider.lock(asked("after"))
    await asyncio.to_thread(private_postgresql.stop)
    with pytest.raises(LockError, match="'away'"):
        await provider.lock(asked("away"))
    await provider.close()


async def test_a_row_that_somebody_deleted_is_made_again(mariadb_database: str) -> None:
    """On MariaDB a lock whose row was deleted by hand is granted again, a minute later at most."""
    clock = FakeClock()
    provider = SqlLockProvider(mariadb_database, clock=clock)
    await provider.create_table()
    asks = LockConfiguration(name="lock", lock_at_most_for=timedelta(hours=1))
    assert await provider.lock(asks)
    assert await provider.lock(asks) is None
    async with provider._engine.begin() as connection:
        await connection.execute(text("DELETE FROM shedlock"))
    await clock.advance(seconds=61)
    assert await provider.lock(asks)
    await provider.close()
