"""Ending firings, many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from quartzite.abc import Serializer
from quartzite.errors import InvalidValueError
from quartzite.execution import JobCompletion
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey
from quartzite.model.selectors import ByKeys, OfJobs
from quartzite.rules.completion import CompletionPlan, Ending, plan_completions
from quartzite.rules.transitions import COMPLETE_ALL, FAIL, RELEASE, UNBLOCK
from quartzite.stores.operations.deleting import delete_selected
from quartzite.stores.operations.misfiring import handle_misfires
from quartzite.stores.session import StoreSession

__all__ = ["complete_jobs"]

MOST_FREED_MISFIRES: Final = 1000
"""Late triggers of freed jobs handled at once; the misfire pass finds the others."""


async def complete_jobs(
    session: StoreSession,
    completions: Sequence[JobCompletion],
    *,
    now: datetime,
    misfired_before: datetime,
    serializer: Serializer,
) -> None:
    """End firings; see ``JobStore.triggered_job_complete``.

    The own fired rows are deleted first: the completion of a firing whose row is gone changes nothing, as another
    node has taken it over or everything was cleared (decision 5).

    Args:
        session: The unit of work.
        completions: The firings that ended.
        now: The instant of the completion.
        misfired_before: Earlier next fire times are misfires.
        serializer: Says which data a run may leave behind.
    """
    ids = [done.trigger.fire_instance_id for done in completions]
    removed = await session.fired.remove([i for i in ids if i is not None])
    endings = []
    for done, fire_id in zip(completions, ids, strict=True):
        row = removed.pop(fire_id, None) if fire_id is not None else None
        if row is not None:
            endings.append(Ending(done.trigger, done.job, done.instruction, row.state, row.non_concurrent))
    plan = plan_completions(endings)
    await _change_states(session, plan)
    if plan.data:
        await _save_data(session, plan.data, serializer)
    if plan.finished:
        await delete_selected(session, ByKeys(plan.finished), finished_only=True)
    if plan.deleted:
        await delete_selected(session, ByKeys(plan.deleted))
    if plan.freed:
        await _catch_up(session, plan.freed, now, misfired_before)
    if plan.changes_what_may_fire:
        session.signals.scheduling_change()


async def _change_states(session: StoreSession, plan: CompletionPlan) -> None:
    """Apply the instructions, then free the siblings: an instruction outranks what a sibling waits for."""
    triggers, signals = session.triggers, session.signals
    if plan.released:
        await triggers.move(ByKeys(plan.released), RELEASE)
    if plan.completed:
        await triggers.move(ByKeys(plan.completed), COMPLETE_ALL)
    if plan.completed_jobs:
        await triggers.move(OfJobs(plan.completed_jobs), COMPLETE_ALL)
    if plan.failed:
        await triggers.move(ByKeys(plan.failed), FAIL)
    if plan.failed_jobs:
        await triggers.move(OfJobs(plan.failed_jobs), FAIL)
    if plan.freed:
        await triggers.move(OfJobs(plan.freed), UNBLOCK)
    for key in sorted(plan.failed):
        signals.trigger_in_error(key)
    for job_key in sorted(plan.failed_jobs):
        signals.triggers_in_error(job_key)


async def _catch_up(session: StoreSession, jobs: set[JobKey], now: datetime, misfired_before: datetime) -> None:
    """Handle at once what the triggers of freed jobs missed while their job ran; delete those that are over."""
    outcome = await handle_misfires(
        session, now=now, before=misfired_before, limit=MOST_FREED_MISFIRES, selector=OfJobs(jobs)
    )
    if outcome.finished:
        await delete_selected(session, ByKeys(outcome.finished))


async def _save_data(session: StoreSession, data: Mapping[JobKey, JobData], serializer: Serializer) -> None:
    """Write the data that runs left; what can not be stored is reported and the former data stays.

    A completion must not fail over it: the firing has ended, and would be ended again and again.
    """
    storable = {}
    for key, values in data.items():
        try:
            serializer.check(values)
        except InvalidValueError as error:
            session.signals.error(f"the data that a run of job {key} left can not be stored and is lost", error)
        else:
            storable[key] = values
    await session.jobs.save_data(storable)
