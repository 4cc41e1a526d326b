"""Pausing and resuming triggers, jobs and groups; leaving the error state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.selectors import All, ByKeys, InGroups, OfJobs, TriggerSelector
from quartzite.model.states import StoredTriggerState
from quartzite.rules.misfires import is_misfired
from quartzite.rules.pausing import (
    ALL_GROUPS_PAUSED,
    forgets_everything,
    groups_to_pause,
    groups_to_resume,
    is_group_paused,
    is_paused,
    resume_transition,
    stored_trigger_state,
)
from quartzite.rules.transitions import PAUSE, Transition
from quartzite.stores.operations.misfiring import apply_misfires
from quartzite.stores.operations.scheduling import blocked_jobs
from quartzite.stores.session import StoredTrigger, StoreSession
from quartzite.triggers.base import Trigger

__all__ = [
    "pause",
    "pause_all",
    "pause_job_groups",
    "pause_trigger_groups",
    "reset_from_error",
    "resume",
    "resume_all",
    "resume_job_groups",
    "resume_trigger_groups",
]


async def pause(session: StoreSession, selector: TriggerSelector) -> None:
    """Pause triggers; those that are complete or in error stay so, and keys that are not there are passed over."""
    await session.triggers.move(selector, PAUSE)


async def pause_trigger_groups(session: StoreSession, matcher: GroupMatcher[TriggerKey]) -> list[str]:
    """Pause groups and remember them; return them."""
    groups = groups_to_pause(matcher, await session.triggers.groups())
    await session.groups.remember(groups)
    await session.triggers.move(InGroups(groups), PAUSE)
    return groups


async def pause_job_groups(session: StoreSession, matcher: GroupMatcher[JobKey]) -> list[str]:
    """Pause the triggers that the jobs of some groups have now; return the job groups."""
    keys = await session.jobs.keys(matcher)
    await session.triggers.move(OfJobs(keys), PAUSE)
    return sorted({key.group for key in keys})


async def pause_all(session: StoreSession) -> None:
    """Pause every group, those that appear later too."""
    await session.groups.remember({*await session.triggers.groups(), ALL_GROUPS_PAUSED})
    await session.triggers.move(All(), PAUSE)


async def resume(session: StoreSession, selector: TriggerSelector, now: datetime | None) -> None:
    """Resume triggers; a time that was missed is treated as a misfire at once, however short ago it was.

    One that has no next fire time stays paused: there is nothing that it could go on with (spec 07 section 5).

    Args:
        session: The unit of work.
        selector: Which triggers.
        now: The instant of the call; None while the scheduler stands by, as nothing misfires then.
    """
    rows = [row for row in await session.triggers.read(selector) if is_paused(row.state) and row.trigger.may_fire_again]
    if not rows:
        return
    blocked = await _blocked(session, rows)
    late = [] if now is None else [row for row in rows if is_misfired(row.trigger, now)]
    late_keys = {row.trigger.key for row in late}
    await _go_on(session, [row.trigger for row in rows if row.trigger.key not in late_keys], blocked)
    if now is not None and late:
        states = [stored_trigger_state(paused=False, blocked=row.trigger.job_key in blocked) for row in late]
        await apply_misfires(session, zip((row.trigger for row in late), states, strict=True), now)
    session.signals.scheduling_change()


async def resume_trigger_groups(
    session: StoreSession, matcher: GroupMatcher[TriggerKey], now: datetime | None
) -> list[str]:
    """Resume groups and forget that they were paused; return them."""
    remembered = await session.groups.paused()
    groups = groups_to_resume(matcher, await session.triggers.groups(), remembered)
    forgotten = {*groups, ALL_GROUPS_PAUSED} if forgets_everything(matcher) else set(groups)
    await session.groups.forget(forgotten & remembered)
    await resume(session, InGroups(groups), now)
    return groups


async def resume_job_groups(session: StoreSession, matcher: GroupMatcher[JobKey], now: datetime | None) -> list[str]:
    """Resume the triggers of the jobs of some groups; return the job groups."""
    keys = await session.jobs.keys(matcher)
    await resume(session, OfJobs(keys), now)
    return sorted({key.group for key in keys})


async def resume_all(session: StoreSession, now: datetime | None) -> None:
    """Resume every trigger and forget all pauses."""
    await session.groups.forget(None)
    await resume(session, All(), now)


async def reset_from_error(session: StoreSession, key: TriggerKey) -> None:
    """Put a trigger that is in error back to work, or to where a new one of its group would start."""
    rows = [row for row in await session.triggers.read(ByKeys([key])) if row.state is StoredTriggerState.ERROR]
    if not rows:
        return
    state = stored_trigger_state(
        paused=is_group_paused(key.group, await session.groups.paused()),
        blocked=bool(await _blocked(session, rows)),
    )
    await session.triggers.move(ByKeys([key]), Transition({StoredTriggerState.ERROR: state}))
    session.signals.scheduling_change()


async def _blocked(session: StoreSession, rows: Sequence[StoredTrigger]) -> set[JobKey]:
    return await blocked_jobs(session, await session.jobs.read({row.trigger.job_key for row in rows}))


async def _go_on(session: StoreSession, triggers: Sequence[Trigger], blocked: Collection[JobKey]) -> None:
    """Let triggers that missed nothing wait again, for their time or for their job."""
    for is_blocked in (False, True):
        keys = [trigger.key for trigger in triggers if (trigger.job_key in blocked) is is_blocked]
        if keys:
            await session.triggers.move(ByKeys(keys), resume_transition(blocked=is_blocked))
