"""SchedulerSignaler: brings what a store tells to its scheduler."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from quartzite.abc import SchedulerListener, Signaler
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import Trigger

if TYPE_CHECKING:
    from quartzite.engine.notifying import Notifier
    from quartzite.engine.scheduler import Scheduler

__all__ = ["SchedulerSignaler"]


class SchedulerSignaler(Signaler):
    """The signaler of a scheduler in this process.

    It is made before the scheduler, because the store needs it; the scheduler attaches itself when it is made.
    ``signal_scheduling_change`` may be called from any thread, the rest on the scheduler's event loop.
    """

    def __init__(self) -> None:
        self._scheduler: Scheduler | None = None

    def attach(self, scheduler: Scheduler) -> None:
        """Learn whom to tell."""
        self._scheduler = scheduler

    def signal_scheduling_change(self, candidate: datetime | None) -> None:
        """Wake the scheduling loop: something may fire at ``candidate``, or at a time not known (None)."""
        if self._scheduler is not None:
            self._scheduler.signal_scheduling_change(candidate)

    async def notify_trigger_listeners_misfired(self, trigger: Trigger) -> None:
        """Tell trigger listeners that a trigger missed its next fire time."""
        if (notifier := self._notifier) is not None:
            await notifier.misfired(trigger)

    async def notify_scheduler_listeners_finalized(self, trigger: Trigger) -> None:
        """Tell scheduler listeners that a trigger will never fire again."""
        if (notifier := self._notifier) is not None:
            await notifier.tell(SchedulerListener.trigger_finalized, trigger)

    async def notify_scheduler_listeners_job_deleted(self, key: JobKey) -> None:
        """Tell scheduler listeners that a job went with its last trigger."""
        if (notifier := self._notifier) is not None:
            await notifier.tell(SchedulerListener.job_deleted, key)

    async def notify_scheduler_listeners_trigger_in_error(self, key: TriggerKey) -> None:
        """Tell scheduler listeners that a trigger was put into ERROR."""
        if (notifier := self._notifier) is not None:
            await notifier.tell(SchedulerListener.trigger_in_error, key)

    async def notify_scheduler_listeners_triggers_in_error(self, job_key: JobKey) -> None:
        """Tell scheduler listeners that all triggers of a job were put into ERROR."""
        if (notifier := self._notifier) is not None:
            await notifier.tell(SchedulerListener.triggers_in_error, job_key)

    async def notify_scheduler_listeners_error(self, message: str, error: Exception) -> None:
        """Tell scheduler listeners of an error."""
        if (notifier := self._notifier) is not None:
            await notifier.error(message, error)

    @property
    def _notifier(self) -> Notifier | None:
        return None if self._scheduler is None else self._scheduler.notifier
