"""Putting triggers that can not go on into error, so that the others go on."""

from __future__ import annotations

from collections.abc import Mapping

from quartzite.errors import JobPersistenceError
from quartzite.model.keys import TriggerKey
from quartzite.model.selectors import ByKeys
from quartzite.rules.transitions import FAIL
from quartzite.stores.session import StoreSession

__all__ = ["fail_triggers", "fail_unreadable"]


async def fail_triggers(session: StoreSession, doing: str, failures: Mapping[TriggerKey, Exception]) -> None:
    """Put triggers into ERROR, and note for each the reason and the state.

    Args:
        session: The unit of work.
        doing: What failed, for the message: ``firing``, ``handling the misfire of``.
        failures: What was raised, by trigger.
    """
    if not failures:
        return
    await session.triggers.move(ByKeys(failures.keys()), FAIL)
    for key, error in failures.items():
        session.signals.error(f"{doing} trigger {key} failed, it is in ERROR now: {error}", _plain(error))
        session.signals.trigger_in_error(key)


async def fail_unreadable(session: StoreSession) -> None:
    """Put the triggers into ERROR whose rows could not be read by this unit of work."""
    if session.unreadable:
        failures = dict(session.unreadable)
        session.unreadable.clear()
        await fail_triggers(session, "reading", failures)


def _plain(error: Exception) -> Exception:
    """Return the error without the frames that it holds alive."""
    if error.__traceback__ is None:
        return error
    plain = JobPersistenceError(f"{type(error).__name__}: {error}")
    plain.__cause__ = error.with_traceback(None)
    return plain
