"""DelegatingJobStore: a store in front of another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from quartzite.abc import JobStore
from quartzite.calendars.base import Calendar
from quartzite.execution import JobCompletion, TriggerFiredResult
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.cluster import ClusterNode
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import (
    CalendarQuery,
    FireInstance,
    FireInstanceQuery,
    JobGroup,
    JobGroupQuery,
    JobHeader,
    JobQuery,
    PagedResult,
    TriggerGroup,
    TriggerGroupQuery,
    TriggerHeader,
    TriggerQuery,
)
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.triggers.base import Trigger

__all__ = ["DelegatingJobStore"]


class DelegatingJobStore(JobStore):
    """Forwards every member to another store; a decorator overrides the members that it changes (spec 06 section 9).

    A member that takes many keys is forwarded as one call, so that a decorator costs no batch. When a subclass
    overrides the member for one key, the member for many calls that one for each key, so that nothing gets past it.

    Args:
        inner: The store behind this one; it may be a decorator itself.
    """

    def __init__(self, inner: JobStore) -> None:
        self._inner = inner

    @property
    def inner_job_store(self) -> JobStore:
        """The real store, however many decorators are in front of it."""
        inner = self._inner
        return inner.inner_job_store if isinstance(inner, DelegatingJobStore) else inner

    def _overrides(self, member: str) -> bool:
        return getattr(type(self), member) is not getattr(DelegatingJobStore, member)

    # What the store is ----------------------------------------------------------------------------------------------

    @property
    def supports_persistence(self) -> bool:
        """Forward."""
        return self._inner.supports_persistence

    @property
    def clustered(self) -> bool:
        """Forward."""
        return self._inner.clustered

    # Life -----------------------------------------------------------------------------------------------------------

    async def initialize(self, identity: SchedulerIdentity) -> None:
        """Forward."""
        await self._inner.initialize(identity)

    async def scheduler_started(self) -> None:
        """Forward."""
        await self._inner.scheduler_started()

    async def scheduler_paused(self) -> None:
        """Forward."""
        await self._inner.scheduler_paused()

    async def scheduler_resumed(self) -> None:
        """Forward."""
        await self._inner.scheduler_resumed()

    async def shutdown(self) -> None:
        """Forward."""
        await self._inner.shutdown()

    def get_acquire_retry_delay(self, failure_count: int) -> timedelta:
        """Forward."""
        return self._inner.get_acquire_retry_delay(failure_count)

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def schedule_job(self, job: JobDetail, trigger: Trigger) -> None:
        """Forward."""
        await self._inner.schedule_job(job, trigger)

    async def schedule_jobs(self, content: Mapping[JobDetail, Collection[Trigger]], *, replace: bool = False) -> None:
        """Forward."""
        await self._inner.schedule_jobs(content, replace=replace)

    async def add_job(self, job: JobDetail, *, replace: bool = False) -> None:
        """Forward."""
        await self._inner.add_job(job, replace=replace)

    async def delete_job(self, key: JobKey) -> bool:
        """Forward."""
        return await self._inner.delete_job(key)

    async def delete_jobs(self, keys: Collection[JobKey]) -> bool:
        """Forward as one, or one by one when ``delete_job`` is overridden."""
        if self._overrides("delete_job"):
            return await super().delete_jobs(keys)
        return await self._inner.delete_jobs(keys)

    async def get_job(self, key: JobKey) -> JobDetail | None:
        """Forward."""
        return await self._inner.get_job(key)

    async def get_job_details(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Forward as one, or one by one when ``get_job`` is overridden."""
        if self._overrides("get_job"):
            return await super().get_job_details(keys)
        return await self._inner.get_job_details(keys)

    # Triggers -------------------------------------------------------------------------------------------------------

    async def add_trigger(self, trigger: Trigger, *, replace: bool = False) -> None:
        """Forward."""
        await self._inner.add_trigger(trigger, replace=replace)

    async def delete_trigger(self, key: TriggerKey) -> bool:
        """Forward."""
        return await self._inner.delete_trigger(key)

    async def delete_triggers(self, keys: Collection[TriggerKey]) -> bool:
        """Forward as one, or one by one when ``delete_trigger`` is overridden."""
        if self._overrides("delete_trigger"):
            return await super().delete_triggers(keys)
        return await self._inner.delete_triggers(keys)

    async def replace_trigger(self, key: TriggerKey, trigger: Trigger) -> bool:
        """Forward."""
        return await self._inner.replace_trigger(key, trigger)

    async def update_trigger_details(self, key: TriggerKey, update: TriggerDetailsUpdate) -> bool:
        """Forward."""
        return await self._inner.update_trigger_details(key, update)

    async def get_trigger(self, key: TriggerKey) -> Trigger | None:
        """Forward."""
        return await self._inner.get_trigger(key)

    async def get_triggers(self, keys: Collection[TriggerKey]) -> list[Trigger]:
        """Forward as one, or one by one when ``get_trigger`` is overridden."""
        if self._overrides("get_trigger"):
            return await super().get_triggers(keys)
        return await self._inner.get_triggers(keys)

    async def get_triggers_for_job(self, key: JobKey) -> list[Trigger]:
        """Forward."""
        return await self._inner.get_triggers_for_job(key)

    async def check_exists(self, key: JobKey | TriggerKey) -> bool:
        """Forward."""
        return await self._inner.check_exists(key)

    async def clear(self) -> None:
        """Forward."""
        await self._inner.clear()

    # Calendars ------------------------------------------------------------------------------------------------------

    async def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = False, update_triggers: bool = False
    ) -> None:
        """Forward."""
        await self._inner.add_calendar(name, calendar, replace=replace, update_triggers=update_triggers)

    async def delete_calendar(self, name: str) -> bool:
        """Forward."""
        return await self._inner.delete_calendar(name)

    async def get_calendar(self, name: str) -> Calendar | None:
        """Forward."""
        return await self._inner.get_calendar(name)

    # States ---------------------------------------------------------------------------------------------------------

    async def get_trigger_state(self, key: TriggerKey) -> TriggerState:
        """Forward."""
        return await self._inner.get_trigger_state(key)

    async def reset_trigger_from_error_state(self, key: TriggerKey) -> None:
        """Forward."""
        await self._inner.reset_trigger_from_error_state(key)

    async def pause_trigger(self, key: TriggerKey) -> None:
        """Forward."""
        await self._inner.pause_trigger(key)

    async def resume_trigger(self, key: TriggerKey) -> None:
        """Forward."""
        await self._inner.resume_trigger(key)

    async def pause_job(self, key: JobKey) -> None:
        """Forward."""
        await self._inner.pause_job(key)

    async def resume_job(self, key: JobKey) -> None:
        """Forward."""
        await self._inner.resume_job(key)

    async def pause_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Forward."""
        return await self._inner.pause_triggers(matcher)

    async def resume_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Forward."""
        return await self._inner.resume_triggers(matcher)

    async def pause_jobs(self, matcher: GroupMatcher[JobKey]) -> list[str]:
        """Forward."""
        return await self._inner.pause_jobs(matcher)

    async def resume_jobs(self, matcher: GroupMatcher[JobKey]) -> list[str]:
        """Forward."""
        return await self._inner.resume_jobs(matcher)

    async def pause_triggers_by_key(self, keys: Collection[TriggerKey]) -> None:
        """Forward as one, or one by one when ``pause_trigger`` is overridden."""
        if self._overrides("pause_trigger"):
            await super().pause_triggers_by_key(keys)
        else:
            await self._inner.pause_triggers_by_key(keys)

    async def resume_triggers_by_key(self, keys: Collection[TriggerKey]) -> None:
        """Forward as one, or one by one when ``resume_trigger`` is overridden."""
        if self._overrides("resume_trigger"):
            await super().resume_triggers_by_key(keys)
        else:
            await self._inner.resume_triggers_by_key(keys)

    async def pause_jobs_by_key(self, keys: Collection[JobKey]) -> None:
        """Forward as one, or one by one when ``pause_job`` is overridden."""
        if self._overrides("pause_job"):
            await super().pause_jobs_by_key(keys)
        else:
            await self._inner.pause_jobs_by_key(keys)

    async def resume_jobs_by_key(self, keys: Collection[JobKey]) -> None:
        """Forward as one, or one by one when ``resume_job`` is overridden."""
        if self._overrides("resume_job"):
            await super().resume_jobs_by_key(keys)
        else:
            await self._inner.resume_jobs_by_key(keys)

    async def pause_all(self) -> None:
        """Forward."""
        await self._inner.pause_all()

    async def resume_all(self) -> None:
        """Forward."""
        await self._inner.resume_all()

    # The fire cycle -------------------------------------------------------------------------------------------------

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Forward."""
        return await self._inner.acquire_next_triggers(request)

    async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
        """Forward."""
        return await self._inner.triggers_fired(triggers)

    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """Forward."""
        await self._inner.triggered_job_complete(trigger, job, instruction)

    async def triggered_jobs_complete(self, completions: Sequence[JobCompletion]) -> None:
        """Forward as one, or one by one when ``triggered_job_complete`` is overridden."""
        if self._overrides("triggered_job_complete"):
            await super().triggered_jobs_complete(completions)
        else:
            await self._inner.triggered_jobs_complete(completions)

    async def release_acquired_trigger(self, trigger: Trigger) -> None:
        """Forward."""
        await self._inner.release_acquired_trigger(trigger)

    async def release_acquired_triggers(self, triggers: Sequence[Trigger]) -> None:
        """Forward as one, or one by one when ``release_acquired_trigger`` is overridden."""
        if self._overrides("release_acquired_trigger"):
            await super().release_acquired_triggers(triggers)
        else:
            await self._inner.release_acquired_triggers(triggers)

    # Queries --------------------------------------------------------------------------------------------------------

    async def query_jobs(self, query: JobQuery) -> PagedResult[JobHeader]:
        """Forward."""
        return await self._inner.query_jobs(query)

    async def query_triggers(self, query: TriggerQuery) -> PagedResult[TriggerHeader]:
        """Forward."""
        return await self._inner.query_triggers(query)

    async def query_job_groups(self, query: JobGroupQuery) -> PagedResult[JobGroup]:
        """Forward."""
        return await self._inner.query_job_groups(query)

    async def query_trigger_groups(self, query: TriggerGroupQuery) -> PagedResult[TriggerGroup]:
        """Forward."""
        return await self._inner.query_trigger_groups(query)

    async def query_calendar_names(self, query: CalendarQuery) -> PagedResult[str]:
        """Forward."""
        return await self._inner.query_calendar_names(query)

    async def query_fire_instances(self, query: FireInstanceQuery) -> PagedResult[FireInstance]:
        """Forward."""
        return await self._inner.query_fire_instances(query)

    async def query_cluster_nodes(self) -> list[ClusterNode]:
        """Forward."""
        return await self._inner.query_cluster_nodes()
