"""Querying: what a scheduler can be asked about its jobs and triggers."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeVar

from quartzite.calendars.base import Calendar
from quartzite.engine.core import SchedulerCore
from quartzite.errors import InvalidValueError
from quartzite.model.cluster import ClusterNode
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, Key, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import (
    CalendarQuery,
    FireInstance,
    FireInstanceQuery,
    JobGroup,
    JobGroupQuery,
    JobHeader,
    JobQuery,
    PagedQuery,
    PagedResult,
    TriggerGroup,
    TriggerGroupQuery,
    TriggerHeader,
    TriggerQuery,
)
from quartzite.model.states import TriggerState
from quartzite.triggers.base import Trigger

__all__ = ["Querying"]

K = TypeVar("K", bound=Key)
Q = TypeVar("Q", bound=PagedQuery)


class Querying:
    """Everything that reads (spec 04 section 3, spec 06 sections 5 and 6).

    What is returned is a value: it does not change when the stored one does. Every question raises
    :class:`SchedulerError` when the scheduler has been shut down.
    """

    _core: SchedulerCore

    # By key ---------------------------------------------------------------------------------------------------

    async def get_job_detail(self, key: JobKey) -> JobDetail | None:
        """Return a job, or None."""
        return await self._core.store.get_job(JobKey.checked(key))

    async def get_job_details(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Return the jobs of these keys that exist, in this order, each once."""
        return await self._core.store.get_job_details([JobKey.checked(key) for key in keys])

    async def get_trigger(self, key: TriggerKey) -> Trigger | None:
        """Return a trigger, or None."""
        return await self._core.store.get_trigger(TriggerKey.checked(key))

    async def get_triggers(self, keys: Collection[TriggerKey]) -> list[Trigger]:
        """Return the triggers of these keys that exist, in this order, each once."""
        return await self._core.store.get_triggers([TriggerKey.checked(key) for key in keys])

    async def get_triggers_of_job(self, key: JobKey) -> list[Trigger]:
        """Return the triggers of a job, by group, then name."""
        return await self._core.store.get_triggers_for_job(JobKey.checked(key))

    async def get_trigger_state(self, key: TriggerKey) -> TriggerState:
        """Return the state of a trigger; ``NONE`` when it is not stored."""
        return await self._core.store.get_trigger_state(TriggerKey.checked(key))

    async def get_calendar(self, name: str) -> Calendar | None:
        """Return a calendar, or None."""
        return await self._core.store.get_calendar(name)

    async def check_exists(self, key: JobKey | TriggerKey) -> bool:
        """Tell whether a job or a trigger is stored."""
        store = self._core.store
        return await store.check_exists(key if isinstance(key, TriggerKey) else JobKey.checked(key))

    # Pages ----------------------------------------------------------------------------------------------------

    async def query_jobs(self, query: JobQuery | None = None) -> PagedResult[JobHeader]:
        """Return one page of jobs, by group, then name; without a query all."""
        return await self._core.store.query_jobs(_checked(query, JobQuery))

    async def query_triggers(self, query: TriggerQuery | None = None) -> PagedResult[TriggerHeader]:
        """Return one page of triggers, by group, then name; without a query all."""
        return await self._core.store.query_triggers(_checked(query, TriggerQuery))

    async def query_job_groups(self, query: JobGroupQuery | None = None) -> PagedResult[JobGroup]:
        """Return one page of job groups, by name; without a query all."""
        return await self._core.store.query_job_groups(_checked(query, JobGroupQuery))

    async def query_trigger_groups(self, query: TriggerGroupQuery | None = None) -> PagedResult[TriggerGroup]:
        """Return one page of trigger groups, by name; without a query all."""
        return await self._core.store.query_trigger_groups(_checked(query, TriggerGroupQuery))

    async def query_calendar_names(self, query: CalendarQuery | None = None) -> PagedResult[str]:
        """Return one page of calendar names; without a query all."""
        return await self._core.store.query_calendar_names(_checked(query, CalendarQuery))

    async def query_fire_instances(self, query: FireInstanceQuery | None = None) -> PagedResult[FireInstance]:
        """Return one page of firings that are reserved or running; without a query all.

        A store that keeps them durably answers for the whole cluster, another one for this process.
        """
        return await self._core.store.query_fire_instances(_checked(query, FireInstanceQuery))

    async def query_cluster_nodes(self) -> list[ClusterNode]:
        """Return the nodes of the cluster, this one first."""
        return await self._core.store.query_cluster_nodes()

    # Everything -----------------------------------------------------------------------------------------------

    async def get_job_keys(self, matcher: GroupMatcher[JobKey]) -> list[JobKey]:
        """Return the keys of all jobs in matching groups, by group, then name.

        Raises:
            InvalidValueError: there is no matcher.
        """
        page = await self.query_jobs(JobQuery(group=_required(matcher)))
        return [header.key for header in page.items]

    async def get_trigger_keys(self, matcher: GroupMatcher[TriggerKey]) -> list[TriggerKey]:
        """Return the keys of all triggers in matching groups, by group, then name.

        Raises:
            InvalidValueError: there is no matcher.
        """
        page = await self.query_triggers(TriggerQuery(group=_required(matcher)))
        return [header.key for header in page.items]

    async def get_job_group_names(self) -> list[str]:
        """Return the names of the groups that have jobs."""
        return [group.name for group in (await self.query_job_groups()).items]

    async def get_trigger_group_names(self) -> list[str]:
        """Return the names of the groups that have triggers."""
        return [group.name for group in (await self.query_trigger_groups()).items]

    async def get_paused_trigger_groups(self) -> list[str]:
        """Return the names of the trigger groups that are paused, those without triggers too."""
        return [group.name for group in (await self.query_trigger_groups(TriggerGroupQuery(paused=True))).items]

    async def get_calendar_names(self) -> list[str]:
        """Return the names of all calendars."""
        return list((await self.query_calendar_names()).items)

    async def is_job_group_paused(self, group: str) -> bool:
        """Tell whether a job group is paused, for stores that remember it."""
        page = await self.query_job_groups(JobGroupQuery(name=group, paused=True))
        return bool(page.items)

    async def is_trigger_group_paused(self, group: str) -> bool:
        """Tell whether a trigger group is paused."""
        page = await self.query_trigger_groups(TriggerGroupQuery(name=group, paused=True))
        return bool(page.items)


def _required(matcher: GroupMatcher[K] | None) -> GroupMatcher[K]:
    if not isinstance(matcher, GroupMatcher):
        raise InvalidValueError(f"{matcher!r} is no group matcher: give GroupMatcher.any_group() for all groups")
    return matcher


def _checked(query: Q | None, kind: type[Q]) -> Q:
    if query is None:
        return kind()
    if not isinstance(query, kind):
        raise InvalidValueError(f"{query!r} is no {kind.__name__}: give {kind.__name__}(...), or None for all")
    return query
