"""SqlDialect: the questions that a store asks about its database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from enum import Enum
from typing import Any, ClassVar, TypeVar

from sqlalchemy import (
    BindParameter,
    Boolean,
    ColumnElement,
    Delete,
    Dialect,
    FromClause,
    Insert,
    Integer,
    Select,
    Table,
    Update,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    insert,
    literal,
    not_,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.types import TypeEngine

from quartzite.errors import SchedulerConfigError
from quartzite.sql.errors import Failure, failure_of
from quartzite.sql.row_set import ParameterRowSet, RowSet, SetColumns, parameter_name
from quartzite.sql.tables import Tables
from quartzite.sql.types import Flag, OrdinalText

__all__ = ["DefaultLock", "SqlDialect"]

S = TypeVar("S", bound=Select[Any])
_GENERIC_CAPACITY = 20


class DefaultLock(Enum):
    """Which lock handler a store builds when it needs one of the database and none is supplied."""

    LOCAL = "local"
    SELECT_FOR_UPDATE = "select for update"
    UPDATE_ROW = "update row"


class SqlDialect:
    """What varies by database: a store asks, and never looks at a name.

    This class answers for every database that SQLAlchemy speaks to, carefully and slowly, and is not tested against
    any; PostgreSQL, MariaDB and SQLite have their own answers. A dialect of your own derives from one of them and is
    given to the store with ``use_dialect``.

    Args:
        sqlalchemy: The dialect of the engine.

    Attributes:
        name: What the dialect is called in messages.
        skip_locked: Whether rows that somebody else locked can be passed over.
        update_returning: Whether a joined UPDATE can return rows.
        delete_returning: Whether a joined DELETE can return rows.
        for_update_of: Whether a row lock can be limited to some of the joined tables.
        update_from: Whether an UPDATE can join.
        cascades: Whether deleting a trigger is certain to delete what its kind added.
        serializes_writers: Whether one writer at a time is all that the database has.
        supports_clustering: Whether several nodes may share it.
        index_if_not_exists: Whether an index can be created unless it is there, without a warning.
        isolation_level: What the store's transactions run with, None for the database's own.
        default_lock: Which lock handler fits.
    """

    name: ClassVar[str] = "generic"
    skip_locked: ClassVar[bool] = False
    update_returning: ClassVar[bool] = False
    delete_returning: ClassVar[bool] = False
    for_update_of: ClassVar[bool] = False
    update_from: ClassVar[bool] = False
    cascades: ClassVar[bool] = False
    serializes_writers: ClassVar[bool] = False
    supports_clustering: ClassVar[bool] = True
    index_if_not_exists: ClassVar[bool] = False
    isolation_level: ClassVar[str | None] = "READ COMMITTED"
    default_lock: ClassVar[DefaultLock] = DefaultLock.UPDATE_ROW

    def __init__(self, sqlalchemy: Dialect) -> None:
        self.sqlalchemy = sqlalchemy

    # Statements ---------------------------------------------------------------------------------------------------

    def row_set(self, name: str, columns: SetColumns) -> RowSet:
        """Return a set of rows to be joined, called ``name`` in statements; see :class:`RowSet`."""
        parts = [
            select(
                bindparam(parameter_name(name, index, "used"), type_=Integer()).label("used_row"),
                *(_typed(bindparam(parameter_name(name, index, n), type_=t), t).label(n) for n, t in columns.items()),
            )
            for index in range(_GENERIC_CAPACITY)
        ]
        rows = union_all(*parts).subquery(f"{name}_all")
        element = select(*(rows.c[n] for n in columns)).where(rows.c.used_row == 1).subquery(name)
        return ParameterRowSet(name, columns, element, _GENERIC_CAPACITY)

    def update_matching(
        self, table: Table, rows: RowSet, on: Sequence[str], values: Mapping[str, Any], *where: ColumnElement[bool]
    ) -> Update:
        """Return an UPDATE of the table's rows that match a row of the set.

        Args:
            table: What is updated.
            rows: What it is joined with; no two of its rows may match the same row of the table.
            on: Names that a column of the table and one of the set share; these must be equal.
            values: New values by column; they may use columns of the set.
            where: Further conditions, on the table and on the set.
        """
        matches = and_(*_pairs(table, rows, on), *where)
        if self.update_from:
            return update(table).where(matches).values(dict(values))
        computed = {name: _correlated(value, rows, matches, table) for name, value in values.items()}
        return update(table).where(exists().select_from(rows.element).where(matches)).values(computed)

    def delete_matching(self, table: Table, rows: RowSet, on: Sequence[str], *where: ColumnElement[bool]) -> Delete:
        """Return a DELETE of the table's rows that match a row of the set.

        Args:
            table: What is deleted from.
            rows: What it is joined with.
            on: Names that a column of the table and one of the set share; these must be equal.
            where: Further conditions, on the table.
        """
        return delete(table).where(
            exists().select_from(rows.element).where(*_pairs(table, rows, on), *where).correlate(table)
        )

    def insert_rows(
        self,
        table: Table,
        source: FromClause,
        values: Mapping[str, Any],
        *where: ColumnElement[bool],
        missing_only: bool = False,
    ) -> Insert:
        """Return an INSERT ... SELECT.

        Args:
            table: What is inserted into.
            source: Where the rows come from: the element of a row set, perhaps joined with tables.
            values: What each column gets: columns of the source, expressions, bound parameters, plain values.
            where: Which rows of the source are inserted.
            missing_only: Leave out rows whose primary key is there already, instead of failing. How many rows were
                inserted is then not known everywhere.
        """
        columns = self._columns(table, values)
        rows = self._select(columns, source, *where)
        if missing_only:
            there = table.alias("there")
            same = (there.c[column.key] == columns[column.key] for column in table.primary_key)
            rows = rows.where(not_(exists().select_from(there).where(*same)))
        return insert(table).from_select(list(columns), rows)

    def upsert(self, table: Table, rows: RowSet, values: Mapping[str, Any]) -> Sequence[Update | Insert]:
        """Return the statements that insert the rows of a set, or update those whose primary key is there already.

        They are executed one after the other with the same parameters. ``values`` is as in :meth:`insert_rows`; the
        columns of the primary key come from columns of the set that have their names.
        """
        key = [column.key for column in table.primary_key]
        on = [name for name in key if name in rows.columns]
        fixed = [table.c[name] == values[name] for name in key if name not in rows.columns]
        others = {name: value for name, value in values.items() if name not in key}
        return (
            self.update_matching(table, rows, on, others, *fixed),
            self.insert_rows(table, rows.element, values, missing_only=True),
        )

    def for_update(self, statement: S, *, of: Sequence[Table] = (), skip_locked: bool = False) -> S:
        """Return the SELECT with locks on its rows, until the transaction ends.

        Args:
            statement: The SELECT.
            of: Whose rows are locked, those of all its tables when empty or where that can not be said.
            skip_locked: Pass over rows that others locked, where that is possible.
        """
        tables = list(of) if of and self.for_update_of else None
        return statement.with_for_update(of=tables, skip_locked=skip_locked and self.skip_locked)

    def starts_with(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return the condition that a text begins with another, compared by code point."""
        return column.startswith(text, autoescape=True, escape="!")

    def ends_with(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return the condition that a text ends with another, compared by code point."""
        return column.endswith(text, autoescape=True, escape="!")

    def contains(self, column: ColumnElement[str], text: str) -> ColumnElement[bool]:
        """Return the condition that a text holds another, compared by code point."""
        return column.contains(text, autoescape=True, escape="!")

    def ordinal(self, column: ColumnElement[str]) -> ColumnElement[str]:
        """Return a text column to order by, in the order of code points."""
        return column

    def now_ticks(self) -> ColumnElement[Any]:
        """Return the database's own time, of the type :class:`UtcTicks`.

        Raises:
            SchedulerConfigError: the dialect does not know how the database says it.
        """
        raise SchedulerConfigError(
            f"the {self.name} dialect can not ask {self.sqlalchemy.name} for its time: use time=ClockTime(), "
            "or override now_ticks in a dialect of your own"
        )

    # Connections --------------------------------------------------------------------------------------------------

    def session_statements(self, *, idle_in_transaction: timedelta | None = None) -> Sequence[str]:
        """Return what each new connection of the store's own engine executes first.

        Args:
            idle_in_transaction: How long a transaction may do nothing before the server ends it (decision 19), None
                for ever.
        """
        del idle_in_transaction
        return ()

    async def begin(self, connection: AsyncConnection, *, read_only: bool) -> None:
        """Begin a transaction on a connection that has just been opened; usually the first statement does."""

    def check_server(self, connection_dialect: Dialect) -> None:
        """Refuse a server that lacks what the statements need; the dialect is that of an open connection.

        Raises:
            SchedulerConfigError: it is too old.
        """
        _ = connection_dialect

    # The schema ---------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def schema_lock(self, connection: AsyncConnection, name: str) -> AsyncIterator[None]:  # noqa: ARG002
        """Let one process at a time create the tables called ``name``, where that is possible."""
        yield

    async def adopt_tables(self, connection: AsyncConnection, tables: Collection[Table]) -> None:
        """Give tables that were there already what they need beside their columns; nothing by default."""

    async def table_problems(self, connection: AsyncConnection, tables: Tables) -> Sequence[str]:  # noqa: ARG002
        """Return what is wrong with tables and columns that are all there."""
        return ()

    # Errors -------------------------------------------------------------------------------------------------------

    def is_transient(self, error: BaseException) -> bool:
        """Tell whether trying again may help: a deadlock, a lost connection, an overloaded server."""
        failure = failure_of(error)
        return failure.disconnected or self._is_transient(failure)

    def is_missing_object(self, error: BaseException) -> bool:
        """Tell whether a table, a column or a schema is not there."""
        state = failure_of(error).sqlstate or ""
        return state[:2] == "42"

    def _is_transient(self, failure: Failure) -> bool:
        """Tell it of a failure that left the connection intact, as far as the driver knows."""
        return (failure.sqlstate or "")[:2] in {"08", "40"}

    # Sizes --------------------------------------------------------------------------------------------------------

    def text_limit(self, type_: TypeEngine[Any]) -> int | None:
        """Return the most characters that a column of a type holds, None without a limit."""
        return type_.limit(self.sqlalchemy) if isinstance(type_, OrdinalText) else None

    # For dialects -------------------------------------------------------------------------------------------------

    def _failure(self, error: BaseException) -> Failure:
        return failure_of(error)

    def _quote(self, name: str) -> str:
        return self.sqlalchemy.identifier_preparer.quote(name)

    def _type(self, type_: TypeEngine[Any]) -> str:
        return type_.compile(dialect=self.sqlalchemy)

    def _select(
        self, columns: Mapping[str, ColumnElement[Any]], source: FromClause, *where: ColumnElement[bool]
    ) -> Select[Any]:
        return select(*columns.values()).select_from(source).where(*where)

    def _columns(self, table: Table, values: Mapping[str, Any]) -> dict[str, ColumnElement[Any]]:
        """Return what each column gets as an expression."""
        return {
            name: value if isinstance(value, ColumnElement) else literal(value, table.c[name].type)
            for name, value in values.items()
        }


def _pairs(table: Table, rows: RowSet, on: Sequence[str]) -> list[ColumnElement[bool]]:
    return [table.c[name] == rows.c[name] for name in on]


def _correlated(value: Any, rows: RowSet, matches: ColumnElement[bool], table: Table) -> Any:
    """Return the value as a subquery on the set, where an UPDATE can not join."""
    if not isinstance(value, ColumnElement) or isinstance(value, BindParameter):
        return value
    return select(value).select_from(rows.element).where(matches).correlate(table).scalar_subquery()


def _typed(parameter: BindParameter[Any], type_: TypeEngine[Any]) -> ColumnElement[Any]:
    # Databases need to know the type of a parameter that stands alone; not all can cast to their truth values.
    return parameter if isinstance(type_, Flag | Boolean) else cast(parameter, type_)
