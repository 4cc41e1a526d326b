"""Clustering: several nodes on one set of data."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest_asyncio

from quartzite.model.keys import JobKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.model.states import FiredState, TriggerState
from quartzite.testing.contracts.capabilities import Capability, requires
from quartzite.testing.contracts.job_store.base import MakeDriver, StoreContract
from quartzite.testing.contracts.job_store.content import keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["ClusterContract"]


@requires(Capability.CLUSTERING)
class ClusterContract(StoreContract):
    """Nodes that share their data (spec 08 section 5, spec 06 sections 5 and 6)."""

    @pytest_asyncio.fixture
    async def peer(self, driver: StoreDriver, make_driver: MakeDriver) -> StoreDriver:
        """Another node, beside that of ``driver``."""
        return await make_driver("node-2")

    async def test_the_store_is_clustered(self, driver: StoreDriver) -> None:
        """A store that several nodes share says so, and is persistent."""
        assert (driver.store.clustered, driver.store.supports_persistence) == (True, True)

    async def test_nodes_see_the_same_content(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """What one node stores, pauses or fires the other one shows."""
        await driver.add_triggers("a", "b", schedule=every(seconds=60))
        await peer.fire_due(1)
        await peer.store.pause_job(JobKey("job"))
        assert await driver.snapshot() == await peer.snapshot()
        assert len((await driver.snapshot()).triggers) == 2

    async def test_each_trigger_is_reserved_by_one_node(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """Nodes that acquire at the same time share the triggers out: each goes to one, under an id of its own."""
        await driver.add_triggers(*(f"{number:02}" for number in range(40)))
        batches = await asyncio.gather(*(node.acquire(5) for _ in range(5) for node in (driver, peer)))
        acquired = [trigger for batch in batches for trigger in batch]
        while more := [*await driver.acquire(5), *await peer.acquire(5)]:
            acquired += more
        assert Counter(keys_of(acquired)).most_common(1)[0][1] == 1
        assert len({trigger.fire_instance_id for trigger in acquired}) == len(acquired) == 40

    async def test_firings_of_all_nodes_are_listed(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """Either node lists what both have reserved or run, with the node that does it."""
        one, two = await driver.add_triggers("one", "two")
        await driver.fire_due(1)
        await peer.acquire()
        for node in (driver, peer):
            listed = [(one.trigger_key, one.instance_id, one.state) for one in await node.firings()]
            assert listed == [
                (one.key, "node-1", FiredState.EXECUTING), (two.key, "node-2", FiredState.ACQUIRED),
            ]  # fmt: skip
            assert [firing.trigger_key for firing in await node.firings(instance_id="node-2")] == [two.key]

    async def test_a_job_runs_on_one_node_at_a_time(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """While a non-concurrent job runs on one node, the other one neither reserves nor fires its triggers."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        a, b = await driver.add_triggers("a", "b", job=job)
        first, second = [*await driver.acquire(1), *await peer.acquire(1)]
        (bundle,) = await driver.fire(first)
        assert await peer.state(a) is TriggerState.EXECUTING
        assert await peer.is_refused(second)
        await peer.store.release_acquired_trigger(second)
        assert await peer.acquire() == []
        await driver.complete(bundle)
        assert keys_of(await peer.acquire()) == [b.key]

    async def test_a_pause_on_one_node_reaches_the_other(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """A trigger that one node reserved is not fired when the other node pauses it."""
        trigger = await driver.add_trigger()
        acquired = await driver.acquire_one()
        await peer.store.pause_trigger(trigger.key)
        assert await driver.is_refused(acquired)

    async def test_one_node_does_not_fire_for_the_other(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """A reservation belongs to its node."""
        await driver.add_trigger()
        acquired = await driver.acquire_one()
        assert await peer.is_refused(acquired)
        assert len(await driver.fire(acquired)) == 1

    async def test_the_nodes_are_listed(self, make_driver: MakeDriver) -> None:
        """Each node lists itself first and the others by instance id."""
        nodes = [await make_driver(name) for name in ("node-2", "node-1", "Node-3")]
        for node, expected in zip(
            nodes,
            (["node-2", "Node-3", "node-1"], ["node-1", "Node-3", "node-2"], ["Node-3", "node-1", "node-2"]),
            strict=True,
        ):
            assert [one.instance_id for one in await node.store.query_cluster_nodes()] == expected

    async def test_a_trigger_waits_for_the_node_it_prefers(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """A live node that a trigger is pinned to gets it; a pin to a node that is not there holds nobody back."""
        pinned = await driver.add_trigger("pinned", preferred_node=PreferredNode.for_node("node-2"))
        free = await driver.add_trigger("free", preferred_node=PreferredNode.for_node("node-9"))
        assert keys_of(await driver.acquire()) == [free.key]
        assert keys_of(await peer.acquire()) == [pinned.key]

    async def test_an_automatic_pin_goes_to_the_first_node(self, driver: StoreDriver, peer: StoreDriver) -> None:
        """The node that fires an automatically pinned trigger first keeps it while it lives."""
        trigger = await driver.add_trigger(schedule=every(seconds=60), preferred_node=PreferredNode.AUTO)
        await peer.run_due()
        await driver.clock.advance(seconds=60)
        assert await driver.acquire() == []
        assert keys_of(await peer.acquire()) == [trigger.key]
