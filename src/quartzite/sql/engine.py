"""The engine of a store: which driver a URL means, the pool, and how each connection is prepared."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from quartzite.errors import SchedulerConfigError
from quartzite.sql.dialects import SqlDialect, dialect_for

__all__ = ["PoolSettings", "async_url", "create_engine", "in_isolation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drivers:
    """The drivers of one database: the first one is taken when a URL names none."""

    names: tuple[str, ...]
    extra: str | None = None


_DRIVERS: Final[Mapping[str, _Drivers]] = {
    "postgresql": _Drivers(names=("asyncpg", "psycopg", "psycopg_async"), extra="postgresql"),
    "mariadb": _Drivers(names=("asyncmy", "aiomysql"), extra="mariadb"),
    "mysql": _Drivers(names=("asyncmy", "aiomysql"), extra="mariadb"),
    "sqlite": _Drivers(names=("aiosqlite",)),
}
_OTHER_NAMES: Final = {"postgres": "postgresql"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """The connections that an engine keeps.

    Attributes:
        size: Connections that are kept open.
        overflow: How many more may be opened for a while.
        timeout: How long to wait for a free connection.
        recycle: After which age a connection is replaced, None for never.
        pre_ping: Whether each connection is tried before it is used; a lost one is otherwise found by the statement
            that fails, and the operation is tried again.
    """

    size: int = 10
    overflow: int = 10
    timeout: timedelta = timedelta(seconds=30)
    recycle: timedelta | None = None
    pre_ping: bool = False


def async_url(url: str | URL) -> URL:
    """Return the URL with an asynchronous driver: ``postgresql://`` becomes ``postgresql+asyncpg://``, and so on.

    Raises:
        SchedulerConfigError: it is no URL, or names a driver that is not asynchronous or not installed.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SchedulerConfigError(
            "the database URL can not be read: write it like postgresql://user:password@host/database"
        ) from error
    backend, _, driver = parsed.drivername.partition("+")
    backend = _OTHER_NAMES.get(backend, backend)
    drivers = _DRIVERS.get(backend)
    if drivers is None:
        return parsed
    chosen = driver or drivers.names[0]
    if chosen not in drivers.names:
        raise SchedulerConfigError(
            f"driver {chosen!r} of {_shown(parsed)} is not asynchronous: write {backend}:// or "
            + " or ".join(f"{backend}+{name}://" for name in drivers.names)
        )
    _check_installed(chosen, drivers)
    rewritten = parsed.set(drivername=f"{backend}+{chosen}")
    if backend in {"mysql", "mariadb"} and "charset" not in rewritten.query:
        rewritten = rewritten.update_query_dict({"charset": "utf8mb4"})
    return rewritten


def create_engine(
    url: str | URL,
    *,
    pool: PoolSettings | None = None,
    idle_in_transaction: timedelta | None = None,
    isolation_level: str | None = None,
    connect_args: Mapping[str, Any] | None = None,
    dialect: type[SqlDialect] | None = None,
    autocommit: bool = False,
) -> AsyncEngine:
    """Return an engine whose connections are prepared for a store; nothing is opened yet.

    A SQLite database in memory lives in its connection, so that it gets one and keeps it.

    Args:
        url: The database, with or without a driver.
        pool: The connections that are kept.
        idle_in_transaction: How long a transaction may do nothing before the server ends it (decision 19).
        isolation_level: Instead of that of the dialect, READ COMMITTED where there is a choice.
        connect_args: Passed to the driver.
        dialect: Answers instead of those of the database.
        autocommit: Whether each statement stands alone: a connection then costs nothing but its statements.

    Raises:
        SchedulerConfigError: the URL can not be used.
    """
    address = async_url(url)
    options = _pool_options(address, pool or PoolSettings())
    if autocommit:
        # Some drivers would send a ROLLBACK all the same, with nothing to roll back.
        options |= {"isolation_level": "AUTOCOMMIT", "pool_reset_on_return": None, "skip_autocommit_rollback": True}
    engine = create_async_engine(address, connect_args=dict(connect_args or {}), **options)
    answers = dialect(engine.dialect) if dialect else dialect_for(engine.dialect)
    _prepare_connections(engine, answers, idle_in_transaction)
    return engine if autocommit else in_isolation(engine, isolation_level or answers.isolation_level)


def in_isolation(engine: AsyncEngine, isolation_level: str | None) -> AsyncEngine:
    """Return the engine with transactions of an isolation level; it shares the pool, and the given one stays as it is.

    For engines of the application, whose own level may be another one (MariaDB's is REPEATABLE READ).
    """
    return engine if isolation_level is None else engine.execution_options(isolation_level=isolation_level)


def _pool_options(address: URL, pool: PoolSettings) -> dict[str, Any]:
    if address.get_backend_name() == "sqlite" and _is_in_memory(address):
        return {"poolclass": AsyncAdaptedQueuePool, "pool_size": 1, "max_overflow": 0}
    return {
        "pool_size": pool.size,
        "max_overflow": pool.overflow,
        "pool_timeout": pool.timeout.total_seconds(),
        "pool_recycle": -1 if pool.recycle is None else int(pool.recycle.total_seconds()),
        "pool_pre_ping": pool.pre_ping,
    }


def _is_in_memory(address: URL) -> bool:
    return address.database in {None, "", ":memory:"} or "mode=memory" in (address.database or "")


def _prepare_connections(engine: AsyncEngine, dialect: SqlDialect, idle_in_transaction: timedelta | None) -> None:
    statements = dialect.session_statements(idle_in_transaction=idle_in_transaction)

    @event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        try:
            for statement in statements:
                cursor.execute(statement)
        finally:
            cursor.close()
        connection.commit()


def _check_installed(driver: str, drivers: _Drivers) -> None:
    module = driver.removesuffix("_async")
    if importlib.util.find_spec(module) is None:
        extra = f"quartzite[{drivers.extra}]" if driver == drivers.names[0] and drivers.extra else module
        raise SchedulerConfigError(f"the driver {module} is not installed: pip install '{extra}'")


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)
