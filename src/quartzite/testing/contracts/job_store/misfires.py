"""Misfires: when a trigger is too late, and what is done about it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.model.keys import TriggerKey
from quartzite.model.states import TriggerState
from quartzite.testing.contracts.capabilities import Capability, requires
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.subjects import UnmisfirableTrigger
from quartzite.triggers.cron import cron
from quartzite.triggers.misfire import MisfireInstruction, SimpleMisfireInstruction
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import SimpleTrigger, every, once

__all__ = ["MisfiresContract"]

_EVERY_MINUTE = every(seconds=60)
_FIVE_TIMES = every(seconds=60, times=5)
_CRON = cron("0 * * * * ?")
_NOW = at(150)
_Simple = SimpleMisfireInstruction
_POLICIES: dict[str, tuple[Schedule, float | None, int]] = {
    # schedule, next fire time in seconds after the start (None for now), further firings that are left (-1: endless)
    "once, smart": (once(), None, 0),
    "once, fire now": (once().with_misfire_instruction(_Simple.FIRE_NOW), None, 0),
    "for ever, smart": (_EVERY_MINUTE, 180, -1),
    "for ever, now": (_EVERY_MINUTE.with_misfire_instruction(_Simple.FIRE_NOW), None, -1),
    "five times, smart": (_FIVE_TIMES, None, 4),
    "five times, now, remaining": (_FIVE_TIMES.with_misfire_instruction(_Simple.NOW_WITH_REMAINING_COUNT), None, 2),
    "five times, next, existing": (_FIVE_TIMES.with_misfire_instruction(_Simple.NEXT_WITH_EXISTING_COUNT), 180, 4),
    "five times, next, remaining": (_FIVE_TIMES.with_misfire_instruction(_Simple.NEXT_WITH_REMAINING_COUNT), 180, 1),
    "cron, smart": (_CRON, None, -1),
    "cron, once now": (_CRON.with_misfire_instruction(MisfireInstruction.FIRE_AND_PROCEED), None, -1),
    "cron, nothing": (_CRON.with_misfire_instruction(MisfireInstruction.DO_NOTHING), 180, -1),
}


class MisfiresContract(StoreContract):
    """Misfires (spec 02 section 1, spec 06 section 8, spec 07 section 6)."""

    @pytest.mark.parametrize(("schedule", "next_time", "left"), _POLICIES.values(), ids=_POLICIES)
    async def test_each_policy_is_carried_out(
        self, driver: StoreDriver, schedule: Schedule, next_time: float | None, left: int
    ) -> None:
        """A trigger that missed its times goes on as its instruction says, and its firing knows the missed time."""
        trigger = await driver.add_trigger(schedule=schedule)
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        stored = await driver.stored(trigger)
        assert stored.next_fire_time == (_NOW if next_time is None else at(next_time))
        if isinstance(stored, SimpleTrigger) and left >= 0:
            assert stored.repeat_count - stored.times_triggered == left
        assert await driver.state(trigger) is TriggerState.NORMAL
        assert driver.signaler.misfires == [(trigger.key, at(0))]
        driver.move_to(_NOW if next_time is None else at(next_time))
        (bundle,) = await driver.run_due()
        assert bundle.scheduled_fire_time == (at(0) if next_time is None else at(next_time))
        assert bundle.fire_time == driver.clock.now()
        if left != 0:
            driver.move_to(bundle.next_fire_time or at(0))
            (following,) = await driver.run_due()
            assert following.scheduled_fire_time == bundle.next_fire_time

    async def test_the_threshold_is_exact(self, driver: StoreDriver) -> None:
        """Late by the threshold is not too late and fires as scheduled; a microsecond more is a misfire."""
        schedule = _CRON.with_misfire_instruction(MisfireInstruction.DO_NOTHING)
        trigger = await driver.add_trigger(schedule=schedule)
        driver.advance(driver.misfire_threshold)
        await self.handle_misfires(driver)
        (acquired,) = await driver.acquire()
        assert acquired.next_fire_time == at(0)
        await driver.store.release_acquired_trigger(acquired)
        driver.advance(timedelta(microseconds=1))
        await self.handle_misfires(driver)
        assert await driver.acquire() == []
        assert driver.signaler.misfires == [(trigger.key, at(0))]

    @pytest.mark.parametrize(("late", "runs"), [(0.5, 1), (1.001, 0), (2.5, 0)])
    async def test_how_many_times_were_missed_does_not_matter(
        self, driver: StoreDriver, late: float, runs: int
    ) -> None:
        """Whether a late run is made depends on its lateness alone (in thresholds here), not on earlier misses."""
        threshold = driver.misfire_threshold
        schedule = every(2 * threshold).with_misfire_instruction(_Simple.NEXT_WITH_REMAINING_COUNT)
        await driver.add_trigger(schedule=schedule)
        driver.advance(late * threshold)
        await self.handle_misfires(driver)
        assert len(await driver.acquire()) == runs

    async def test_a_misfired_trigger_is_not_reserved_at_its_old_time(self, driver: StoreDriver) -> None:
        """Whoever acquires without waiting for the misfires gets no trigger at a time that it missed."""
        await driver.add_trigger(schedule=_CRON.with_misfire_instruction(MisfireInstruction.DO_NOTHING))
        driver.advance(driver.too_late)
        assert await driver.acquire() == []

    async def test_a_misfire_is_told_once(self, driver: StoreDriver) -> None:
        """Dealt with once, a missed time is not told again."""
        await driver.add_trigger(schedule=_EVERY_MINUTE)
        driver.move_to(_NOW)
        for _ in range(3):
            await self.handle_misfires(driver)
            await driver.acquire()
        assert len(driver.signaler.misfired) == 1

    async def test_a_misfire_changes_nothing_else(self, driver: StoreDriver) -> None:
        """Besides its times a misfired trigger is as it was."""
        trigger = await driver.add_trigger(schedule=_EVERY_MINUTE, description="d", job_data={"a": 1}, priority=3)
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        assert await driver.stored(trigger) == trigger.update_after_misfire(None, _NOW)

    async def test_ignoring_misfires_fires_every_missed_time(self, driver: StoreDriver) -> None:
        """A trigger that never misfires catches up, one missed time after the other, with their own times."""
        await driver.add_trigger(schedule=_EVERY_MINUTE.with_misfire_instruction(_Simple.IGNORE_MISFIRES))
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        times = []
        while bundles := await driver.run_due():
            times += [bundle.scheduled_fire_time for bundle in bundles]
        assert times == [at(0), at(60), at(120)]
        assert driver.signaler.misfired == []

    async def test_a_trigger_that_has_nothing_left_is_complete(self, driver: StoreDriver) -> None:
        """A misfired trigger without a further time is COMPLETE, and that is told once."""
        schedule = _CRON.with_misfire_instruction(MisfireInstruction.DO_NOTHING)
        trigger = await driver.add_trigger(schedule=schedule, end_time=at(100))
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        assert await driver.state(trigger) is TriggerState.COMPLETE
        assert keys_of(driver.signaler.finalized) == [trigger.key]
        assert driver.signaler.misfires == [(trigger.key, at(0))]

    async def test_many_misfires_are_all_dealt_with(self, driver: StoreDriver) -> None:
        """However many triggers are late, each is dealt with and told once."""
        names = [f"{number:03}" for number in range(70)]
        triggers = await driver.add_triggers(*names, schedule=_EVERY_MINUTE)
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        assert sorted(driver.signaler.misfires) == [(trigger.key, at(0)) for trigger in triggers]
        assert {header.next_fire_time for header in await driver.headers()} == {at(180)}

    async def test_reserved_triggers_do_not_misfire(self, driver: StoreDriver) -> None:
        """A trigger that was reserved in time fires as scheduled, however long its node takes."""
        await driver.add_trigger(schedule=_EVERY_MINUTE)
        acquired = await driver.acquire_one()
        driver.advance(driver.too_late)
        await self.handle_misfires(driver)
        (bundle,) = await driver.fire(acquired)
        assert bundle.scheduled_fire_time == at(0)
        assert driver.signaler.misfired == []

    async def test_a_trigger_whose_calendar_is_gone_keeps_no_other_late(self, driver: StoreDriver) -> None:
        """Whatever becomes of a late trigger that names a calendar which is not stored, the others are dealt with."""
        bad = await driver.add_trigger("a", schedule=_EVERY_MINUTE, calendar_name="gone")
        good = await driver.add_trigger("b", schedule=_EVERY_MINUTE)
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        assert (await driver.stored(good)).next_fire_time == at(180)
        assert bad.key not in keys_of(await driver.acquire())

    async def test_a_time_missed_while_the_process_was_down_is_no_run(self, driver: StoreDriver) -> None:
        """A cron trigger that does nothing about missed times runs at the next one, not for those before the start."""
        schedule = cron("0/15 * * * * ?").with_misfire_instruction(MisfireInstruction.DO_NOTHING)
        trigger = await driver.add_trigger(schedule=schedule, when=at(-10))
        driver.move_to(at(42))
        await self.handle_misfires(driver)
        assert await driver.acquire() == []
        driver.move_to(at(45))
        assert (await driver.fire_one()).scheduled_fire_time == at(45)
        assert driver.signaler.misfires == [(trigger.key, at(0))]

    @requires(Capability.CUSTOM_TRIGGERS)
    async def test_one_broken_trigger_does_not_keep_others_late(self, driver: StoreDriver) -> None:
        """A trigger that can not be dealt with goes to ERROR and is told once; the others are dealt with."""
        good = await driver.add_triggers(*(f"good {n}" for n in range(19)), schedule=_EVERY_MINUTE)
        key = TriggerKey("broken")
        broken = UnmisfirableTrigger(key=key, job_key=good[0].job_key, start_time=at(0), next_fire_time=at(0))
        await driver.store.add_trigger(broken)
        driver.move_to(_NOW)
        await self.handle_misfires(driver)
        assert await driver.state(key) is TriggerState.ERROR
        assert (driver.signaler.triggers_in_error, len(driver.signaler.errors)) == ([key], 1)
        assert [(await driver.stored(trigger)).next_fire_time for trigger in good] == [at(180)] * 19
