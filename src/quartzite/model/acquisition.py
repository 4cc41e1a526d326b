"""What a node asks for when it acquires triggers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from quartzite.errors import InvalidValueError

__all__ = [
    "MAX_EXCLUDED_JOB_TYPES",
    "ExecutionLimits",
    "ExecutionLimitsBuilder",
    "ExecutionSlots",
    "TriggerAcquisitionRequest",
]

MAX_EXCLUDED_JOB_TYPES: Final = 1000
OTHER_GROUPS: Final = "*"
_UNGROUPED_ALIASES: Final = frozenset({"_", "null", ""})


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """How many firings of an execution group may run on this node at once (spec 06 section 7).

    Attributes:
        groups: Limit by group: a positive number, 0 for forbidden here, None for explicitly unlimited. The key
            None stands for triggers without a group, ``*`` for every named group that is not listed.

    Raises:
        InvalidValueError: a limit is negative.
    """

    groups: Mapping[str | None, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cleaned: dict[str | None, int | None] = {}
        for group, limit in self.groups.items():
            if limit is not None and limit < 0:
                raise InvalidValueError(f"execution limit of group {group!r} is {limit}: 0 or more, or None")
            cleaned[None if group in _UNGROUPED_ALIASES else group] = limit
        object.__setattr__(self, "groups", cleaned)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is limited."""
        return not self.groups

    def try_get_limit(self, group: str | None) -> tuple[bool, int | None]:
        """Return whether a limit applies to ``group``, and the limit (None: explicitly unlimited)."""
        if group in self.groups:
            return True, self.groups[group]
        if group is not None and OTHER_GROUPS in self.groups:
            return True, self.groups[OTHER_GROUPS]
        return False, None

    def minus(self, running: Mapping[str | None, int]) -> ExecutionLimits:
        """Return what is left beside the firings that run already (spec 04 section 4.2)."""
        left = dict(self.groups)
        for group, count in running.items():
            applies, limit = self.try_get_limit(group)
            if applies and limit is not None:
                left[group] = max(0, limit - count)
        return ExecutionLimits(left)

    def create_slots(self) -> ExecutionSlots:
        """Return a ledger for one acquisition."""
        return ExecutionSlots(self)


class ExecutionSlots:
    """The ledger of one acquisition: each unlisted named group has an allowance of its own under ``*``."""

    __slots__ = ("_left", "_limits")

    def __init__(self, limits: ExecutionLimits) -> None:
        self._limits = limits
        self._left: dict[str | None, int] = {}

    def try_take(self, group: str | None) -> bool:
        """Take one slot of ``group``; False when none is left."""
        applies, limit = self._limits.try_get_limit(group)
        if not applies or limit is None:
            return True
        left = self._left.get(group, limit)
        if left <= 0:
            return False
        self._left[group] = left - 1
        return True


class ExecutionLimitsBuilder:
    """Fluent builder of :class:`ExecutionLimits`."""

    def __init__(self) -> None:
        self._groups: dict[str | None, int | None] = {}

    def for_group(self, name: str, limit: int) -> ExecutionLimitsBuilder:
        """Limit one named group.

        Raises:
            InvalidValueError: the name is blank or one of the reserved words ``*``, ``_`` and ``null``.
        """
        self._groups[check_group_name(name)] = limit
        return self

    def for_default_group(self, limit: int) -> ExecutionLimitsBuilder:
        """Limit the triggers without a group."""
        self._groups[None] = limit
        return self

    def for_other_groups(self, limit: int) -> ExecutionLimitsBuilder:
        """Limit each named group that is not listed."""
        self._groups[OTHER_GROUPS] = limit
        return self

    def unlimited(self, name: str) -> ExecutionLimitsBuilder:
        """Exempt one named group."""
        self._groups[check_group_name(name)] = None
        return self

    def build(self) -> ExecutionLimits:
        """Return the limits.

        Raises:
            InvalidValueError: a limit is negative.
        """
        return ExecutionLimits(self._groups)


def check_group_name(name: str) -> str:
    """Return the trimmed name of an execution group.

    Raises:
        InvalidValueError: the name is no text, blank or one of the reserved words ``*``, ``_`` and ``null``.
    """
    if not isinstance(name, str):
        raise InvalidValueError(f"execution group {name!r} must be a text")
    trimmed = name.strip()
    if trimmed.lower() in _UNGROUPED_ALIASES or trimmed == OTHER_GROUPS:
        raise InvalidValueError(f"execution group {name!r} is blank or a reserved word: give another name")
    return trimmed


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerAcquisitionRequest:
    """What to reserve for this node (spec 06 section 2). Decorated stores rewrite it with ``replace``.

    Attributes:
        no_later_than: Latest fire time, aware UTC (the time window comes on top).
        max_count: Most triggers to reserve, at least 1.
        time_window: How much later than the first one the others may fire, not negative.
        execution_limits: What is left of each execution group, None for no limit.
        excluded_job_type_names: Job types that this node declines, by stored name, exactly; at most 1000.

    Raises:
        InvalidValueError: a value is out of its range.
    """

    no_later_than: datetime
    max_count: int = 1
    time_window: timedelta = timedelta(0)
    execution_limits: ExecutionLimits | None = None
    excluded_job_type_names: Iterable[str] = frozenset()

    def __post_init__(self) -> None:
        if self.no_later_than.tzinfo is None:
            raise InvalidValueError(f"no_later_than {self.no_later_than} has no time zone: give an aware datetime")
        if self.max_count < 1:
            raise InvalidValueError(f"max_count is {self.max_count}: at least 1")
        if self.time_window < timedelta(0):
            raise InvalidValueError(f"time_window is {self.time_window}: not negative")
        if type(self.excluded_job_type_names) is not frozenset:
            object.__setattr__(self, "excluded_job_type_names", _excluded(self.excluded_job_type_names))
        elif self.excluded_job_type_names:
            _excluded(self.excluded_job_type_names)


def _excluded(names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise InvalidValueError(f"excluded_job_type_names is the text {names!r}: give a list of names")
    chosen = frozenset(names)
    if any(not isinstance(name, str) or not name.strip() for name in chosen):
        raise InvalidValueError("excluded_job_type_names holds a blank name: leave it out")
    if len(chosen) > MAX_EXCLUDED_JOB_TYPES:
        raise InvalidValueError(f"excluded_job_type_names has {len(chosen)} names: at most {MAX_EXCLUDED_JOB_TYPES}")
    return chosen
