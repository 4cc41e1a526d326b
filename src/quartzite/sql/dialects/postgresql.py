"""What PostgreSQL answers (12 and later)."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Any, ClassVar, Final, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Delete,
    Dialect,
    Select,
    Table,
    cast,
    delete,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.errors import SchedulerConfigError
from quartzite.sql.dialects.base import DefaultLock
from quartzite.sql.dialects.json_rows import JsonColumn, json_row_set
from quartzite.sql.dialects.on_conflict import OnConflictDialect
from quartzite.sql.errors import Failure
from quartzite.sql.row_set import RowSet, SetColumns
from quartzite.sql.types import UNIX_EPOCH_TICKS, UtcTicks

__all__ = ["PostgreSqlDialect"]

S = TypeVar("S", bound=Select[Any])
_TRANSIENT: Final = frozenset({"08", "40", "53"})  # connection, rollback, resources
_MILLISECOND: Final = timedelta(milliseconds=1)
_OLDEST: Final = (12,)


class PostgreSqlDialect(OnConflictDialect):
    """Joins, RETURNING, SKIP LOCKED and ``json_to_recordset``."""

    name: ClassVar[str] = "PostgreSQL"
    skip_locked: ClassVar[bool] = True
    for_update_of: ClassVar[bool] = True
    cascades: ClassVar[bool] = True
    index_if_not_exists: ClassVar[bool] = True
    default_lock: ClassVar[DefaultLock] = DefaultLock.SELECT_FOR_UPDATE

    def row_set(self, name: str, columns: SetColumns) -> RowSet:
        """Return a set of rows to be joined."""

        def source(parameter: str, entries: list[JsonColumn]) -> str:
            described = ", ".join(f"{self._quote(key)} {self._type(type_)}" for key, type_ in entries)
            return f"json_to_recordset(CAST({parameter} AS JSON)) AS given({described})"

        return json_row_set(self.sqlalchemy, name, columns, source=source)

    def delete_matching(self, table: Table, rows: RowSet, on: Sequence[str], *where: ColumnElement[bool]) -> Delete:
        """Return a DELETE ... USING."""
        return delete(table).where(*(table.c[name] == rows.c[name] for name in on), *where)

    def for_update(self, statement: S, *, of: Sequence[Table] = (), skip_locked: bool = False) -> S:
        """Return the SELECT with FOR NO KEY UPDATE, which lets foreign keys be checked meanwhile."""
        return statement.with_for_update(of=list(of) or None, skip_locked=skip_locked, key_share=True)

    def ordinal(self, column: ColumnElement[str]) -> ColumnElement[str]:
        """Return the column in the collation of code points, whatever its own is."""
        return column.collate("C")

    def now_ticks(self) -> ColumnElement[Any]:
        """Return the time at which the expression is evaluated, exact to the microsecond."""
        microseconds = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
        return literal_column(f"({microseconds} * 10 + {UNIX_EPOCH_TICKS})", UtcTicks())

    def session_statements(self, *, idle_in_transaction: timedelta | None = None) -> Sequence[str]:
        """Return what each new connection executes first.

        Compiling short statements costs more than it saves. Tables that fill and empty faster than statistics are
        gathered would otherwise be scanned whole by plans that were made when they were empty.
        """
        statements = ["SET jit = off", "SET enable_seqscan = off"]
        if idle_in_transaction is not None:
            milliseconds = math.ceil(idle_in_transaction / _MILLISECOND)
            statements.append(f"SET idle_in_transaction_session_timeout = {milliseconds}")
        return statements

    def check_server(self, connection_dialect: Dialect) -> None:
        """Refuse a server before version 12.

        Raises:
            SchedulerConfigError: it is too old.
        """
        version = getattr(connection_dialect, "server_version_info", None)
        if version is not None and version < _OLDEST:
            raise SchedulerConfigError(f"PostgreSQL {version[0]} is too old: use version {_OLDEST[0]} or later")

    @asynccontextmanager
    async def schema_lock(self, connection: AsyncConnection, name: str) -> AsyncIterator[None]:
        """Let one process at a time create the tables called ``name``, until its transaction ends."""
        key = int.from_bytes(sha256(name.encode()).digest()[:8], "big", signed=True)
        await connection.execute(select(func.pg_advisory_xact_lock(cast(key, BigInteger))))
        yield

    async def adopt_tables(self, connection: AsyncConnection, tables: Collection[Table]) -> None:
        """Give tables the storage settings of ours, unless somebody gave them others."""
        for table in tables:
            settings = table.dialect_options["postgresql"]["with"]
            name = self.sqlalchemy.identifier_preparer.format_table(table)
            own = text("SELECT reloptions IS NOT NULL FROM pg_class WHERE oid = CAST(CAST(:name AS TEXT) AS REGCLASS)")
            if settings and not (await connection.execute(own, {"name": name})).scalar_one():
                described = ", ".join(f"{key} = {value}" for key, value in settings.items())
                await connection.execute(text(f"ALTER TABLE {name} SET ({described})"))

    def is_missing_object(self, error: BaseException) -> bool:
        """Tell whether a table, a column or a schema is not there."""
        return self._failure(error).sqlstate in {"42P01", "42703", "3F000"}

    def _is_transient(self, failure: Failure) -> bool:
        state = failure.sqlstate or ""
        return state[:2] in _TRANSIENT or state[:3] == "57P"  # 57P: the server is stopping or starting

    def _insert(self, table: Table) -> Any:
        return insert(table)
