"""Pausing: the verbs that stop and resume triggers and jobs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import TypeAlias, TypeVar

from quartzite.abc import SchedulerListener
from quartzite.engine.core import SchedulerCore
from quartzite.errors import InvalidValueError
from quartzite.model.keys import DEFAULT_GROUP, JobKey, Key, TriggerKey
from quartzite.model.matchers import GroupMatcher

__all__ = ["JobSelection", "Pausing", "TriggerSelection"]

K = TypeVar("K", bound=Key)
T = TypeVar("T")
TriggerSelection: TypeAlias = GroupMatcher[TriggerKey] | Collection[TriggerKey] | None
JobSelection: TypeAlias = GroupMatcher[JobKey] | Collection[JobKey] | None
"""Groups, or single ones by key; None stands for the default group."""


class Pausing:
    """What a scheduler can be told to hold back (spec 04 section 3, spec 06 section 4).

    A paused trigger does not fire, and does not count as missed while it is paused; when it is resumed, times that
    have passed meanwhile are treated as misfires at once, as its misfire instruction says. A trigger group that is
    paused by its exact name is remembered, also while it has no triggers.
    """

    _core: SchedulerCore

    # Single ones ----------------------------------------------------------------------------------------------

    async def pause_trigger(self, key: TriggerKey) -> None:
        """Pause a trigger; nothing happens when it is not stored."""
        await self._core.store.pause_trigger(TriggerKey.checked(key))
        self._core.changed()
        await self._core.tell(SchedulerListener.trigger_paused, key)

    async def resume_trigger(self, key: TriggerKey) -> None:
        """Resume a trigger; nothing happens when it is not paused."""
        await self._core.store.resume_trigger(TriggerKey.checked(key))
        self._core.changed()
        await self._core.tell(SchedulerListener.trigger_resumed, key)

    async def pause_job(self, key: JobKey) -> None:
        """Pause the triggers that a job has now."""
        await self._core.store.pause_job(JobKey.checked(key))
        self._core.changed()
        await self._core.tell(SchedulerListener.job_paused, key)

    async def resume_job(self, key: JobKey) -> None:
        """Resume the triggers of a job."""
        await self._core.store.resume_job(JobKey.checked(key))
        self._core.changed()
        await self._core.tell(SchedulerListener.job_resumed, key)

    # Several --------------------------------------------------------------------------------------------------

    async def pause_triggers(self, selection: TriggerSelection = None) -> None:
        """Pause trigger groups, or triggers by key.

        Raises:
            InvalidValueError: the selection is neither.
        """
        store, listener = self._core.store, SchedulerListener
        chosen = _checked(selection, TriggerKey)
        if isinstance(chosen, GroupMatcher):
            await self._tell_all(listener.triggers_paused, await store.pause_triggers(chosen))
        else:
            await store.pause_triggers_by_key(chosen)
            await self._tell_all(listener.trigger_paused, chosen)

    async def resume_triggers(self, selection: TriggerSelection = None) -> None:
        """Resume trigger groups and forget that they were paused, or resume triggers by key.

        Raises:
            InvalidValueError: the selection is neither.
        """
        store, listener = self._core.store, SchedulerListener
        chosen = _checked(selection, TriggerKey)
        if isinstance(chosen, GroupMatcher):
            await self._tell_all(listener.triggers_resumed, await store.resume_triggers(chosen))
        else:
            await store.resume_triggers_by_key(chosen)
            await self._tell_all(listener.trigger_resumed, chosen)

    async def pause_jobs(self, selection: JobSelection = None) -> None:
        """Pause the triggers of all jobs in job groups, or of jobs by key.

        Raises:
            InvalidValueError: the selection is neither.
        """
        store, listener = self._core.store, SchedulerListener
        chosen = _checked(selection, JobKey)
        if isinstance(chosen, GroupMatcher):
            await self._tell_all(listener.jobs_paused, await store.pause_jobs(chosen))
        else:
            await store.pause_jobs_by_key(chosen)
            await self._tell_all(listener.job_paused, chosen)

    async def resume_jobs(self, selection: JobSelection = None) -> None:
        """Resume the triggers of all jobs in job groups, or of jobs by key.

        Raises:
            InvalidValueError: the selection is neither.
        """
        store, listener = self._core.store, SchedulerListener
        chosen = _checked(selection, JobKey)
        if isinstance(chosen, GroupMatcher):
            await self._tell_all(listener.jobs_resumed, await store.resume_jobs(chosen))
        else:
            await store.resume_jobs_by_key(chosen)
            await self._tell_all(listener.job_resumed, chosen)

    # All ------------------------------------------------------------------------------------------------------

    async def pause_all(self) -> None:
        """Pause every trigger group, those that appear later too."""
        await self._core.store.pause_all()
        self._core.changed()
        await self._core.tell(SchedulerListener.triggers_paused, None)

    async def resume_all(self) -> None:
        """Resume every trigger group and forget all pauses."""
        await self._core.store.resume_all()
        self._core.changed()
        await self._core.tell(SchedulerListener.triggers_resumed, None)

    async def _tell_all(
        self, event: Callable[[SchedulerListener, T], Awaitable[None]], groups_or_keys: Iterable[T]
    ) -> None:
        self._core.changed()
        for one in groups_or_keys:
            await self._core.tell(event, one)


def _checked(selection: GroupMatcher[K] | Collection[K] | None, kind: type[K]) -> GroupMatcher[K] | list[K]:
    if selection is None:
        return GroupMatcher.group_equals(DEFAULT_GROUP)
    if isinstance(selection, GroupMatcher):
        return selection
    keys = list(selection) if isinstance(selection, Iterable) and not isinstance(selection, str) else None
    if keys is None or not all(isinstance(key, kind) for key in keys):
        raise InvalidValueError(
            f"{selection!r} selects nothing: give GroupMatcher.group_equals(...) or one of its kin, or a list of "
            f"{kind.__name__}"
        )
    return keys
