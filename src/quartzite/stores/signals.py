"""Signals: what a unit of work has to tell the scheduler, kept until it has ended."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from quartzite.abc import Signaler
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import Trigger

__all__ = ["Signals"]

_logger = logging.getLogger("quartzite.stores")


class Signals:
    """Notifications in the order in which they were noted; nothing is told before :meth:`deliver`.

    A unit of work that fails throws its signals away with its changes.
    """

    __slots__ = ("_change", "_changed", "_notes")

    def __init__(self) -> None:
        self._notes: list[Callable[[Signaler], Awaitable[None]]] | None = None
        self._changed = False
        self._change: datetime | None = None

    def scheduling_change(self, candidate: datetime | None = None) -> None:
        """Note that something may fire at ``candidate``, or at a time not known; the earliest is told, once."""
        if not self._changed:
            self._changed, self._change = True, candidate
        elif self._change is not None:
            self._change = None if candidate is None else min(candidate, self._change)

    def misfired(self, trigger: Trigger) -> None:
        """Note that a trigger missed its next fire time."""
        self._note(lambda signaler: signaler.notify_trigger_listeners_misfired(trigger))

    def finalized(self, trigger: Trigger) -> None:
        """Note that a trigger will never fire again."""
        self._note(lambda signaler: signaler.notify_scheduler_listeners_finalized(trigger))

    def job_deleted(self, key: JobKey) -> None:
        """Note that a job went with its last trigger."""
        self._note(lambda signaler: signaler.notify_scheduler_listeners_job_deleted(key))

    def trigger_in_error(self, key: TriggerKey) -> None:
        """Note that a trigger was put into error."""
        self._note(lambda signaler: signaler.notify_scheduler_listeners_trigger_in_error(key))

    def triggers_in_error(self, job_key: JobKey) -> None:
        """Note that all triggers of a job were put into error."""
        self._note(lambda signaler: signaler.notify_scheduler_listeners_triggers_in_error(job_key))

    def error(self, message: str, error: Exception) -> None:
        """Note an error."""
        self._note(lambda signaler: signaler.notify_scheduler_listeners_error(message, error))

    async def deliver(self, signaler: Signaler) -> None:
        """Tell the scheduler everything: the change of schedule first, as its loop waits for it.

        What a listener raises is logged: the work is done and can not fail any more.
        """
        if self._changed:
            signaler.signal_scheduling_change(self._change)
        for note in self._notes or ():
            try:
                await note(signaler)
            except Exception:
                _logger.exception("telling the scheduler what happened in its store failed")

    def _note(self, note: Callable[[Signaler], Awaitable[None]]) -> None:
        if self._notes is None:
            self._notes = []
        self._notes.append(note)
