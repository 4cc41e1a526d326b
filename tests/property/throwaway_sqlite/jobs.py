"""The jobs of the throw-away store."""

# ruff: noqa: S608  # what is put into statements are constants of this file
from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from quartzite.abc import Serializer
from quartzite.model.job import JobDetail, JobType
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey
from quartzite.stores.session import JobTable
from tests.property.throwaway_sqlite.database import job_key, keys

SET = "(grp, name) IN (SELECT value->>0, value->>1 FROM json_each(?))"


class SqliteJobs(JobTable):
    """Jobs in a table."""

    def __init__(self, connection: sqlite3.Connection, serializer: Serializer) -> None:
        self._connection = connection
        self._serializer = serializer

    async def read(self, wanted: Collection[JobKey]) -> list[JobDetail]:
        rows = self._connection.execute(f"SELECT * FROM jobs WHERE {SET}", (keys(wanted),))
        return [job_of(row, self._serializer) for row in rows]

    async def existing(self, wanted: Collection[JobKey]) -> set[JobKey]:
        rows = self._connection.execute(f"SELECT grp, name FROM jobs WHERE {SET}", (keys(wanted),))
        return {job_key(row, "grp", "name") for row in rows}

    async def insert(self, jobs: Sequence[JobDetail]) -> None:
        self._connection.execute(
            """INSERT INTO jobs SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
            value->>7 FROM json_each(?)""",
            (json.dumps([self._columns(job) for job in jobs]),),
        )

    async def replace(self, jobs: Sequence[JobDetail]) -> None:
        assert not jobs, "no test replaces jobs"

    async def save_data(self, data: Mapping[JobKey, JobData]) -> None:
        given = [[key.group, key.name, self._serializer.serialize(values).decode()] for key, values in data.items()]
        self._connection.execute(
            """UPDATE jobs SET data = given.value->>2 FROM json_each(?) AS given
            WHERE grp = given.value->>0 AND name = given.value->>1""",
            (json.dumps(given),),
        )

    async def delete_orphans(self, wanted: Collection[JobKey]) -> set[JobKey]:
        rows = self._connection.execute(
            f"""DELETE FROM jobs WHERE {SET} AND NOT durable AND NOT EXISTS (
            SELECT 1 FROM triggers WHERE job_grp = jobs.grp AND job_name = jobs.name) RETURNING grp, name""",
            (keys(wanted),),
        )
        return {job_key(row, "grp", "name") for row in rows.fetchall()}

    async def lock(self, wanted: Collection[JobKey]) -> None:
        """Do nothing: SQLite has one writer."""

    def _columns(self, job: JobDetail) -> list[Any]:
        return [
            job.key.group,
            job.key.name,
            job.job_type.full_name,
            job.durable,
            job.concurrent_execution_disallowed,
            job.persist_job_data_after_execution,
            job.requests_recovery,
            self._serializer.serialize(job.job_data).decode(),
        ]


def job_of(row: Any, serializer: Serializer) -> JobDetail:
    """Read a job."""
    return JobDetail(
        key=job_key(row, "grp", "name"),
        job_type=JobType(row["type"]),
        durable=bool(row["durable"]),
        concurrent_execution_disallowed=bool(row["alone"]),
        persist_job_data_after_execution=bool(row["persists"]),
        requests_recovery=bool(row["recovers"]),
        job_data=serializer.deserialize(row["data"].encode(), JobData),
    )
