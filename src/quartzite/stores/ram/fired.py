"""The firings of the RAM store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance, FireInstanceQuery
from quartzite.rules.firing import FiredRow
from quartzite.rules.states import StoredFiringState
from quartzite.stores.ram.rows import KeysBy, section
from quartzite.stores.session import FiredTable

__all__ = ["RamFired"]

_ACQUIRED = StoredFiringState.ACQUIRED
_EXECUTING = StoredFiringState.EXECUTING
_TRIGGER_GONE = StoredFiringState.TRIGGER_GONE
_JOB_GONE = StoredFiringState.JOB_GONE


class RamFired(FiredTable):
    """Fired rows by id, and their ids by trigger and by job.

    Attributes:
        by_id: The rows.
    """

    __slots__ = ("_of_job", "_of_trigger", "by_id")

    def __init__(self) -> None:
        self.by_id: dict[str, FiredRow] = {}
        self._of_trigger: KeysBy[TriggerKey, str] = KeysBy()
        self._of_job: KeysBy[JobKey, str] = KeysBy()

    async def insert(self, rows: Sequence[FiredRow]) -> None:
        """Add acquired firings."""
        by_id, add = self.by_id, self._of_trigger.add
        for row in rows:
            by_id[row.fire_instance_id] = row
            add(row.trigger_key, row.fire_instance_id)

    async def start(self, rows: Sequence[FiredRow]) -> set[str]:
        """Write firings over their ACQUIRED rows; return the ids of those."""
        by_id, add = self.by_id, self._of_job.add
        started = set()
        for row in rows:
            fire_id = row.fire_instance_id
            held = by_id.get(fire_id)
            if held is not None and held.state is _ACQUIRED:
                by_id[fire_id] = row
                started.add(fire_id)
                if row.job_key is not None:
                    add(row.job_key, fire_id)
        return started

    async def remove(self, ids: Collection[str]) -> dict[str, FiredRow]:
        """Delete rows; return those that were there."""
        by_id, removed = self.by_id, {}
        for fire_id in ids:
            row = by_id.pop(fire_id, None)
            if row is not None:
                removed[fire_id] = row
                self._of_trigger.discard(row.trigger_key, fire_id)
                if row.job_key is not None:
                    self._of_job.discard(row.job_key, fire_id)
        return removed

    async def remove_of(self, instance_id: str, ids: Collection[str] | None) -> None:
        """Delete rows of some node."""
        own = {row.fire_instance_id for row in await self.of_instance(instance_id)}
        await self.remove(own if ids is None else own.intersection(ids))

    async def clear(self) -> None:
        """Delete all rows."""
        await self.remove(list(self.by_id))

    async def forget_triggers(self, keys: Collection[TriggerKey]) -> None:
        """Delete the acquired rows of triggers; let the executing ones go on without their trigger."""
        for key in keys:
            for fire_id in self._of_trigger.pop(key):
                row = self.by_id[fire_id]
                if row.state is _ACQUIRED:
                    del self.by_id[fire_id]
                else:
                    self.by_id[fire_id] = row._replace(state=_TRIGGER_GONE)

    async def forget_jobs(self, keys: Collection[JobKey]) -> None:
        """Let the executing rows of jobs go on without their job."""
        for fire_id in self._of_job.of_all(keys):
            self.by_id[fire_id] = self.by_id[fire_id]._replace(state=_JOB_GONE)

    async def executing_jobs(self, keys: Collection[JobKey]) -> dict[JobKey, bool]:
        """Return those of these jobs that execute, and whether a firing of theirs is non-concurrent."""
        by_id, owners = self.by_id, self._of_job
        return {key: any(by_id[i].non_concurrent for i in owners.of(key)) for key in keys if owners.of(key)}

    async def of_instance(self, instance_id: str) -> list[FiredRow]:
        """Return the rows of one node."""
        return [row for row in self.by_id.values() if row.instance_id == instance_id]

    async def instances(self) -> set[str]:
        """Return the nodes that have rows."""
        return {row.instance_id for row in self.by_id.values()}

    async def query(self, query: FireInstanceQuery, limit: int | None) -> list[FireInstance]:
        """Return what the filters select."""
        rows = sorted(self._selected(query), key=lambda row: (*row.trigger_key.paging_order, row.fire_instance_id))
        return [_instance(row) for row in section(rows, query, limit)]

    async def count(self, query: FireInstanceQuery) -> int:
        """Return how many the filters select."""
        return sum(1 for _ in self._selected(query))

    def is_acquired(self, fire_id: str) -> bool:
        """Tell whether a firing is reserved and has not begun."""
        row = self.by_id.get(fire_id)
        return row is not None and row.state is _ACQUIRED

    def trigger_is_acquired(self, key: TriggerKey) -> bool:
        """Tell whether a firing of a trigger is reserved."""
        return any(self.is_acquired(fire_id) for fire_id in self._of_trigger.of(key))

    def job_executes(self, key: JobKey) -> bool:
        """Tell whether a firing of a job is in progress."""
        return bool(self._of_job.of(key))

    def trigger_executes(self, key: TriggerKey) -> bool:
        """Tell whether a firing of a trigger is in progress."""
        return any(self.by_id[fire_id].state is _EXECUTING for fire_id in self._of_trigger.of(key))

    def _selected(self, query: FireInstanceQuery) -> Iterator[FiredRow]:
        wanted = (query.trigger, query.job, query.instance_id, query.state)
        for row in self.by_id.values():
            has = (row.trigger_key, row.job_key, row.instance_id, row.state.reported)
            if all(want is None or want == got for want, got in zip(wanted, has, strict=True)):
                yield row


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
