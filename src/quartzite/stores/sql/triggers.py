"""The triggers of the SQL store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, func, not_, or_, select

from quartzite.errors import SchedulerError
from quartzite.model.job import JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import TriggerHeader, TriggerQuery
from quartzite.model.selectors import ByKeys, TriggerSelector
from quartzite.model.states import StoredTriggerState
from quartzite.rules.acquisition import Candidate, DueCriteria
from quartzite.rules.firing import FiringRow
from quartzite.rules.states import resolve_trigger_state, stored_states_reported_as
from quartzite.rules.transitions import Transition
from quartzite.stores.session import StoredTrigger, TriggerTable
from quartzite.stores.sql.due import DueStatements
from quartzite.stores.sql.job_rows import SIZE as JOB_SIZE
from quartzite.stores.sql.kinds import COLUMNS
from quartzite.stores.sql.matching import matching, section
from quartzite.stores.sql.selecting import Selection, select_rows
from quartzite.stores.sql.trigger_rows import SIZE
from quartzite.stores.sql.trigger_statements import TriggerStatements
from quartzite.stores.sql.unit import SqlUnit
from quartzite.triggers.base import Trigger

__all__ = ["SqlTriggers"]

_STATE_AT = 4
_HEADER = (
    "trigger_group",
    "trigger_name",
    "job_group",
    "job_name",
    "description",
    "trigger_type",
    "trigger_state",
    "start_time",
    "end_time",
    "next_fire_time",
    "prev_fire_time",
    "calendar_name",
    "priority",
    "execution_group",
)


class SqlTriggers(TriggerTable):
    """Triggers in the table that all kinds share, and in those of the kinds."""

    __slots__ = ("_due", "_statements", "_unit", "_unreadable")

    def __init__(
        self,
        statements: TriggerStatements,
        due: DueStatements,
        unit: SqlUnit,
        unreadable: dict[TriggerKey, Exception],
    ) -> None:
        self._statements = statements
        self._due = due
        self._unit = unit
        self._unreadable = unreadable

    # Reading ----------------------------------------------------------------------------------------------------

    async def read(self, selector: TriggerSelector) -> list[StoredTrigger]:
        """Return the selected triggers; a unit of work that writes locks them."""
        selection = select_rows(self._statements.plan, selector)
        if selection.is_empty:
            return []
        return self._read(await self._fetch(self._statements.read(selection, lock=self._unit.writes), selection))

    async def existing(self, keys: Collection[TriggerKey]) -> set[TriggerKey]:
        """Return which of these keys are taken."""
        selection = select_rows(self._statements.plan, ByKeys(keys))
        if selection.is_empty:
            return set()
        return {_key(row) for row in await self._fetch(self._statements.existing(), selection)}

    async def states(self, keys: Collection[TriggerKey]) -> dict[TriggerKey, tuple[StoredTriggerState, bool]]:
        """Return stored states, and whether a firing executes."""
        selection = select_rows(self._statements.plan, ByKeys(keys))
        if selection.is_empty:
            return {}
        return {_key(row): (row[2], bool(row[3])) for row in await self._fetch(self._statements.states(), selection)}

    async def in_state(self, state: StoredTriggerState) -> list[TriggerKey]:
        """Return the keys of the triggers in a stored state."""
        statements = self._statements
        query = select(*statements.key).where(statements.plan.own(statements.table), statements.in_state(state))
        return [_key(row) for row in await self._unit.execute(query)]

    async def stranded(self) -> list[TriggerKey]:
        """Return the triggers whose state nothing bears out any more."""
        return [_key(row) for row in await self._unit.execute(self._statements.stranded())]

    async def naming_calendar(self, name: str) -> list[StoredTrigger]:
        """Return the triggers that name a calendar."""
        statements = self._statements
        query = (
            select(*statements.rows.columns)
            .select_from(statements.rows.joined(statements.table))
            .where(statements.plan.own(statements.table), statements.table.c.calendar_name == name)
        )
        locked = statements.plan.dialect.for_update(query.order_by(*statements.key), of=[statements.table])
        return self._read(await self._unit.execute(locked if self._unit.writes else query))

    async def groups(self) -> set[str]:
        """Return the groups that have a trigger."""
        table = self._statements.table
        query = select(table.c.trigger_group).distinct().where(self._statements.plan.own(table))
        return set((await self._unit.execute(query)).scalars())

    # Writing ----------------------------------------------------------------------------------------------------

    async def insert(self, rows: Sequence[StoredTrigger]) -> None:
        """Add triggers whose keys are free."""
        if not rows:
            return
        statements = self._statements
        values = [statements.rows.base(row) for row in rows]
        await self._unit.change(statements.insert(), statements.whole, values)
        await self._insert_extensions(rows)

    async def replace(self, rows: Sequence[StoredTrigger]) -> None:
        """Write triggers over those of the same keys; what another kind added goes."""
        if not rows:
            return
        statements = self._statements
        ordered = sorted(rows, key=lambda row: row.trigger.key.paging_order)
        values = [statements.rows.base(row) for row in ordered]
        await self._unit.change(statements.replace(), statements.whole, values)
        await self._delete_extensions([row[:2] for row in values], COLUMNS)
        await self._insert_extensions(ordered)

    async def save_progress(self, rows: Sequence[StoredTrigger]) -> None:
        """Write what firing and misfiring change."""
        if not rows:
            return
        statements = self._statements
        ordered = sorted(rows, key=lambda row: row.trigger.key.paging_order)
        values = [statements.rows.progress(row) for row in ordered]
        await self._unit.change(statements.save_progress(), statements.progress, values)
        for name, more in statements.rows.extensions(ordered, progress_only=True).items():
            await self._unit.change(statements.update_extension(name), statements.extensions[name], more)

    async def move(self, selector: TriggerSelector, transition: Transition) -> int:
        """Change states."""
        selection = select_rows(self._statements.plan, selector)
        if selection.is_empty or not transition.moves:
            return 0
        statement = self._statements.move(selection, transition)
        if selection.rows is None:
            return (await self._unit.execute(statement)).rowcount
        return await self._unit.change(statement, selection.rows, selection.values)

    async def delete(self, selector: TriggerSelector, *, finished_only: bool = False) -> dict[TriggerKey, JobKey]:
        """Delete triggers."""
        selection = select_rows(self._statements.plan, selector)
        if selection.is_empty:
            return {}
        if self._statements.plan.dialect.cascades and self._statements.plan.dialect.delete_returning:
            return await self._delete_cascading(selection, finished_only=finished_only)
        return await self._delete_one_by_one(selection, finished_only=finished_only)

    async def _delete_cascading(self, selection: Selection, *, finished_only: bool) -> dict[TriggerKey, JobKey]:
        gone = await self._fetch(self._statements.delete(selection, finished_only=finished_only), selection)
        return {_key(row): JobKey(row[3], row[2]) for row in gone}

    async def _delete_one_by_one(self, selection: Selection, *, finished_only: bool) -> dict[TriggerKey, JobKey]:
        """Delete what the kinds added first, and then the triggers."""
        statements = self._statements
        found = await self._fetch(statements.keys_of(selection, finished_only=finished_only), selection)
        if found:
            keys = [(row[0], row[1]) for row in found]
            await self._delete_extensions(keys, COLUMNS)
            await self._unit.change(statements.delete_keys(), statements.keys, keys)
        return {_key(row): JobKey(row[3], row[2]) for row in found}

    # The fire cycle ---------------------------------------------------------------------------------------------

    async def due(self, criteria: DueCriteria) -> list[Candidate]:
        """Return what may be acquired, in fire order."""
        statement, parameters = self._due.of(criteria)
        found: list[Candidate] = []
        until: datetime | None = None
        for row in await self._unit.execute(statement, parameters):
            trigger = self._loadable(row, row[SIZE])
            if trigger is None or trigger.next_fire_time is None:
                continue
            if until is None:
                if trigger.next_fire_time > criteria.until:
                    break
                until = criteria.end_after(trigger.next_fire_time)
            elif trigger.next_fire_time > until:
                break
            found.append(Candidate(trigger, bool(row[SIZE + 1]), bool(row[SIZE + 2])))
        return found

    async def claim(self, triggers: Sequence[Trigger]) -> set[TriggerKey]:
        """Reserve triggers that wait with the same next fire time."""
        values = sorted((t.key.group, t.key.name, t.next_fire_time) for t in triggers)
        return {_key(row) for row in await self._statements.claim().run(self._unit, values)}

    async def load_for_firing(self, triggers: Sequence[Trigger]) -> list[FiringRow | None]:
        """Return what is stored about acquired triggers, locked."""
        found: list[FiringRow | None] = [None] * len(triggers)
        if not triggers:
            return found
        values = [(n, t.key.group, t.key.name, t.fire_instance_id) for n, t in enumerate(triggers)]
        for row in await self._unit.fetch(self._statements.load(), self._statements.loaded, values):
            place = row[SIZE + JOB_SIZE]
            found[place] = self._firing_row(row, triggers[place].fire_instance_id)
        return found

    async def misfired(self, selector: TriggerSelector, before: datetime, limit: int) -> list[Trigger]:
        """Return waiting triggers that are late, and lock them."""
        selection = select_rows(self._statements.plan, selector)
        if selection.is_empty:
            return []
        parameters = {"before": before, "most": limit}
        rows = await self._fetch(self._statements.misfired(selection, lock=self._unit.writes), selection, parameters)
        return [row.trigger for row in self._read(rows)][:limit]

    # Queries ----------------------------------------------------------------------------------------------------

    async def query(self, query: TriggerQuery, limit: int | None) -> list[TriggerHeader]:
        """Return headers of what the filters select."""
        statements = self._statements
        columns = [statements.table.c[name] for name in _HEADER]
        found = select(*columns, statements.executes()).where(*self._filters(query))
        page = section(statements.plan.dialect, found, statements.key, query.skip, limit)
        return [_header(row) for row in await self._unit.execute(page)]

    async def count(self, query: TriggerQuery) -> int:
        """Return how many the filters select."""
        counted = select(func.count()).select_from(self._statements.table).where(*self._filters(query))
        return int((await self._unit.execute(counted)).scalar_one())

    # ------------------------------------------------------------------------------------------------------------

    def _filters(self, query: TriggerQuery) -> list[ColumnElement[bool]]:
        statements, c = self._statements, self._statements.table.c
        given = ((c.trigger_group, query.group), (c.trigger_name, query.name))
        wanted = [matching(statements.plan.dialect, column, m) for column, m in given if m is not None]
        if query.job is not None:
            wanted += [c.job_group == query.job.group, c.job_name == query.job.name]
        if query.calendar_name is not None:
            wanted.append(c.calendar_name == query.calendar_name)
        if query.state is not None:
            executes = statements.executes()
            running, idle = (statements.in_state(*stored_states_reported_as(query.state, e)) for e in (True, False))
            wanted.append(or_(and_(executes, running), and_(not_(executes), idle)))
        return [statements.plan.own(statements.table), *wanted]

    async def _fetch(
        self, statement: Any, selection: Selection, parameters: dict[str, Any] | None = None
    ) -> Sequence[Any]:
        if selection.rows is None:
            return (await self._unit.execute(statement, parameters)).all()
        return await self._unit.fetch(statement, selection.rows, selection.values, parameters)

    async def _insert_extensions(self, rows: Sequence[StoredTrigger]) -> None:
        statements = self._statements
        for name, values in statements.rows.extensions(rows).items():
            await self._unit.change(statements.insert_extension(name), statements.extensions[name], values)

    async def _delete_extensions(self, keys: Sequence[Sequence[Any]], names: Iterable[str]) -> None:
        for name in names:
            await self._unit.change(self._statements.delete_extension(name), self._statements.keys, keys)

    def _read(self, rows: Iterable[Any]) -> list[StoredTrigger]:
        read = ((self._trigger(row), row[_STATE_AT]) for row in rows)
        return [StoredTrigger(trigger, state) for trigger, state in read if trigger is not None]

    def _trigger(self, row: Any) -> Trigger | None:
        """Return the trigger of a row, None when it can not be read: that is noted."""
        try:
            return self._statements.rows.read(row)
        except Exception as error:  # noqa: BLE001  # whatever a row makes a kind raise concerns that row only
            self._unreadable[self._statements.rows.key(row)] = error
            return None

    def _loadable(self, row: Any, job_type_name: str) -> Trigger | None:
        """Return the trigger of a row whose job can be loaded here, None when either can not be: that is noted."""
        loader = self._statements.plan.type_loader
        if loader is not None:
            try:
                loader.load(JobType(job_type_name))
            except SchedulerError as error:
                self._unreadable[self._statements.rows.key(row)] = error
                return None
        return self._trigger(row)

    def _firing_row(self, row: Any, fire_instance_id: str | None) -> FiringRow | None:
        trigger = self._trigger(row)
        if trigger is None:
            return None
        try:
            job = self._statements.job_rows.read(row[SIZE : SIZE + JOB_SIZE])
        except SchedulerError as error:
            self._unreadable[trigger.key] = error
            return None
        acquired = trigger.copy_with(fire_instance_id=fire_instance_id)
        return FiringRow(acquired, row[_STATE_AT], job, bool(row[SIZE + JOB_SIZE + 1]))


def _key(row: Any) -> TriggerKey:
    return TriggerKey(row[1], row[0])


def _header(row: Any) -> TriggerHeader:
    return TriggerHeader(
        key=TriggerKey(row[1], row[0]),
        job_key=JobKey(row[3], row[2]),
        description=row[4],
        trigger_type=row[5],
        state=resolve_trigger_state(row[6], bool(row[14])),
        start_time=row[7],
        end_time=row[8],
        next_fire_time=row[9],
        previous_fire_time=row[10],
        calendar_name=row[11],
        priority=row[12],
        execution_group=row[13],
    )
