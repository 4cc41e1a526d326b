"""The triggers of the throw-away store."""

# ruff: noqa: S608  # what is put into statements are constants of this file
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from quartzite.abc import Serializer
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.selectors import ByKeys, InGroups, OfJobs, TriggerSelector
from quartzite.model.states import StoredTriggerState
from quartzite.rules.acquisition import Candidate, DueCriteria
from quartzite.rules.firing import FiringRow
from quartzite.rules.misfires import NEVER_MISFIRES
from quartzite.rules.transitions import Transition
from quartzite.stores.session import StoredTrigger, TriggerTable
from quartzite.triggers.base import Trigger
from tests.property.throwaway_sqlite.database import job_key, keys, ticks, trigger_key
from tests.property.throwaway_sqlite.jobs import job_of

FIRE_ORDER = "t.next, t.priority DESC, t.grp <> 'DEFAULT', t.grp, t.name"


class SqliteTriggers(TriggerTable):
    """Triggers in a table: columns for what statements look at, the rest as the serializer writes it."""

    def __init__(self, connection: sqlite3.Connection, serializer: Serializer, node: str) -> None:
        self._connection = connection
        self._serializer = serializer
        self._node = node

    async def read(self, selector: TriggerSelector) -> list[StoredTrigger]:
        where, parameters = _where(selector)
        rows = self._connection.execute(f"SELECT * FROM triggers t WHERE {where}", parameters)
        return [self._row(row) for row in rows]

    async def existing(self, wanted: Collection[TriggerKey]) -> set[TriggerKey]:
        where, parameters = _where(ByKeys(wanted))
        return {
            trigger_key(row) for row in self._connection.execute(f"SELECT * FROM triggers t WHERE {where}", parameters)
        }

    async def states(self, wanted: Collection[TriggerKey]) -> dict[TriggerKey, tuple[StoredTriggerState, bool]]:
        where, parameters = _where(ByKeys(wanted))
        rows = self._connection.execute(
            f"""SELECT *, EXISTS (SELECT 1 FROM fired f WHERE f.grp = t.grp AND f.name = t.name
            AND f.state = 'EXECUTING') AS executing FROM triggers t WHERE {where}""",
            parameters,
        )
        return {trigger_key(row): (StoredTriggerState(row["state"]), bool(row["executing"])) for row in rows}

    async def insert(self, rows: Sequence[StoredTrigger]) -> None:
        self._connection.execute(
            """INSERT INTO triggers SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
            value->>7, value->>8, value->>9 FROM json_each(?)""",
            (json.dumps([self._columns(row) for row in rows]),),
        )

    async def replace(self, rows: Sequence[StoredTrigger]) -> None:
        await self.save_progress(rows)

    async def save_progress(self, rows: Sequence[StoredTrigger]) -> None:
        self._connection.execute(
            """UPDATE triggers SET state = given.value->>4, next = given.value->>5, priority = given.value->>6,
            misfire = given.value->>7, payload = given.value->>9 FROM json_each(?) AS given
            WHERE grp = given.value->>0 AND name = given.value->>1""",
            (json.dumps([self._columns(row) for row in rows]),),
        )

    async def move(self, selector: TriggerSelector, transition: Transition) -> int:
        where, parameters = _where(selector)
        cases = " ".join(f"WHEN '{old.value}' THEN '{new.value}'" for old, new in transition.moves.items())
        sources = ", ".join(f"'{state.value}'" for state in transition.sources)
        moved = self._connection.execute(
            f"UPDATE triggers AS t SET state = CASE state {cases} END WHERE state IN ({sources}) AND {where}",
            parameters,
        )
        return moved.rowcount

    async def delete(self, selector: TriggerSelector, *, finished_only: bool = False) -> dict[TriggerKey, JobKey]:
        where, parameters = _where(selector)
        only = "AND next IS NULL" if finished_only else ""
        rows = self._connection.execute(f"DELETE FROM triggers AS t WHERE {where} {only} RETURNING *", parameters)
        return {trigger_key(row): job_key(row) for row in rows.fetchall()}

    async def due(self, criteria: DueCriteria) -> list[Candidate]:
        groups = criteria.groups
        rows = self._connection.execute(
            f"""SELECT t.*, j.alone AS job_alone, j.alone AND EXISTS (SELECT 1 FROM fired f WHERE f.job_grp = t.job_grp
            AND f.job_name = t.job_name) AS executing
            FROM triggers t JOIN jobs j ON j.grp = t.job_grp AND j.name = t.job_name
            WHERE t.state = 'WAITING' AND t.next <= :latest AND (t.misfire = {NEVER_MISFIRES} OR t.next >= :before)
            AND j.type NOT IN (SELECT value FROM json_each(:types))
            AND (j.grp, j.name) NOT IN (SELECT value->>0, value->>1 FROM json_each(:jobs))
            AND coalesce(t.execution_group, '') NOT IN (SELECT value FROM json_each(:closed))
            AND (:only IS NULL OR t.execution_group IS NULL
                OR t.execution_group IN (SELECT value FROM json_each(:only)))
            ORDER BY {FIRE_ORDER} LIMIT :limit""",
            {
                "latest": ticks(criteria.latest),
                "before": ticks(criteria.misfired_before),
                "types": json.dumps(list(criteria.excluded_types)),
                "jobs": keys(criteria.closed_jobs),
                "closed": json.dumps([group or "" for group in groups.closed]),
                "only": None if groups.only_named is None else json.dumps(list(groups.only_named)),
                "limit": criteria.limit,
            },
        )
        return [Candidate(self._trigger(row), bool(row["job_alone"]), bool(row["executing"])) for row in rows]

    async def claim(self, triggers: Sequence[Trigger]) -> set[TriggerKey]:
        given = [[trigger.key.group, trigger.key.name, ticks(trigger.next_fire_time)] for trigger in triggers]
        rows = self._connection.execute(
            """UPDATE triggers SET state = 'ACQUIRED' FROM json_each(?) AS given WHERE grp = given.value->>0
            AND name = given.value->>1 AND next = given.value->>2 AND state = 'WAITING' RETURNING grp, name""",
            (json.dumps(given),),
        )
        return {trigger_key(row) for row in rows.fetchall()}

    async def load_for_firing(self, triggers: Sequence[Trigger]) -> list[FiringRow | None]:
        given = [[trigger.key.group, trigger.key.name, trigger.fire_instance_id] for trigger in triggers]
        rows = self._connection.execute(
            """SELECT given.key AS place, t.grp AS t_grp, t.name AS t_name, t.state AS t_state, t.payload, j.*,
            EXISTS (SELECT 1 FROM fired f WHERE f.id = given.value->>2 AND f.state = 'ACQUIRED' AND f.node = ?)
                AS claimed
            FROM json_each(?) AS given JOIN triggers t ON t.grp = given.value->>0 AND t.name = given.value->>1
            LEFT JOIN jobs j ON j.grp = t.job_grp AND j.name = t.job_name""",
            (self._node, json.dumps(given)),
        )
        found: list[FiringRow | None] = [None] * len(triggers)
        for row in rows:
            place = int(row["place"])
            stored = self._trigger(row).copy_with(fire_instance_id=triggers[place].fire_instance_id)
            job = None if row["type"] is None else job_of(row, self._serializer)
            found[place] = FiringRow(stored, StoredTriggerState(row["t_state"]), job, bool(row["claimed"]))
        return found

    async def misfired(self, selector: TriggerSelector, before: datetime, limit: int) -> list[Trigger]:
        where, parameters = _where(selector)
        rows = self._connection.execute(
            f"""SELECT * FROM triggers t
            WHERE {where} AND state = 'WAITING' AND misfire <> {NEVER_MISFIRES}
            AND next < ? ORDER BY {FIRE_ORDER} LIMIT ?""",
            (*parameters, ticks(before), limit),
        )
        return [self._trigger(row) for row in rows]

    def _row(self, row: Any) -> StoredTrigger:
        return StoredTrigger(self._trigger(row), StoredTriggerState(row["state"]))

    def _trigger(self, row: Any) -> Trigger:
        return self._serializer.deserialize(row["payload"].encode(), Trigger)

    def _columns(self, row: StoredTrigger) -> list[Any]:
        trigger = row.trigger
        return [
            trigger.key.group,
            trigger.key.name,
            trigger.job_key.group,
            trigger.job_key.name,
            row.state.value,
            ticks(trigger.next_fire_time),
            trigger.priority,
            trigger.misfire_instruction,
            trigger.execution_group,
            self._serializer.serialize(trigger.copy_with(fire_instance_id=None)).decode(),
        ]


def _where(selector: TriggerSelector) -> tuple[str, tuple[str, ...]]:
    """Render a selector."""
    if isinstance(selector, ByKeys):
        return "(t.grp, t.name) IN (SELECT value->>0, value->>1 FROM json_each(?))", (keys(selector.keys),)
    if isinstance(selector, OfJobs):
        return "(t.job_grp, t.job_name) IN (SELECT value->>0, value->>1 FROM json_each(?))", (keys(selector.keys),)
    if isinstance(selector, InGroups):
        return "t.grp IN (SELECT value FROM json_each(?))", (json.dumps(list(selector.groups)),)
    return "1", ()
