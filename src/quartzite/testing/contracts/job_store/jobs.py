"""Jobs: stored, replaced, found and deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.errors import ObjectAlreadyExistsError
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.policies import Overlap, RetryPolicy
from quartzite.model.states import TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import DISCORDANT_NAMES, a_job, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.subjects import OtherJob

__all__ = ["JobsContract"]

_EVERYTHING_SET: dict[str, Any] = {
    "description": "Überweisung 😀",
    "job_data": {"month": 3, "who": "all"},
    "durable": False,
    "persist_job_data_after_execution": True,
    "concurrent_execution_disallowed": True,
    "requests_recovery": True,
    "retry": RetryPolicy(
        max_attempts=4, delay=timedelta(milliseconds=1500), factor=2.5, max_delay=timedelta(minutes=1), jitter=0.25
    ),
    "overlap": Overlap.SKIP,
    "concurrency_key": "the ledger",
}


class JobsContract(StoreContract):
    """Jobs (spec 06 section 1)."""

    @pytest.mark.parametrize("fields", [{}, _EVERYTHING_SET], ids=["defaults", "everything set"])
    async def test_a_job_comes_back_equal(self, driver: StoreDriver, fields: dict[str, Any]) -> None:
        """Every field of a job comes back as it was stored."""
        job = await driver.add_job("close the day", group="payroll", **fields)
        assert await driver.store.get_job(job.key) == job

    async def test_a_job_that_is_not_stored(self, driver: StoreDriver) -> None:
        """An unknown key gives None; name, group and case all count."""
        await driver.add_job("job", group="group")
        for key in (JobKey("Job", "group"), JobKey("job", "Group"), JobKey("group", "job"), JobKey("job")):
            assert await driver.store.get_job(key) is None
            assert not await driver.store.check_exists(key)

    async def test_keys_that_collations_confuse_are_different(self, driver: StoreDriver) -> None:
        """Keys are equal only when every code point is: case, accents, width and trailing blanks count."""
        for number, name in enumerate(DISCORDANT_NAMES):
            await driver.add_job(name, group=name, job_data={"number": number})
        found = [await driver.stored_job(JobKey(name, name)) for name in DISCORDANT_NAMES]
        assert [job.job_data["number"] for job in found] == list(range(len(DISCORDANT_NAMES)))

    @pytest.mark.parametrize("text", ["x" * 200, "😀" * 200, "'; DROP TABLE jobs; --", '"\\`%_!\n\t', "a:b.c/d"])
    async def test_any_text_is_a_name(self, driver: StoreDriver, text: str) -> None:
        """Keys of up to 200 characters, of any characters but NUL, are stored and found."""
        job = await driver.add_job(text, group=text)
        await driver.add_trigger(text, group=text, job=job)
        assert await driver.store.get_job_details([job.key]) == [job]
        assert keys_of(await driver.store.get_triggers_for_job(job.key)) == [TriggerKey(text, text)]

    async def test_a_taken_key_is_refused(self, driver: StoreDriver) -> None:
        """Adding a job whose key is taken raises, names the key and changes nothing."""
        await driver.add_job("report", group="daily", description="first")
        before = await driver.snapshot()
        with pytest.raises(ObjectAlreadyExistsError, match=r"daily\.report"):
            await driver.store.add_job(a_job("report", "daily", description="second"))
        assert await driver.snapshot() == before

    async def test_replacing_a_job_replaces_every_field(self, driver: StoreDriver) -> None:
        """Replacing leaves one job of the key, with the fields of the new one only."""
        await driver.add_job(**_EVERYTHING_SET)
        new = a_job(runs=OtherJob)
        await driver.store.add_job(new, replace=True)
        assert (await driver.snapshot()).jobs == (new,)

    async def test_replacing_a_job_keeps_its_triggers(self, driver: StoreDriver) -> None:
        """The triggers of a replaced job stay, each in its state."""
        triggers = await driver.add_triggers("a", "b")
        await driver.store.pause_trigger(triggers[0].key)
        await driver.store.add_job(a_job(description="new", durable=False), replace=True)
        assert await driver.store.get_triggers_for_job(JobKey("job")) == triggers
        assert await driver.states(*triggers) == [TriggerState.PAUSED, TriggerState.NORMAL]

    async def test_replacing_a_job_that_is_not_there_adds_it(self, driver: StoreDriver) -> None:
        """With ``replace`` a new job is simply added."""
        job = a_job()
        await driver.store.add_job(job, replace=True)
        assert await driver.store.get_job(job.key) == job

    async def test_a_replaced_job_is_what_fires(self, driver: StoreDriver) -> None:
        """A trigger that was acquired before its job was replaced fires the new job."""
        await driver.add_trigger()
        acquired = await driver.acquire_one()
        new = a_job(runs=OtherJob, job_data={"version": 2})
        await driver.store.add_job(new, replace=True)
        (bundle,) = await driver.fire(acquired)
        assert bundle.job == new

    async def test_jobs_by_key_come_in_the_order_asked_for(self, driver: StoreDriver) -> None:
        """Several jobs come in the order of the keys, each once, without those that are not stored."""
        one, two, three = [await driver.add_job(name) for name in ("one", "two", "three")]
        keys = [three.key, JobKey("none"), one.key, three.key, two.key, one.key]
        assert await driver.store.get_job_details(keys) == [three, one, two]
        assert await driver.store.get_job_details([]) == []

    async def test_deleting_a_job_deletes_its_triggers(self, driver: StoreDriver) -> None:
        """A deleted job takes its triggers along, and only those."""
        job, other = await driver.add_job(), await driver.add_job("other")
        await driver.add_triggers("a", "b", job=job)
        kept = await driver.add_trigger("c", job=other)
        assert await driver.store.delete_job(job.key) is True
        snapshot = await driver.snapshot()
        assert (snapshot.jobs, snapshot.triggers) == ((other,), (kept,))

    async def test_deleting_a_job_that_is_not_there(self, driver: StoreDriver) -> None:
        """Deleting an unknown job answers False."""
        assert await driver.store.delete_job(JobKey("none")) is False

    async def test_a_deleted_job_is_not_told_as_one_that_went_with_its_trigger(self, driver: StoreDriver) -> None:
        """Whoever calls ``delete_job`` tells the listeners itself; the store tells of orphans only."""
        job = await driver.add_job(durable=False)
        await driver.add_trigger(job=job)
        await driver.store.delete_job(job.key)
        assert driver.signaler.deleted_jobs == []

    async def test_deleting_jobs_tells_whether_all_were_there(self, driver: StoreDriver) -> None:
        """Those that are there are deleted even when others are not; True means that all were."""
        jobs: list[JobDetail] = [await driver.add_job(name) for name in ("a", "b", "c")]
        assert await driver.store.delete_jobs([jobs[0].key, JobKey("none"), jobs[1].key]) is False
        assert (await driver.snapshot()).jobs == (jobs[2],)
        assert await driver.store.delete_jobs([jobs[2].key, jobs[2].key]) is True, "a key that comes twice counts once"
        assert await driver.store.delete_jobs([]) is True

    async def test_job_and_trigger_keys_do_not_meet(self, driver: StoreDriver) -> None:
        """A job and a trigger of the same name and group are told apart."""
        await driver.add_job("same", group="same")
        assert await driver.store.check_exists(JobKey("same", "same"))
        assert not await driver.store.check_exists(TriggerKey("same", "same"))

    async def test_a_job_without_triggers_stays(self, driver: StoreDriver) -> None:
        """A job that was added without a trigger waits for one, durable or not."""
        job = await driver.add_job(durable=False)
        await driver.run_due()
        assert await driver.store.get_job(job.key) == job
