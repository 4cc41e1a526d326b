"""What the store suite stores: jobs that a type loader can find, and trigger kinds that misbehave.

A store that loads job types must be allowed to load those of this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Self

from quartzite.calendars.base import Calendar
from quartzite.execution import JobContext
from quartzite.triggers.simple import SimpleTrigger

__all__ = ["OtherJob", "QuietJob", "QuietJobber", "UnfirableTrigger", "UnmisfirableTrigger"]


class QuietJob:
    """A job that does nothing; the suite never runs it."""

    async def execute(self, context: JobContext) -> None:
        """Do nothing."""


class OtherJob(QuietJob):
    """Another type."""


class QuietJobber(QuietJob):
    """A type whose name begins like that of :class:`QuietJob`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfirableTrigger(SimpleTrigger):
    """Raises when it should say when it fires after a firing; its first fire time is all right."""

    trigger_type: ClassVar[str] = "UNFIRABLE"

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        raise ArithmeticError("this trigger can not say when it fires next")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmisfirableTrigger(SimpleTrigger):
    """Raises when it should say what it does about a missed time."""

    trigger_type: ClassVar[str] = "UNMISFIRABLE"

    def _misfired(self, calendar: Calendar | None, now: datetime) -> Self:
        raise ArithmeticError("this trigger can not say what it does about a missed time")
