"""ReturningChange: an UPDATE or DELETE that tells which rows it changed, also where the database can not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Executable, Table, select

from quartzite.stores.sql.own_rows import SCHEDULER, OwnRows
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["ReturningChange", "deleting", "updating"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturningChange:
    """One statement with RETURNING, or a SELECT that locks the rows and then the change of those that it found.

    Attributes:
        rows: The set that both join. Its first columns are its key, and the first that are returned.
        key: How many columns the key has.
        change: The UPDATE or DELETE.
        look: The SELECT, None when the change returns rows.
    """

    rows: OwnRows
    key: int
    change: Executable
    look: Executable | None

    async def run(
        self, unit: SqlUnit, values: Sequence[Sequence[Any]], parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Any]:
        """Return what was changed: the rows as they are after an UPDATE, as they were before a DELETE."""
        if self.look is None:
            return await unit.fetch(self.change, self.rows, values, parameters)
        found = await unit.fetch(self.look, self.rows, values, parameters)
        if found:
            # Rows that were not found, as somebody else has them locked, must not be changed after a wait either.
            keys = {tuple(row[: self.key]) for row in found}
            there = [value for value in values if tuple(value[: self.key]) in keys]
            await unit.change(self.change, self.rows, there, parameters)
        return found


def updating(
    plan: StorePlan,
    table: Table,
    rows: OwnRows,
    on: Sequence[str],
    values: Mapping[str, Any],
    *where: ColumnElement[bool],
    skip_locked: bool = False,
) -> ReturningChange:
    """Return the UPDATE of the rows that match a set; it returns the columns of ``on``."""
    change = plan.dialect.update_matching(table, rows.rows, (SCHEDULER, *on), values, *where)
    returned = [table.c[name] for name in on]
    if plan.dialect.update_returning:
        return ReturningChange(rows=rows, key=len(on), change=change.returning(*returned), look=None)
    look = _look(plan, table, rows, on, returned, where, skip_locked=skip_locked)
    return ReturningChange(rows=rows, key=len(on), change=change, look=look)


def deleting(
    plan: StorePlan,
    table: Table,
    rows: OwnRows,
    on: Sequence[str],
    returned: Sequence[ColumnElement[Any]],
    *where: ColumnElement[bool],
) -> ReturningChange:
    """Return the DELETE of the rows that match a set; it returns the columns of ``on`` and then those given."""
    change = plan.dialect.delete_matching(table, rows.rows, (SCHEDULER, *on), *where)
    everything = [*(table.c[name] for name in on), *returned]
    if plan.dialect.delete_returning:
        return ReturningChange(rows=rows, key=len(on), change=change.returning(*everything), look=None)
    look = _look(plan, table, rows, on, everything, where, skip_locked=False)
    return ReturningChange(rows=rows, key=len(on), change=change, look=look)


def _look(
    plan: StorePlan,
    table: Table,
    rows: OwnRows,
    on: Sequence[str],
    returned: Sequence[ColumnElement[Any]],
    where: Sequence[ColumnElement[bool]],
    *,
    skip_locked: bool,
) -> Executable:
    query = select(*returned).select_from(table.join(rows.element, plan.matching(table, rows, on))).where(*where)
    return plan.dialect.for_update(query, of=[table], skip_locked=skip_locked)
