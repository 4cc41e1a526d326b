"""Triggers: stored, replaced, found and deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.errors import JobNotFoundError, ObjectAlreadyExistsError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import SCHEDULES, a_trigger, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import every

__all__ = ["TriggersContract"]

_EVERYTHING_SET: dict[str, Any] = {
    "description": "Lohnlauf ä 😀",
    "job_data": {"month": 3, "who": "all"},
    "priority": -7,
    "end_time": at(10_000_000.000001),
    "execution_group": "heavy",
    "preferred_node": PreferredNode.for_node("node-7"),
}


class TriggersContract(StoreContract):
    """Triggers (spec 06 section 1)."""

    @pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
    @pytest.mark.parametrize("fields", [{}, _EVERYTHING_SET], ids=["defaults", "everything set"])
    async def test_a_trigger_comes_back_equal(
        self, driver: StoreDriver, schedule: Schedule, fields: dict[str, Any]
    ) -> None:
        """Every field of a trigger of every kind comes back as it was stored, to the microsecond."""
        trigger = await driver.add_trigger("t", group="g", schedule=schedule, when=at(0.123456), **fields)
        assert await driver.store.get_trigger(trigger.key) == trigger

    @pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
    async def test_every_kind_goes_on_by_its_schedule(self, driver: StoreDriver, schedule: Schedule) -> None:
        """From firing to firing the stored trigger is what its own arithmetic makes of it, until its last time."""
        trigger = await driver.add_trigger(schedule=schedule)
        for _ in range(4):
            if trigger.next_fire_time is None:
                break
            driver.move_to(trigger.next_fire_time)
            bundle = await driver.fire_one()
            trigger = trigger.triggered(None)
            assert await driver.stored(trigger) == trigger
            await driver.complete(bundle)

    async def test_progress_comes_back_equal(self, driver: StoreDriver) -> None:
        """A trigger that is stored in the middle of its life is not started over."""
        trigger = a_trigger(schedule=every(seconds=60, times=10)).triggered(None).triggered(None)
        await driver.add_job()
        await driver.store.add_trigger(trigger)
        assert await driver.store.get_trigger(trigger.key) == trigger
        assert (trigger.times_triggered, trigger.previous_fire_time) == (2, at(60))

    async def test_a_trigger_that_is_not_stored(self, driver: StoreDriver) -> None:
        """An unknown key gives None; name, group and case all count."""
        await driver.add_trigger("t", group="g")
        for key in (TriggerKey("T", "g"), TriggerKey("t", "G"), TriggerKey("g", "t"), TriggerKey("t")):
            assert await driver.store.get_trigger(key) is None
            assert not await driver.store.check_exists(key)
        assert await driver.store.check_exists(TriggerKey("t", "g"))

    async def test_a_trigger_needs_its_job(self, driver: StoreDriver) -> None:
        """A trigger of a job that is not stored is refused, naming the job, and nothing is stored."""
        with pytest.raises(JobNotFoundError, match=r"payroll\.missing"):
            await driver.store.add_trigger(a_trigger(job=JobKey("missing", "payroll")))
        assert (await driver.snapshot()).triggers == ()

    async def test_a_taken_key_of_a_trigger_is_refused(self, driver: StoreDriver) -> None:
        """Adding a trigger whose key is taken raises, names the key and changes nothing."""
        await driver.add_trigger("t", group="nightly")
        before = await driver.snapshot()
        with pytest.raises(ObjectAlreadyExistsError, match=r"nightly\.t"):
            await driver.store.add_trigger(a_trigger("t", "nightly", priority=9))
        assert await driver.snapshot() == before

    async def test_triggers_by_key_come_in_the_order_asked_for(self, driver: StoreDriver) -> None:
        """Several triggers come in the order of the keys, each once, without those that are not stored."""
        one, two, three = await driver.add_triggers("one", "two", "three")
        keys = [three.key, TriggerKey("none"), one.key, three.key, two.key, one.key]
        assert await driver.store.get_triggers(keys) == [three, one, two]
        assert await driver.store.get_triggers([]) == []

    async def test_the_triggers_of_a_job_come_by_group_and_name(self, driver: StoreDriver) -> None:
        """The triggers of one job come in paging order: by group, then name, by code point."""
        job = await driver.add_job()
        for name, group in (("b", "x"), ("a", "x"), ("B", "x"), ("z", "DEFAULT"), ("a", "A")):
            await driver.add_trigger(name, group=group, job=job)
        await driver.add_trigger("of another job", job="other")
        found = keys_of(await driver.store.get_triggers_for_job(job.key))
        assert [str(key) for key in found] == ["A.a", "DEFAULT.z", "x.B", "x.a", "x.b"]

    async def test_a_job_that_is_not_there_has_no_triggers(self, driver: StoreDriver) -> None:
        """An unknown job has no triggers."""
        assert await driver.store.get_triggers_for_job(JobKey("none")) == []

    async def test_deleting_a_trigger(self, driver: StoreDriver) -> None:
        """A deleted trigger is gone; deleting it again answers False."""
        trigger, kept = await driver.add_triggers("a", "b")
        assert await driver.store.delete_trigger(trigger.key) is True
        assert await driver.store.delete_trigger(trigger.key) is False
        assert (await driver.snapshot()).triggers == (kept,)

    @pytest.mark.parametrize("durable", [True, False])
    async def test_the_last_trigger_takes_a_job_along_that_is_not_durable(
        self, driver: StoreDriver, durable: bool
    ) -> None:
        """A job that is not durable is deleted with its last trigger, and the listeners are told; others stay."""
        job = await driver.add_job(durable=durable)
        first, last = await driver.add_triggers("first", "last")
        await driver.store.delete_trigger(first.key)
        assert await driver.store.check_exists(job.key)
        await driver.store.delete_trigger(last.key)
        assert await driver.store.check_exists(job.key) is durable
        assert driver.signaler.deleted_jobs == ([] if durable else [job.key])

    async def test_deleting_triggers_tells_whether_all_were_there(self, driver: StoreDriver) -> None:
        """Those that are there are deleted even when others are not; each orphaned job is told once."""
        jobs = [await driver.add_job(name, durable=False) for name in ("a", "b")]
        triggers = [await driver.add_trigger(job.key.name, job=job) for job in jobs]
        more = await driver.add_trigger("more", job=jobs[1])
        keys = [triggers[0].key, TriggerKey("none"), triggers[1].key, more.key]
        assert await driver.store.delete_triggers(keys) is False
        assert (await driver.snapshot()).triggers == ()
        assert driver.signaler.deleted_jobs == [job.key for job in jobs]
        assert await driver.store.delete_triggers([]) is True

    async def test_deleting_the_triggers_that_are_all_there(self, driver: StoreDriver) -> None:
        """Deleting several triggers answers True when each was stored."""
        triggers = await driver.add_triggers("a", "b", "c")
        assert await driver.store.delete_triggers(keys_of([*triggers, *triggers])) is True, "each key counts once"

    async def test_reservations_go_with_their_triggers(self, driver: StoreDriver) -> None:
        """A firing that was only reserved is gone when its trigger or its job is deleted."""
        one, two = await driver.add_trigger("one", job="one"), await driver.add_trigger("two", job="two")
        assert len(await driver.acquire()) == 2
        await driver.store.delete_trigger(one.key)
        await driver.store.delete_job(two.job_key)
        assert await driver.firings() == []

    async def test_a_new_trigger_does_not_take_over_an_old_run(self, driver: StoreDriver) -> None:
        """A trigger that is deleted while it runs, and stored again, has nothing to do with that run."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        bundle = await driver.fire_one()
        await driver.store.delete_trigger(trigger.key)
        await driver.store.add_trigger(trigger)
        assert await driver.state(trigger) is TriggerState.NORMAL
        await driver.complete(bundle, SchedulerInstruction.SET_TRIGGER_ERROR)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_a_trigger_without_a_next_time_can_be_stored(self, driver: StoreDriver) -> None:
        """A trigger that has nothing left to fire is kept as it is and never acquired."""
        trigger = a_trigger().copy_with(next_fire_time=None)
        await driver.add_job()
        await driver.store.add_trigger(trigger)
        assert await driver.acquire(until=at(timedelta(days=3650).total_seconds())) == []
        assert await driver.store.get_trigger(trigger.key) == trigger
