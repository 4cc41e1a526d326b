"""RecordingSignaler: remembers what a store told its scheduler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from quartzite.abc import Signaler
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import Trigger

__all__ = ["RecordingSignaler"]


class RecordingSignaler(Signaler):
    """Keeps every call in a list of its kind, in the order of the calls.

    Attributes:
        scheduling_changes: Candidate times of ``signal_scheduling_change``, None for a time not known.
        misfired: Triggers that missed a time, as they were before.
        finalized: Triggers that will never fire again.
        deleted_jobs: Jobs that went with their last trigger.
        triggers_in_error: Triggers that were put into ERROR.
        jobs_in_error: Jobs all of whose triggers were put into ERROR.
        errors: Messages with their exceptions.
        when_notified: Awaited in each notification, as a listener would be; None for nothing.
    """

    def __init__(self) -> None:
        self.when_notified: Callable[[], Awaitable[object]] | None = None
        self.clear()

    def clear(self) -> None:
        """Forget every call."""
        self.scheduling_changes: list[datetime | None] = []
        self.misfired: list[Trigger] = []
        self.finalized: list[Trigger] = []
        self.deleted_jobs: list[JobKey] = []
        self.triggers_in_error: list[TriggerKey] = []
        self.jobs_in_error: list[JobKey] = []
        self.errors: list[tuple[str, Exception]] = []

    @property
    def misfires(self) -> list[tuple[TriggerKey, datetime | None]]:
        """The key and the missed time of each trigger that misfired."""
        return [(trigger.key, trigger.next_fire_time) for trigger in self.misfired]

    def signal_scheduling_change(self, candidate: datetime | None) -> None:
        """Remember the candidate time."""
        self.scheduling_changes.append(candidate)

    async def notify_trigger_listeners_misfired(self, trigger: Trigger) -> None:
        """Remember the trigger."""
        self.misfired.append(trigger)
        await self._listen()

    async def notify_scheduler_listeners_finalized(self, trigger: Trigger) -> None:
        """Remember the trigger."""
        self.finalized.append(trigger)
        await self._listen()

    async def notify_scheduler_listeners_job_deleted(self, key: JobKey) -> None:
        """Remember the job."""
        self.deleted_jobs.append(key)
        await self._listen()

    async def notify_scheduler_listeners_trigger_in_error(self, key: TriggerKey) -> None:
        """Remember the trigger."""
        self.triggers_in_error.append(key)
        await self._listen()

    async def notify_scheduler_listeners_triggers_in_error(self, job_key: JobKey) -> None:
        """Remember the job."""
        self.jobs_in_error.append(job_key)
        await self._listen()

    async def notify_scheduler_listeners_error(self, message: str, error: Exception) -> None:
        """Remember the message and the exception."""
        self.errors.append((message, error))
        await self._listen()

    async def _listen(self) -> None:
        if self.when_notified is not None:
            await self.when_notified()
