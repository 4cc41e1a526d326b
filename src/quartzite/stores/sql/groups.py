"""The paused trigger groups of the SQL store."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Executable, delete, select

from quartzite.stores.session import GroupTable
from quartzite.stores.sql.own_rows import SCHEDULER
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["SqlGroups"]

_ON = ("trigger_group",)
_OWN = (SCHEDULER, *_ON)


class SqlGroups(GroupTable):
    """Paused groups in a table."""

    __slots__ = ("_plan", "_unit")

    def __init__(self, plan: StorePlan, unit: SqlUnit) -> None:
        self._plan = plan
        self._unit = unit

    async def paused(self) -> set[str]:
        """Return them."""
        table = self._plan.tables.paused_trigger_grps
        query = self._plan.built("groups.paused", lambda: select(table.c.trigger_group).where(self._plan.own(table)))
        return set((await self._unit.execute(query)).scalars())

    async def remember(self, groups: Collection[str]) -> None:
        """Add groups; those that are there stay."""
        if not groups:
            return
        table = self._plan.tables.paused_trigger_grps
        rows = self._plan.rows("given", table, *_ON)
        values = {name: rows.c[name] for name in _OWN}
        statement = self._plan.dialect.insert_rows(table, rows.element, values, missing_only=True)
        await self._unit.change(statement, rows, [(group,) for group in sorted(set(groups))])

    async def forget(self, groups: Collection[str] | None) -> None:
        """Remove groups, all when None."""
        table = self._plan.tables.paused_trigger_grps
        if groups is None:
            await self._unit.execute(delete(table).where(self._plan.own(table)))
        elif groups:
            rows = self._plan.rows("given", table, *_ON)
            statement: Executable = self._plan.dialect.delete_matching(table, rows.rows, _OWN)
            await self._unit.change(statement, rows, [(group,) for group in sorted(set(groups))])
