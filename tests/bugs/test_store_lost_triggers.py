"""Faults of job stores that users reported: triggers that were lost (B029, B036, B038, B055, B077)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.model.keys import RECOVERY_GROUP
from quartzite.model.selectors import ByKeys
from quartzite.model.states import TriggerState
from quartzite.rules.transitions import ACQUIRE
from quartzite.stores.operations.recovering import free_stranded
from quartzite.stores.ram.session import RamTables
from quartzite.stores.session import StoreSession
from quartzite.stores.standard import StandardJobStore
from quartzite.stores.work import Work
from quartzite.testing.contracts import MakeDriver, MakeStore, StoreContract, StoreDriver, StoreParts
from quartzite.testing.contracts.job_store.content import a_trigger, at, keys_of
from quartzite.triggers.simple import every
from tests.contract.remembering import RememberingJobStore
from tests.contract.subjects import InMemory


class LostTriggerFaults(StoreContract):
    """What went wrong elsewhere with triggers that should have fired."""

    async def test_b029_an_acquired_trigger_without_a_firing_is_freed(self, driver: StoreDriver) -> None:
        """A trigger left in ACQUIRED by nobody goes on; one that is reserved by a firing is not disturbed."""
        stranded, reserved = await driver.add_triggers("stranded", "reserved")
        await driver.store.pause_trigger(stranded.key)
        (held,) = await driver.acquire()
        await driver.store.resume_trigger(stranded.key)
        assert isinstance(driver.store, StandardJobStore)

        async def strand(session: StoreSession) -> int:
            return await session.triggers.move(ByKeys([stranded.key]), ACQUIRE)

        assert await driver.store.run(Work.CHANGE, strand) == 1
        assert await driver.acquire() == []
        assert set(await driver.store.run(Work.RECOVER, free_stranded)) == {stranded.key}
        assert keys_of(await driver.acquire()) == [stranded.key]
        (bundle,) = await driver.fire(held)
        assert bundle.trigger.key == reserved.key

    async def test_b038_a_job_deleted_while_it_runs_can_be_made_anew(self, driver: StoreDriver) -> None:
        """The end of the old run leaves no firing behind, and the new job of the same key fires at its next time."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_trigger(job=job, schedule=every(seconds=30))
        old = await driver.fire_one()
        await driver.store.delete_job(job.key)
        await driver.store.schedule_job(job, a_trigger(schedule=every(seconds=30), when=at(30)))
        driver.advance(10)
        await driver.complete(old)
        assert await driver.firings() == []
        driver.move_to(at(30))
        assert (await driver.fire_one()).scheduled_fire_time == at(30)

    @pytest.mark.parametrize("durable", [True, False])
    async def test_b055_a_failed_one_shot_leaves_nothing(self, driver: StoreDriver, durable: bool) -> None:
        """After a one-shot that failed there is no trigger, no firing, and no job but a durable one."""
        job = await driver.add_job(durable=durable)
        await driver.add_trigger(job=job)
        bundle = await driver.fire_one()
        await driver.complete(bundle, bundle.trigger.execution_complete(None))
        snapshot = await driver.snapshot()
        assert (snapshot.jobs, snapshot.triggers, snapshot.firings) == ((job,) if durable else (), (), ())

    async def test_b077_a_batch_without_a_window(self, driver: StoreDriver) -> None:
        """Ten triggers that are due at once come in one acquisition without a window; none fires before its time."""
        for number in range(10):
            await driver.add_trigger(f"due {number}", when=at(-number / 10))
        await driver.add_trigger("later", when=at(0.001))
        acquired = await driver.acquire(11, until=at(30))
        assert sorted(key.name for key in keys_of(acquired)) == [f"due {number}" for number in range(10)]

    async def test_b077_a_batch_with_a_window(self, driver: StoreDriver) -> None:
        """With a window of 5 s triggers are reserved early, and each keeps its own time."""
        for number in range(10):
            await driver.add_trigger(f"{number}", when=at(number))
        acquired = await driver.acquire(10, until=at(0), window=timedelta(seconds=5))
        assert [trigger.next_fire_time for trigger in acquired] == [at(number) for number in range(6)]


class RecoveryFaults(StoreContract):
    """What went wrong elsewhere with triggers of recovery."""

    async def test_b036_recovery_works_after_pausing_and_resuming_all(
        self, driver: StoreDriver, make_driver: MakeDriver
    ) -> None:
        """The group of the recovery triggers is not left paused: a later crash is recovered like the first."""
        job = await driver.add_job(requests_recovery=True)
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        await driver.fire_one()
        second = await make_driver()
        bundle = await second.fire_one()
        assert bundle.recovering
        await second.store.pause_all()
        await second.complete(bundle, bundle.trigger.execution_complete(None))
        await second.store.resume_all()
        assert (await second.snapshot()).paused_groups == ()
        second.move_to(at(60))
        await second.fire_one()
        third = await make_driver()
        (again,) = await third.fire_due()
        assert (again.trigger.key.group, again.recovering) == (RECOVERY_GROUP, True)
        assert await third.state(again.trigger) is TriggerState.EXECUTING


class TestLostTriggerFaultsInMemory(InMemory, LostTriggerFaults):
    """RamJobStore."""


class TestRecoveryFaultsInMemory(RecoveryFaults):
    """A store in memory that outlives its objects."""

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """How the store is made."""
        remembered: dict[str, RamTables] = {}

        async def make(parts: StoreParts) -> RememberingJobStore:
            store = RememberingJobStore(parts, remembered)
            await store.initialize(parts.identity)
            return store

        return make
