"""What a lease costs on each server, counted there or at the driver."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import text

from quartzite.clock import SystemClock
from quartzite.leases import LockConfiguration, LockProvider, RedisLockProvider, SqlLockProvider
from quartzite.sql.engine import PoolSettings
from tests.servers import PrivatePostgresql, PrivateRedis
from tests.services import postgresql_connection, redis_client

MINUTE = timedelta(minutes=1)
SENT = re.compile(r"LOG:\s+(?:statement|execute [^:]*): (\w+)")
ONE = PoolSettings(size=1, overflow=0)


async def pair(provider: LockProvider, number: int) -> None:
    """Take and release a lease, with a tick and without."""
    tick = datetime(2026, 1, 1, tzinfo=UTC) + number * MINUTE
    for asked in (
        LockConfiguration(name="plain", lock_at_most_for=MINUTE),
        LockConfiguration(name="ticks", lock_at_most_for=MINUTE, tick=tick, exclusive=True),
    ):
        lease = await provider.lock(asked)
        assert lease is not None
        assert await lease.extend(MINUTE)
        assert await lease.unlock()


async def test_sqlite_sends_one_statement_for_each(tmp_path: Path) -> None:
    """A lock, an extension and a release are one statement each on SQLite, with nothing around them."""
    provider = SqlLockProvider(f"sqlite:///{tmp_path / 'leases.db'}", clock=SystemClock(), pool=ONE)
    seen: list[str] = []
    await provider.create_table()
    await pair(provider, 0)
    async with provider._engine.connect() as connection:
        raw: Any = await connection.get_raw_connection()
        await raw.driver_connection.set_trace_callback(seen.append)
    seen.clear()
    await pair(provider, 1)
    await provider.close()
    assert [statement.split()[0] for statement in seen] == ["INSERT", "UPDATE", "UPDATE"] * 2


async def test_postgresql_sends_one_statement_for_each(private_postgresql: PrivatePostgresql) -> None:
    """A lock, an extension and a release are one statement each on PostgreSQL, by the log of the server."""
    async with postgresql_connection(private_postgresql.url) as admin:
        await admin.execute("ALTER SYSTEM SET log_statement = 'all'")
        await admin.execute("SELECT pg_reload_conf()")
    provider = SqlLockProvider(private_postgresql.url, clock=SystemClock(), pool=ONE)
    await provider.create_table()
    await pair(provider, 0)
    log = private_postgresql.folder / "log"
    before = len(log.read_text())
    await pair(provider, 1)
    found = SENT.findall(log.read_text()[before:])
    await provider.close()
    assert found == ["INSERT", "UPDATE", "UPDATE"] * 2


async def test_mariadb_sends_one_statement_for_each(mariadb_database: str) -> None:
    """A lock, an extension and a release are one statement each on MariaDB, by the count of the session itself."""
    provider = SqlLockProvider(mariadb_database, clock=SystemClock(), pool=ONE)
    await provider.create_table()
    await pair(provider, 0)
    before = await questions(provider)
    await pair(provider, 1)
    counting_itself = 1
    counted = await questions(provider) - before - counting_itself
    await provider.close()
    assert counted == 6


async def questions(provider: SqlLockProvider) -> int:
    """Return how many statements the session of a provider's connection has sent."""
    async with provider._engine.connect() as connection:
        row = (await connection.execute(text("SHOW SESSION STATUS LIKE 'Questions'"))).one()
    return int(row[1])


async def test_redis_gets_one_command_for_each(private_redis: PrivateRedis) -> None:
    """A lock, an extension and a release are one command each on Redis."""
    provider = RedisLockProvider(private_redis.url, clock=SystemClock())
    await pair(provider, 0)
    async with redis_client(private_redis.url) as client:
        await client.config_resetstat()
        await pair(provider, 1)
        counted = await client.info("commandstats")
    await provider.close()
    assert counted["cmdstat_evalsha"]["calls"] == 6
    assert not {"cmdstat_eval", "cmdstat_script|load", "cmdstat_multi", "cmdstat_ping"} & set(counted)
