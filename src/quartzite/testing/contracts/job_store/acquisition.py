"""Acquiring: which triggers are reserved, in which order, and how many."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.model.job import JobType
from quartzite.model.query import FireInstance
from quartzite.model.states import FiredState, SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import MICROSECOND, a_job, at, keys_of, plain
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.subjects import OtherJob, QuietJob, QuietJobber
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import every

__all__ = ["AcquisitionContract"]


def names_of(triggers: list[Trigger]) -> list[str]:
    """Return the names within the groups."""
    return [trigger.key.name for trigger in triggers]


class AcquisitionContract(StoreContract):
    """``acquire_next_triggers`` (spec 06 section 2)."""

    async def test_nothing_is_due(self, driver: StoreDriver) -> None:
        """A store without triggers, or with later ones only, reserves nothing."""
        assert await driver.acquire() == []
        await driver.add_trigger(when=at(60))
        assert await driver.acquire() == []

    @pytest.mark.parametrize(("late", "expected"), [(timedelta(0), 1), (MICROSECOND, 0)])
    async def test_the_limit_is_exact(self, driver: StoreDriver, late: timedelta, expected: int) -> None:
        """A trigger that fires at the limit is reserved, one that fires a microsecond later is not."""
        await driver.add_trigger(when=at(30) + late)
        assert len(await driver.acquire(until=at(30))) == expected

    async def test_a_reserved_trigger_is_the_stored_one(self, driver: StoreDriver) -> None:
        """What is reserved equals what is stored, and has the id of its firing."""
        trigger = await driver.add_trigger(schedule=every(seconds=5), priority=7, job_data={"a": 1})
        acquired = await driver.acquire_one()
        assert plain(acquired) == trigger
        assert acquired.fire_instance_id

    async def test_a_reserved_trigger_is_not_reserved_again(self, driver: StoreDriver) -> None:
        """Each trigger is reserved once, until it fires or is released."""
        await driver.add_triggers("a", "b")
        assert names_of(await driver.acquire(1)) == ["a"]
        assert names_of(await driver.acquire()) == ["b"]
        assert await driver.acquire() == []

    async def test_there_are_never_more_than_asked_for(self, driver: StoreDriver) -> None:
        """At most ``max_count`` triggers are reserved; the others stay for the next time."""
        await driver.add_triggers("a", "b", "c", "d", "e")
        assert names_of(await driver.acquire(2)) == ["a", "b"]
        assert names_of(await driver.acquire(2)) == ["c", "d"]
        assert names_of(await driver.acquire(2)) == ["e"]

    async def test_the_order_is_time_then_priority_then_key(self, driver: StoreDriver) -> None:
        """Earlier first; at one time the higher priority; then the group DEFAULT, then group and name by code point."""
        await driver.add_trigger("late", when=at(0), priority=99)
        await driver.add_trigger("early", when=at(-1), priority=-99)
        for name, group, priority in (
            ("urgent", "z", 10), ("low", "DEFAULT", -1), ("b", "DEFAULT", 5), ("a", "DEFAULT", 5), ("B", "DEFAULT", 5),
            ("a", "A", 5), ("a", "a", 5), ("a", "É", 5), ("😀", "E", 5), ("ａ", "E", 5),
        ):  # fmt: skip
            await driver.add_trigger(name, group=group, priority=priority, when=at(0))
        assert [str(key) for key in keys_of(await driver.acquire())] == [
            "DEFAULT.early", "DEFAULT.late", "z.urgent", "DEFAULT.B", "DEFAULT.a", "DEFAULT.b", "A.a", "E.ａ", "E.😀",
            "a.a", "É.a", "DEFAULT.low",
        ]  # fmt: skip

    async def test_the_order_decides_who_gets_the_last_place(self, driver: StoreDriver) -> None:
        """With one place the most urgent of the earliest triggers is reserved, whatever was stored first."""
        await driver.add_trigger("later, urgent", when=at(0), priority=9)
        await driver.add_trigger("earlier", when=at(-1), priority=1)
        await driver.add_trigger("earlier, urgent", when=at(-1), priority=2)
        assert names_of(await driver.acquire(1)) == ["earlier, urgent"]

    async def test_every_firing_has_an_id_of_its_own(self, driver: StoreDriver) -> None:
        """Ids differ between triggers and between firings of one trigger, and fit into 140 characters."""
        ids: list[str] = []
        await driver.add_triggers("a", "b", "c", schedule=every(seconds=1))
        for _ in range(5):
            ids += [bundle.fire_instance_id for bundle in await driver.run_due()]
            driver.advance(1)
        assert len(ids) == len(set(ids)) == 15
        assert all(0 < len(one) <= 140 for one in ids)

    async def test_a_reservation_can_be_seen(self, driver: StoreDriver) -> None:
        """An acquired firing is listed with its node and times but without its job, and its trigger stays NORMAL."""
        trigger = await driver.add_trigger(when=at(20), priority=3, execution_group="g")
        await driver.acquire(until=at(20))
        (firing,) = await driver.firings()
        assert firing == FireInstance(
            fire_instance_id=firing.fire_instance_id, trigger_key=trigger.key, job_key=None, instance_id="node-1",
            state=FiredState.ACQUIRED, fire_time=at(0), scheduled_fire_time=at(20), priority=3, execution_group="g",
        )  # fmt: skip
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_triggers_that_can_not_fire_are_not_reserved(self, driver: StoreDriver) -> None:
        """PAUSED, COMPLETE and ERROR triggers stay where they are."""
        complete, error, paused, normal = await driver.add_triggers(
            "complete", "error", "paused", "normal", schedule=every(seconds=1)
        )
        bundles = await driver.fire_due()
        ends = {
            complete.key: SchedulerInstruction.SET_TRIGGER_COMPLETE,
            error.key: SchedulerInstruction.SET_TRIGGER_ERROR,
        }
        for bundle in bundles:
            await driver.complete(bundle, ends.get(bundle.trigger.key, SchedulerInstruction.NO_INSTRUCTION))
        await driver.store.pause_trigger(paused.key)
        driver.advance(1)
        assert keys_of(await driver.acquire()) == [normal.key]

    # The time window ------------------------------------------------------------------------------------------

    async def test_all_that_is_due_comes_in_one_batch(self, driver: StoreDriver) -> None:
        """Without a window, triggers of different past times come together: each of them is due."""
        for seconds in range(10):
            await driver.add_trigger(f"{seconds}", when=at(-seconds / 10))
        assert len(await driver.acquire(10)) == 10

    async def test_without_a_window_later_ones_wait(self, driver: StoreDriver) -> None:
        """A trigger that fires after the first future one is not reserved with it, however late the limit is."""
        await driver.add_trigger("first", when=at(10))
        await driver.add_trigger("with it", when=at(10))
        await driver.add_trigger("later", when=at(10) + MICROSECOND)
        assert names_of(await driver.acquire(until=at(30))) == ["first", "with it"]

    async def test_without_a_window_a_due_one_is_not_reserved_with_a_future_one(self, driver: StoreDriver) -> None:
        """When the first trigger is overdue the batch ends now."""
        await driver.add_trigger("overdue", when=at(-1))
        await driver.add_trigger("now", when=at(0))
        await driver.add_trigger("future", when=at(0) + MICROSECOND)
        assert names_of(await driver.acquire(until=at(30))) == ["overdue", "now"]

    async def test_the_window_begins_at_the_first_one(self, driver: StoreDriver) -> None:
        """With a window of 5 s, triggers up to 5 s after the first one are reserved, to the microsecond."""
        await driver.add_trigger("first", when=at(10))
        await driver.add_trigger("inside", when=at(15))
        await driver.add_trigger("outside", when=at(15) + MICROSECOND)
        assert names_of(await driver.acquire(until=at(30), window=timedelta(seconds=5))) == ["first", "inside"]

    async def test_the_window_begins_now_for_an_overdue_first_one(self, driver: StoreDriver) -> None:
        """The window of an overdue first trigger is counted from now."""
        await driver.add_trigger("overdue", when=at(-3))
        await driver.add_trigger("inside", when=at(5))
        await driver.add_trigger("outside", when=at(5) + MICROSECOND)
        assert names_of(await driver.acquire(until=at(0), window=timedelta(seconds=5))) == ["overdue", "inside"]

    async def test_the_window_reaches_behind_the_limit_for_followers_only(self, driver: StoreDriver) -> None:
        """A first trigger must fire by the limit; the window lets others follow it beyond."""
        await driver.add_trigger("follower", when=at(33))
        assert await driver.acquire(until=at(30), window=timedelta(seconds=5)) == []
        await driver.add_trigger("first", when=at(29))
        acquired = await driver.acquire(until=at(30), window=timedelta(seconds=5))
        assert names_of(acquired) == ["first", "follower"]

    # Job types that are declined ------------------------------------------------------------------------------

    async def test_excluded_job_types_take_up_no_place(self, driver: StoreDriver) -> None:
        """The filter works inside: excluded triggers leave their places to others, and stay available."""
        declined = await driver.add_job("declined", runs=OtherJob)
        await driver.add_triggers(*(f"a{n}" for n in range(20)), job=declined)
        await driver.add_triggers("b", "c", when=at(0), priority=1)
        excluded = [JobType.of(OtherJob).full_name]
        assert names_of(await driver.acquire(2, excluded=excluded)) == ["b", "c"]
        assert await driver.acquire(excluded=excluded) == []
        assert len(await driver.acquire()) == 20

    async def test_job_types_are_excluded_by_their_exact_name(self, driver: StoreDriver) -> None:
        """Neither a part of a name, nor another case, nor a wildcard excludes a type."""
        for name, runs in (("a", QuietJob), ("b", QuietJobber), ("c", OtherJob)):
            await driver.store.schedule_jobs({a_job(name, runs=runs): []})
            await driver.add_trigger(name, job=name)
        full_name = JobType.of(QuietJob).full_name
        near = [full_name.upper(), full_name[:-1], f"{full_name} ", "%", full_name[:-1] + "_", full_name + "*"]
        assert names_of(await driver.acquire(excluded=[full_name, *near])) == ["b", "c"]

    async def test_the_greatest_number_of_excluded_types(self, driver: StoreDriver) -> None:
        """A thousand excluded types are understood."""
        await driver.add_trigger()
        assert len(await driver.acquire(excluded=[f"module:Job{n}" for n in range(1000)])) == 1

    # Giving back ----------------------------------------------------------------------------------------------

    async def test_a_released_trigger_is_available_again(self, driver: StoreDriver) -> None:
        """A trigger that is given back is as if it had never been reserved, and gets another id the next time."""
        await driver.add_trigger(schedule=every(seconds=5))
        before = await driver.snapshot()
        first = await driver.acquire_one()
        await driver.store.release_acquired_trigger(first)
        assert await driver.snapshot() == before
        assert (await driver.acquire_one()).fire_instance_id != first.fire_instance_id

    async def test_releasing_several(self, driver: StoreDriver) -> None:
        """A whole batch can be given back at once; one that is gone meanwhile does not hold the others up."""
        gone, *others = await driver.add_triggers("a", "b", "c")
        acquired = await driver.acquire()
        await driver.store.delete_trigger(gone.key)
        await driver.store.release_acquired_triggers(acquired)
        assert await driver.firings() == []
        assert keys_of(await driver.acquire()) == keys_of(others)

    async def test_releasing_a_paused_trigger_leaves_it_paused(self, driver: StoreDriver) -> None:
        """A trigger that was paused while it was reserved stays paused when it is given back."""
        trigger = await driver.add_trigger()
        acquired = await driver.acquire_one()
        await driver.store.pause_trigger(trigger.key)
        await driver.store.release_acquired_trigger(acquired)
        assert await driver.state(trigger) is TriggerState.PAUSED
        assert await driver.firings() == []
