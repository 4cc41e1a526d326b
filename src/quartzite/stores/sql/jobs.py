"""The jobs of the SQL store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Executable, Select, Table, func, not_, select

from quartzite.model.job import JobDetail
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import JobHeader, JobQuery
from quartzite.stores.session import JobTable
from quartzite.stores.sql.job_rows import JOB_COLUMNS, JOB_KEY, POLICY_COLUMNS, JobRows
from quartzite.stores.sql.matching import matching, section
from quartzite.stores.sql.own_rows import SCHEDULER, OwnRows
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.returning import ReturningChange, deleting
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["JobStatements", "SqlJobs", "job_key_values"]

_OWN = (SCHEDULER,)
_ON = (SCHEDULER, *JOB_KEY)
_HEADER = (*JOB_KEY, "description", "job_class_name", "is_durable", "is_nonconcurrent", "is_update_data")


def job_key_values(keys: Iterable[JobKey]) -> list[tuple[str, str]]:
    """Return keys as rows of a set, each once, in an order that all transactions share."""
    return sorted({(key.group, key.name) for key in keys})


class JobStatements:
    """The statements about jobs, built once for a store."""

    def __init__(self, plan: StorePlan) -> None:
        self.plan = plan
        self.table: Table = plan.tables.job_details
        self.policies: Table = plan.tables.quartzite_policies
        self.rows = JobRows(plan)
        self.keys = plan.rows("given", self.table, *JOB_KEY)
        self.whole = plan.rows("given", self.table, *JOB_COLUMNS)
        self.whole_policies = plan.rows("given", self.policies, *POLICY_COLUMNS)
        self.data = plan.rows("given", self.table, *JOB_KEY, "job_data")

    def read(self) -> Executable:
        """Return the SELECT of jobs by key."""
        return self.plan.built("jobs.read", lambda: self._given(*self.rows.columns, joined=True))

    def existing(self) -> Executable:
        """Return the SELECT of the keys that are there."""
        return self.plan.built("jobs.existing", lambda: self._given(*self._key()))

    def lock(self) -> Executable:
        """Return the SELECT that locks jobs in the order of their keys; triggers may still be added to them."""

        def build() -> Executable:
            query = self._given(*self._key()).order_by(*self._key())
            return self.plan.dialect.for_update(query, of=[self.table])

        return self.plan.built("jobs.lock", build)

    def lock_for_deletion(self) -> Executable:
        """Return the SELECT that locks jobs which are not durable so that nobody can add a trigger to them."""

        def build() -> Executable:
            query = self._given(*self._key()).where(not_(self.table.c.is_durable))
            return query.order_by(*self._key()).with_for_update()

        return self.plan.built("jobs.lock_for_deletion", build)

    def without_triggers(self) -> Executable:
        """Return the SELECT of the given keys that no trigger names."""

        def build() -> Executable:
            triggers, given = self.plan.tables.triggers, self.keys
            one = select(triggers.c.trigger_name).where(self.plan.matching(triggers, given, JOB_KEY)).limit(1)
            # NOT EXISTS may be planned as a join with all triggers, as nobody knows how large the set is.
            return select(*(given.c[name] for name in JOB_KEY)).where(
                one.correlate(given.element).scalar_subquery().is_(None)
            )

        return self.plan.built("jobs.without_triggers", build)

    def insert(self) -> Executable:
        """Return the INSERT of jobs."""
        return self.plan.built("jobs.insert", lambda: self._insert(self.table, self.whole))

    def insert_policies(self) -> Executable:
        """Return the INSERT of the policies of jobs."""
        return self.plan.built("jobs.insert_policies", lambda: self._insert(self.policies, self.whole_policies))

    def replace(self) -> Executable:
        """Return the UPDATE of all that a job has."""

        def build() -> Executable:
            values = {name: self.whole.c[name] for name in JOB_COLUMNS if name not in JOB_KEY}
            return self.plan.dialect.update_matching(self.table, self.whole.rows, _ON, values)

        return self.plan.built("jobs.replace", build)

    def save_data(self) -> Executable:
        """Return the UPDATE of the data of jobs."""

        def build() -> Executable:
            values = {"job_data": self.data.c.job_data}
            return self.plan.dialect.update_matching(self.table, self.data.rows, _ON, values)

        return self.plan.built("jobs.save_data", build)

    def delete_policies(self) -> Executable:
        """Return the DELETE of the policies of jobs."""

        def build() -> Executable:
            return self.plan.dialect.delete_matching(self.policies, self.keys.rows, _ON)

        return self.plan.built("jobs.delete_policies", build)

    def delete(self) -> ReturningChange:
        """Return the DELETE of jobs."""
        return self.plan.built("jobs.delete", lambda: deleting(self.plan, self.table, self.keys, JOB_KEY, ()))

    def selected(self, query: JobQuery) -> list[ColumnElement[bool]]:
        """Return the conditions of a query."""
        c, dialect = self.table.c, self.plan.dialect
        given = ((c.job_group, query.group), (c.job_name, query.name))
        wanted = [matching(dialect, column, matcher) for column, matcher in given if matcher is not None]
        return [self.plan.own(self.table), *wanted]

    def _key(self) -> list[ColumnElement[Any]]:
        return [self.table.c[name] for name in JOB_KEY]

    def _given(self, *columns: ColumnElement[Any], joined: bool = False) -> Select[Any]:
        source = self.table.join(self.keys.element, self.plan.matching(self.table, self.keys, JOB_KEY))
        return select(*columns).select_from(self.rows.joined(source) if joined else source)

    def _insert(self, table: Table, rows: OwnRows) -> Executable:
        return self.plan.dialect.insert_rows(table, rows.element, {name: rows.c[name] for name in (*_OWN, *rows.names)})


class SqlJobs(JobTable):
    """Jobs in a table."""

    __slots__ = ("_statements", "_unit")

    def __init__(self, statements: JobStatements, unit: SqlUnit) -> None:
        self._statements = statements
        self._unit = unit

    async def read(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Return the jobs of these keys that are there."""
        if not keys:
            return []
        statements = self._statements
        found = await self._unit.fetch(statements.read(), statements.keys, job_key_values(keys))
        return [statements.rows.read(row) for row in found]

    async def existing(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Return which of these keys are taken."""
        return await self._keys(self._statements.existing(), keys)

    async def insert(self, jobs: Sequence[JobDetail]) -> None:
        """Add jobs whose keys are free."""
        if not jobs:
            return
        statements = self._statements
        values = [statements.rows.base(job) for job in jobs]
        await self._unit.change(statements.insert(), statements.whole, values)
        await self._insert_policies(jobs)

    async def replace(self, jobs: Sequence[JobDetail]) -> None:
        """Write jobs over those of the same keys."""
        if not jobs:
            return
        statements, keys = self._statements, job_key_values(job.key for job in jobs)
        values = [statements.rows.base(job) for job in jobs]
        await self._unit.change(statements.replace(), statements.whole, values)
        await self._unit.change(statements.delete_policies(), statements.keys, keys)
        await self._insert_policies(jobs)

    async def save_data(self, data: Mapping[JobKey, JobData]) -> None:
        """Write the data of jobs that are there."""
        if not data:
            return
        write = self._statements.plan.serializer.serialize
        values = [(key.group, key.name, write(data[key])) for key in sorted(data)]
        await self._unit.change(self._statements.save_data(), self._statements.data, values)

    async def delete(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Delete jobs; return which were there."""
        return await self._delete(job_key_values(keys))

    async def delete_orphans(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Delete those of these jobs that are not durable and have no trigger.

        They are locked first: a trigger that somebody is about to add is then either seen or refused.
        """
        there = await self._keys(self._statements.lock_for_deletion(), keys)
        return await self._delete(job_key_values(await self._keys(self._statements.without_triggers(), there)))

    async def keys(self, matcher: GroupMatcher[JobKey]) -> list[JobKey]:
        """Return the keys in the groups that match."""
        c = self._statements.table.c
        query = select(c.job_group, c.job_name).where(*self._statements.selected(JobQuery(group=matcher)))
        return [JobKey(name, group) for group, name in await self._unit.execute(query)]

    async def lock(self, keys: Collection[JobKey]) -> None:
        """Keep other nodes from firing these jobs until the unit of work ends."""
        await self._unit.fetch(self._statements.lock(), self._statements.keys, job_key_values(keys))

    async def query(self, query: JobQuery, limit: int | None) -> list[JobHeader]:
        """Return headers of what the filters select."""
        statements, c = self._statements, self._statements.table.c
        columns = [c[name] for name in (*_HEADER, "requests_recovery")]
        found = select(*columns).where(*statements.selected(query))
        page = section(statements.plan.dialect, found, (c.job_group, c.job_name), query.skip, limit)
        return [_header(row) for row in await self._unit.execute(page)]

    async def count(self, query: JobQuery) -> int:
        """Return how many the filters select."""
        counted = select(func.count()).select_from(self._statements.table).where(*self._statements.selected(query))
        return int((await self._unit.execute(counted)).scalar_one())

    async def groups(self) -> set[str]:
        """Return the groups that have a job."""
        table = self._statements.table
        query = select(table.c.job_group).distinct().where(self._statements.plan.own(table))
        return set((await self._unit.execute(query)).scalars())

    async def _keys(self, statement: Executable, keys: Collection[JobKey]) -> set[JobKey]:
        if not keys:
            return set()
        found = await self._unit.fetch(statement, self._statements.keys, job_key_values(keys))
        return {JobKey(name, group) for group, name in found}

    async def _insert_policies(self, jobs: Sequence[JobDetail]) -> None:
        statements = self._statements
        values = [said for job in jobs if (said := statements.rows.policies(job)) is not None]
        if values:
            await self._unit.change(statements.insert_policies(), statements.whole_policies, values)

    async def _delete(self, values: list[tuple[str, str]]) -> set[JobKey]:
        if not values:
            return set()
        statements = self._statements
        gone = await statements.delete().run(self._unit, values)
        if gone:
            await self._unit.change(statements.delete_policies(), statements.keys, [(row[0], row[1]) for row in gone])
        return {JobKey(row[1], row[0]) for row in gone}


def _header(row: Any) -> JobHeader:
    return JobHeader(
        key=JobKey(row[1], row[0]),
        description=row[2],
        job_type_name=row[3],
        durable=row[4],
        concurrent_execution_disallowed=row[5],
        persist_job_data_after_execution=row[6],
        requests_recovery=row[7],
    )
