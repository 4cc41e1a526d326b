"""Schema: creates, checks and prints the tables of one prefix in one database (spec 07 section 2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Table,
    create_mock_engine,
    exists,
    func,
    insert,
    inspect,
    literal_column,
    or_,
    select,
    text,
)
from sqlalchemy.exc import DBAPIError, NoSuchModuleError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.schema import CreateColumn, CreateIndex, CreateSchema, CreateTable, DropTable

from quartzite.abc import Clock
from quartzite.errors import InvalidValueError, SchedulerConfigError
from quartzite.sql.dialects import SqlDialect
from quartzite.sql.errors import persistence_error
from quartzite.sql.tables import Tables, indexes

__all__ = ["SCHEMA_VERSION", "Schema", "ddl", "dialect_named"]

SCHEMA_VERSION: Final = 1
"""The version of the tables that this version of the library works with."""
_COMMAND: Final = "quartzite db create URL"


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables in a database.

    Attributes:
        tables: What is there, or shall be.
        dialect: The database.
    """

    tables: Tables
    dialect: SqlDialect

    async def create(self, engine: AsyncEngine, clock: Clock) -> None:
        """Create whatever is missing: schema, tables, columns of later versions, indexes, version.

        What is there stays as it is, so that it can be called again, by several processes at once, and on a database
        that Quartz.NET made.

        Raises:
            SchedulerConfigError: a column is missing that can not be added to a table with rows, or the tables are
                of a later version.
            JobPersistenceError: the database refused.
        """
        name = f"quartzite.{self.tables.schema or ''}.{self.tables.prefix}"
        try:
            async with engine.begin() as connection, self.dialect.schema_lock(connection, name):
                self.dialect.check_server(connection.dialect)
                await self._create_schema(connection)
                await self._create_tables(connection)
                await self._create_indexes(connection)
                await self._record_version(connection, clock)
        except DBAPIError as error:
            raise persistence_error("creating the tables", error) from error

    async def drop(self, engine: AsyncEngine) -> None:
        """Drop the tables, with everything in them.

        Raises:
            JobPersistenceError: the database refused.
        """
        try:
            async with engine.begin() as connection:
                missing = await self._missing_tables(connection)
                for table in reversed(self.tables.all):
                    if table not in missing:
                        await connection.execute(DropTable(table, if_exists=True))
        except DBAPIError as error:
            raise persistence_error("dropping the tables", error) from error

    async def validate(self, connection: AsyncConnection) -> None:
        """Check that every table and column is there, and of the right version.

        Raises:
            SchedulerConfigError: something is missing or does not fit; the message names all of it and the command
                that mends it.
        """
        problems = [f"table {_name(table)} is missing" for table in await self._missing_tables(connection)]
        problems += [f"column {_full_name(column)} is missing" for column in await self._missing_columns(connection)]
        problems += await self.dialect.table_problems(connection, self.tables)
        if not problems:
            problems = _version_problems(await self.version(connection))
        if problems:
            raise SchedulerConfigError(
                f"the tables with prefix {self.tables.prefix!r} do not fit: {'; '.join(problems)}. "
                f"Run {_COMMAND}: it adds what there is not and keeps what there is"
            )

    async def version(self, connection: AsyncConnection) -> int | None:
        """Return the version of the tables, None when none is recorded.

        Raises:
            DBAPIError: the table of the version is missing.
        """
        newest = select(func.max(self.tables.quartzite_schema.c.version))
        version: int | None = (await connection.execute(newest)).scalar_one_or_none()
        return version

    # Creating -----------------------------------------------------------------------------------------------------

    async def _create_schema(self, connection: AsyncConnection) -> None:
        schema = self.tables.schema
        if schema is None or await connection.run_sync(lambda sync: inspect(sync).has_schema(schema)):
            return
        await connection.execute(CreateSchema(schema, if_not_exists=True))

    async def _create_tables(self, connection: AsyncConnection) -> None:
        missing = await self._missing_tables(connection)
        for table in missing:
            await connection.execute(CreateTable(table, if_not_exists=True))
        for column in await self._missing_columns(connection):
            await self._add_column(connection, column)
        await self.dialect.adopt_tables(connection, [table for table in self.tables.all if table not in missing])

    async def _add_column(self, connection: AsyncConnection, column: Column[object]) -> None:
        if not column.nullable and column.server_default is None:
            raise SchedulerConfigError(
                f"column {_full_name(column)} is missing, and what it held can not be guessed: these are no tables of "
                "Quartz; choose another prefix"
            )
        name = connection.dialect.identifier_preparer.format_table(column.table)
        described = CreateColumn(column).compile(dialect=connection.dialect)
        await connection.execute(text(f"ALTER TABLE {name} ADD COLUMN {described}"))

    async def _create_indexes(self, connection: AsyncConnection) -> None:
        if_not_exists = self.dialect.index_if_not_exists
        for table in self.tables.all:
            there = set() if if_not_exists else await connection.run_sync(_index_names, table)
            for index in indexes(table, connection.dialect):
                if str(index.name).lower() not in there:
                    await connection.execute(CreateIndex(index, if_not_exists=if_not_exists))

    async def _record_version(self, connection: AsyncConnection, clock: Clock) -> None:
        version = await self.version(connection)
        if version is not None and version > SCHEMA_VERSION:
            raise SchedulerConfigError(_version_problems(version)[0])
        if version != SCHEMA_VERSION:
            table = self.tables.quartzite_schema
            await connection.execute(insert(table).values(version=SCHEMA_VERSION, applied_time=clock.now()))

    # Looking ------------------------------------------------------------------------------------------------------

    async def _missing_tables(self, connection: AsyncConnection) -> list[Table]:
        if await self._is_there(connection, *((table, ()) for table in self.tables.all)):
            return []
        return [table for table in self.tables.all if not await self._is_there(connection, (table, ()))]

    async def _missing_columns(self, connection: AsyncConnection) -> list[Column[object]]:
        """Return the columns that tables lack which are there themselves."""
        everything = [(table, tuple(table.columns)) for table in self.tables.all]
        if await self._is_there(connection, *everything):
            return []
        missing: list[Column[object]] = []
        for table, columns in everything:
            if not await self._is_there(connection, (table, columns)) and await self._is_there(connection, (table, ())):
                missing += [c for c in columns if not await self._is_there(connection, (table, (c,)))]
        return missing

    async def _is_there(self, connection: AsyncConnection, *wanted: tuple[Table, Collection[Column[object]]]) -> bool:
        """Tell whether tables and columns of them are all there, by asking for no rows of them in one statement.

        A catalogue would have to be asked along the search path, for views and for synonyms too.
        """
        never: ColumnElement[bool] = literal_column("1=0")
        parts = [select(*(columns or (literal_column("1"),))).select_from(t).where(never) for t, columns in wanted]
        try:
            async with connection.begin_nested():
                await connection.execute(select(literal_column("1")).where(or_(*(exists(part) for part in parts))))
        except DBAPIError as error:
            if self.dialect.is_missing_object(error):
                return False
            raise
        return True


def ddl(tables: Tables, dialect: Dialect) -> str:
    """Return the statements that create the tables and indexes, each ended by a semicolon."""
    return "\n\n".join(f"{statement};" for statement in _statements(tables, dialect)) + "\n"


def dialect_named(name: str) -> Dialect:
    """Return a SQLAlchemy dialect by its name, without a driver: for printing.

    Raises:
        InvalidValueError: there is no such dialect.
    """
    try:
        return create_mock_engine(f"{name}://", _nobody).dialect
    except (NoSuchModuleError, ValueError) as error:
        raise InvalidValueError(
            f"there is no dialect {name!r}: give postgresql, mariadb, mysql or sqlite, or another one of SQLAlchemy"
        ) from error


def _nobody(*_: object, **__: object) -> None:
    """Execute nothing."""


def _statements(tables: Tables, dialect: Dialect) -> Iterator[str]:
    for table in tables.all:
        yield str(CreateTable(table, if_not_exists=True).compile(dialect=dialect)).strip()
        for index in indexes(table, dialect):
            yield str(CreateIndex(index, if_not_exists=True).compile(dialect=dialect)).strip()


def _name(table: Table) -> str:
    return table.fullname


def _full_name(column: Column[object]) -> str:
    return f"{column.table.fullname}.{column.name}"


def _index_names(connection: Connection, table: Table) -> set[str]:
    return {str(index["name"]).lower() for index in inspect(connection).get_indexes(table.name, table.schema)}


def _version_problems(version: int | None) -> list[str]:
    if version is None:
        return ["no version is recorded"]
    if version < SCHEMA_VERSION:
        return [f"they are of version {version}, and {SCHEMA_VERSION} is needed"]
    if version > SCHEMA_VERSION:
        return [f"they are of version {version}, which is later than {SCHEMA_VERSION}: install a later Quartzite"]
    return []
