"""TriggerDetailsUpdate: what of a trigger can change without touching its schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from quartzite.errors import InvalidValueError
from quartzite.model.job_data import JobData
from quartzite.model.preferred_node import PreferredNode

__all__ = ["TriggerDetailsUpdate"]

_CHANGEABLE: Final = frozenset(
    {"calendar_name", "description", "job_data", "misfire_instruction", "preferred_node", "priority"}
)


@dataclass(frozen=True, slots=True)
class TriggerDetailsUpdate:
    """Fluent and immutable: each verb returns a new update; only what was set is changed (spec 04 section 6).

    Attributes:
        changes: New values by the name of the trigger's field.

    Raises:
        InvalidValueError: a field is none that may change without touching the schedule.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.changes:
            if name not in _CHANGEABLE:
                raise InvalidValueError(
                    f"trigger details: {name!r} can not be updated, only {', '.join(sorted(_CHANGEABLE))}: for another "
                    "schedule or key, call reschedule_job"
                )

    def _with(self, name: str, value: Any) -> TriggerDetailsUpdate:
        return replace(self, changes={**self.changes, name: value})

    @property
    def is_empty(self) -> bool:
        """Whether nothing was set."""
        return not self.changes

    @property
    def calendar_name(self) -> str | None:
        """The calendar that was set, None when it was cleared or not set."""
        name: str | None = self.changes.get("calendar_name")
        return name

    def with_description(self, description: str | None) -> TriggerDetailsUpdate:
        """Set the description."""
        return self._with("description", description)

    def with_priority(self, priority: int) -> TriggerDetailsUpdate:
        """Set the priority."""
        return self._with("priority", priority)

    def with_job_data(self, job_data: Mapping[str, Any]) -> TriggerDetailsUpdate:
        """Replace the job data (it is not merged)."""
        return self._with("job_data", job_data if isinstance(job_data, JobData) else JobData(job_data))

    def with_calendar_name(self, calendar_name: str | None) -> TriggerDetailsUpdate:
        """Set the calendar, None clears it; the next fire time stays."""
        return self._with("calendar_name", calendar_name)

    def with_misfire_instruction(self, instruction: int) -> TriggerDetailsUpdate:
        """Set the misfire instruction."""
        return self._with("misfire_instruction", instruction)

    def with_preferred_node(self, node: PreferredNode) -> TriggerDetailsUpdate:
        """Set the preferred node."""
        return self._with("preferred_node", node)
