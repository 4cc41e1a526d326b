"""Selectors: which stored rows an operation is about; read by every store."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from quartzite.model.keys import JobKey, TriggerKey

__all__ = ["All", "ByKeys", "InGroups", "OfJobs", "TriggerSelector"]


@dataclass(frozen=True, slots=True)
class ByKeys:
    """The triggers of these keys."""

    keys: Collection[TriggerKey]


@dataclass(frozen=True, slots=True)
class OfJobs:
    """The triggers of these jobs."""

    keys: Collection[JobKey]


@dataclass(frozen=True, slots=True)
class InGroups:
    """The triggers of these trigger groups."""

    groups: Collection[str]


@dataclass(frozen=True, slots=True)
class All:
    """Every trigger of the scheduler."""


TriggerSelector: TypeAlias = ByKeys | OfJobs | InGroups | All
