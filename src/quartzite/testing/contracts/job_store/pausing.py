"""Pausing and resuming triggers and jobs one by one, and what a missed time does at resume."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_trigger, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.cron import cron
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.simple import every

__all__ = ["PausingContract"]

_HOURLY = cron("0 0 * * * ?")


class PausingContract(StoreContract):
    """Pausing (spec 06 section 4)."""

    async def test_a_paused_trigger_does_not_fire(self, driver: StoreDriver) -> None:
        """A paused trigger is not reserved until it is resumed; others are."""
        paused, other = await driver.add_triggers("a", "b")
        await driver.store.pause_trigger(paused.key)
        assert keys_of(await driver.acquire()) == [other.key]
        await driver.store.resume_trigger(paused.key)
        assert keys_of(await driver.acquire()) == [paused.key]

    async def test_unknown_keys_are_no_error(self, driver: StoreDriver) -> None:
        """Pausing, resuming or resetting what is not stored does nothing and stores nothing."""
        before = await driver.snapshot()
        await driver.store.pause_trigger(TriggerKey("none"))
        await driver.store.resume_trigger(TriggerKey("none"))
        await driver.store.pause_job(JobKey("none"))
        await driver.store.resume_job(JobKey("none"))
        await driver.store.reset_trigger_from_error_state(TriggerKey("none"))
        assert await driver.snapshot() == before
        assert await driver.state(TriggerKey("none")) is TriggerState.NONE

    async def test_pausing_a_job_pauses_the_triggers_it_has_now(self, driver: StoreDriver) -> None:
        """Pausing a job concerns all of its triggers, in whatever groups, none that comes later and no other job's."""
        one = await driver.add_trigger("one", group="g1")
        two = await driver.add_trigger("two", group="g2")
        other = await driver.add_trigger("other", group="g1", job="another")
        await driver.store.pause_job(JobKey("job"))
        later = await driver.add_trigger("later", group="g1")
        assert await driver.states(one, two, other, later) == [
            TriggerState.PAUSED, TriggerState.PAUSED, TriggerState.NORMAL, TriggerState.NORMAL,
        ]  # fmt: skip
        await driver.store.resume_job(JobKey("job"))
        assert await driver.states(one, two) == [TriggerState.NORMAL] * 2

    async def test_pausing_twice_is_resumed_once(self, driver: StoreDriver) -> None:
        """Pauses do not add up."""
        trigger = await driver.add_trigger()
        await driver.store.pause_trigger(trigger.key)
        await driver.store.pause_job(JobKey("job"))
        await driver.store.resume_trigger(trigger.key)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_pausing_keeps_the_times(self, driver: StoreDriver) -> None:
        """A trigger that is paused and resumed before its time comes is as it was."""
        trigger = await driver.add_trigger(schedule=every(seconds=60), when=at(60))
        await driver.store.pause_trigger(trigger.key)
        driver.advance(30)
        await driver.store.resume_trigger(trigger.key)
        assert await driver.stored(trigger) == trigger
        assert driver.signaler.misfired == []

    async def test_a_paused_trigger_does_not_misfire(self, driver: StoreDriver) -> None:
        """While it is paused, a trigger's missed times are left alone."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.store.pause_trigger(trigger.key)
        driver.advance(3600)
        await self.handle_misfires(driver)
        assert await driver.stored(trigger) == trigger
        assert driver.signaler.misfired == []

    # Keys in bulk ---------------------------------------------------------------------------------------------

    async def test_triggers_are_paused_and_resumed_by_key(self, driver: StoreDriver) -> None:
        """Several triggers are paused and resumed in one call; unknown keys among them are no error."""
        a, b, c = await driver.add_triggers("a", "b", "c")
        keys = [a.key, TriggerKey("none"), c.key]
        await driver.store.pause_triggers_by_key(keys)
        assert await driver.states(a, b, c) == [TriggerState.PAUSED, TriggerState.NORMAL, TriggerState.PAUSED]
        await driver.store.resume_triggers_by_key(keys)
        assert await driver.states(a, b, c) == [TriggerState.NORMAL] * 3

    async def test_jobs_are_paused_and_resumed_by_key(self, driver: StoreDriver) -> None:
        """Several jobs are paused and resumed in one call; unknown keys among them are no error."""
        triggers = [await driver.add_trigger(name, job=name) for name in ("a", "b", "c")]
        keys = [JobKey("a"), JobKey("none"), JobKey("c")]
        await driver.store.pause_jobs_by_key(keys)
        assert await driver.states(*triggers) == [TriggerState.PAUSED, TriggerState.NORMAL, TriggerState.PAUSED]
        await driver.store.resume_jobs_by_key(keys)
        assert await driver.states(*triggers) == [TriggerState.NORMAL] * 3

    async def test_no_keys_are_no_error(self, driver: StoreDriver) -> None:
        """Bulk calls without keys do nothing."""
        await driver.add_trigger()
        before = await driver.snapshot()
        await driver.store.pause_triggers_by_key([])
        await driver.store.resume_triggers_by_key([])
        await driver.store.pause_jobs_by_key([])
        await driver.store.resume_jobs_by_key([])
        await driver.store.release_acquired_triggers([])
        await driver.store.triggered_jobs_complete([])
        assert await driver.snapshot() == before

    # Missed times at resume -----------------------------------------------------------------------------------

    async def test_do_nothing_waits_for_the_next_time(self, driver: StoreDriver) -> None:
        """Resumed after missed times, a trigger that does nothing about them fires at its next regular time."""
        schedule = _HOURLY.with_misfire_instruction(MisfireInstruction.DO_NOTHING)
        trigger = await driver.add_trigger(schedule=schedule, when=at(600))
        await driver.store.pause_trigger(trigger.key)
        driver.move_to(at(2 * 3600 + 55 * 60))
        await driver.store.resume_trigger(trigger.key)
        assert await driver.acquire() == []
        assert (await driver.stored(trigger)).next_fire_time == at(3 * 3600)

    async def test_fire_once_now_makes_one_run(self, driver: StoreDriver) -> None:
        """Resumed after missed times, a trigger that makes up for them runs once, and then at its next regular time."""
        trigger = await driver.add_trigger(schedule=_HOURLY, when=at(600))
        await driver.store.pause_trigger(trigger.key)
        now = at(2 * 3600 + 55 * 60)
        driver.move_to(now)
        await driver.store.resume_trigger(trigger.key)
        (bundle,) = await driver.run_due()
        assert (bundle.fire_time, bundle.scheduled_fire_time) == (now, at(3600))
        assert await driver.acquire() == []
        assert (await driver.stored(trigger)).next_fire_time == at(3 * 3600)

    @pytest.mark.parametrize("by", ["trigger", "job", "keys", "all"])
    async def test_a_misfire_at_resume_is_told_once(self, driver: StoreDriver, by: str) -> None:
        """However a trigger is resumed, listeners hear once of the time it missed, even one just missed."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.store.pause_trigger(trigger.key)
        driver.advance(timedelta(milliseconds=1))
        for _ in range(2):
            if by == "trigger":
                await driver.store.resume_trigger(trigger.key)
            elif by == "job":
                await driver.store.resume_job(JobKey("job"))
            elif by == "keys":
                await driver.store.resume_triggers_by_key([trigger.key])
            else:
                await driver.store.resume_all()
        assert driver.signaler.misfires == [(trigger.key, at(0))]
        assert (await driver.stored(trigger)).next_fire_time == at(60)

    async def test_a_trigger_that_has_nothing_left_completes_at_resume(self, driver: StoreDriver) -> None:
        """When its misfire policy leaves no time, a resumed trigger is COMPLETE and that is told."""
        trigger = await driver.add_trigger(
            schedule=_HOURLY.with_misfire_instruction(MisfireInstruction.DO_NOTHING), when=at(0), end_time=at(3700)
        )
        await driver.store.pause_trigger(trigger.key)
        driver.move_to(at(2 * 3600))
        await driver.store.resume_trigger(trigger.key)
        assert await driver.state(trigger) is TriggerState.COMPLETE
        assert keys_of(driver.signaler.finalized) == [trigger.key]
        assert driver.signaler.misfires == [(trigger.key, at(0))]

    async def test_ignoring_misfires_keeps_the_missed_times(self, driver: StoreDriver) -> None:
        """A trigger that never misfires makes up for every time it missed while it was paused."""
        schedule = every(seconds=60).with_misfire_instruction(MisfireInstruction.IGNORE_MISFIRES)
        trigger = await driver.add_trigger(schedule=schedule)
        await driver.store.pause_trigger(trigger.key)
        driver.move_to(at(130))
        await driver.store.resume_trigger(trigger.key)
        fired = [(await driver.run_due())[0].scheduled_fire_time for _ in range(3)]
        assert fired == [at(0), at(60), at(120)]
        assert driver.signaler.misfired == []

    async def test_resuming_while_the_scheduler_stands_by_leaves_the_times(self, driver: StoreDriver) -> None:
        """In standby nothing misfires: what is resumed then is dealt with when the scheduler runs again."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.store.scheduler_paused()
        await driver.store.pause_trigger(trigger.key)
        driver.advance(30)
        await driver.store.resume_trigger(trigger.key)
        assert await driver.state(trigger) is TriggerState.NORMAL
        assert (await driver.stored(trigger)).next_fire_time == at(0)
        assert driver.signaler.misfired == []

    async def test_resuming_a_trigger_that_is_not_paused_is_no_misfire(self, driver: StoreDriver) -> None:
        """A late trigger that is not paused is left to the misfire rules, with their threshold."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        driver.advance(1)
        await driver.store.resume_trigger(trigger.key)
        assert await driver.stored(trigger) == trigger
        assert driver.signaler.misfired == []

    async def test_a_trigger_without_a_next_time_stays_paused(self, driver: StoreDriver) -> None:
        """A paused trigger that has nothing left to fire is not put to work by resuming it."""
        trigger = a_trigger().copy_with(next_fire_time=None)
        await driver.add_job()
        await driver.store.add_trigger(trigger)
        await driver.store.pause_trigger(trigger.key)
        await driver.store.resume_trigger(trigger.key)
        assert await driver.state(trigger) is TriggerState.PAUSED

    async def test_a_paused_one_shot_fires_after_resume(self, driver: StoreDriver) -> None:
        """A one-shot whose time passed while it was paused fires once when it is resumed."""
        trigger = await driver.add_trigger(when=at(10))
        await driver.store.pause_trigger(trigger.key)
        driver.move_to(at(3600))
        await driver.store.resume_trigger(trigger.key)
        (bundle,) = await driver.run_due()
        assert (bundle.fire_time, bundle.scheduled_fire_time) == (at(3600), at(10))
        assert await driver.state(trigger) is TriggerState.NONE

    async def test_a_new_trigger_is_not_paused_by_an_old_pause(self, driver: StoreDriver) -> None:
        """A trigger that is deleted while it is paused and made anew starts without that pause."""
        trigger = await driver.add_trigger()
        await driver.store.pause_trigger(trigger.key)
        await driver.store.delete_trigger(trigger.key)
        await driver.store.add_trigger(a_trigger())
        assert await driver.state(trigger) is TriggerState.NORMAL
