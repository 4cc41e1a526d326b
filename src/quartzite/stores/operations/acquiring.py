"""Reserving triggers for this node, and giving them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.selectors import ByKeys
from quartzite.rules.acquisition import BatchPlan
from quartzite.rules.firing import FiredRow
from quartzite.rules.states import StoredFiringState
from quartzite.rules.transitions import RELEASE
from quartzite.stores.operations.failing import fail_unreadable
from quartzite.stores.session import StoreSession
from quartzite.triggers.base import Trigger

__all__ = ["acquire_next_triggers", "release_acquired_triggers"]

MAX_ROUNDS: Final = 3
"""How often candidates are read when some were passed over, or lost to another node."""


async def acquire_next_triggers(
    session: StoreSession,
    request: TriggerAcquisitionRequest,
    *,
    now: datetime,
    misfired_before: datetime,
    instance_id: str,
    new_fire_id: Callable[[], str],
) -> list[Trigger]:
    """Reserve triggers, in fire order, each with the id of its firing; see ``JobStore.acquire_next_triggers``.

    Args:
        session: The unit of work.
        request: What the scheduler asks for.
        now: The instant of the acquisition.
        misfired_before: Earlier next fire times are misfires, which another operation handles.
        instance_id: The node that reserves.
        new_fire_id: Makes the ids of firings.
    """
    plan = BatchPlan(request, now, misfired_before)
    for _ in range(MAX_ROUNDS):
        candidates = await session.triggers.due(plan.criteria())
        chosen = [t.copy_with(fire_instance_id=new_fire_id()) for t in plan.choose(candidates)]
        if chosen:
            gained = plan.settle(chosen, await session.triggers.claim(chosen))
            await session.fired.insert([_acquired(trigger, now, instance_id) for trigger in gained])
        if not plan.wants_more:
            break
    await fail_unreadable(session)
    return plan.taken


async def release_acquired_triggers(session: StoreSession, triggers: Sequence[Trigger]) -> None:
    """Give triggers back that were acquired and never fired; a claim that is gone changes nothing.

    Nobody is told: who gives back is about to acquire again, and a signal would make it give back again.
    """
    ids = {trigger.fire_instance_id: trigger.key for trigger in triggers if trigger.fire_instance_id is not None}
    removed = await session.fired.remove(ids.keys())
    keys = {row.trigger_key for row in removed.values() if row.state is StoredFiringState.ACQUIRED}
    if keys:
        await session.triggers.move(ByKeys(keys), RELEASE)


def _acquired(trigger: Trigger, now: datetime, instance_id: str) -> FiredRow:
    return FiredRow(
        trigger.fire_instance_id or "",
        trigger.key,
        instance_id,
        StoredFiringState.ACQUIRED,
        now,
        trigger.next_fire_time or now,
        trigger.priority,
        trigger.execution_group,
    )
