"""Job data: what of a run's changes is kept."""

from __future__ import annotations

from quartzite.execution import JobCompletion
from quartzite.model.job_data import JobData
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_job
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["JobDataContract"]

_I = SchedulerInstruction


class JobDataContract(StoreContract):
    """Data after a run (spec 01 section 3, spec 06 section 8)."""

    async def test_changed_data_is_kept_when_the_job_asks_for_it(self, driver: StoreDriver) -> None:
        """Data that a run changed replaces the stored data, and is what the next run sees."""
        job = await driver.add_job(persist_job_data_after_execution=True, job_data={"runs": 0, "old": 1})
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), data={"runs": 1})
        assert (await driver.stored_job(job)).job_data == {"runs": 1}
        driver.advance(60)
        data = (await driver.fire_one()).job.job_data
        assert (data, data.changed) == (JobData(runs=1), False)

    async def test_changed_data_is_dropped_when_the_job_does_not_ask(self, driver: StoreDriver) -> None:
        """Without the flag, what a run did to its data is forgotten."""
        job = await driver.add_job(job_data={"runs": 0})
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), data={"runs": 1})
        assert (await driver.stored_job(job)).job_data == {"runs": 0}

    async def test_data_that_a_run_did_not_change_is_not_written(self, driver: StoreDriver) -> None:
        """A run that left its data alone does not undo what somebody else stored meanwhile."""
        job = await driver.add_job(persist_job_data_after_execution=True, job_data={"runs": 0})
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        bundle = await driver.fire_one()
        await driver.store.add_job(job.with_job_data(JobData(runs=7)), replace=True)
        await driver.complete(bundle)
        assert (await driver.stored_job(job)).job_data == {"runs": 7}

    async def test_only_the_data_of_the_job_is_written(self, driver: StoreDriver) -> None:
        """Writing data back does not undo other changes of the job."""
        job = await driver.add_job(persist_job_data_after_execution=True, description="old")
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        bundle = await driver.fire_one()
        new = a_job(persist_job_data_after_execution=True, description="new")
        await driver.store.add_job(new, replace=True)
        await driver.complete(bundle, data={"a": 1})
        assert await driver.stored_job(job) == new.with_job_data(JobData(a=1))

    async def test_data_is_kept_whatever_the_run_asked_for(self, driver: StoreDriver) -> None:
        """Also a run that failed, or that ends its triggers, has its data written back."""
        for instruction in SchedulerInstruction:
            job = await driver.add_job(instruction.name, persist_job_data_after_execution=True)
            await driver.add_trigger(instruction.name, job=job, schedule=every(seconds=60))
            await driver.complete(await driver.fire_one(), instruction, data={"a": [1, {"b": None}]})
            assert (await driver.stored_job(job)).job_data == {"a": [1, {"b": None}]}, instruction

    async def test_data_that_was_emptied_is_kept_empty(self, driver: StoreDriver) -> None:
        """A run that takes everything out leaves a job without data."""
        job = await driver.add_job(persist_job_data_after_execution=True, job_data={"a": 1})
        await driver.add_trigger(job=job)
        await driver.complete(await driver.fire_one(), data={})
        assert (await driver.stored_job(job)).job_data == {}

    async def test_data_that_can_not_be_stored_does_not_keep_a_firing_alive(self, driver: StoreDriver) -> None:
        """When a run leaves data that is refused, the run ends all the same: the old data stays, and it is told."""
        job = await driver.add_job(
            persist_job_data_after_execution=True, concurrent_execution_disallowed=True, job_data={"a": 1}
        )
        trigger = await driver.add_trigger(job=job, schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), data={"a": object()})
        assert (await driver.firings(), await driver.state(trigger)) == ([], TriggerState.NORMAL)
        assert (await driver.stored_job(job)).job_data == {"a": 1}
        assert len(driver.signaler.errors) == 1

    async def test_the_last_of_several_data_is_kept(self, driver: StoreDriver) -> None:
        """Runs of one concurrent job that end together write in the order of the call."""
        job = await driver.add_job(persist_job_data_after_execution=True)
        await driver.add_triggers("a", "b", job=job, schedule=every(seconds=60))
        first, second = await driver.fire_due()
        changes = [job.with_job_data(JobData()), job.with_job_data(JobData())]
        for number, bundle in enumerate((first, second)):
            data = bundle.job.job_data.mutable_copy()
            data["by"] = number
            changes[number] = bundle.job.with_job_data(data.frozen())
        done = [JobCompletion(first.trigger, changes[0], _I.NO_INSTRUCTION)]
        done.append(JobCompletion(second.trigger, changes[1], _I.NO_INSTRUCTION))
        await driver.store.triggered_jobs_complete(done)
        assert (await driver.stored_job(job)).job_data == {"by": 1}
