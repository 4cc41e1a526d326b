"""Stores with one defect each, which the contract suite must find."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quartzite.abc import JobStore
from quartzite.execution import TriggerFiredResult
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.job import JobDetail
from quartzite.model.job_data import MutableJobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher, StringOperator
from quartzite.model.query import JobHeader, JobQuery, PagedResult, TriggerQuery
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.stores.ram import RamJobStore
from quartzite.testing import RecordingSignaler
from quartzite.testing.contracts import MakeStore, StoreParts
from quartzite.triggers.base import Trigger

__all__ = ["DEFECTS"]


class RaggedResults(DelegatingJobStore):
    """Leaves the triggers out that are not fired."""

    async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
        """Fire."""
        return [one for one in await super().triggers_fired(triggers) if one != TriggerFiredResult.NOT_FIRED]


class WrongOrder(DelegatingJobStore):
    """Hands the least urgent trigger out first."""

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Acquire."""
        return (await super().acquire_next_triggers(request))[::-1]


class RepeatedClaims(DelegatingJobStore):
    """Hands out again what it handed out before, when nothing else is due."""

    def __init__(self, inner: JobStore) -> None:
        super().__init__(inner)
        self._last: list[Trigger] = []

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Acquire."""
        self._last = await super().acquire_next_triggers(request) or self._last
        return self._last


class TooMany(DelegatingJobStore):
    """Hands out one more than asked for."""

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Acquire."""
        return await super().acquire_next_triggers(replace(request, max_count=request.max_count + 1))


class FiltersAfterwards(DelegatingJobStore):
    """Declines job types after they took up the places."""

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Acquire."""
        kept = []
        for trigger in await super().acquire_next_triggers(replace(request, excluded_job_type_names=())):
            job = await self.get_job(trigger.job_key)
            if job is not None and job.job_type.full_name in set(request.excluded_job_type_names):
                await self.release_acquired_trigger(trigger)
            else:
                kept.append(trigger)
        return kept


class LostUnblock(DelegatingJobStore):
    """Forgets firings that end with the deletion of their trigger: their siblings stay blocked."""

    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """Complete."""
        if instruction is not SchedulerInstruction.DELETE_TRIGGER:
            await super().triggered_job_complete(trigger, job, instruction)


class LostRelease(DelegatingJobStore):
    """Keeps what is given back."""

    async def release_acquired_trigger(self, trigger: Trigger) -> None:
        """Do nothing."""


class WritesUnchangedData(DelegatingJobStore):
    """Writes job data back that the run did not change."""

    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """Complete."""
        data = MutableJobData()
        data.update(job.job_data)
        await super().triggered_job_complete(trigger, job.with_job_data(data.frozen()), instruction)


class LiveReferences(DelegatingJobStore):
    """Hands out the same changeable data each time."""

    def __init__(self, inner: JobStore) -> None:
        super().__init__(inner)
        self._data: dict[JobKey, MutableJobData] = {}

    async def get_job(self, key: JobKey) -> JobDetail | None:
        """Return a job."""
        job = await super().get_job(key)
        if job is None:
            return None
        return job.with_job_data(self._data.setdefault(key, job.job_data.mutable_copy()))


class HalfDone(DelegatingJobStore):
    """Stores the job before it looks whether the trigger can be stored."""

    async def schedule_job(self, job: JobDetail, trigger: Trigger) -> None:
        """Schedule."""
        await self.add_job(job)
        await self.add_trigger(trigger)

    async def schedule_jobs(self, content: Mapping[JobDetail, Collection[Trigger]], *, replace: bool = False) -> None:
        """Schedule."""
        for job, triggers in content.items():
            await self.add_job(job, replace=replace)
            for trigger in triggers:
                await self.add_trigger(trigger, replace=replace)


class ForgetsThatItRan(DelegatingJobStore):
    """Replaces a trigger by deleting it first."""

    async def add_trigger(self, trigger: Trigger, *, replace: bool = False) -> None:
        """Add."""
        if replace:
            await self.delete_trigger(trigger.key)
        await super().add_trigger(trigger, replace=replace)


class EverythingDurable(DelegatingJobStore):
    """Knows no orphans."""

    async def add_job(self, job: JobDetail, *, replace: bool = False) -> None:
        """Add."""
        await super().add_job(job.to_builder().store_durably().build(), replace=replace)


class ForgetsGroups(DelegatingJobStore):
    """Pauses the triggers of a group, and not the group."""

    async def pause_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Pause."""
        headers = (await self.query_triggers(TriggerQuery(group=matcher))).items
        await self.pause_triggers_by_key([header.key for header in headers])
        return sorted({header.key.group for header in headers})


class FirstGroupOnly(DelegatingJobStore):
    """Pauses the first group that matches."""

    async def pause_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Pause."""
        headers = (await self.query_triggers(TriggerQuery(group=matcher))).items
        if headers and matcher.operator is not StringOperator.EQUALITY:
            matcher = GroupMatcher.group_equals(headers[0].key.group)
        return await super().pause_triggers(matcher)


class NoMore(DelegatingJobStore):
    """Never says that something follows."""

    async def query_jobs(self, query: JobQuery) -> PagedResult[JobHeader]:
        """Query."""
        return replace(await super().query_jobs(query), has_more=False)


class CountsThePage(DelegatingJobStore):
    """Counts what it shows."""

    async def query_jobs(self, query: JobQuery) -> PagedResult[JobHeader]:
        """Query."""
        page = await super().query_jobs(query)
        return replace(page, total_count=len(page.items) if query.include_total_count else None)


class CaseInsensitive(DelegatingJobStore):
    """Orders as a dictionary does."""

    async def query_jobs(self, query: JobQuery) -> PagedResult[JobHeader]:
        """Query."""
        page = await super().query_jobs(query)
        return replace(page, items=sorted(page.items, key=lambda one: (one.key.group.lower(), one.key.name.lower())))


class BlockedOutranksExecuting(DelegatingJobStore):
    """Shows the trigger that runs as one that waits for it."""

    async def get_trigger_state(self, key: TriggerKey) -> TriggerState:
        """Return the state."""
        state = await super().get_trigger_state(key)
        trigger = await self.get_trigger(key)
        job = None if trigger is None else await self.get_job(trigger.job_key)
        exclusive = job is not None and job.concurrent_execution_disallowed
        return TriggerState.BLOCKED if exclusive and state is TriggerState.EXECUTING else state


class LateSchedule(DelegatingJobStore):
    """Says that a firing was scheduled for when it was made."""

    async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
        """Fire."""
        return [_late(result) for result in await super().triggers_fired(triggers)]


def _late(result: TriggerFiredResult) -> TriggerFiredResult:
    if result.bundle is None:
        return result
    return TriggerFiredResult.fired(replace(result.bundle, scheduled_fire_time=result.bundle.fire_time))


class TellsTwice(RecordingSignaler):
    """Hears every misfire twice."""

    async def notify_trigger_listeners_misfired(self, trigger: Trigger) -> None:
        """Remember the trigger, and once more."""
        self.misfired.append(trigger)
        await super().notify_trigger_listeners_misfired(trigger)


def _behind(decorator: type[DelegatingJobStore]) -> MakeStore:
    async def make(parts: StoreParts) -> JobStore:
        store = decorator(_ram(parts))
        await store.initialize(parts.identity)
        return store

    return make


async def _telling_twice(parts: StoreParts) -> JobStore:
    twice = TellsTwice()
    twice.misfired = parts.signaler.misfired
    store = _ram(replace(parts, signaler=twice))
    await store.initialize(parts.identity)
    return store


async def _sound(parts: StoreParts) -> JobStore:
    store = _ram(parts)
    await store.initialize(parts.identity)
    return store


def _ram(parts: StoreParts) -> RamJobStore:
    fields: dict[str, Any] = {"clock": parts.clock, "signaler": parts.signaler, "serializer": JsonSerializer()}
    return RamJobStore(**fields, misfire_threshold=parts.misfire_threshold)


DEFECTS: dict[str, MakeStore] = {
    "none": _sound,
    "tells twice": _telling_twice,
    **{
        defect.__name__: _behind(defect)
        for defect in DelegatingJobStore.__subclasses__()
        if defect.__module__ == __name__
    },
}
"""How each store is made, by the name of its defect."""
