"""One empty database of each kind, for tests that must hold on all of them."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Table, text
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.schema import CreateTable

from quartzite.sql.dialects import SqlDialect, dialect_for
from quartzite.sql.engine import create_engine
from quartzite.sql.schema import Schema
from quartzite.sql.tables import Tables, tables
from tests.services import MARIADB, POSTGRESQL, new_mariadb_database, new_postgresql_schema

SQLITE = "sqlite"
POSTGRESQL_ONLY = pytest.param(POSTGRESQL.name, marks=pytest.mark.postgresql)
MARIADB_ONLY = pytest.param(MARIADB.name, marks=pytest.mark.mariadb)


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A database that belongs to one test."""

    engine: AsyncEngine
    tables: Tables

    @property
    def dialect(self) -> SqlDialect:
        """The answers of its kind."""
        return dialect_for(self.engine.dialect)

    @property
    def schema(self) -> Schema:
        """Its tables."""
        return Schema(self.tables, self.dialect)

    async def create_only(self, *wanted: Table) -> None:
        """Create some of the tables, for tests that need no more: creating all takes its time."""
        async with self.engine.begin() as connection:
            for table in wanted:
                await connection.execute(CreateTable(table))

    async def run(self, *statements: str) -> None:
        """Execute statements, in which ``{s}`` stands for the schema and a point, and commit."""
        schema = f'"{self.tables.schema}".' if self.tables.schema else ""
        async with self.engine.begin() as connection:
            for statement in statements:
                await connection.execute(text(statement.format(s=schema)))


@pytest.fixture(params=[SQLITE, POSTGRESQL_ONLY, MARIADB_ONLY])
async def database(request: pytest.FixtureRequest, tmp_path: Path, unique_name: str) -> AsyncIterator[Database]:
    """An empty database of each kind, and its engine."""
    async with AsyncExitStack() as stack:
        schema = None
        if request.param == SQLITE:
            url = f"sqlite:///{tmp_path / 'test.db'}"
        elif request.param == POSTGRESQL.name:
            url = POSTGRESQL.url
            schema = await stack.enter_async_context(new_postgresql_schema(url, unique_name))
        else:
            url = await stack.enter_async_context(new_mariadb_database(MARIADB.url, unique_name))
        engine = create_engine(url)
        stack.push_async_callback(engine.dispose)
        yield Database(engine=engine, tables=tables(schema=schema))
        assert engine.pool.checkedout() == 0, "a connection was not given back"  # type: ignore[attr-defined]
