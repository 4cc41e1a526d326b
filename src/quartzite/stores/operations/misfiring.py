"""Handling missed fire times, some triggers at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from quartzite.calendars.base import Calendar
from quartzite.errors import UnknownCalendarError
from quartzite.model.keys import TriggerKey
from quartzite.model.selectors import All, TriggerSelector
from quartzite.model.states import StoredTriggerState
from quartzite.rules.misfires import MisfirePlan, plan_misfire
from quartzite.stores.operations.failing import fail_triggers, fail_unreadable
from quartzite.stores.session import StoredTrigger, StoreSession
from quartzite.triggers.base import Trigger

__all__ = ["MisfireOutcome", "apply_misfires", "calendars_of", "handle_misfires"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MisfireOutcome:
    """What one pass did.

    Attributes:
        handled: How many triggers had missed their time.
        has_more: Whether there are others.
        finished: The triggers that will never fire again.
    """

    handled: int
    has_more: bool
    finished: Collection[TriggerKey] = ()


async def handle_misfires(
    session: StoreSession, *, now: datetime, before: datetime, limit: int, selector: TriggerSelector | None = None
) -> MisfireOutcome:
    """Handle the WAITING triggers whose next fire time lies before an instant, ``limit`` at most.

    Args:
        session: The unit of work.
        now: The instant of the pass.
        before: Now minus the misfire threshold.
        limit: Most triggers of one pass; one more is read, only to know whether there are others.
        selector: Among which triggers; all by default.
    """
    found = await session.triggers.misfired(selector or All(), before, limit + 1)
    late = found[:limit]
    finished = await apply_misfires(session, ((t, StoredTriggerState.WAITING) for t in late), now) if late else ()
    await fail_unreadable(session)
    return MisfireOutcome(handled=len(late), has_more=len(found) > limit, finished=finished)


async def apply_misfires(
    session: StoreSession, late: Iterable[tuple[Trigger, StoredTriggerState]], now: datetime
) -> Collection[TriggerKey]:
    """Apply the misfire instructions of triggers that missed their time; return those that fire no more.

    All listeners hear of the missed times before any hears of an end (spec 07 section 6).

    Args:
        session: The unit of work.
        late: The triggers, each with the state it gets when it will fire again.
        now: The instant of the pass.
    """
    rows = list(late)
    calendars = await calendars_of(session, (trigger for trigger, _ in rows))
    plans, failures = _plan(rows, calendars, now)
    await session.triggers.save_progress([StoredTrigger(plan.trigger, plan.state) for plan in plans])
    for plan in plans:
        session.signals.misfired(plan.missed)
    final = [plan.trigger for plan in plans if plan.is_final]
    for trigger in final:
        session.signals.finalized(trigger)
    await fail_triggers(session, "handling the misfire of", failures)
    _signal_earliest(session, plans)
    return {trigger.key for trigger in final}


async def calendars_of(session: StoreSession, triggers: Iterable[Trigger]) -> Mapping[str, Calendar]:
    """Return the calendars that triggers name, those that are stored."""
    names = {trigger.calendar_name for trigger in triggers if trigger.calendar_name is not None}
    return await session.calendars.read(names) if names else {}


def _plan(
    rows: Collection[tuple[Trigger, StoredTriggerState]], calendars: Mapping[str, Calendar], now: datetime
) -> tuple[list[MisfirePlan], dict[TriggerKey, Exception]]:
    plans, failures = [], {}
    for trigger, state in rows:
        try:
            plans.append(plan_misfire(trigger, _calendar(trigger, calendars), now, state))
        except Exception as error:  # noqa: BLE001  # one broken kind must not stop the others
            failures[trigger.key] = error
    return plans, failures


def _calendar(trigger: Trigger, calendars: Mapping[str, Calendar]) -> Calendar | None:
    name = trigger.calendar_name
    if name is None:
        return None
    if name not in calendars:
        raise UnknownCalendarError(name, trigger.key)
    return calendars[name]


def _signal_earliest(session: StoreSession, plans: Collection[MisfirePlan]) -> None:
    times = [plan.trigger.next_fire_time for plan in plans if plan.trigger.next_fire_time is not None]
    if times:
        session.signals.scheduling_change(min(times))
