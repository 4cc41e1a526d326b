"""Nodes of a cluster, as a store lists them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

__all__ = ["ClusterNode", "ClusterNodeState"]


class ClusterNodeState(Enum):
    """How a node stands: overdue is a missed check-in, failed means that its work is taken over."""

    ALIVE = "alive"
    OVERDUE = "overdue"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """One node (spec 06 section 6). A store without membership lists itself, alive, both times None."""

    instance_id: str
    is_current_node: bool
    state: ClusterNodeState
    last_check_in: datetime | None = None
    check_in_interval: timedelta | None = None
