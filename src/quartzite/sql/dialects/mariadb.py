"""What MariaDB (10.6 and later) and MySQL (8.0 and later) answer."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Any, ClassVar, Final

from sqlalchemy import (
    ColumnElement,
    Delete,
    Dialect,
    FromClause,
    Insert,
    Table,
    Update,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.mysql import Insert as MySqlInsert
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.errors import JobPersistenceError, SchedulerConfigError
from quartzite.sql.dialects.base import DefaultLock, SqlDialect
from quartzite.sql.dialects.json_rows import JsonColumn, json_row_set
from quartzite.sql.errors import Failure
from quartzite.sql.row_set import RowSet, SetColumns
from quartzite.sql.tables import Tables
from quartzite.sql.types import UNIX_EPOCH_TICKS, UtcTicks, mysql_collation

__all__ = ["MariaDbDialect"]

_TRANSIENT: Final = frozenset(
    {
        1020,  # the row changed since it was read
        1040,  # too many connections
        1053,  # the server is shutting down
        1158,  # the four that speak of the network
        1159,
        1160,
        1161,
        1205,  # waited too long for a lock
        1213,  # deadlock
        1927,  # the connection was killed
        2002,  # the server is not there
        2003,
        2006,  # the server has gone away
        2013,  # the connection was lost
        4031,  # idle for too long
    }
)
_SCHEMA_LOCK_SECONDS: Final = 60
_MISSING: Final = frozenset({1049, 1054, 1146})
_OLDEST: Final = {"MariaDB": (10, 6), "MySQL": (8, 0, 1)}


class MariaDbDialect(SqlDialect):
    """Joined UPDATE and DELETE without RETURNING, SKIP LOCKED, and ``JSON_TABLE``."""

    name: ClassVar[str] = "MariaDB"
    skip_locked: ClassVar[bool] = True
    update_from: ClassVar[bool] = True
    default_lock: ClassVar[DefaultLock] = DefaultLock.SELECT_FOR_UPDATE

    def row_set(self, name: str, columns: SetColumns) -> RowSet:
        """Return a set of rows to be joined."""

        def source(parameter: str, entries: list[JsonColumn]) -> str:
            described = ", ".join(f"{self._quote(key)} {self._type(type_)} PATH '$.{key}'" for key, type_ in entries)
            return f"JSON_TABLE({parameter}, '$[*]' COLUMNS ({described})) AS given"

        return json_row_set(self.sqlalchemy, name, columns, source=source)

    def delete_matching(self, table: Table, rows: RowSet, on: Sequence[str], *where: ColumnElement[bool]) -> Delete:
        """Return a DELETE ... USING."""
        return delete(table).where(*(table.c[name] == rows.c[name] for name in on), *where)

    def insert_rows(
        self,
        table: Table,
        source: FromClause,
        values: Mapping[str, Any],
        *where: ColumnElement[bool],
        missing_only: bool = False,
    ) -> Insert:
        """Return an INSERT ... SELECT, which leaves a row that is there as it is by ON DUPLICATE KEY UPDATE.

        INSERT IGNORE would also let values pass that do not fit. The number of rows counts those that were there.
        """
        statement = self._insert(table, source, values, *where)
        if missing_only:
            first = next(iter(table.primary_key)).key
            statement = statement.on_duplicate_key_update({first: table.c[first]})
        return statement

    def upsert(self, table: Table, rows: RowSet, values: Mapping[str, Any]) -> Sequence[Update | Insert]:
        """Return one INSERT ... ON DUPLICATE KEY UPDATE."""
        statement = self._insert(table, rows.element, values)
        key = [column.key for column in table.primary_key]
        return (statement.on_duplicate_key_update({n: statement.inserted[n] for n in values if n not in key}),)

    def now_ticks(self) -> ColumnElement[Any]:
        """Return the time at which the statement began, exact to the microsecond."""
        microseconds = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
        return literal_column(f"({microseconds} * 10 + {UNIX_EPOCH_TICKS})", UtcTicks())

    def session_statements(self, *, idle_in_transaction: timedelta | None = None) -> Sequence[str]:
        """Return what each new connection executes first.

        Values that do not fit are refused rather than cut, whatever the server's default is.
        """
        statements = ["SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')"]
        if idle_in_transaction is not None:
            seconds = math.ceil(idle_in_transaction.total_seconds())
            # What stands between the marks is read by MariaDB only: MySQL has no such limit.
            statements.append(f"SET @quartzite = 1 /*M! , SESSION idle_transaction_timeout = {seconds} */")
        return statements

    def check_server(self, connection_dialect: Dialect) -> None:
        """Refuse a server without JSON_TABLE and SKIP LOCKED.

        Raises:
            SchedulerConfigError: it is too old.
        """
        server = "MariaDB" if getattr(connection_dialect, "is_mariadb", False) else "MySQL"
        version = getattr(connection_dialect, "server_version_info", None)
        if version is not None and tuple(version) < _OLDEST[server]:
            found, oldest = (".".join(map(str, v[:3])) for v in (version, _OLDEST[server]))
            raise SchedulerConfigError(f"{server} {found} is too old: use version {oldest} or later")

    @asynccontextmanager
    async def schema_lock(self, connection: AsyncConnection, name: str) -> AsyncIterator[None]:
        """Let one process at a time create the tables called ``name``.

        Raises:
            JobPersistenceError: another process has been doing so for a minute.
        """
        key = sha256(name.encode()).hexdigest()  # a lock's name has 64 characters at most
        if (await connection.execute(select(func.get_lock(key, _SCHEMA_LOCK_SECONDS)))).scalar_one() != 1:
            raise JobPersistenceError("creating the tables failed: another process is doing it and does not end")
        try:
            yield
        finally:
            await connection.execute(select(func.release_lock(key)))

    async def table_problems(self, connection: AsyncConnection, tables: Tables) -> Sequence[str]:
        """Return the columns whose collation does not compare code points, which joins with row sets rely on."""
        wanted = mysql_collation(connection.dialect)
        names = [table.name for table in tables.all]
        query = (
            text(
                "SELECT table_name, column_name, collation_name FROM information_schema.columns "
                "WHERE table_schema = COALESCE(:schema, DATABASE()) AND table_name IN :names "
                "AND collation_name <> :wanted ORDER BY table_name, ordinal_position"
            )
            .bindparams(bindparam("names", expanding=True))
            .bindparams(schema=tables.schema, names=names, wanted=wanted)
        )
        found = await connection.execute(query)
        return [
            f"column {table}.{column} is in collation {collation}, {wanted} is needed "
            f"(ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4 COLLATE {wanted})"
            for table, column, collation in found
        ]

    def is_missing_object(self, error: BaseException) -> bool:
        """Tell whether a table, a column or a schema is not there."""
        return self._failure(error).code in _MISSING

    def _is_transient(self, failure: Failure) -> bool:
        return failure.code in _TRANSIENT

    def _insert(
        self, table: Table, source: FromClause, values: Mapping[str, Any], *where: ColumnElement[bool]
    ) -> MySqlInsert:
        columns = self._columns(table, values)
        return insert(table).from_select(list(columns), self._select(columns, source, *where))
