"""The statements about triggers, built once for a store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Executable,
    FromClause,
    Integer,
    Select,
    Table,
    and_,
    bindparam,
    case,
    delete,
    exists,
    false,
    literal,
    literal_column,
    not_,
    or_,
    select,
    update,
)

from quartzite.model.keys import DEFAULT_GROUP
from quartzite.model.states import StoredTriggerState
from quartzite.rules.states import StoredFiringState
from quartzite.rules.transitions import Transition
from quartzite.stores.sql.job_rows import JOB_KEY, JobRows
from quartzite.stores.sql.kinds import COLUMNS
from quartzite.stores.sql.own_rows import SCHEDULER, OwnRows
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.returning import ReturningChange, updating
from quartzite.stores.sql.selecting import Selection
from quartzite.stores.sql.trigger_rows import BASE_COLUMNS, KEY, PROGRESS_COLUMNS, TriggerRows, extension_of

__all__ = ["TriggerStatements"]

_ON: Final = (SCHEDULER, *KEY)
_WAITING: Final = StoredTriggerState.WAITING
_ACQUIRED: Final = StoredTriggerState.ACQUIRED


class TriggerStatements:
    """Statements by what they do; each is built when it is first needed."""

    def __init__(self, plan: StorePlan) -> None:
        self.plan = plan
        self.table: Table = plan.tables.triggers
        self.fired: Table = plan.tables.fired_triggers
        self.jobs: Table = plan.tables.job_details
        self.rows = TriggerRows(plan)
        self.job_rows = JobRows(plan)
        self.keys = plan.rows("given", self.table, *KEY)
        self.whole = plan.rows("given", self.table, *BASE_COLUMNS)
        self.progress = plan.rows("given", self.table, *PROGRESS_COLUMNS)
        self.claimed = plan.rows("given", self.table, *KEY, "next_fire_time")
        loaded = {name: self.table.c[name].type for name in KEY}
        entry = self.fired.c.entry_id.type
        self.loaded = plan.own_rows("given", {"place": Integer(), **loaded, "entry_id": entry})
        self.extensions = {name: self._extension_rows(name) for name in COLUMNS}

    # Conditions and columns --------------------------------------------------------------------------------------

    @property
    def key(self) -> list[ColumnElement[Any]]:
        """The columns of the key."""
        return [self.table.c[name] for name in KEY]

    def in_state(self, *states: StoredTriggerState) -> ColumnElement[bool]:
        """Return the condition that a trigger is in one of some states."""
        column = self.table.c.trigger_state
        return or_(false(), *(column == state for state in sorted(states, key=lambda state: state.value)))

    def executes(self) -> ColumnElement[bool]:
        """Return whether a firing of the trigger is in progress."""
        return self._has_firing(StoredFiringState.EXECUTING)

    def job_executes(self) -> ColumnElement[bool]:
        """Return whether a firing of the trigger's job is in progress: reserved ones have no job yet."""
        fired, table = self.fired, self.table
        same = (fired.c[name] == table.c[name] for name in ("sched_name", *JOB_KEY))
        return exists(literal_column("1")).select_from(fired).where(*same).correlate(table)

    def _has_firing(self, state: StoredFiringState) -> ColumnElement[bool]:
        fired, table = self.fired, self.table
        same = (fired.c[name] == table.c[name] for name in ("sched_name", *KEY))
        return exists(literal_column("1")).select_from(fired).where(*same, fired.c.state == state).correlate(table)

    # Reading -----------------------------------------------------------------------------------------------------

    def read(self, selection: Selection, *, lock: bool) -> Executable:
        """Return the SELECT of whole triggers."""

        def build() -> Executable:
            source = self._selected(selection)
            query = select(*self.rows.columns).select_from(self.rows.joined(source)).where(*self._own(selection))
            if not lock:
                return query
            return self.plan.dialect.for_update(query.order_by(*self.key), of=[self.table])

        return self.plan.built(("triggers.read", selection.on, lock), build)

    def keys_of(self, selection: Selection, *, finished_only: bool) -> Executable:
        """Return the SELECT that locks triggers and returns their keys, those of their jobs, and their types."""

        def build() -> Executable:
            c = self.table.c
            columns = (*self.key, c.job_group, c.job_name, c.trigger_type)
            query = select(*columns).select_from(self._selected(selection)).where(*self._own(selection))
            if finished_only:
                query = query.where(c.next_fire_time.is_(None))
            return self.plan.dialect.for_update(query.order_by(*self.key), of=[self.table])

        return self.plan.built(("triggers.keys_of", selection.on, finished_only), build)

    def states(self) -> Executable:
        """Return the SELECT of states by key."""

        def build() -> Executable:
            columns = (*self.key, self.table.c.trigger_state, self.executes())
            return select(*columns).select_from(self._joined(self.keys, KEY))

        return self.plan.built("triggers.states", build)

    def existing(self) -> Executable:
        """Return the SELECT of the keys that are there."""

        def build() -> Executable:
            return select(*self.key).select_from(self._joined(self.keys, KEY))

        return self.plan.built("triggers.existing", build)

    def stranded(self) -> Executable:
        """Return the SELECT of the triggers whose state nothing bears out."""

        def build() -> Executable:
            held = self.in_state(StoredTriggerState.BLOCKED, StoredTriggerState.PAUSED_BLOCKED)
            reserved = and_(self.in_state(_ACQUIRED), not_(self._has_firing(StoredFiringState.ACQUIRED)))
            return select(*self.key).where(
                self.plan.own(self.table), or_(reserved, and_(held, not_(self.job_executes())))
            )

        return self.plan.built("triggers.stranded", build)

    def misfired(self, selection: Selection, *, lock: bool) -> Executable:
        """Return the SELECT of late triggers, with the parameters ``before`` and ``most``."""

        def build() -> Executable:
            c = self.table.c
            before = bindparam("before", type_=c.next_fire_time.type)
            late = and_(c.next_fire_time < before, c.misfire_instr != -1, self.in_state(_WAITING))
            query = (
                select(*self.rows.columns)
                .select_from(self.rows.joined(self._selected(selection)))
                .where(*self._own(selection), late)
                .order_by(*self._fire_order())
                .limit(bindparam("most", type_=Integer()))
            )
            return self.plan.dialect.for_update(query, of=[self.table]) if lock else query

        return self.plan.built(("triggers.misfired", selection.on, lock), build)

    # The fire cycle ----------------------------------------------------------------------------------------------

    def due(self, filters: Sequence[ColumnElement[bool]] = ()) -> Select[Any]:
        """Return the SELECT of candidates, with the parameters ``latest``, ``before`` and ``most``.

        Rows that somebody else has locked are passed over where a lock can be limited to the triggers: two nodes
        then never want the same ones.
        """
        c, jobs, dialect = self.table.c, self.jobs, self.plan.dialect
        latest = bindparam("latest", type_=c.next_fire_time.type)
        before = bindparam("before", type_=c.next_fire_time.type)
        # Both ends of the time stand in both branches: each is then the range of an index.
        on_time = and_(c.next_fire_time >= before, c.next_fire_time <= latest)
        ignoring = and_(self.plan.tables.ignores_misfires, c.next_fire_time <= latest)
        same = and_(*(jobs.c[name] == c[name] for name in ("sched_name", *JOB_KEY)))
        # Spelled so that no index can be used for it: the time is what is to be looked up (see OwnRows).
        own = c.sched_name.concat("") == self.plan.scheduler_name
        chosen = (
            select(c.sched_name, *self.key)
            .select_from(self.table.join(jobs, same) if filters else self.table)
            .where(own, self.in_state(_WAITING), or_(on_time, ignoring), *filters)
            .order_by(*self._fire_order())
            .limit(bindparam("most", type_=Integer()))
        )
        if dialect.for_update_of and dialect.skip_locked:
            chosen = dialect.for_update(chosen, of=[self.table], skip_locked=True)
        # Only the few that were chosen are joined: behind an outage there may be very many that are due.
        first = chosen.subquery("chosen")
        found = self.table.join(first, and_(*(c[name] == first.c[name] for name in _ON))).join(jobs, same)
        executing = and_(jobs.c.is_nonconcurrent, self.job_executes())
        return (
            select(*self.rows.columns, jobs.c.job_class_name, jobs.c.is_nonconcurrent, executing)
            .select_from(self.rows.joined(found))
            .order_by(*self._fire_order())
        )

    def claim(self) -> ReturningChange:
        """Return the compare-and-set that reserves triggers."""

        def build() -> ReturningChange:
            c, given = self.table.c, self.claimed
            # Plus nothing, so that the row is not looked for by its time, which thousands may share.
            waits = (self.in_state(_WAITING), c.next_fire_time + 0 == given.c.next_fire_time)
            values = {"trigger_state": literal(_ACQUIRED, c.trigger_state.type)}
            return updating(self.plan, self.table, given, KEY, values, *waits, skip_locked=True)

        return self.plan.built("triggers.claim", build)

    def load(self) -> Executable:
        """Return the SELECT of what a batch of firings needs, its triggers locked in the order of their keys."""

        def build() -> Executable:
            given, jobs, fired, c = self.loaded, self.jobs, self.fired, self.table.c
            same = and_(*(jobs.c[name] == c[name] for name in ("sched_name", *JOB_KEY)))
            source = self.job_rows.joined(self._joined(given, KEY).join(jobs, same))
            claim = (
                exists(literal_column("1"))
                .select_from(fired)
                .where(
                    fired.c.sched_name == c.sched_name,
                    fired.c.entry_id == given.c.entry_id,
                    fired.c.instance_name == self.plan.instance_id,
                    fired.c.state == StoredFiringState.ACQUIRED,
                )
                .correlate(self.table, given.element)
            )
            query = (
                select(*self.rows.columns, *self.job_rows.columns, given.c.place, claim)
                .select_from(self.rows.joined(source))
                .order_by(*self.key)
            )
            return self.plan.dialect.for_update(query, of=[self.table])

        return self.plan.built("triggers.load", build)

    # Writing -----------------------------------------------------------------------------------------------------

    def insert(self) -> Executable:
        """Return the INSERT of triggers."""
        return self.plan.built("triggers.insert", lambda: self._insert(self.table, self.whole))

    def insert_extension(self, name: str) -> Executable:
        """Return the INSERT of what a kind adds."""
        table, rows = extension_of(self.plan.tables, name), self.extensions[name]
        return self.plan.built(("triggers.insert", name), lambda: self._insert(table, rows))

    def replace(self) -> Executable:
        """Return the UPDATE of all that a trigger has."""
        return self.plan.built("triggers.replace", lambda: self._update(self.table, self.whole))

    def save_progress(self) -> Executable:
        """Return the UPDATE of what firing changes."""
        return self.plan.built("triggers.save_progress", lambda: self._update(self.table, self.progress))

    def update_extension(self, name: str) -> Executable:
        """Return the UPDATE of what a kind adds."""
        table, rows = extension_of(self.plan.tables, name), self.extensions[name]
        return self.plan.built(("triggers.update", name), lambda: self._update(table, rows))

    def delete_extension(self, name: str) -> Executable:
        """Return the DELETE of what a kind adds."""
        table = extension_of(self.plan.tables, name)

        def build() -> Executable:
            return self.plan.dialect.delete_matching(table, self.keys.rows, _ON)

        return self.plan.built(("triggers.delete", name), build)

    def delete(self, selection: Selection, *, finished_only: bool) -> Executable:
        """Return the DELETE of triggers that takes everything with it; it returns keys and those of jobs."""

        def build() -> Executable:
            c = self.table.c
            where = [c.next_fire_time.is_(None)] if finished_only else []
            returned = (*self.key, c.job_group, c.job_name)
            if selection.rows is None:
                return delete(self.table).where(self.plan.own(self.table), *where).returning(*returned)
            on = (SCHEDULER, *selection.on)
            change = self.plan.dialect.delete_matching(self.table, selection.rows.rows, on, *where)
            return change.returning(*returned)

        return self.plan.built(("triggers.delete_all", selection.on, finished_only), build)

    def delete_keys(self) -> Executable:
        """Return the DELETE of triggers by key."""

        def build() -> Executable:
            return self.plan.dialect.delete_matching(self.table, self.keys.rows, _ON)

        return self.plan.built("triggers.delete_keys", build)

    def move(self, selection: Selection, transition: Transition) -> Executable:
        """Return the UPDATE of states."""
        moves = tuple(sorted(transition.moves.items(), key=lambda move: move[0].value))

        def build() -> Executable:
            column = self.table.c.trigger_state
            whens = [(column == old, literal(new, column.type)) for old, new in moves]
            values = {"trigger_state": case(*whens, else_=column)}
            moved = self.in_state(*(old for old, _ in moves))
            if selection.rows is None:
                return update(self.table).where(self.plan.own(self.table), moved).values(values)
            on = (SCHEDULER, *selection.on)
            return self.plan.dialect.update_matching(self.table, selection.rows.rows, on, values, moved)

        return self.plan.built(("triggers.move", selection.on, moves), build)

    # -------------------------------------------------------------------------------------------------------------

    def _fire_order(self) -> list[ColumnElement[Any]]:
        """Return next fire time, higher priority, the group DEFAULT first, group and name by code point."""
        c, ordinal = self.table.c, self.plan.dialect.ordinal
        others = case((c.trigger_group == DEFAULT_GROUP, 0), else_=1)
        return [c.next_fire_time, c.priority.desc(), others, ordinal(c.trigger_group), ordinal(c.trigger_name)]

    def _own(self, selection: Selection) -> list[ColumnElement[bool]]:
        """Return the condition that rows are of this scheduler, which a set says itself."""
        return [self.plan.own(self.table)] if selection.rows is None else []

    def _selected(self, selection: Selection) -> FromClause:
        return self.table if selection.rows is None else self._joined(selection.rows, selection.on)

    def _joined(self, rows: OwnRows, on: Sequence[str]) -> FromClause:
        return self.table.join(rows.element, self.plan.matching(self.table, rows, on))

    def _extension_rows(self, name: str) -> OwnRows:
        return self.plan.rows("given", extension_of(self.plan.tables, name), *KEY, *COLUMNS[name])

    def _insert(self, table: Table, rows: OwnRows) -> Executable:
        values = {name: rows.c[name] for name in (SCHEDULER, *rows.names)}
        return self.plan.dialect.insert_rows(table, rows.element, values)

    def _update(self, table: Table, rows: OwnRows) -> Executable:
        values = {name: rows.c[name] for name in rows.names if name not in KEY}
        return self.plan.dialect.update_matching(table, rows.rows, _ON, values)
