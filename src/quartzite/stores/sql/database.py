"""Database: the engine of a store, what it answers, and how its tables are made sure of."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any, Final

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from quartzite.abc import Clock
from quartzite.errors import JobPersistenceError, SchedulerConfigError
from quartzite.settings import SqlStoreSettings
from quartzite.sql.dialects import SqlDialect, dialect_for
from quartzite.sql.engine import PoolSettings, create_engine, in_isolation
from quartzite.sql.errors import persistence_error
from quartzite.sql.schema import Schema
from quartzite.sql.tables import Tables, tables
from quartzite.sql.transactions import LocalTransaction

__all__ = ["Database"]

_logger: Final = logging.getLogger("quartzite.stores")
_FIRST_WAIT: Final = timedelta(milliseconds=250)


class Database:
    """One database, as one store uses it.

    Attributes:
        engine: With the isolation level of the store.
        dialect: The answers.
        tables: The tables.
    """

    def __init__(
        self, settings: SqlStoreSettings, *, engine: AsyncEngine | None = None, dialect: type[SqlDialect] | None = None
    ) -> None:
        if (engine is None) == (settings.url is None):
            raise SchedulerConfigError("a persistent store needs the URL of a database or an engine, and not both")
        self._settings = settings
        self._own = engine is None
        base = engine if engine is not None else _engine(settings, dialect)
        self.dialect: Final[SqlDialect] = (dialect or dialect_for)(base.dialect)
        self.engine: Final = in_isolation(base, self.dialect.isolation_level)
        self.tables: Final[Tables] = tables(settings.table_prefix, settings.schema_name)

    def transaction(self, *, read_only: bool) -> LocalTransaction:
        """Return a transaction of the store's own."""
        return LocalTransaction(self.engine, self.dialect, read_only=read_only)

    async def prepare(self, clock: Clock) -> None:
        """Create what is missing, if that is wished, and check what is there.

        Raises:
            SchedulerConfigError: the tables do not fit, or the server is too old.
            JobPersistenceError: the database does not answer, or refuses.
        """
        wait = _FIRST_WAIT
        while True:
            try:
                await self._prepare(clock)
            except (SQLAlchemyError, OSError, JobPersistenceError) as error:
                cause = error.__cause__ or error if isinstance(error, JobPersistenceError) else error
                if not self._settings.wait_for_database or not self.is_transient(cause):
                    raise persistence_error("looking at the database", cause) from cause
                _logger.warning("the database does not answer, trying again in %s: %s", wait, error)
                await clock.sleep(wait.total_seconds())
                wait = min(2 * wait, max(self._settings.db_retry_interval, _FIRST_WAIT))
            else:
                return

    def is_transient(self, error: BaseException) -> bool:
        """Tell whether trying again may help."""
        return isinstance(error, OSError) or self.dialect.is_transient(error)  # TimeoutError is an OSError

    async def close(self) -> None:
        """Close the connections of an own engine."""
        if self._own:
            await self.engine.dispose()

    async def _prepare(self, clock: Clock) -> None:
        schema, creates = Schema(self.tables, self.dialect), self._settings.create_schema
        if creates if creates is not None else self.dialect.serializes_writers:
            await schema.create(self.engine, clock)
        async with self.engine.connect() as connection:
            self.dialect.check_server(connection.dialect)
            if self._settings.perform_schema_validation:
                await schema.validate(connection)


def _engine(settings: SqlStoreSettings, dialect: type[SqlDialect] | None) -> AsyncEngine:
    options: dict[str, Any] = {"connect_args": settings.connect_args, "dialect": dialect}
    pool = PoolSettings(
        size=settings.pool_size,
        overflow=settings.pool_overflow,
        timeout=settings.pool_timeout,
        recycle=settings.pool_recycle,
        pre_ping=settings.pool_pre_ping,
    )
    return create_engine(settings.url or "", pool=pool, **options)
