"""Whose time a part that uses the database goes by (decision 11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["ClockTime", "DatabaseTime", "SqlTime"]


@dataclass(frozen=True, slots=True)
class DatabaseTime:
    """The database's clock: the same for all nodes, however theirs differ."""


@dataclass(frozen=True, slots=True)
class ClockTime:
    """The scheduler's own clock: for one node, and for tests with a fake clock on a real server."""


SqlTime: TypeAlias = DatabaseTime | ClockTime
