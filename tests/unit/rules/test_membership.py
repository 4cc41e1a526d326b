"""Which nodes are alive."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.model.cluster import ClusterNode, ClusterNodeState
from quartzite.rules.membership import CheckIn, Watch, failed_nodes, list_nodes, node_state
from tests.stores import NOW, SECOND

INTERVAL = THRESHOLD = 8 * SECOND
N = ClusterNodeState


def seen(ago: timedelta, instance_id: str = "other") -> CheckIn:
    """Return the record of a node that checked in some time ago."""
    return CheckIn(instance_id=instance_id, last=NOW - ago, interval=INTERVAL)


def watch(own_ago: timedelta = timedelta(0)) -> Watch:
    """Return the look of a node that checked in itself some time ago."""
    return Watch(instance_id="own", now=NOW, own_last=NOW - own_ago, threshold=THRESHOLD)


@pytest.mark.parametrize(
    ("ago", "own_ago", "state"),
    [
        (0, 0, N.ALIVE),
        (8, 0, N.ALIVE),
        (9, 0, N.OVERDUE),
        (16, 0, N.OVERDUE),
        (17, 0, N.FAILED),
        (17, 8, N.FAILED),
        (17, 9, N.OVERDUE),
        (40, 32, N.OVERDUE),
        (41, 32, N.FAILED),
    ],
)
def test_state(ago: int, own_ago: int, state: N) -> None:
    """A node fails an interval and the threshold after its check-in; who is late itself gives that much more."""
    assert node_state(seen(ago * SECOND), watch(own_ago * SECOND)) is state


def test_failed_nodes() -> None:
    """The others that failed are taken over, in order; a node never takes itself over here."""
    records = [seen(20 * SECOND, "z"), seen(20 * SECOND, "a"), seen(SECOND, "b"), seen(99 * SECOND, "own")]
    assert [record.instance_id for record in failed_nodes(records, watch())] == ["a", "z"]


def test_listing_and_failover_agree() -> None:
    """A node is listed as failed exactly when its work is taken over."""
    records = [seen(ago * SECOND, f"n{ago:02}") for ago in range(30)]
    listed = {node.instance_id for node in list_nodes(records, watch()) if node.state is N.FAILED}
    assert listed == {record.instance_id for record in failed_nodes(records, watch())}
    assert 0 < len(listed) < 30


def test_the_current_node_is_first_and_alive() -> None:
    """However late its own record is, the current node leads the list; the others follow by code point."""
    nodes = list_nodes([seen(SECOND, "b"), seen(99 * SECOND, "own"), seen(SECOND, "B")], watch())
    assert [(node.instance_id, node.is_current_node) for node in nodes] == [("own", True), ("B", False), ("b", False)]
    assert nodes[0].state is N.ALIVE
    assert nodes[0].last_check_in == NOW - 99 * SECOND


def test_the_current_node_without_a_record() -> None:
    """A store that keeps no records lists its own node, alive, and knows no times."""
    assert list_nodes([], watch()) == [ClusterNode(instance_id="own", is_current_node=True, state=N.ALIVE)]
