"""A URL without a driver means the asynchronous one, and what can not work is refused before it is tried."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from quartzite.errors import SchedulerConfigError
from quartzite.sql.engine import PoolSettings, async_url, create_engine, in_isolation


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("postgresql://u:p@h/d", "postgresql+asyncpg://u:p@h/d"),
        ("postgres://h/d", "postgresql+asyncpg://h/d"),
        ("postgresql+asyncpg://h/d?x=1", "postgresql+asyncpg://h/d?x=1"),
        ("mariadb://h/d", "mariadb+asyncmy://h/d?charset=utf8mb4"),
        ("mysql://h/d?charset=utf8", "mysql+asyncmy://h/d?charset=utf8"),
        ("sqlite:///a/b.db", "sqlite+aiosqlite:///a/b.db"),
        ("sqlite://", "sqlite+aiosqlite://"),
        ("oracle+oracledb://h/d", "oracle+oracledb://h/d"),
    ],
)
def test_a_url_gets_its_driver(given: str, expected: str) -> None:
    """A URL is completed with the driver; what it says itself stays, and other databases are left alone."""
    assert async_url(given).render_as_string(hide_password=False) == expected


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("nonsense", "can not be read: write it like postgresql://"),
        ("postgresql+psycopg2://u:secret@h/d", r"'psycopg2' of .* is not asynchronous: write postgresql:// or"),
        ("mariadb+pymysql://h/d", "write mariadb:// or mariadb\\+asyncmy://"),
        ("sqlite+pysqlite:///x.db", "write sqlite://"),
    ],
)
def test_a_url_that_can_not_work_is_refused(given: str, reason: str) -> None:
    """A driver that would block is refused with the one to write instead, and without the password."""
    with pytest.raises(SchedulerConfigError, match=reason) as refused:
        async_url(given)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ("postgresql://h/d", "pip install 'quartzite[postgresql]'"),
        ("postgresql+psycopg://h/d", "pip install 'psycopg'"),
        ("mysql://h/d", "pip install 'quartzite[mariadb]'"),
    ],
)
def test_a_driver_that_is_not_installed_is_told(given: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing driver is told with the command that installs it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SchedulerConfigError) as refused:
        async_url(given)
    assert command in str(refused.value)


async def test_pool_settings_reach_the_pool() -> None:
    """Size, overflow, timeout and age of connections are those that were asked for."""
    settings = PoolSettings(
        size=3, overflow=4, timeout=timedelta(seconds=5), recycle=timedelta(minutes=1), pre_ping=True
    )
    engine = create_engine("postgresql://h/d", pool=settings)
    pool: Any = engine.pool
    assert (pool.size(), pool._max_overflow, pool._timeout, pool._recycle, pool._pre_ping) == (3, 4, 5.0, 60, True)
    await engine.dispose()


async def test_transactions_are_read_committed_unless_told_otherwise() -> None:
    """An engine of the store's own has the isolation level of the dialect or the one asked for."""
    for given, expected in ((None, "READ COMMITTED"), ("SERIALIZABLE", "SERIALIZABLE")):
        engine = create_engine("postgresql://h/d", isolation_level=given)
        assert engine.get_execution_options()["isolation_level"] == expected
        await engine.dispose()
    assert "isolation_level" not in create_engine("sqlite://").get_execution_options()


async def test_an_engine_of_the_application_stays_as_it_is() -> None:
    """Another isolation level is that of another engine, which shares the pool."""
    engine = create_async_engine("sqlite+aiosqlite://")
    other = in_isolation(engine, "SERIALIZABLE")
    assert other is not engine
    assert other.pool is engine.pool
    assert "isolation_level" not in engine.get_execution_options()
    assert in_isolation(engine, None) is engine
    await engine.dispose()
