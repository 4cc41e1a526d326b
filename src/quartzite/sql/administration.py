"""What an administrator does with the tables in a database, given its URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from quartzite.abc import Clock
from quartzite.sql.dialects import dialect_for
from quartzite.sql.engine import create_engine
from quartzite.sql.errors import persistence_error
from quartzite.sql.schema import Schema
from quartzite.sql.tables import tables

__all__ = ["check_tables", "create_tables"]


async def create_tables(url: str, *, prefix: str, schema: str | None, clock: Clock) -> None:
    """Create what is missing, and keep what is there; see :meth:`Schema.create`.

    Raises:
        SchedulerConfigError: the URL, or what is there, can not be used.
        InvalidValueError: the prefix can not be used.
        JobPersistenceError: the database does not answer, or refused.
    """
    async with _opened(url, prefix, schema) as (found, engine):
        await found.create(engine, clock)


async def check_tables(url: str, *, prefix: str, schema: str | None) -> None:
    """Check that every table and column is there; see :meth:`Schema.validate`.

    Raises:
        SchedulerConfigError: something is missing; or the URL can not be used.
        InvalidValueError: the prefix can not be used.
        JobPersistenceError: the database does not answer.
    """
    async with _opened(url, prefix, schema) as (found, engine), engine.connect() as connection:
        await found.validate(connection)


@asynccontextmanager
async def _opened(url: str, prefix: str, schema: str | None) -> AsyncIterator[tuple[Schema, AsyncEngine]]:
    engine = create_engine(url)
    try:
        yield Schema(tables(prefix, schema), dialect_for(engine.dialect)), engine
    except (SQLAlchemyError, OSError) as error:
        raise persistence_error("asking the database", error) from error
    finally:
        await engine.dispose()
