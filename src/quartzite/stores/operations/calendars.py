"""Adding, replacing and deleting calendars (spec 03 section 4)."""

from __future__ import annotations

from datetime import datetime, timedelta

from quartzite.calendars.base import Calendar
from quartzite.errors import JobPersistenceError, ObjectAlreadyExistsError
from quartzite.model.keys import TriggerKey
from quartzite.stores.operations.failing import fail_triggers
from quartzite.stores.session import StoredTrigger, StoreSession

__all__ = ["add_calendar", "delete_calendar"]


async def add_calendar(
    session: StoreSession,
    name: str,
    calendar: Calendar,
    *,
    replace: bool,
    update_triggers: bool,
    now: datetime,
    misfire_threshold: timedelta,
) -> None:
    """Store a calendar; when it takes the place of another, the triggers that name it may be given new times.

    Their states stay, as do their times unless ``update_triggers`` is set.

    Raises:
        ObjectAlreadyExistsError: the name is taken and ``replace`` is False.
    """
    existed = bool(await session.calendars.read([name]))
    if existed and not replace:
        raise ObjectAlreadyExistsError("calendar", name)
    await session.calendars.put(name, calendar)
    if existed and update_triggers:
        await _update_triggers(session, name, calendar, now, misfire_threshold)


async def delete_calendar(session: StoreSession, name: str) -> bool:
    """Delete a calendar; tell whether it was there.

    Raises:
        JobPersistenceError: a trigger names it, whatever its state.
    """
    users = sorted(row.trigger.key for row in await session.triggers.naming_calendar(name))
    if users:
        more = f" and {len(users) - 1} others" if len(users) > 1 else ""
        raise JobPersistenceError(
            f"calendar {name!r} can not be deleted: trigger {users[0]}{more} names it; "
            "take it off with update_trigger_details, or delete the triggers first"
        )
    return await session.calendars.delete(name)


async def _update_triggers(
    session: StoreSession, name: str, calendar: Calendar, now: datetime, misfire_threshold: timedelta
) -> None:
    rows: list[StoredTrigger] = []
    failures: dict[TriggerKey, Exception] = {}
    for trigger, state in await session.triggers.naming_calendar(name):
        try:
            updated = trigger.update_with_new_calendar(calendar, now, misfire_threshold)
        except Exception as error:  # noqa: BLE001  # one broken kind must not stop the others
            failures[trigger.key] = error
        else:
            rows.append(StoredTrigger(updated, state))
    await session.triggers.save_progress(rows)
    await fail_triggers(session, "giving the new calendar to", failures)
    if rows:
        session.signals.scheduling_change()
