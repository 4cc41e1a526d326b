"""Endurance: a schedule that runs for a while, and what must hold over all of it."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest

from quartzite.execution import JobCompletion, TriggerFiredBundle
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_trigger, at
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.misfire import SimpleMisfireInstruction
from quartzite.triggers.simple import every

__all__ = ["EnduranceContract"]


class EnduranceContract(StoreContract):
    """The fire cycle over time (spec 04 section 4, spec 06 section 2)."""

    @pytest.mark.parametrize("batch", [1, 3, 50])
    async def test_every_time_of_every_trigger_fires_once_and_in_order(self, driver: StoreDriver, batch: int) -> None:
        """A loop that fires what is due misses no time, makes none twice, and goes by time and priority."""
        periods = {"a": 1, "b": 2, "c": 3, "d": 5, "e": 7}
        for name, period in periods.items():
            await driver.add_trigger(name, schedule=every(seconds=period), priority=period)
        fired: list[tuple[datetime, int]] = []
        while driver.clock.now() <= at(30):
            while bundles := await driver.fire_due(batch):
                fired += [(bundle.scheduled_fire_time, -bundle.trigger.priority) for bundle in bundles]
                for bundle in bundles:
                    await driver.complete(bundle)
            driver.advance(0.5)
        expected = [(at(second), -p) for p in periods.values() for second in range(0, 31, p)]
        assert fired == sorted(expected)

    async def test_runs_that_take_longer_than_the_period(self, driver: StoreDriver) -> None:
        """Runs of a non-concurrent job never overlap, and each end leads to the next run."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        schedule = every(seconds=2).with_misfire_instruction(SimpleMisfireInstruction.IGNORE_MISFIRES)
        await driver.add_triggers("a", "b", job=job, schedule=schedule)
        running: TriggerFiredBundle | None = None
        runs: Counter[str] = Counter()
        for step in range(60):
            if running is not None and step % 3 == 0:
                await driver.complete(running)
                running = None
            bundles = await driver.fire_due()
            assert len(bundles) <= (running is None)
            for running in bundles:
                runs[running.trigger.key.name] += 1
            driver.advance(1)
        assert runs == {"a": 10, "b": 10}

    async def test_reservations_ahead_fire_at_their_times(self, driver: StoreDriver) -> None:
        """Triggers that are reserved ahead by a window fire at their own times, one by one."""
        for number in range(10):
            await driver.add_trigger(f"{number}", when=at(number))
        acquired = await driver.acquire(until=at(0), window=timedelta(seconds=9))
        assert len(acquired) == 10
        for trigger in acquired:
            assert trigger.next_fire_time is not None
            driver.move_to(trigger.next_fire_time)
            (bundle,) = await driver.fire(trigger)
            assert bundle.fire_time == bundle.scheduled_fire_time == trigger.next_fire_time

    async def test_a_burst_is_drained_in_batches(self, driver: StoreDriver) -> None:
        """Three hundred one-shots of one second are fired in batches, each once, the urgent ones of a batch first."""
        names = [f"{number:03}" for number in range(300)]
        await driver.add_to_one_job(*(a_trigger(name, priority=int(name) % 7) for name in names))
        fired: list[str] = []
        while bundles := await driver.fire_due(50):
            fired += [bundle.trigger.key.name for bundle in bundles]
            done = [JobCompletion(one.trigger, one.job, one.trigger.execution_complete(None)) for one in bundles]
            await driver.store.triggered_jobs_complete(done)
        assert fired == sorted(names, key=lambda name: (-(int(name) % 7), name))
        assert (await driver.snapshot()).triggers == ()
