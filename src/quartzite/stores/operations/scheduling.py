"""Adding and replacing jobs and triggers: all or nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace as replace_fields

from quartzite.errors import InvalidValueError, JobNotFoundError, JobPersistenceError, ObjectAlreadyExistsError
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.selectors import ByKeys
from quartzite.model.states import StoredTriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.rules.pausing import ALL_GROUPS_PAUSED, is_group_paused, replaced_trigger_state, stored_trigger_state
from quartzite.stores.operations.deleting import delete_orphans
from quartzite.stores.session import StoredTrigger, StoreSession
from quartzite.triggers.base import Trigger

__all__ = ["add_content", "add_trigger", "replace_trigger", "update_trigger_details"]


async def add_content(
    session: StoreSession,
    content: Mapping[JobDetail, Collection[Trigger]],
    *,
    replace: bool,
) -> None:
    """Store jobs with their triggers, all or nothing.

    Raises:
        ObjectAlreadyExistsError: a key is taken, in the store while ``replace`` is False, or within the content.
        JobPersistenceError: a trigger is of another job than the one it is given with.
    """
    jobs = list(content)
    triggers = [trigger for job in jobs for trigger in _of_job(job, content[job])]
    _refuse_twice("job", (job.key for job in jobs))
    _refuse_twice("trigger", (trigger.key for trigger in triggers))
    taken_jobs = await session.jobs.existing([job.key for job in jobs])
    former = await _stored(session, [trigger.key for trigger in triggers])
    if not replace:
        _refuse_taken("job", taken_jobs)
        _refuse_taken("trigger", former)
    rows = await _rows(session, triggers, former, {job.key: job for job in jobs})
    await session.jobs.insert([job for job in jobs if job.key not in taken_jobs])
    await session.jobs.replace([job for job in jobs if job.key in taken_jobs])
    await _write(session, rows, former)


async def add_trigger(session: StoreSession, trigger: Trigger, *, replace: bool) -> None:
    """Store a trigger of a stored job.

    Raises:
        JobNotFoundError: the job is not stored.
        ObjectAlreadyExistsError: the key is taken and ``replace`` is False.
    """
    former = await _stored(session, [trigger.key])
    if not replace:
        _refuse_taken("trigger", former)
    jobs = {job.key: job for job in await session.jobs.read([trigger.job_key])}
    if trigger.job_key not in jobs:
        raise JobNotFoundError(trigger.job_key, f"trigger {trigger.key}")
    await _write(session, await _rows(session, [trigger], former, jobs), former)


async def replace_trigger(session: StoreSession, key: TriggerKey, trigger: Trigger) -> bool:
    """Put another trigger of the same job in the place of a stored one; tell whether that was there.

    Raises:
        JobPersistenceError: the new one is of another job.
        ObjectAlreadyExistsError: the new one has a key of its own, which is taken.
    """
    former = await _stored(session, {key, trigger.key})
    old = former.get(key)
    if old is None:
        return False
    if old.trigger.job_key != trigger.job_key:
        raise JobPersistenceError(
            f"trigger {trigger.key} is of job {trigger.job_key}, but {key}, which it shall replace, is of "
            f"{old.trigger.job_key}: give a trigger of the same job"
        )
    if trigger.key != key:
        _refuse_taken("trigger", former.keys() - {key})
    jobs = {job.key: job for job in await session.jobs.read([trigger.job_key])}
    rows = await _rows(session, [trigger], {trigger.key: old}, jobs, keep_previous=False)
    await session.triggers.delete(ByKeys([key]))
    await session.fired.forget_triggers([key])
    await session.triggers.insert(rows)
    return True


async def update_trigger_details(session: StoreSession, key: TriggerKey, update: TriggerDetailsUpdate) -> bool:
    """Change what does not touch the schedule; times and state stay. Tell whether the trigger is there.

    Raises:
        JobPersistenceError: the update names a calendar that is not stored.
        InvalidValueError: a value is none that the trigger may have.
    """
    stored = (await _stored(session, [key])).get(key)
    if stored is None:
        return False
    name = update.calendar_name
    if name is not None and not await session.calendars.read([name]):
        raise JobPersistenceError(f"trigger {key} can not use calendar {name!r}, which is not stored: add it first")
    if not update.is_empty:
        await session.triggers.replace([StoredTrigger(_changed(stored.trigger, update), stored.state)])
    return True


async def _stored(session: StoreSession, keys: Collection[TriggerKey]) -> dict[TriggerKey, StoredTrigger]:
    return {row.trigger.key: row for row in await session.triggers.read(ByKeys(keys))} if keys else {}


async def _rows(
    session: StoreSession,
    triggers: Sequence[Trigger],
    former: Mapping[TriggerKey, StoredTrigger],
    jobs: Mapping[JobKey, JobDetail],
    *,
    keep_previous: bool = True,
) -> list[StoredTrigger]:
    """Return what to write: each trigger with the state it starts in.

    Args:
        session: The unit of work.
        triggers: The new ones.
        former: Those in whose place they come, by the keys of the new ones.
        jobs: The jobs of all triggers.
        keep_previous: Whether a new definition goes on from the former one's last firing.
    """
    if not triggers:
        return []
    paused = await _paused_groups(session, {trigger.key.group for trigger in triggers})
    blocked = await blocked_jobs(session, (jobs[trigger.job_key] for trigger in triggers))
    rows = []
    for trigger in triggers:
        old = former.get(trigger.key)
        if keep_previous and old is not None and trigger.previous_fire_time is None:
            trigger = trigger.copy_with(previous_fire_time=old.trigger.previous_fire_time)  # noqa: PLW2901
        rows.append(StoredTrigger(trigger, _state(trigger, old, paused, blocked)))
    return rows


def _state(
    trigger: Trigger, old: StoredTrigger | None, paused: Collection[str], blocked: Collection[JobKey]
) -> StoredTriggerState:
    is_paused, is_blocked = trigger.key.group in paused, trigger.job_key in blocked
    if old is None:
        return stored_trigger_state(paused=is_paused, blocked=is_blocked)
    return replaced_trigger_state(old.state, paused=is_paused, blocked=is_blocked)


async def _paused_groups(session: StoreSession, groups: Collection[str]) -> set[str]:
    """Return which of the groups are paused; one that appears while all are paused is remembered from now on."""
    remembered = await session.groups.paused()
    paused = {group for group in groups if is_group_paused(group, remembered)}
    if ALL_GROUPS_PAUSED in remembered and not paused <= remembered:
        await session.groups.remember(paused)
    return paused


async def blocked_jobs(session: StoreSession, jobs: Iterable[JobDetail]) -> set[JobKey]:
    """Return which of these jobs run, and keep others of theirs from running."""
    alone = {job.key for job in jobs if job.concurrent_execution_disallowed}
    if not alone:
        return set()
    executing = await session.fired.executing_jobs(alone)
    return {key for key, non_concurrent in executing.items() if non_concurrent}


async def _write(
    session: StoreSession, rows: Sequence[StoredTrigger], former: Mapping[TriggerKey, StoredTrigger]
) -> None:
    fresh = [row for row in rows if row.trigger.key not in former]
    over = [row for row in rows if row.trigger.key in former]
    if fresh:
        await session.triggers.insert(fresh)
    if over:
        await session.triggers.replace(over)
        left = {former[row.trigger.key].trigger.job_key for row in over} - {row.trigger.job_key for row in over}
        if left:
            await delete_orphans(session, left)


def _of_job(job: JobDetail, triggers: Iterable[Trigger]) -> Iterable[Trigger]:
    for trigger in triggers:
        if trigger.job_key != job.key:
            raise JobPersistenceError(
                f"trigger {trigger.key} is of job {trigger.job_key}, but it is stored with job {job.key}: "
                "give it with its own job"
            )
        yield trigger


def _changed(trigger: Trigger, update: TriggerDetailsUpdate) -> Trigger:
    try:
        return replace_fields(trigger, **update.changes)
    except TypeError as error:
        raise InvalidValueError(f"trigger {trigger.key} can not be updated: {error}") from error


def _refuse_taken(kind: str, taken: Iterable[JobKey] | Iterable[TriggerKey]) -> None:
    for key in sorted(taken):
        raise ObjectAlreadyExistsError(kind, key)


def _refuse_twice(kind: str, keys: Iterable[JobKey] | Iterable[TriggerKey]) -> None:
    seen: set[JobKey | TriggerKey] = set()
    for key in keys:
        if key in seen:
            raise ObjectAlreadyExistsError(kind, key)
        seen.add(key)
