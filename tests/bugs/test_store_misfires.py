"""Faults of job stores that users reported: missed times (B021 to B023, B025, B026)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from quartzite.model.keys import JobKey
from quartzite.testing.contracts import StoreContract, StoreDriver
from quartzite.testing.contracts.job_store.content import a_trigger
from quartzite.triggers.cron import cron
from quartzite.triggers.misfire import MisfireInstruction, SimpleMisfireInstruction
from quartzite.triggers.simple import every
from tests.contract.subjects import InMemory

NOTHING = MisfireInstruction.DO_NOTHING


def utc(text: str) -> datetime:
    """Read a time of 5 January 2026, a Monday, in UTC."""
    return datetime.fromisoformat(f"2026-01-05T{text}").replace(tzinfo=UTC)


class MisfireFaults(StoreContract):
    """What went wrong elsewhere with times that were missed."""

    misfire_threshold = timedelta(seconds=1)

    async def test_b021_do_nothing_does_nothing(self, driver: StoreDriver) -> None:
        """Down from :50 to :42, a trigger of every 15 s that does nothing about misfires runs at :45 and not before."""
        driver.move_to(utc("12:00:50"))
        await driver.add_trigger(schedule=cron("0/15 * * * * ?").with_misfire_instruction(NOTHING))
        driver.move_to(utc("12:01:42"))
        await self.handle_misfires(driver)
        runs = []
        while driver.clock.now() < utc("12:01:46"):
            runs += [bundle.scheduled_fire_time for bundle in await driver.run_due()]
            driver.advance(0.5)
        assert runs == [utc("12:01:45")]

    async def test_b023_a_misfire_by_the_previous_run_is_told(self, driver: StoreDriver) -> None:
        """A 10-s run of a non-concurrent job on a 3-s trigger misses times, and trigger_misfired says so."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        trigger = await driver.add_trigger(job=job, schedule=every(seconds=3))
        for run in range(1, 4):
            started = driver.clock.now()
            bundle = await driver.fire_one()
            driver.advance(10)
            await driver.complete(bundle)
            await self.handle_misfires(driver)
            assert len(driver.signaler.misfired) == run
            driver.move_to((await driver.stored(trigger)).next_fire_time or started)
            assert driver.clock.now() == started + timedelta(seconds=12)

    @pytest.mark.parametrize("way", ["replace_trigger", "add_trigger", "schedule_jobs"])
    @pytest.mark.parametrize("text", ["0 0 9 ? * MON", "0 30 9 ? * MON"])
    async def test_b025_a_rescheduled_trigger_does_not_run_at_once(
        self, driver: StoreDriver, way: str, text: str
    ) -> None:
        """A weekly trigger that ran on Monday, stored again on Wednesday, next fires on the Monday after."""
        driver.move_to(utc("08:00"))
        trigger = await driver.add_trigger(schedule=cron("0 0 9 ? * MON"))
        driver.move_to(utc("09:00"))
        assert len(await driver.run_due()) == 1
        driver.move_to(utc("12:00") + timedelta(days=2))
        new = a_trigger(schedule=cron(text), when=driver.clock.now())
        if way == "replace_trigger":
            await driver.store.replace_trigger(trigger.key, new)
        elif way == "add_trigger":
            await driver.store.add_trigger(new, replace=True)
        else:
            await driver.store.schedule_jobs({await driver.stored_job(JobKey("job")): [new]}, replace=True)
        await self.handle_misfires(driver)
        assert await driver.acquire(until=driver.clock.now() + timedelta(days=4)) == []
        time = "09:30" if text.startswith("0 30") else "09:00"
        assert (await driver.stored(trigger)).next_fire_time == utc(time) + timedelta(days=7)

    @pytest.mark.parametrize(("instruction", "at_resume"), [(NOTHING, 0), (MisfireInstruction.FIRE_AND_PROCEED, 1)])
    async def test_b026_resuming_runs_once_or_not_at_all(
        self, driver: StoreDriver, instruction: MisfireInstruction, at_resume: int
    ) -> None:
        """An hourly trigger paused at 00:10 and resumed at 02:55 runs then only if it fires once now, and at 03:00."""
        driver.clock.set(utc("00:10"))
        trigger = await driver.add_trigger(schedule=cron("0 0 * * * ?").with_misfire_instruction(instruction))
        await driver.store.pause_trigger(trigger.key)
        driver.move_to(utc("02:55"))
        await driver.store.resume_trigger(trigger.key)
        assert len(await driver.run_due()) == at_resume
        driver.move_to(utc("02:59:59"))
        assert await driver.run_due() == []
        driver.move_to(utc("03:00"))
        assert [bundle.scheduled_fire_time for bundle in await driver.run_due()] == [utc("03:00")]


class ThresholdFaults(StoreContract):
    """Which runs are late, and which are missed."""

    misfire_threshold = timedelta(seconds=60)

    @pytest.mark.parametrize(("late", "runs"), [(30, 1), (150, 0)])
    async def test_b022_a_late_run_is_made_within_the_threshold(
        self, driver: StoreDriver, late: float, runs: int
    ) -> None:
        """Every 2 minutes, threshold 60 s, do nothing: started 30 s late the run is made, 150 s late it is not."""
        next_time = SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT
        await driver.add_trigger("simple", schedule=every(minutes=2).with_misfire_instruction(next_time))
        await driver.add_trigger("cron", schedule=cron("0 0/2 * * * ?").with_misfire_instruction(NOTHING))
        driver.advance(late)
        await self.handle_misfires(driver)
        assert len(await driver.run_due()) == 2 * runs
        driver.move_to(utc("12:02") if runs else utc("12:04"))
        assert len(await driver.run_due()) == 2


class TestMisfireFaultsInMemory(InMemory, MisfireFaults):
    """RamJobStore."""


class TestThresholdFaultsInMemory(InMemory, ThresholdFaults):
    """RamJobStore."""
