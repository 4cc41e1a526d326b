"""Life of a store: what it says it is, how it begins and ends, and which nodes it knows."""

from __future__ import annotations

from datetime import timedelta

from quartzite.model.cluster import ClusterNode, ClusterNodeState
from quartzite.testing.contracts.capabilities import Capability
from quartzite.testing.contracts.job_store.base import MakeDriver, StoreContract
from quartzite.testing.contracts.job_store.content import a_job
from quartzite.testing.contracts.job_store.driver import StoreDriver

__all__ = ["LifeContract"]


class LifeContract(StoreContract):
    """Identity, start, end (spec 06 sections 1 and 6)."""

    async def test_persistence_is_what_the_subject_claims(self, driver: StoreDriver) -> None:
        """A store answers whether its data survives the process; the suite runs it as what it claims to be."""
        assert driver.store.supports_persistence is (Capability.PERSISTENCE in self.capabilities)

    async def test_clustering_is_answered_truthfully(self, driver: StoreDriver) -> None:
        """A store that can not share its data says so."""
        assert driver.store.clustered in {False, Capability.CLUSTERING in self.capabilities}

    async def test_the_retry_delay_is_within_bounds(self, driver: StoreDriver) -> None:
        """After any number of failures the pause lies between 20 ms and 10 min."""
        for failures in (1, 2, 3, 10, 1000, 10**9):
            delay = driver.store.get_acquire_retry_delay(failures)
            assert timedelta(milliseconds=20) <= delay <= timedelta(minutes=10), failures

    async def test_a_store_that_never_started_can_be_shut_down(self, make_driver: MakeDriver) -> None:
        """Shutting down is allowed in any state, also twice."""
        driver = await make_driver(started=False)
        await driver.store.shutdown()
        await driver.store.shutdown()

    async def test_content_can_be_stored_before_the_start(self, make_driver: MakeDriver) -> None:
        """What is declared while the scheduler is built is there when it starts."""
        driver = await make_driver(started=False)
        trigger = await driver.add_trigger()
        await driver.store.scheduler_started()
        assert await driver.acquire_one() == trigger.copy_with(
            fire_instance_id=(await driver.firings())[0].fire_instance_id
        )

    async def test_standing_by_keeps_everything(self, driver: StoreDriver) -> None:
        """Going into standby and back changes nothing that can be seen."""
        await driver.add_trigger()
        before = await driver.snapshot()
        await driver.store.scheduler_paused()
        await driver.store.scheduler_resumed()
        assert await driver.snapshot() == before

    async def test_the_current_node_is_listed_first(self, driver: StoreDriver) -> None:
        """The node that asks is always listed, first, alive, and the only one that is current."""
        nodes = await driver.store.query_cluster_nodes()
        assert (nodes[0].instance_id, nodes[0].state) == ("node-1", ClusterNodeState.ALIVE)
        assert [node.instance_id for node in nodes if node.is_current_node] == ["node-1"]

    async def test_a_store_without_members_lists_itself(self, driver: StoreDriver) -> None:
        """A store that is not clustered answers exactly the current node, without check-in times."""
        if driver.store.clustered:
            return
        node = ClusterNode(instance_id="node-1", is_current_node=True, state=ClusterNodeState.ALIVE)
        assert await driver.store.query_cluster_nodes() == [node]

    async def test_a_new_store_is_empty(self, driver: StoreDriver) -> None:
        """A scheduler name that was never used has no content, whatever other schedulers store."""
        snapshot = await driver.snapshot()
        assert not any((snapshot.jobs, snapshot.triggers, snapshot.paused_groups, snapshot.calendars, snapshot.firings))

    async def test_clearing_leaves_nothing(self, driver: StoreDriver) -> None:
        """Clearing deletes jobs, triggers, pauses and firings, so that all of it can be stored again."""
        empty = await driver.snapshot()
        trigger = await driver.add_trigger()
        await driver.fire_one()
        await driver.store.pause_all()
        await driver.store.clear()
        assert await driver.snapshot() == empty
        await driver.store.schedule_job(a_job(), trigger)
        assert await driver.acquire(), "the mark of pause_all was not cleared"
