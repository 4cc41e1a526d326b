"""Reading: paged queries, states, nodes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol, TypeVar

from quartzite.model.cluster import ClusterNode
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import (
    JobGroup,
    JobGroupQuery,
    PagedQuery,
    PagedResult,
    TriggerGroup,
    TriggerGroupQuery,
)
from quartzite.model.selectors import ByKeys, OfJobs
from quartzite.model.states import StoredTriggerState, TriggerState
from quartzite.rules.membership import Watch, list_nodes
from quartzite.rules.paging import counts_only, page, rows_to_read
from quartzite.rules.pausing import ALL_GROUPS_PAUSED
from quartzite.rules.states import resolve_trigger_state
from quartzite.stores.session import StoreSession
from quartzite.triggers.base import Trigger

__all__ = [
    "cluster_nodes",
    "paged",
    "query_job_groups",
    "query_trigger_groups",
    "read_jobs",
    "read_triggers",
    "read_triggers_of_job",
    "trigger_state",
]

Q_contra = TypeVar("Q_contra", bound=PagedQuery, contravariant=True)
T = TypeVar("T")


class _Queried(Protocol[Q_contra, T]):
    """A table that answers one kind of query."""

    async def query(self, query: Q_contra, limit: int | None) -> list[T]: ...

    async def count(self, query: Q_contra) -> int: ...


async def paged(table: _Queried[Q_contra, T], query: Q_contra) -> PagedResult[T]:
    """Return one page of a table; rows are counted only when that is asked for, and then not read to do so."""
    rows = [] if counts_only(query) else await table.query(query, rows_to_read(query))
    total = await table.count(query) if query.include_total_count else None
    return page(query, rows, total)


async def query_job_groups(session: StoreSession, query: JobGroupQuery) -> PagedResult[JobGroup]:
    """Return one page of job groups; none is ever paused, as only triggers are (spec 06 section 4)."""
    names = await session.jobs.groups() if query.paused is not True else set()
    return _page_of(query, [JobGroup(name=name, paused=False) for name in _named(query.name, names)])


async def query_trigger_groups(session: StoreSession, query: TriggerGroupQuery) -> PagedResult[TriggerGroup]:
    """Return one page of trigger groups: those with members, or all paused ones, empty ones too."""
    paused = await session.groups.paused() - {ALL_GROUPS_PAUSED}
    names = paused if query.paused is True else await session.triggers.groups()
    if query.paused is False:
        names = names - paused
    return _page_of(query, [TriggerGroup(name=name, paused=name in paused) for name in _named(query.name, names)])


async def read_jobs(session: StoreSession, keys: Collection[JobKey]) -> list[JobDetail]:
    """Return the jobs of these keys that are there, in this order, each once."""
    found = {job.key: job for job in await session.jobs.read(set(keys))}
    return [found[key] for key in dict.fromkeys(keys) if key in found]


async def read_triggers(session: StoreSession, keys: Collection[TriggerKey]) -> list[Trigger]:
    """Return the triggers of these keys that are there, in this order, each once."""
    found = {row.trigger.key: row.trigger for row in await session.triggers.read(ByKeys(set(keys)))}
    return [found[key] for key in dict.fromkeys(keys) if key in found]


async def read_triggers_of_job(session: StoreSession, key: JobKey) -> list[Trigger]:
    """Return the triggers of a job, in paging order."""
    rows = await session.triggers.read(OfJobs([key]))
    return sorted((row.trigger for row in rows), key=lambda trigger: trigger.key.paging_order)


async def trigger_state(session: StoreSession, key: TriggerKey) -> TriggerState:
    """Return the reported state of a trigger."""
    states = await session.triggers.states([key])
    return resolve_trigger_state(*states.get(key, (StoredTriggerState.DELETED, False)))


async def cluster_nodes(session: StoreSession, watch: Watch) -> list[ClusterNode]:
    """Return the nodes, the current one first."""
    return list_nodes(await session.nodes.all(), watch)


def _named(name: str | None, names: Collection[str]) -> list[str]:
    return sorted(names if name is None else {name}.intersection(names))


def _page_of(query: PagedQuery, rows: list[T]) -> PagedResult[T]:
    limit = rows_to_read(query)
    shown = rows[query.skip :] if limit is None else rows[query.skip : query.skip + limit]
    return page(query, shown, len(rows) if query.include_total_count else None)
