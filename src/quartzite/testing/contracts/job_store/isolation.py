"""Isolation: what goes in or comes out never changes afterwards, and listeners may call the store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import SchedulerInstruction
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_job, a_trigger, at
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["IsolationContract"]

_DATA = {"list": [1, 2], "map": {"a": [3]}}


def _vandalize(data: JobData) -> None:
    """Change nested values in place, as a careless job does."""
    data["list"].append(99)
    data["map"]["a"].append(99)


class IsolationContract(StoreContract):
    """No live references (decision 2), no calls inside the lock (spec 06 section 10)."""

    async def test_data_that_was_handed_in_does_not_stay_connected(self, driver: StoreDriver) -> None:
        """Whoever changes nested values of what he stored does not change what is stored."""
        job, trigger = a_job(job_data=_DATA), a_trigger(job_data=_DATA)
        await driver.store.schedule_job(job, trigger)
        _vandalize(job.job_data)
        _vandalize(trigger.job_data)
        assert (await driver.stored_job(job)).job_data == _DATA
        assert (await driver.stored(trigger)).job_data == _DATA

    async def test_data_that_was_handed_out_does_not_stay_connected(self, driver: StoreDriver) -> None:
        """Whoever changes nested values of what he got does not change what is stored, by any way of asking."""
        job = await driver.add_job(job_data=_DATA)
        trigger = await driver.add_trigger(job=job, job_data=_DATA, schedule=every(seconds=1))
        for detail in (await driver.stored_job(job), *await driver.store.get_job_details([job.key])):
            _vandalize(detail.job_data)
        for found in (
            await driver.stored(trigger),
            *await driver.store.get_triggers([trigger.key]),
            *await driver.store.get_triggers_for_job(job.key),
            await driver.acquire_one(),
        ):
            _vandalize(found.job_data)
        assert (await driver.stored_job(job)).job_data == _DATA
        assert (await driver.stored(trigger)).job_data == _DATA

    async def test_a_run_does_not_change_what_is_stored(self, driver: StoreDriver) -> None:
        """What a job does to the job and trigger of its firing reaches neither the store nor the next firing."""
        job = await driver.add_job(job_data=_DATA, persist_job_data_after_execution=True)
        trigger = await driver.add_trigger(job=job, job_data=_DATA, schedule=every(seconds=1))
        bundle = await driver.fire_one()
        _vandalize(bundle.job.job_data)
        _vandalize(bundle.trigger.job_data)
        await driver.complete(bundle)
        assert (await driver.stored_job(job)).job_data == _DATA
        assert (await driver.stored(trigger)).job_data == _DATA
        driver.advance(1)
        bundle = await driver.fire_one()
        assert (bundle.job.job_data, bundle.trigger.job_data) == (JobData(_DATA), JobData(_DATA))

    async def test_what_was_handed_out_stays_as_it_was(self, driver: StoreDriver) -> None:
        """A trigger that somebody holds does not move on when the stored one does."""
        trigger = await driver.add_trigger(schedule=every(seconds=1))
        held = await driver.stored(trigger)
        await driver.run_due()
        assert held == trigger
        assert (await driver.stored(trigger)).next_fire_time == at(1)

    @pytest.mark.parametrize("kind", ["misfired", "finalized", "job deleted", "error", "error of all", "resume"])
    async def test_listeners_may_call_the_store(self, driver: StoreDriver, kind: str) -> None:
        """While listeners are told something the store answers, and shows that it has happened."""
        seen: list[object] = []

        async def listen() -> None:
            seen.append((await driver.snapshot()).trigger_states)
            await driver.store.add_job(a_job("made by a listener"), replace=True)

        cause = await _CAUSES[kind](driver)
        driver.signaler.when_notified = listen
        async with asyncio.timeout(10):  # a store that waits for itself would wait for ever
            await cause()
            if kind in {"misfired", "finalized"}:
                await self.handle_misfires(driver)
        assert seen

    async def test_a_listener_that_fails_does_not_undo_what_happened(self, driver: StoreDriver) -> None:
        """The store has done its work before it tells: what a listener raises changes nothing of it."""
        trigger = await driver.add_trigger(job=await driver.add_job(durable=False))

        async def fail() -> None:
            raise RuntimeError("a listener failed")

        driver.signaler.when_notified = fail
        with suppress(RuntimeError):
            await driver.store.delete_trigger(trigger.key)
        driver.signaler.when_notified = None
        assert await driver.store.get_trigger(trigger.key) is None
        assert await driver.store.get_job(JobKey("job")) is None

    async def test_calls_at_once_do_not_disturb_each_other(self, driver: StoreDriver) -> None:
        """Many calls that run side by side do what they would do one after the other."""
        jobs = [a_job(f"{number:02}") for number in range(20)]
        await asyncio.gather(*(driver.store.schedule_job(job, a_trigger(job.key.name, job=job)) for job in jobs))
        batches = await asyncio.gather(*(driver.acquire(3) for _ in range(10)))
        acquired = [trigger for batch in batches for trigger in batch]
        assert sorted(trigger.key.name for trigger in acquired) == [job.key.name for job in jobs]
        fired = await asyncio.gather(*(driver.fire(trigger) for trigger in acquired))
        instruction = SchedulerInstruction.DELETE_TRIGGER
        await asyncio.gather(*(driver.complete(bundle, instruction) for (bundle,) in fired))
        snapshot = await driver.snapshot()
        assert (len(snapshot.jobs), snapshot.triggers, snapshot.firings) == (20, (), ())


_Cause = Callable[[], Awaitable[object]]


async def _moved(driver: StoreDriver, by: timedelta) -> None:
    driver.advance(by)


async def _late(driver: StoreDriver) -> _Cause:
    await driver.add_trigger(schedule=every(seconds=1))
    return lambda: _moved(driver, driver.too_late)


async def _late_for_ever(driver: StoreDriver) -> _Cause:
    await driver.add_trigger(schedule=every(seconds=1), end_time=at(2))
    return lambda: _moved(driver, driver.too_late + timedelta(seconds=2))


async def _last_trigger(driver: StoreDriver) -> _Cause:
    await driver.add_trigger(job=await driver.add_job(durable=False))
    return lambda: driver.store.delete_trigger(TriggerKey("trigger"))


async def _run_that_ends_in_error(driver: StoreDriver) -> _Cause:
    await driver.add_trigger()
    bundle = await driver.fire_one()
    return lambda: driver.complete(bundle, SchedulerInstruction.SET_TRIGGER_ERROR)


async def _run_that_ends_all_in_error(driver: StoreDriver) -> _Cause:
    await driver.add_trigger()
    bundle = await driver.fire_one()
    return lambda: driver.complete(bundle, SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR)


async def _resumed_late(driver: StoreDriver) -> _Cause:
    await driver.add_trigger(schedule=every(seconds=1))
    await driver.store.pause_all()
    driver.advance(60)
    return lambda: driver.store.resume_triggers(GroupMatcher.any_group())


_CAUSES: dict[str, Callable[[StoreDriver], Awaitable[_Cause]]] = {
    "misfired": _late,
    "finalized": _late_for_ever,
    "job deleted": _last_trigger,
    "error": _run_that_ends_in_error,
    "error of all": _run_that_ends_all_in_error,
    "resume": _resumed_late,
}
