"""ShutdownReport: what a shutdown gave back and what it left running."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from quartzite.execution import JobContext
from quartzite.model.keys import JobKey, TriggerKey

__all__ = ["RunningJob", "ShutdownReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningJob:
    """A job that was still running. The fire time is aware UTC."""

    job_key: JobKey
    trigger_key: TriggerKey
    fire_instance_id: str
    fire_time: datetime

    @classmethod
    def of(cls, context: JobContext) -> Self:
        """Return the running job of a context."""
        return cls(
            job_key=context.job.key,
            trigger_key=context.trigger.key,
            fire_instance_id=context.fire_instance_id,
            fire_time=context.fire_time,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShutdownReport:
    """How a shutdown ended.

    Attributes:
        released: Triggers that were acquired and not started: they are in the store as if they had never been.
        left_running: Jobs that still ran when the shutdown did not wait for them, or no longer.
    """

    released: tuple[TriggerKey, ...] = ()
    left_running: tuple[RunningJob, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing was left running."""
        return not self.left_running
