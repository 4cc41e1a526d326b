"""The firings of the throw-away store."""

# ruff: noqa: S608  # what is put into statements are constants of this file
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance, FireInstanceQuery
from quartzite.rules.firing import FiredRow
from quartzite.rules.states import StoredFiringState
from quartzite.stores.session import FiredTable
from tests.property.throwaway_sqlite.database import FIRED_COLUMNS, certain, instant, job_key, keys, ticks, trigger_key

GIVEN = ", ".join(f"value->>{i}" for i in range(13))
OF_TRIGGERS = "(grp, name) IN (SELECT value->>0, value->>1 FROM json_each(?))"
OF_JOBS = "(job_grp, job_name) IN (SELECT value->>0, value->>1 FROM json_each(?))"


class SqliteFired(FiredTable):
    """Fired rows in a table."""

    def __init__(self, connection: sqlite3.Connection, node: str) -> None:
        self._connection = connection
        self._node = node

    async def insert(self, rows: Sequence[FiredRow]) -> None:
        self._connection.execute(f"INSERT INTO fired SELECT {GIVEN} FROM json_each(?)", (_parameter(rows),))

    async def start(self, rows: Sequence[FiredRow]) -> set[str]:
        started = self._connection.execute(
            f"""UPDATE fired SET ({FIRED_COLUMNS}) = (SELECT {GIVEN} FROM json_each(?) WHERE value->>0 = fired.id)
            WHERE id IN (SELECT value->>0 FROM json_each(?)) AND state = 'ACQUIRED' AND node = ? RETURNING id""",
            (_parameter(rows), _parameter(rows), self._node),
        )
        return {row["id"] for row in started.fetchall()}

    async def remove(self, ids: Collection[str]) -> dict[str, FiredRow]:
        removed = self._connection.execute(
            "DELETE FROM fired WHERE id IN (SELECT value FROM json_each(?)) AND node = ? RETURNING *",
            (json.dumps(list(ids)), self._node),
        )
        return {row["id"]: _row(row) for row in removed.fetchall()}

    async def forget_triggers(self, gone: Collection[TriggerKey]) -> None:
        self._connection.execute(f"DELETE FROM fired WHERE {OF_TRIGGERS} AND state = 'ACQUIRED'", (keys(gone),))
        self._connection.execute(
            f"UPDATE fired SET state = 'TRIGGER_GONE' WHERE {OF_TRIGGERS} AND state = 'EXECUTING'", (keys(gone),)
        )

    async def forget_jobs(self, gone: Collection[JobKey]) -> None:
        self._connection.execute(f"UPDATE fired SET state = 'JOB_GONE' WHERE {OF_JOBS}", (keys(gone),))

    async def executing_jobs(self, wanted: Collection[JobKey]) -> dict[JobKey, bool]:
        rows = self._connection.execute(
            f"SELECT job_grp, job_name, max(alone) AS alone FROM fired WHERE {OF_JOBS} GROUP BY 1, 2", (keys(wanted),)
        )
        return {job_key(row): bool(row["alone"]) for row in rows}

    async def query(self, query: FireInstanceQuery, limit: int | None) -> list[FireInstance]:
        assert (query, limit) == (FireInstanceQuery(), None), "the test asks for all"
        rows = self._connection.execute("SELECT * FROM fired ORDER BY grp, name, id")
        return [_instance(_row(row)) for row in rows]


def _parameter(rows: Sequence[FiredRow]) -> str:
    return json.dumps([_columns(row) for row in rows])


def _columns(row: FiredRow) -> list[Any]:
    job = row.job_key
    return [
        row.fire_instance_id,
        row.trigger_key.group,
        row.trigger_key.name,
        row.instance_id,
        row.state.value,
        ticks(row.fired_time),
        ticks(row.scheduled_time),
        row.priority,
        row.execution_group,
        job and job.group,
        job and job.name,
        row.non_concurrent,
        row.requests_recovery,
    ]


def _row(row: Any) -> FiredRow:
    return FiredRow(
        fire_instance_id=row["id"],
        trigger_key=trigger_key(row),
        instance_id=row["node"],
        state=StoredFiringState.from_stored_value(row["state"]),
        fired_time=certain(instant(row["fired"])),
        scheduled_time=certain(instant(row["scheduled"])),
        priority=row["priority"],
        execution_group=row["execution_group"],
        job_key=None if row["job_name"] is None else job_key(row),
        non_concurrent=bool(row["alone"]),
        requests_recovery=bool(row["recovers"]),
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
