"""Freeing what a former life of this scheduler, or a node that is gone, left behind."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from quartzite.execution import (
    ORIGINAL_FIRE_TIME,
    ORIGINAL_SCHEDULED_FIRE_TIME,
    ORIGINAL_TRIGGER_GROUP,
    ORIGINAL_TRIGGER_NAME,
)
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import RECOVERY_GROUP, TriggerKey
from quartzite.model.selectors import All, ByKeys, OfJobs
from quartzite.model.states import StoredTriggerState
from quartzite.rules.firing import FiredRow
from quartzite.rules.membership import CheckIn
from quartzite.rules.misfires import NEVER_MISFIRES
from quartzite.rules.pausing import is_group_paused, stored_trigger_state
from quartzite.rules.takeover import TakeoverPlan, is_stale_claim, may_still_run, plan_takeover, recovery_trigger
from quartzite.rules.transitions import FREE_AT_START, FREE_CLAIM, RELEASE, UNBLOCK
from quartzite.stores.operations.deleting import delete_selected
from quartzite.stores.operations.misfiring import handle_misfires
from quartzite.stores.session import StoredTrigger, StoreSession
from quartzite.triggers.misfire import SimpleMisfireInstruction

__all__ = ["free_stale_claims", "free_stranded", "recover_at_start", "take_over"]

_logger = logging.getLogger("quartzite.stores")
NO_LIMIT: Final = 2**31 - 2


async def recover_at_start(
    session: StoreSession, *, instance_id: str, now: datetime, misfired_before: datetime
) -> Sequence[FiredRow]:
    """Free everything that a former life of a scheduler that is not clustered left behind.

    Jobs that request recovery run again, once each; triggers that are complete go. No fired row is left.

    Returns:
        The firings that were begun and not finished.
    """
    plan = plan_takeover(await session.fired.of_instance(instance_id), may_run=False)
    await session.triggers.move(All(), FREE_AT_START)
    await handle_misfires(session, now=now, before=misfired_before, limit=NO_LIMIT)
    await _recover(session, plan.recovered, misfire_instruction=NEVER_MISFIRES, at_scheduled_time=True)
    await session.fired.clear()
    await delete_selected(session, ByKeys(await session.triggers.in_state(StoredTriggerState.COMPLETE)))
    session.signals.scheduling_change()
    return plan.unfinished


async def take_over(
    session: StoreSession,
    failed_id: str,
    check_in: CheckIn | None,
    *,
    current_id: str,
    now: datetime,
    threshold: timedelta,
) -> TakeoverPlan:
    """Take over the firings of a failed node, or of a former life of this one.

    The node's record goes, and with it its right to claim, unless a firing was preserved: then it is looked at again.

    Args:
        session: The unit of work, under both locks.
        failed_id: The node.
        check_in: Its record; None when it has none.
        current_id: This node.
        now: The instant of the takeover.
        threshold: How late a check-in may be before the node counts as failed.
    """
    rows = await session.fired.of_instance(failed_id)
    plan = plan_takeover(rows, may_run=may_still_run(check_in, now, threshold))
    await session.fired.remove_of(failed_id, [row.fire_instance_id for row in plan.ended])
    await session.triggers.move(ByKeys({row.trigger_key for row in plan.claims}), FREE_CLAIM)
    await _recover(
        session, plan.recovered, misfire_instruction=SimpleMisfireInstruction.FIRE_NOW, at_scheduled_time=False
    )
    await session.triggers.move(OfJobs(plan.freed_jobs), UNBLOCK)
    await _delete_finished(session, plan.touched)
    if failed_id != current_id and not plan.preserved:
        await session.nodes.release_pins(failed_id)
        await session.nodes.delete(failed_id)
    session.signals.scheduling_change()
    return plan


async def free_stale_claims(
    session: StoreSession, *, instance_id: str, now: datetime, misfire_threshold: timedelta
) -> Collection[TriggerKey]:
    """Give back what this node reserved and forgot; return the triggers."""
    rows = await session.fired.of_instance(instance_id)
    stale = [row for row in rows if is_stale_claim(row, now, misfire_threshold)]
    keys = {row.trigger_key for row in stale}
    if stale:
        await session.fired.remove([row.fire_instance_id for row in stale])
        await session.triggers.move(ByKeys(keys), RELEASE)
        _warn("was reserved and forgotten", keys)
        session.signals.scheduling_change()
    return keys


async def free_stranded(session: StoreSession) -> Collection[TriggerKey]:
    """Let triggers go on that are reserved or blocked while no firing says so; return them."""
    keys = await session.triggers.stranded()
    if keys:
        await session.triggers.move(ByKeys(keys), FREE_AT_START)
        _warn("was reserved or blocked, and no firing says why", keys)
        session.signals.scheduling_change()
    return keys


async def _recover(
    session: StoreSession, rows: Sequence[FiredRow], *, misfire_instruction: int, at_scheduled_time: bool
) -> None:
    """Store a recovery trigger for each firing whose job is still there."""
    if not rows:
        return
    jobs = await session.jobs.existing({row.job_key for row in rows if row.job_key is not None})
    for row in rows:
        if row.job_key not in jobs:
            _logger.warning("a firing can not be run again: its job is gone", extra={"job_key": str(row.job_key)})
    known = [row for row in rows if row.job_key in jobs]
    data = await _trigger_data(session, known)
    paused = is_group_paused(RECOVERY_GROUP, await session.groups.paused())
    state = stored_trigger_state(paused=paused, blocked=False)  # the firing that blocks the job is the one that died
    await session.triggers.insert(
        [
            StoredTrigger(
                recovery_trigger(
                    row,
                    _origin(row, data.get(row.trigger_key, EMPTY_JOB_DATA)),
                    start=row.scheduled_time if at_scheduled_time else row.fired_time,
                    misfire_instruction=misfire_instruction,
                ),
                state,
            )
            for row in known
        ]
    )


async def _trigger_data(session: StoreSession, rows: Iterable[FiredRow]) -> dict[TriggerKey, JobData]:
    stored = await session.triggers.read(ByKeys({row.trigger_key for row in rows}))
    return {row.trigger.key: row.trigger.job_data for row in stored}


def _origin(row: FiredRow, data: JobData) -> JobData:
    return data.merged_with(
        JobData(
            {
                ORIGINAL_TRIGGER_NAME: row.trigger_key.name,
                ORIGINAL_TRIGGER_GROUP: row.trigger_key.group,
                ORIGINAL_FIRE_TIME: row.fired_time.isoformat(),
                ORIGINAL_SCHEDULED_FIRE_TIME: row.scheduled_time.isoformat(),
            }
        )
    )


async def _delete_finished(session: StoreSession, keys: Collection[TriggerKey]) -> None:
    """Delete those of these triggers that are complete and whose last firing has ended."""
    states = await session.triggers.states(keys)
    finished = [key for key, state in states.items() if state == (StoredTriggerState.COMPLETE, False)]
    if finished:
        await delete_selected(session, ByKeys(finished))


def _warn(what: str, keys: Iterable[TriggerKey]) -> None:
    for key in sorted(keys):
        _logger.warning("trigger %s %s: it goes on", key, what, extra={"trigger_key": str(key)})
