"""What SQLite answers (3.35 and later)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, ClassVar, Final, TypeVar

from sqlalchemy import (
    ColumnElement,
    Delete,
    Dialect,
    FromClause,
    Select,
    Table,
    and_,
    delete,
    func,
    literal_column,
    select,
    true,
    tuple_,
)
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.errors import SchedulerConfigError
from quartzite.sql.dialects.base import DefaultLock
from quartzite.sql.dialects.json_rows import JsonColumn, json_row_set
from quartzite.sql.dialects.on_conflict import OnConflictDialect
from quartzite.sql.errors import Failure
from quartzite.sql.row_set import RowSet, SetColumns
from quartzite.sql.types import UNIX_EPOCH_TICKS, UtcTicks

__all__ = ["SqliteDialect"]

S = TypeVar("S", bound=Select[Any])
_BUSY, _LOCKED = 5, 6
_OLDEST: Final = (3, 35, 0)
_UNIX_EPOCH_DAY: Final = "2440587.5"


class SqliteDialect(OnConflictDialect):
    """One writer at a time, no row locks, and ``json_each``."""

    name: ClassVar[str] = "SQLite"
    serializes_writers: ClassVar[bool] = True
    supports_clustering: ClassVar[bool] = False
    index_if_not_exists: ClassVar[bool] = True
    isolation_level: ClassVar[str | None] = None
    default_lock: ClassVar[DefaultLock] = DefaultLock.LOCAL

    def row_set(self, name: str, columns: SetColumns) -> RowSet:
        """Return a set of rows to be joined."""

        def source(parameter: str, entries: list[JsonColumn]) -> str:  # noqa: ARG001
            return f"json_each({parameter})"

        def entry(key: str) -> str:
            return f"json_extract(value, '$.{key.strip(chr(34))}')"

        return json_row_set(self.sqlalchemy, name, columns, source=source, entry=entry)

    def delete_matching(self, table: Table, rows: RowSet, on: Sequence[str], *where: ColumnElement[bool]) -> Delete:
        """Return a DELETE that finds each row of the set by the index on the columns of ``on``."""
        found = select(*(rows.c[name] for name in on))
        return delete(table).where(tuple_(*(table.c[name] for name in on)).in_(found), *where)

    def for_update(self, statement: S, *, of: Sequence[Table] = (), skip_locked: bool = False) -> S:  # noqa: ARG002
        """Return the SELECT as it is: a writing transaction has the whole database."""
        return statement

    def starts_with(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return the condition without LIKE, which takes upper and lower case for the same here."""
        return func.substr(column, 1, len(text)) == text

    def ends_with(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return the condition without LIKE."""
        if not text:
            return true()
        return and_(func.length(column) >= len(text), func.substr(column, -len(text)) == text)

    def contains(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return the condition without LIKE."""
        return func.instr(column, text) > 0

    def now_ticks(self) -> ColumnElement[Any]:
        """Return the time of the statement, exact to the millisecond, which is all that SQLite knows."""
        milliseconds = f"CAST(ROUND((julianday('now') - {_UNIX_EPOCH_DAY}) * 86400000) AS INTEGER)"
        return literal_column(f"({milliseconds} * 10000 + {UNIX_EPOCH_TICKS})", UtcTicks())

    def session_statements(self, *, idle_in_transaction: timedelta | None = None) -> Sequence[str]:  # noqa: ARG002
        """Return what each new connection executes first.

        The write-ahead log lets readers go on while somebody writes; each commit still reaches the disk.
        """
        return (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "PRAGMA busy_timeout = 5000",
            "PRAGMA foreign_keys = ON",
        )

    async def begin(self, connection: AsyncConnection, *, read_only: bool) -> None:
        """Begin a transaction, as a writer at once unless it only reads.

        A transaction that reads first and wants to write later fails when somebody else wrote in between, and
        waiting does not help it.
        """
        raw = await connection.get_raw_connection()
        driver = raw.driver_connection
        if not getattr(driver, "in_transaction", False):
            await connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    def check_server(self, connection_dialect: Dialect) -> None:
        """Refuse a library before version 3.35.

        Raises:
            SchedulerConfigError: it is too old.
        """
        version = getattr(connection_dialect.dbapi, "sqlite_version_info", None)
        if version is not None and version < _OLDEST:
            found, oldest = (".".join(map(str, v)) for v in (version, _OLDEST))
            raise SchedulerConfigError(f"SQLite {found} is too old: use a Python with version {oldest} or later")

    @asynccontextmanager
    async def schema_lock(self, connection: AsyncConnection, name: str) -> AsyncIterator[None]:  # noqa: ARG002
        """Let one process at a time create tables, until its transaction ends."""
        await self.begin(connection, read_only=False)
        yield

    def is_missing_object(self, error: BaseException) -> bool:
        """Tell whether a table, a column or a schema is not there."""
        message = self._failure(error).message
        return "no such table" in message or "no such column" in message or "unknown database" in message

    def _is_transient(self, failure: Failure) -> bool:
        return failure.code in {_BUSY, _LOCKED}

    def _insert(self, table: Table) -> Any:
        return insert(table)

    def _select(
        self, columns: Mapping[str, ColumnElement[Any]], source: FromClause, *where: ColumnElement[bool]
    ) -> Select[Any]:
        # Without a WHERE the parser would take ON CONFLICT for the condition of a join.
        return OnConflictDialect._select(self, columns, source, *(where or (true(),)))
