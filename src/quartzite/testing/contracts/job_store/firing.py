"""Firing: what is handed over for each reserved trigger, and what becomes of the trigger."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from quartzite.calendars.weekly import WeeklyCalendar
from quartzite.execution import TriggerFiredBundle, TriggerFiredResult
from quartzite.model.keys import RECOVERY_GROUP, JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import FiredState, TriggerState
from quartzite.testing.contracts.capabilities import Capability, requires
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import at, plain
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.subjects import UnfirableTrigger
from quartzite.triggers.cron import cron
from quartzite.triggers.simple import every

__all__ = ["FiringContract"]

_Act = Callable[[StoreDriver], Awaitable[object]]
_MADE_UNFIRABLE: dict[str, _Act] = {
    "paused": lambda driver: driver.store.pause_trigger(TriggerKey("trigger")),
    "its job paused": lambda driver: driver.store.pause_job(JobKey("job")),
    "its group paused": lambda driver: driver.store.pause_triggers(GroupMatcher.group_equals("DEFAULT")),
    "all paused": lambda driver: driver.store.pause_all(),
    "deleted": lambda driver: driver.store.delete_trigger(TriggerKey("trigger")),
    "its job deleted": lambda driver: driver.store.delete_job(JobKey("job")),
    "cleared": lambda driver: driver.store.clear(),
}


class FiringContract(StoreContract):
    """``triggers_fired`` (spec 06 section 2, spec 07 section 5)."""

    async def test_a_firing_has_all_that_a_run_needs(self, driver: StoreDriver) -> None:
        """The bundle has the job and the advanced trigger as stored, and the four times of the firing."""
        trigger = await driver.add_trigger(schedule=every(seconds=60), job_data={"a": 1})
        await driver.run_due()
        driver.move_to(at(60.5))
        bundle = await driver.fire_one()
        assert bundle == TriggerFiredBundle(
            job=await driver.stored_job(JobKey("job")),
            trigger=bundle.trigger,
            calendar=None,
            recovering=False,
            fire_time=at(60.5),
            scheduled_fire_time=at(60),
            previous_fire_time=at(0),
            next_fire_time=at(120),
        )
        assert plain(bundle.trigger) == trigger.triggered(None).triggered(None) == plain(await driver.stored(trigger))

    async def test_the_first_firing_has_no_previous_one(self, driver: StoreDriver) -> None:
        """A trigger that never fired has no previous fire time, and one that fires once no next one."""
        await driver.add_trigger()
        bundle = await driver.fire_one()
        assert (bundle.previous_fire_time, bundle.next_fire_time) == (None, None)

    async def test_the_id_of_the_firing_stays(self, driver: StoreDriver) -> None:
        """The firing has the id that it got when it was reserved."""
        await driver.add_trigger()
        acquired = await driver.acquire_one()
        (bundle,) = await driver.fire(acquired)
        assert bundle.fire_instance_id == bundle.trigger.fire_instance_id == acquired.fire_instance_id

    async def test_a_firing_can_be_seen(self, driver: StoreDriver) -> None:
        """A running firing is listed with its job and what the job asked for."""
        job = await driver.add_job(requests_recovery=True, concurrent_execution_disallowed=True)
        await driver.add_trigger(job=job, when=at(-2), execution_group="g")
        await driver.fire_one()
        (firing,) = await driver.firings()
        assert (firing.state, firing.job_key) == (FiredState.EXECUTING, job.key)
        assert (firing.requests_recovery, firing.concurrent_execution_disallowed) == (True, True)
        assert (firing.fire_time, firing.scheduled_fire_time, firing.execution_group) == (at(0), at(-2), "g")

    async def test_cron_and_simple_triggers_go_on_by_their_schedule(self, driver: StoreDriver) -> None:
        """Each firing moves a trigger to the next time of its schedule, late or not."""
        await driver.add_trigger("cron", schedule=cron("0/20 * * * * ?"))
        await driver.add_trigger("simple", schedule=every(seconds=25))
        seen: list[tuple[str, float]] = []
        while driver.clock.now() <= at(60):
            fired = await driver.run_due()
            seen += [(one.trigger.key.name, (one.scheduled_fire_time - at(0)).total_seconds()) for one in fired]
            driver.advance(2.5)
        assert seen == [
            ("cron", 0), ("simple", 0), ("cron", 20), ("simple", 25), ("cron", 40), ("simple", 50), ("cron", 60),
        ]  # fmt: skip

    async def test_the_last_firing_completes_the_trigger(self, driver: StoreDriver) -> None:
        """A trigger without a next time is COMPLETE as soon as its last run is over, and EXECUTING until then."""
        trigger = await driver.add_trigger()
        bundle = await driver.fire_one()
        assert await driver.state(trigger) is TriggerState.EXECUTING
        await driver.complete(bundle)
        assert await driver.state(trigger) is TriggerState.COMPLETE

    async def test_the_results_belong_to_the_triggers_one_by_one(self, driver: StoreDriver) -> None:
        """There is one result for each trigger, in the same order, also for those that are not fired."""
        await driver.add_triggers(*"abcde")
        acquired = await driver.acquire()
        await driver.store.pause_trigger(acquired[0].key)
        await driver.store.delete_trigger(acquired[2].key)
        shuffled = [acquired[n] for n in (3, 0, 4, 2, 1)]
        results = await driver.store.triggers_fired(shuffled)
        assert [result.bundle.trigger.key.name if result.bundle else None for result in results] == [
            "d", None, "e", None, "b",
        ]  # fmt: skip
        assert [results[1], results[3]] == [TriggerFiredResult.NOT_FIRED] * 2

    async def test_firing_nothing(self, driver: StoreDriver) -> None:
        """No triggers give no results."""
        assert await driver.store.triggers_fired([]) == []

    @pytest.mark.parametrize("act", _MADE_UNFIRABLE.values(), ids=_MADE_UNFIRABLE)
    async def test_a_trigger_that_is_not_acquired_any_more_is_not_fired(self, driver: StoreDriver, act: _Act) -> None:
        """What happened to a trigger after it was reserved wins: it is not fired, and firing changes nothing."""
        await driver.add_trigger(schedule=every(seconds=60))
        acquired = await driver.acquire_one()
        await act(driver)
        before = await driver.snapshot()
        assert await driver.is_refused(acquired)
        assert await driver.snapshot() == before

    async def test_a_trigger_that_was_never_acquired_is_not_fired(self, driver: StoreDriver) -> None:
        """Without a reservation nothing fires, whatever id is claimed."""
        trigger = await driver.add_trigger()
        for claimed in (trigger, trigger.copy_with(fire_instance_id="node-1 of my own")):
            assert await driver.is_refused(claimed)
        assert await driver.state(trigger) is TriggerState.NORMAL
        assert len(await driver.acquire()) == 1

    async def test_a_released_trigger_is_not_fired(self, driver: StoreDriver) -> None:
        """A reservation that was given back is worth nothing, also when somebody reserved the trigger again."""
        await driver.add_trigger()
        released = await driver.acquire_one()
        await driver.store.release_acquired_trigger(released)
        assert await driver.is_refused(released)
        await driver.acquire_one()
        assert await driver.is_refused(released)

    async def test_a_firing_is_not_fired_twice(self, driver: StoreDriver) -> None:
        """The same reservation fires once, however often it is presented."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        acquired = await driver.acquire_one()
        await driver.fire(acquired)
        assert await driver.is_refused(acquired)
        assert (await driver.stored(trigger)).next_fire_time == at(60)
        assert len(await driver.firings()) == 1

    async def test_a_reservation_that_is_presented_twice_at_once_fires_once(self, driver: StoreDriver) -> None:
        """Twice the same reservation in one call gives one firing and one that is not fired."""
        await driver.add_trigger(schedule=every(seconds=60))
        acquired = await driver.acquire_one()
        results = await driver.store.triggers_fired([acquired, acquired])
        assert [result.bundle is not None for result in results] == [True, False]

    async def test_a_trigger_without_its_calendar_is_not_fired(self, driver: StoreDriver) -> None:
        """When the calendar that a trigger names is not stored, its firing is given up and nothing changes."""
        trigger = await driver.add_trigger(schedule=every(seconds=60), calendar_name="gone")
        acquired = await driver.acquire_one()
        assert await driver.is_refused(acquired)
        assert (await driver.stored(trigger)).next_fire_time == at(0)

    async def test_a_concurrent_job_runs_again_before_it_has_ended(self, driver: StoreDriver) -> None:
        """One trigger may have several firings at once; it reports EXECUTING until the last one has ended."""
        trigger = await driver.add_trigger(schedule=every(seconds=1))
        first = await driver.fire_one()
        driver.advance(1)
        second = await driver.fire_one()
        assert len(await driver.firings()) == 2
        await driver.complete(first)
        assert await driver.state(trigger) is TriggerState.EXECUTING
        await driver.complete(second)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_recovery_is_told_by_the_group(self, driver: StoreDriver) -> None:
        """A firing of a trigger that recovery made is marked as recovering."""
        await driver.add_trigger("recover_node-1_1", group=RECOVERY_GROUP)
        assert (await driver.fire_one()).recovering is True

    async def test_no_firing_is_early(self, driver: StoreDriver) -> None:
        """A trigger that was reserved ahead of its time keeps its time, and the trigger's next time follows it."""
        await driver.add_trigger(schedule=every(seconds=60), when=at(10))
        (acquired,) = await driver.acquire(until=at(30), window=timedelta(seconds=5))
        assert acquired.next_fire_time == at(10)
        driver.move_to(at(10))
        (bundle,) = await driver.fire(acquired)
        assert (bundle.fire_time, bundle.scheduled_fire_time, bundle.next_fire_time) == (at(10), at(10), at(70))

    @requires(Capability.CUSTOM_TRIGGERS)
    async def test_one_broken_trigger_does_not_stop_the_others(self, driver: StoreDriver) -> None:
        """A trigger that can not be advanced goes to ERROR, is told once and gives a failed result; the others fire."""
        good = await driver.add_triggers(*(f"good {n}" for n in range(19)), schedule=every(seconds=1))
        key = TriggerKey("broken")
        broken = UnfirableTrigger(key=key, job_key=JobKey("job"), start_time=at(0), next_fire_time=at(0))
        await driver.store.add_trigger(broken)
        acquired = await driver.acquire()
        results = await driver.store.triggers_fired(acquired)
        failed = [trigger.key for trigger, result in zip(acquired, results, strict=True) if result.bundle is None]
        assert failed == [key]
        assert await driver.state(key) is TriggerState.ERROR
        assert driver.signaler.triggers_in_error == [key]
        assert len(driver.signaler.errors) == 1
        for result in results:
            if result.bundle is not None:
                await driver.complete(result.bundle)
        assert await driver.firings() == []
        driver.advance(1)
        assert len(await driver.acquire()) == len(good)

    async def test_a_calendar_skips_times_and_moves_none(self, driver: StoreDriver) -> None:
        """After a firing the trigger goes to the next time of its schedule that its calendar includes."""
        weekdays = WeeklyCalendar()
        await driver.store.add_calendar("weekdays", weekdays)
        friday_noon = at(4 * 86400)
        trigger = await driver.add_trigger(
            schedule=every(hours=11), when=friday_noon, calendar=weekdays, calendar_name="weekdays"
        )
        driver.move_to(friday_noon)
        (first,) = await driver.run_due()
        assert first.calendar == weekdays
        driver.advance(timedelta(hours=11))
        (second,) = await driver.run_due()
        assert second.next_fire_time == friday_noon + 6 * timedelta(hours=11)
        assert (await driver.stored(trigger)).next_fire_time == friday_noon + 6 * timedelta(hours=11)
