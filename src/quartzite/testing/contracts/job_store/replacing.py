"""Replacing triggers: by the same key, by another one, and by details only."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.errors import JobPersistenceError, ObjectAlreadyExistsError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_trigger, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.cron import cron
from quartzite.triggers.simple import every

__all__ = ["ReplacingContract"]


class ReplacingContract(StoreContract):
    """Replacing (spec 06 section 1, spec 07 section 5, spec 04 section 6)."""

    # add_trigger(replace=True) --------------------------------------------------------------------------------

    async def test_replacing_a_trigger_replaces_its_definition(self, driver: StoreDriver) -> None:
        """Replacing leaves one trigger of the key, with the definition of the new one only, of whatever kind."""
        await driver.add_trigger(schedule=every(seconds=5), priority=9, description="old", job_data={"n": 1})
        new = a_trigger(schedule=cron("0 0 9 ? * MON"))
        await driver.store.add_trigger(new, replace=True)
        assert (await driver.snapshot()).triggers == (new,)

    async def test_replacing_a_trigger_that_is_not_there_adds_it(self, driver: StoreDriver) -> None:
        """With ``replace`` a new trigger is simply added."""
        await driver.add_job()
        new = a_trigger()
        await driver.store.add_trigger(new, replace=True)
        assert await driver.stored(new) == new

    async def test_the_previous_fire_time_survives_replacing(self, driver: StoreDriver) -> None:
        """A new trigger without a previous fire time keeps that of the old one: it did run."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.run_due()
        await driver.store.add_trigger(a_trigger(schedule=every(seconds=90), when=at(90)), replace=True)
        assert (await driver.stored(trigger)).previous_fire_time == at(0)

    async def test_a_previous_fire_time_that_is_given_wins(self, driver: StoreDriver) -> None:
        """A new trigger that knows when it last fired keeps what it knows."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.run_due()
        new = a_trigger(when=at(90)).copy_with(previous_fire_time=at(-30))
        await driver.store.add_trigger(new, replace=True)
        assert (await driver.stored(trigger)).previous_fire_time == at(-30)

    async def test_replacing_a_trigger_keeps_its_running_firings(self, driver: StoreDriver) -> None:
        """A trigger that is replaced while it runs goes on reporting EXECUTING until that run ends."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        bundle = await driver.fire_one()
        await driver.store.add_trigger(a_trigger(schedule=every(seconds=5), when=at(60)), replace=True)
        assert await driver.state(trigger) is TriggerState.EXECUTING
        await driver.complete(bundle)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_a_replaced_trigger_does_not_fire_by_its_old_claim(self, driver: StoreDriver) -> None:
        """A trigger that is replaced between acquisition and firing is not fired at its old time."""
        await driver.add_trigger()
        acquired = await driver.acquire_one()
        await driver.store.add_trigger(a_trigger(when=at(60)), replace=True)
        assert await driver.is_refused(acquired)
        await driver.store.release_acquired_trigger(acquired)
        driver.move_to(at(60))
        assert (await driver.fire_one()).scheduled_fire_time == at(60)

    async def test_an_old_claim_does_not_use_a_new_reservation(self, driver: StoreDriver) -> None:
        """When a replaced trigger is reserved anew, the old claim does not fire it before its time."""
        trigger = await driver.add_trigger()
        old = await driver.acquire_one()
        await driver.store.add_trigger(a_trigger(when=at(20)), replace=True)
        (new,) = await driver.acquire(until=at(30))
        assert await driver.is_refused(old)
        driver.move_to(at(20))
        (bundle,) = await driver.fire(new)
        assert (bundle.trigger.key, bundle.scheduled_fire_time) == (trigger.key, at(20))

    @pytest.mark.parametrize("bulk", [False, True], ids=["add_trigger", "schedule_jobs"])
    async def test_a_paused_trigger_stays_paused_when_it_is_replaced(self, driver: StoreDriver, bulk: bool) -> None:
        """Storing a trigger again, as an application does at its start, does not undo what an operator paused."""
        trigger = await driver.add_trigger()
        await driver.store.pause_trigger(trigger.key)
        new = a_trigger(schedule=every(seconds=5))
        if bulk:
            await driver.store.schedule_jobs({await driver.stored_job(JobKey("job")): [new]}, replace=True)
        else:
            await driver.store.add_trigger(new, replace=True)
        assert await driver.state(trigger) is TriggerState.PAUSED
        assert await driver.stored(trigger) == new

    @pytest.mark.parametrize(
        "ended", [SchedulerInstruction.SET_TRIGGER_ERROR, SchedulerInstruction.SET_TRIGGER_COMPLETE]
    )
    async def test_a_trigger_that_ended_works_again_when_it_is_replaced(
        self, driver: StoreDriver, ended: SchedulerInstruction
    ) -> None:
        """A new definition of a trigger in ERROR or COMPLETE starts afresh."""
        await driver.add_trigger(schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), ended)
        new = a_trigger(when=at(10))
        await driver.store.add_trigger(new, replace=True)
        assert await driver.state(new) is TriggerState.NORMAL
        driver.move_to(at(10))
        assert (await driver.fire_one()).scheduled_fire_time == at(10)

    async def test_a_weekly_trigger_that_is_stored_again_does_not_fire_at_once(self, driver: StoreDriver) -> None:
        """Replacing a trigger that has run before makes no run of its own: it waits for its next time."""
        weekly = cron("0 0 9 ? * MON")
        trigger = await driver.add_trigger(schedule=weekly, when=at(0))
        monday = trigger.next_fire_time
        assert monday is not None
        driver.move_to(monday)
        await driver.run_due()
        driver.advance(timedelta(days=2))
        await driver.store.add_trigger(a_trigger(schedule=weekly, when=driver.clock.now()), replace=True)
        await self.handle_misfires(driver)
        assert await driver.acquire() == []
        assert (await driver.stored(trigger)).next_fire_time == monday + timedelta(days=7)

    @pytest.mark.parametrize("durable", [True, False])
    async def test_a_trigger_can_be_given_to_another_job(self, driver: StoreDriver, durable: bool) -> None:
        """Replaced by a trigger of another job, it fires that one; a job that it leaves alone is orphaned by it."""
        left, other = await driver.add_job("left", durable=durable), await driver.add_job("other")
        trigger = await driver.add_trigger(job=left)
        await driver.store.add_trigger(a_trigger(job=other), replace=True)
        assert await driver.store.check_exists(left.key) is durable
        assert driver.signaler.deleted_jobs == ([] if durable else [left.key])
        assert keys_of(await driver.store.get_triggers_for_job(other.key)) == [trigger.key]
        assert (await driver.fire_one()).job == other

    # replace_trigger ------------------------------------------------------------------------------------------

    async def test_another_trigger_takes_the_place_of_a_stored_one(self, driver: StoreDriver) -> None:
        """The old trigger is gone and the new one is there, under its own key."""
        await driver.add_trigger("old", group="g")
        new = a_trigger("new", "h", schedule=every(seconds=5))
        assert await driver.store.replace_trigger(TriggerKey("old", "g"), new) is True
        assert (await driver.snapshot()).triggers == (new,)

    async def test_nothing_takes_the_place_of_a_trigger_that_is_not_there(self, driver: StoreDriver) -> None:
        """Without the old trigger the new one is not stored."""
        await driver.add_job()
        assert await driver.store.replace_trigger(TriggerKey("none"), a_trigger()) is False
        assert (await driver.snapshot()).triggers == ()

    async def test_a_trigger_is_not_replaced_by_one_of_another_job(self, driver: StoreDriver) -> None:
        """A new trigger of another job is refused and nothing changes."""
        trigger = await driver.add_trigger(job="one")
        await driver.add_job("two")
        before = await driver.snapshot()
        with pytest.raises(JobPersistenceError):
            await driver.store.replace_trigger(trigger.key, a_trigger("new", job="two"))
        assert await driver.snapshot() == before

    async def test_a_trigger_is_not_replaced_by_one_whose_key_is_taken(self, driver: StoreDriver) -> None:
        """A new key that a third trigger has is refused and nothing changes."""
        old, _ = await driver.add_triggers("old", "third")
        before = await driver.snapshot()
        with pytest.raises(ObjectAlreadyExistsError, match="third"):
            await driver.store.replace_trigger(old.key, a_trigger("third"))
        assert await driver.snapshot() == before

    async def test_the_job_of_a_replaced_trigger_stays(self, driver: StoreDriver) -> None:
        """A job that is not durable survives that its only trigger is replaced, and nobody hears of a deletion."""
        job = await driver.add_job(durable=False)
        trigger = await driver.add_trigger(job=job)
        await driver.store.replace_trigger(trigger.key, a_trigger("new"))
        assert await driver.store.get_job(job.key) == job
        assert driver.signaler.deleted_jobs == []

    async def test_a_replaced_trigger_forgets_its_firings(self, driver: StoreDriver) -> None:
        """The trigger in the place of one that runs does not report EXECUTING; the end of that run leaves it alone."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        bundle = await driver.fire_one()
        new = a_trigger(schedule=every(seconds=5), when=at(5))
        await driver.store.replace_trigger(trigger.key, new)
        assert await driver.state(new) is TriggerState.NORMAL
        await driver.complete(bundle, SchedulerInstruction.SET_TRIGGER_COMPLETE)
        assert await driver.state(new) is TriggerState.NORMAL
        assert await driver.stored(new) == new

    async def test_a_rescheduled_trigger_does_not_fire_by_its_old_claim(self, driver: StoreDriver) -> None:
        """A trigger whose place is taken between acquisition and firing is not fired at its old time."""
        trigger = await driver.add_trigger()
        acquired = await driver.acquire_one()
        await driver.store.replace_trigger(trigger.key, a_trigger(when=at(60)))
        assert await driver.is_refused(acquired)
        await driver.store.release_acquired_trigger(acquired)
        assert (await driver.stored(trigger)).next_fire_time == at(60)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_a_trigger_that_is_put_into_a_paused_group_is_paused(self, driver: StoreDriver) -> None:
        """The pause of the new trigger's group holds for it too."""
        trigger = await driver.add_trigger("t", group="g")
        await driver.store.pause_triggers(GroupMatcher.group_equals("p"))
        new = a_trigger("t", "p")
        await driver.store.replace_trigger(trigger.key, new)
        assert await driver.state(new) is TriggerState.PAUSED
