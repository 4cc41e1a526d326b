"""StorePlan: what all units of work of one store share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Table, and_

from quartzite.abc import Serializer, TypeLoader
from quartzite.sql.dialects import SqlDialect
from quartzite.sql.limits import ColumnLimits
from quartzite.sql.row_set import RowSet, SetColumns
from quartzite.sql.tables import Tables
from quartzite.stores.sql.own_rows import SCHEDULER, OwnRows

__all__ = ["StorePlan"]

T = TypeVar("T")


class StorePlan:
    """The tables, the database's answers, who asks, and the statements that were built so far.

    A statement is built once and then used again with other parameters: building costs more than executing does.

    Attributes:
        tables: The tables.
        dialect: The database.
        scheduler_name: Whose rows are looked at.
        instance_id: The node.
        serializer: Reads and writes job data, calendars and triggers of kinds of one's own.
        type_loader: Says which jobs can be run here; None when that is not asked.
        limits: What the columns can hold.
    """

    def __init__(
        self,
        *,
        tables: Tables,
        dialect: SqlDialect,
        scheduler_name: str,
        instance_id: str,
        serializer: Serializer,
        type_loader: TypeLoader | None,
    ) -> None:
        self.tables: Final = tables
        self.dialect: Final = dialect
        self.scheduler_name: Final = scheduler_name
        self.instance_id: Final = instance_id
        self.serializer: Final = serializer
        self.type_loader: Final = type_loader
        self.limits: Final = ColumnLimits(tables, dialect)
        self._built: dict[Hashable, Any] = {}

    def built(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return what was built under a key, built now when it was not."""
        found = self._built.get(key)
        if found is None:
            found = self._built[key] = build()
        return found

    def own(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that rows are of this scheduler."""
        return table.c.sched_name == self.scheduler_name

    def rows(self, name: str, table: Table, *columns: str) -> OwnRows:
        """Return a row set whose columns are like those of a table, and that says whose rows are meant."""
        return self.own_rows(name, {column: table.c[column].type for column in columns})

    def own_rows(self, name: str, columns: SetColumns) -> OwnRows:
        """Return a row set that says whose rows are meant."""
        scheduler = self.tables.triggers.c[SCHEDULER].type
        return OwnRows(self.dialect.row_set(name, {**columns, SCHEDULER: scheduler}), self.scheduler_name)

    def texts(self, name: str, table: Table, *columns: str) -> RowSet:
        """Return a row set of the bare columns, for conditions."""
        return self.dialect.row_set(name, {column: table.c[column].type for column in columns})

    @staticmethod
    def matching(table: Table, rows: OwnRows, on: Sequence[str]) -> ColumnElement[bool]:
        """Return the condition that a row of a table is one that a row of the set means."""
        return and_(*(table.c[name] == rows.c[name] for name in (SCHEDULER, *on)))
