"""Which nodes are alive: one predicate for the listing and for the failover (spec 08 section 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from quartzite.model.cluster import ClusterNode, ClusterNodeState

__all__ = ["CheckIn", "Watch", "failed_nodes", "list_nodes", "node_state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIn:
    """The check-in record of a node.

    Attributes:
        instance_id: The node.
        last: When it checked in last.
        interval: How often it means to.
    """

    instance_id: str
    last: datetime
    interval: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who looks at the others, and how patiently.

    Attributes:
        instance_id: The current node.
        now: The instant of the look.
        own_last: When the current node checked in last: one that is late itself gives the others that time, too.
        threshold: How late a check-in may be before the node counts as failed.
    """

    instance_id: str
    now: datetime
    own_last: datetime
    threshold: timedelta


def node_state(check_in: CheckIn, watch: Watch) -> ClusterNodeState:
    """Return how another node stands."""
    patience = max(check_in.interval, watch.now - watch.own_last)
    if check_in.last + patience + watch.threshold < watch.now:
        return ClusterNodeState.FAILED
    overdue = check_in.last + check_in.interval < watch.now
    return ClusterNodeState.OVERDUE if overdue else ClusterNodeState.ALIVE


def failed_nodes(check_ins: Iterable[CheckIn], watch: Watch) -> list[CheckIn]:
    """Return the other nodes whose work is to be taken over, by instance id."""
    others = (c for c in check_ins if c.instance_id != watch.instance_id)
    failed = (c for c in others if node_state(c, watch) is ClusterNodeState.FAILED)
    return sorted(failed, key=lambda c: c.instance_id)


def list_nodes(check_ins: Iterable[CheckIn], watch: Watch) -> list[ClusterNode]:
    """Return all nodes, the current one first, whether it has a record or not, the others by instance id."""
    by_id = {check_in.instance_id: check_in for check_in in check_ins}
    own = by_id.pop(watch.instance_id, None)
    current = ClusterNode(
        instance_id=watch.instance_id,
        is_current_node=True,
        state=ClusterNodeState.ALIVE,
        last_check_in=own.last if own else None,
        check_in_interval=own.interval if own else None,
    )
    return [current, *(_node(by_id[instance_id], watch) for instance_id in sorted(by_id))]


def _node(check_in: CheckIn, watch: Watch) -> ClusterNode:
    return ClusterNode(
        instance_id=check_in.instance_id,
        is_current_node=False,
        state=node_state(check_in, watch),
        last_check_in=check_in.last,
        check_in_interval=check_in.interval,
    )
