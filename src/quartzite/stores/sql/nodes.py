"""The check-in records of the SQL store."""

from __future__ import annotations

from sqlalchemy import delete, select, update

from quartzite.rules.membership import CheckIn
from quartzite.stores.session import NodeTable
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["SqlNodes"]

_UNCLAIMED = "*"


class SqlNodes(NodeTable):
    """Check-in records in a table; there are none as long as nobody checks in."""

    __slots__ = ("_plan", "_unit")

    def __init__(self, plan: StorePlan, unit: SqlUnit) -> None:
        self._plan = plan
        self._unit = unit

    async def all(self) -> list[CheckIn]:
        """Return every record."""
        table = self._plan.tables.scheduler_state
        c = table.c
        query = select(c.instance_name, c.last_checkin_time, c.checkin_interval).where(self._plan.own(table))
        found = await self._unit.execute(query)
        return [CheckIn(instance_id=name, last=last, interval=interval) for name, last, interval in found if last]

    async def delete(self, instance_id: str) -> None:
        """Delete the record of a node."""
        table = self._plan.tables.scheduler_state
        own = self._plan.own(table)
        await self._unit.execute(delete(table).where(own, table.c.instance_name == instance_id))

    async def release_pins(self, instance_id: str) -> None:
        """Let the automatic pins of a node go to whoever fires next."""
        table = self._plan.tables.triggers
        c = table.c
        where = (self._plan.own(table), c.preferred_node == instance_id, c.preferred_node_auto)
        values = {"preferred_node": _UNCLAIMED, "preferred_node_auto": False}
        await self._unit.execute(update(table).where(*where).values(values))
