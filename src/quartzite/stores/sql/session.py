"""The unit of work of the SQL store: statements behind the port."""

from __future__ import annotations

from sqlalchemy import delete

from quartzite.stores.session import StoreSession
from quartzite.stores.signals import Signals
from quartzite.stores.sql.calendars import SqlCalendars
from quartzite.stores.sql.due import DueStatements
from quartzite.stores.sql.fired import FiredStatements, SqlFired
from quartzite.stores.sql.groups import SqlGroups
from quartzite.stores.sql.jobs import JobStatements, SqlJobs
from quartzite.stores.sql.nodes import SqlNodes
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.trigger_statements import TriggerStatements
from quartzite.stores.sql.triggers import SqlTriggers
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["SqlSession", "Statements"]


class Statements:
    """The statements of one store."""

    def __init__(self, plan: StorePlan) -> None:
        self.plan = plan
        self.jobs = JobStatements(plan)
        self.triggers = TriggerStatements(plan)
        self.due = DueStatements(self.triggers)
        self.fired = FiredStatements(plan)


class SqlSession(StoreSession):
    """One transaction."""

    fired: SqlFired

    def __init__(self, statements: Statements, unit: SqlUnit) -> None:
        plan = statements.plan
        self.unreadable = {}
        self.jobs = SqlJobs(statements.jobs, unit)
        self.triggers = SqlTriggers(statements.triggers, statements.due, unit, self.unreadable)
        self.fired = SqlFired(statements.fired, unit)
        self.groups = SqlGroups(plan, unit)
        self.calendars = SqlCalendars(plan, unit)
        self.nodes = SqlNodes(plan, unit)
        self.signals = Signals()
        self._plan = plan
        self._unit = unit

    async def clear(self) -> None:
        """Delete everything but check-in records, locks and the version."""
        tables = self._plan.tables
        for table in (
            tables.simple_triggers,
            tables.cron_triggers,
            tables.simprop_triggers,
            tables.blob_triggers,
            tables.fired_triggers,
            tables.triggers,
            tables.quartzite_policies,
            tables.job_details,
            tables.calendars,
            tables.paused_trigger_grps,
        ):
            await self._unit.execute(delete(table).where(self._plan.own(table)))
