"""OnConflictDialect: what databases with INSERT ... ON CONFLICT share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, FromClause, Insert, Table, Update

from quartzite.sql.dialects.base import SqlDialect
from quartzite.sql.row_set import RowSet

__all__ = ["OnConflictDialect"]


class OnConflictDialect(SqlDialect):
    """RETURNING, joined UPDATE, and rows that are there already handled by the INSERT itself."""

    update_returning: ClassVar[bool] = True
    delete_returning: ClassVar[bool] = True
    update_from: ClassVar[bool] = True

    @abstractmethod
    def _insert(self, table: Table) -> Any:
        """Return the database's own INSERT."""

    def insert_rows(
        self,
        table: Table,
        source: FromClause,
        values: Mapping[str, Any],
        *where: ColumnElement[bool],
        missing_only: bool = False,
    ) -> Insert:
        """Return an INSERT ... SELECT; ON CONFLICT DO NOTHING lets a row that is there win."""
        statement = self._insert_select(table, source, values, *where)
        found: Insert = statement.on_conflict_do_nothing() if missing_only else statement
        return found

    def upsert(self, table: Table, rows: RowSet, values: Mapping[str, Any]) -> Sequence[Update | Insert]:
        """Return one INSERT ... ON CONFLICT DO UPDATE."""
        statement = self._insert_select(table, rows.element, values)
        key = [column.key for column in table.primary_key]
        changed = {name: statement.excluded[name] for name in values if name not in key}
        return (statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=changed),)

    def _insert_select(
        self, table: Table, source: FromClause, values: Mapping[str, Any], *where: ColumnElement[bool]
    ) -> Any:
        columns = self._columns(table, values)
        return self._insert(table).from_select(list(columns), self._select(columns, source, *where))
