"""TimeJumps: notices that the wall clock jumped, and puts right what an undone jump has moved."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from quartzite.abc import Clock, JobStore
from quartzite.calendars.base import Calendar
from quartzite.model.keys import TriggerKey
from quartzite.model.query import TriggerQuery
from quartzite.model.states import TriggerState
from quartzite.triggers.base import Trigger

__all__ = ["TimeJumps"]

logger: Final = logging.getLogger("quartzite.engine")
_JUMP: Final = timedelta(seconds=1)
"""A smaller change between two looks is drift or slewing, not a jump."""
_AT_ONCE: Final = 200


class TimeJumps:
    """Compares the wall clock with the monotonic one, at least once every idle wait.

    Triggers follow the wall clock, so a jump forward fires what has become due and moves the rest on, and a jump back
    lets everything wait. Both are right when the new time is right. When a jump forward is undone, the triggers that
    it moved would be silent until the time it pretended comes: they are put back to their next time from now on. A
    trigger that had a single time within the jump, and has fired, stays: a daily job does not run twice for one day.

    A clustered store is left alone: its time is that of the database (decision 11).
    """

    def __init__(self, *, store: JobStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._offset: datetime | None = None
        self._before: datetime | None = None

    async def look(self) -> None:
        """Look at the clocks; put triggers back when a jump forward was undone.

        Raises:
            JobPersistenceError: the store could not be asked; the next look tries again.
        """
        offset = self._clock.now() - timedelta(seconds=self._clock.monotonic())
        if self._offset is not None and abs(offset - self._offset) > _JUMP:
            logger.warning("The wall clock jumped.", extra={"by_seconds": (offset - self._offset).total_seconds()})
            await self._jumped(self._offset, offset)
        self._offset = offset

    async def _jumped(self, old: datetime, new: datetime) -> None:
        if new > old:
            # Of several steps forward the first one counts: coming back from all of them is what undoes.
            self._before = old if self._before is None else self._before
        elif self._before is not None and new - self._before <= _JUMP:
            if not self._store.clustered:
                await self._put_back()
            self._before = None

    async def _put_back(self) -> None:
        now = self._clock.now()
        page = await self._store.query_triggers(TriggerQuery(state=TriggerState.NORMAL))
        ahead = iter([one.key for one in page.items if one.next_fire_time is not None and one.next_fire_time > now])
        moved = 0
        while keys := list(islice(ahead, _AT_ONCE)):
            moved += await self._put_back_some(keys, now)
            await asyncio.sleep(0)
        logger.warning("A jump of the wall clock was undone; triggers were put back.", extra={"triggers": moved})

    async def _put_back_some(self, keys: Sequence[TriggerKey], now: datetime) -> int:
        moved = 0
        for trigger in await self._store.get_triggers(keys):
            back = await self._as_if_not_moved(trigger, now)
            if back is not None:
                moved += await self._store.replace_trigger(trigger.key, back)
        return moved

    async def _as_if_not_moved(self, trigger: Trigger, now: datetime) -> Trigger | None:
        name, previous, following = trigger.calendar_name, trigger.previous_fire_time, trigger.next_fire_time
        calendar = None if name is None else await self._store.get_calendar(name)
        first = _next(trigger, calendar, now)
        if first is None or following is None or first >= following:
            return None
        if previous is not None and previous > now:
            # It fired during the jump, too early: for the only time that there was, or for one of many.
            second = _next(trigger, calendar, first)
            if second is None or second > previous:
                return None
        return trigger.copy_with(next_fire_time=first)


def _next(trigger: Trigger, calendar: Calendar | None, after: datetime) -> datetime | None:
    unfired = trigger.copy_with(previous_fire_time=None)
    return unfired.update_with_new_calendar(calendar, after, _JUMP).next_fire_time
