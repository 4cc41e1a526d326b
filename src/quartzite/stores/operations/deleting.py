"""Deleting triggers and jobs, and the jobs that go with their last trigger."""

from __future__ import annotations

from collections.abc import Collection

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.selectors import ByKeys, OfJobs, TriggerSelector
from quartzite.stores.session import StoreSession

__all__ = ["delete_jobs", "delete_orphans", "delete_selected", "delete_triggers"]


async def delete_triggers(session: StoreSession, keys: Collection[TriggerKey]) -> bool:
    """Delete triggers, and their jobs by the orphan rule; tell whether all were there."""
    wanted = set(keys)
    return (await delete_selected(session, ByKeys(wanted))).keys() == wanted


async def delete_jobs(session: StoreSession, keys: Collection[JobKey]) -> bool:
    """Delete jobs with their triggers; tell whether all were there (a job, or triggers of it)."""
    wanted = set(keys)
    gone = await session.triggers.delete(OfJobs(wanted))
    if gone:
        await session.fired.forget_triggers(gone.keys())
    found = await session.jobs.delete(wanted)
    await session.fired.forget_jobs(wanted)
    return found.union(gone.values()) >= wanted


async def delete_selected(
    session: StoreSession, selector: TriggerSelector, *, finished_only: bool = False
) -> dict[TriggerKey, JobKey]:
    """Delete triggers, and their jobs by the orphan rule; return the triggers that were there with their jobs."""
    gone = await session.triggers.delete(selector, finished_only=finished_only)
    if gone:
        await session.fired.forget_triggers(gone.keys())
        await delete_orphans(session, set(gone.values()))
    return gone


async def delete_orphans(session: StoreSession, keys: Collection[JobKey]) -> None:
    """Delete those of these jobs that are not durable and have no trigger left (spec 06 section 1)."""
    orphans = await session.jobs.delete_orphans(keys)
    if orphans:
        await session.fired.forget_jobs(orphans)
        for key in sorted(orphans):
            session.signals.job_deleted(key)
