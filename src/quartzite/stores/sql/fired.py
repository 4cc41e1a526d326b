"""The firings of the SQL store."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Executable, String, Table, delete, func, select, type_coerce

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance, FireInstanceQuery
from quartzite.model.states import FiredState
from quartzite.rules.firing import FiredRow
from quartzite.rules.states import StoredFiringState
from quartzite.stores.session import FiredTable
from quartzite.stores.sql.job_rows import JOB_KEY
from quartzite.stores.sql.jobs import job_key_values
from quartzite.stores.sql.matching import section
from quartzite.stores.sql.own_rows import SCHEDULER, OwnRows
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.returning import ReturningChange, deleting, updating
from quartzite.stores.sql.trigger_rows import KEY
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["FiredStatements", "SqlFired"]

_COLUMNS: Final = (
    "entry_id",
    *KEY,
    "instance_name",
    "state",
    "fired_time",
    "sched_time",
    "priority",
    "execution_group",
    *JOB_KEY,
    "is_nonconcurrent",
    "requests_recovery",
)
_STARTED: Final = ("entry_id", "state", "fired_time", "sched_time", *JOB_KEY, "is_nonconcurrent", "requests_recovery")
_ENTRY: Final = ("entry_id",)


class FiredStatements:
    """The statements about firings, built once for a store."""

    def __init__(self, plan: StorePlan) -> None:
        self.plan = plan
        self.table: Table = plan.tables.fired_triggers
        self.whole = plan.rows("given", self.table, *_COLUMNS)
        self.started = plan.rows("given", self.table, *_STARTED)
        self.ids = plan.rows("given", self.table, *_ENTRY)
        self.triggers = plan.rows("given", self.table, *KEY)
        self.jobs = plan.rows("given", self.table, *JOB_KEY)
        # The state of the stored type knows two states only; the text says more.
        state = type_coerce(self.table.c.state, String(16)).label("state")
        self.columns = [state if name == "state" else self.table.c[name] for name in _COLUMNS]
        self._is_own = self.table.c.instance_name == plan.instance_id
        self._is_acquired = self.table.c.state == StoredFiringState.ACQUIRED

    def insert(self) -> Executable:
        """Return the INSERT of claims."""

        def build() -> Executable:
            values = {name: self.whole.c[name] for name in (SCHEDULER, *_COLUMNS)}
            return self.plan.dialect.insert_rows(self.table, self.whole.element, values)

        return self.plan.built("fired.insert", build)

    def start(self) -> ReturningChange:
        """Return the UPDATE of own claims to firings that execute."""

        def build() -> ReturningChange:
            values = {name: self.started.c[name] for name in _STARTED if name not in _ENTRY}
            return updating(self.plan, self.table, self.started, _ENTRY, values, self._is_own, self._is_acquired)

        return self.plan.built("fired.start", build)

    def remove(self) -> ReturningChange:
        """Return the DELETE of own rows."""

        def build() -> ReturningChange:
            return deleting(self.plan, self.table, self.ids, _ENTRY, self.columns[1:], self._is_own)

        return self.plan.built("fired.remove", build)

    def forget_acquired(self) -> Executable:
        """Return the DELETE of the claims on triggers."""

        def build() -> Executable:
            on = (SCHEDULER, *KEY)
            return self.plan.dialect.delete_matching(self.table, self.triggers.rows, on, self._is_acquired)

        return self.plan.built("fired.forget_acquired", build)

    def forget(self, rows: OwnRows, on: Sequence[str], state: StoredFiringState) -> Executable:
        """Return the UPDATE of firings that execute to a state without trigger or job."""

        def build() -> Executable:
            column = self.table.c.state
            where = [column != StoredFiringState.ACQUIRED]
            if state is StoredFiringState.TRIGGER_GONE:
                where.append(column == StoredFiringState.EXECUTING)
            return self.plan.dialect.update_matching(self.table, rows.rows, (SCHEDULER, *on), {"state": state}, *where)

        return self.plan.built(("fired.forget", state), build)

    def of_triggers(self) -> Executable:
        """Return the SELECT of the firings of triggers, locked: most triggers that are deleted have none."""

        def build() -> Executable:
            source = self.table.join(self.triggers.element, self.plan.matching(self.table, self.triggers, KEY))
            query = select(self.table.c.entry_id).select_from(source)
            return self.plan.dialect.for_update(query, of=[self.table])

        return self.plan.built("fired.of_triggers", build)

    def executing_jobs(self, *, lock: bool) -> Executable:
        """Return the SELECT of the firings of jobs; locked, it waits for completions that are on their way."""

        def build() -> Executable:
            c = self.table.c
            source = self.table.join(self.jobs.element, self.plan.matching(self.table, self.jobs, JOB_KEY))
            query = select(c.job_group, c.job_name, c.is_nonconcurrent).select_from(source)
            return self.plan.dialect.for_update(query, of=[self.table]) if lock else query

        return self.plan.built(("fired.executing_jobs", lock), build)

    def selected(self, query: FireInstanceQuery) -> list[ColumnElement[bool]]:
        """Return the conditions of a query."""
        c = self.table.c
        wanted = [self.plan.own(self.table)]
        if query.trigger is not None:
            wanted += [c.trigger_group == query.trigger.group, c.trigger_name == query.trigger.name]
        if query.job is not None:
            wanted += [c.job_group == query.job.group, c.job_name == query.job.name]
        if query.instance_id is not None:
            wanted.append(c.instance_name == query.instance_id)
        if query.state is not None:
            acquired = query.state is FiredState.ACQUIRED
            wanted.append(self._is_acquired if acquired else c.state != StoredFiringState.ACQUIRED)
        return wanted


class SqlFired(FiredTable):
    """Firings in a table."""

    __slots__ = ("_statements", "_unit")

    def __init__(self, statements: FiredStatements, unit: SqlUnit) -> None:
        self._statements = statements
        self._unit = unit

    async def insert(self, rows: Sequence[FiredRow]) -> None:
        """Add acquired firings."""
        if rows:
            values = [_values(row) for row in rows]
            await self._unit.change(self._statements.insert(), self._statements.whole, values)

    async def start(self, rows: Sequence[FiredRow]) -> set[str]:
        """Write firings over the own rows that are ACQUIRED; return the ids of those."""
        values = [_started_values(row) for row in rows]
        return {row[0] for row in await self._statements.start().run(self._unit, values)}

    async def remove(self, ids: Collection[str]) -> dict[str, FiredRow]:
        """Delete own rows; return those that were there."""
        if not ids:
            return {}
        values = [(entry_id,) for entry_id in sorted(set(ids))]
        return {row[0]: _row(row) for row in await self._statements.remove().run(self._unit, values)}

    async def remove_of(self, instance_id: str, ids: Collection[str] | None) -> None:
        """Delete rows of some node."""
        statements, c = self._statements, self._statements.table.c
        where = (statements.plan.own(statements.table), c.instance_name == instance_id)
        if ids is None:
            await self._unit.execute(delete(statements.table).where(*where))
        elif ids:
            dialect, on = statements.plan.dialect, (SCHEDULER, *_ENTRY)
            statement = dialect.delete_matching(statements.table, statements.ids.rows, on, where[1])
            await self._unit.change(statement, statements.ids, [(entry_id,) for entry_id in sorted(set(ids))])

    async def clear(self) -> None:
        """Delete all rows of the scheduler."""
        table = self._statements.table
        await self._unit.execute(delete(table).where(self._statements.plan.own(table)))

    async def forget_triggers(self, keys: Collection[TriggerKey]) -> None:
        """Delete the claims on triggers; let the firings that execute go on without their trigger."""
        values = sorted({(key.group, key.name) for key in keys})
        statements = self._statements
        if not values or not await self._unit.fetch(statements.of_triggers(), statements.triggers, values):
            return
        await self._unit.change(statements.forget_acquired(), statements.triggers, values)
        gone = statements.forget(statements.triggers, KEY, StoredFiringState.TRIGGER_GONE)
        await self._unit.change(gone, statements.triggers, values)

    async def forget_jobs(self, keys: Collection[JobKey]) -> None:
        """Let the firings of jobs go on without their job."""
        if keys:
            statements = self._statements
            gone = statements.forget(statements.jobs, JOB_KEY, StoredFiringState.JOB_GONE)
            await self._unit.change(gone, statements.jobs, job_key_values(keys))

    async def executing_jobs(self, keys: Collection[JobKey]) -> dict[JobKey, bool]:
        """Return those of these jobs that execute, and whether a firing of theirs is non-concurrent."""
        if not keys:
            return {}
        statement = self._statements.executing_jobs(lock=self._unit.writes)
        found: dict[JobKey, bool] = {}
        for group, name, alone in await self._unit.fetch(statement, self._statements.jobs, job_key_values(keys)):
            key = JobKey(name, group)
            found[key] = found.get(key, False) or bool(alone)
        return found

    async def of_instance(self, instance_id: str) -> list[FiredRow]:
        """Return the rows of one node."""
        statements = self._statements
        where = (statements.plan.own(statements.table), statements.table.c.instance_name == instance_id)
        return [_row(row) for row in await self._unit.execute(select(*statements.columns).where(*where))]

    async def instances(self) -> set[str]:
        """Return the nodes that have rows."""
        table = self._statements.table
        query = select(table.c.instance_name).distinct().where(self._statements.plan.own(table))
        return set((await self._unit.execute(query)).scalars())

    async def query(self, query: FireInstanceQuery, limit: int | None) -> list[FireInstance]:
        """Return what the filters select."""
        statements, c = self._statements, self._statements.table.c
        found = select(*statements.columns).where(*statements.selected(query))
        order = (c.trigger_group, c.trigger_name, c.entry_id)
        page = section(statements.plan.dialect, found, order, query.skip, limit)
        return [_instance(_row(row)) for row in await self._unit.execute(page)]

    async def count(self, query: FireInstanceQuery) -> int:
        """Return how many the filters select."""
        counted = select(func.count()).select_from(self._statements.table).where(*self._statements.selected(query))
        return int((await self._unit.execute(counted)).scalar_one())

    async def in_states(self, ids: Collection[str], *, executing: bool) -> int:
        """Return how many of these own firings are there, those that are reserved or those that execute."""
        statements, c = self._statements, self._statements.table.c
        wanted = FireInstanceQuery(
            instance_id=statements.plan.instance_id, state=FiredState.EXECUTING if executing else FiredState.ACQUIRED
        )
        same = c.entry_id == statements.ids.c.entry_id
        counted = (
            select(func.count())
            .select_from(statements.table.join(statements.ids.element, same))
            .where(*statements.selected(wanted))
        )
        rows = await self._unit.fetch(counted, statements.ids, [(entry_id,) for entry_id in ids])
        return sum(row[0] for row in rows)


def _values(row: FiredRow) -> tuple[Any, ...]:
    job = row.job_key
    return (
        row.fire_instance_id,
        row.trigger_key.group,
        row.trigger_key.name,
        row.instance_id,
        row.state,
        row.fired_time,
        row.scheduled_time,
        row.priority,
        row.execution_group,
        None if job is None else job.group,
        None if job is None else job.name,
        row.non_concurrent,
        row.requests_recovery,
    )


def _started_values(row: FiredRow) -> tuple[Any, ...]:
    entry_id, _, _, _, state, fired, scheduled, _, _, group, name, alone, recovers = _values(row)
    return (entry_id, state, fired, scheduled, group, name, alone, recovers)


def _row(row: Any) -> FiredRow:
    return FiredRow(
        row[0],
        TriggerKey(row[2], row[1]),
        row[3],
        StoredFiringState.from_stored_value(row[4]),
        row[5],
        row[6],
        row[7],
        row[8],
        None if row[10] is None else JobKey(row[10], row[9]),
        bool(row[11]),
        bool(row[12]),
    )


def _instance(row: FiredRow) -> FireInstance:
    return FireInstance(
        fire_instance_id=row.fire_instance_id,
        trigger_key=row.trigger_key,
        job_key=row.job_key,
        instance_id=row.instance_id,
        state=row.state.reported,
        fire_time=row.fired_time,
        scheduled_fire_time=row.scheduled_time,
        priority=row.priority,
        requests_recovery=row.requests_recovery,
        concurrent_execution_disallowed=row.non_concurrent,
        execution_group=row.execution_group,
    )
