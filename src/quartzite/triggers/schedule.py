"""Schedule: the part of a trigger that says when, apart from whom and what."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from zoneinfo import ZoneInfo

from quartzite.triggers.base import Trigger

__all__ = ["Schedule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule(ABC):
    """A value that makes triggers of one kind. ``every(...)``, ``cron(...)`` and their kin return one.

    Attributes:
        misfire_instruction: What happens to missed times; the numbers of the kind's enum.
    """

    misfire_instruction: int = 0

    @abstractmethod
    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> Trigger:
        """Return a trigger of this schedule.

        Args:
            fields: The fields that all kinds have, ``key`` among them, without the misfire instruction.
            time_zone: Used when the schedule names none.
            named: Whether the key was chosen by somebody; hash tokens of cron need that.

        Raises:
            InvalidValueError: the schedule and the fields do not go together.
        """

    def with_misfire_instruction(self, instruction: int) -> Self:
        """Return the schedule with another misfire instruction."""
        return replace(self, misfire_instruction=instruction)
