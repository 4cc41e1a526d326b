"""Completion: what the end of a firing does to the trigger, its job and the job's data."""

from __future__ import annotations

import pytest

from quartzite.execution import JobCompletion
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_trigger, at
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["CompletionContract"]

_I = SchedulerInstruction
_S = TriggerState


class CompletionContract(StoreContract):
    """``triggered_job_complete`` (spec 06 section 8, spec 07 section 5)."""

    @pytest.mark.parametrize(
        ("instruction", "own", "sibling", "foreign"),
        [
            (_I.NO_INSTRUCTION, _S.NORMAL, _S.NORMAL, _S.NORMAL),
            (_I.RE_EXECUTE_JOB, _S.NORMAL, _S.NORMAL, _S.NORMAL),
            (_I.SET_TRIGGER_COMPLETE, _S.COMPLETE, _S.NORMAL, _S.NORMAL),
            (_I.SET_TRIGGER_ERROR, _S.ERROR, _S.NORMAL, _S.NORMAL),
            (_I.DELETE_TRIGGER, _S.NONE, _S.NORMAL, _S.NORMAL),
            (_I.SET_ALL_JOB_TRIGGERS_COMPLETE, _S.COMPLETE, _S.COMPLETE, _S.NORMAL),
            (_I.SET_ALL_JOB_TRIGGERS_ERROR, _S.ERROR, _S.ERROR, _S.NORMAL),
        ],
        ids=lambda value: value.name if isinstance(value, SchedulerInstruction) else None,
    )
    @pytest.mark.parametrize("exclusive", [False, True], ids=["concurrent", "non-concurrent"])
    async def test_each_instruction_does_what_it_says(
        self, driver: StoreDriver, exclusive: bool, instruction: SchedulerInstruction, own: TriggerState,
        sibling: TriggerState, foreign: TriggerState,
    ) -> None:  # fmt: skip
        """An instruction reaches the trigger, all triggers of its job, or none, and never those of other jobs."""
        job = await driver.add_job(concurrent_execution_disallowed=exclusive)
        fired = await driver.add_trigger("fired", job=job, schedule=every(seconds=60))
        other = await driver.add_trigger("sibling", job=job, when=at(30))
        unrelated = await driver.add_trigger("unrelated", job="another", when=at(30))
        await driver.complete(await driver.fire_one(), instruction)
        assert await driver.states(fired, other, unrelated) == [own, sibling, foreign]
        assert await driver.firings() == []

    @pytest.mark.parametrize(
        ("instruction", "triggers", "jobs"),
        [
            (_I.SET_TRIGGER_ERROR, [TriggerKey("trigger")], []),
            (_I.SET_ALL_JOB_TRIGGERS_ERROR, [], [JobKey("job")]),
            (_I.SET_ALL_JOB_TRIGGERS_COMPLETE, [], []),
            (_I.NO_INSTRUCTION, [], []),
        ],
        ids=lambda value: value.name if isinstance(value, SchedulerInstruction) else None,
    )
    async def test_triggers_that_are_put_into_error_are_told(
        self, driver: StoreDriver, instruction: SchedulerInstruction, triggers: list[TriggerKey], jobs: list[JobKey]
    ) -> None:
        """ERROR is told once: for the trigger, or for the job when all of its triggers are concerned."""
        await driver.add_trigger(schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), instruction)
        assert (driver.signaler.triggers_in_error, driver.signaler.jobs_in_error) == (triggers, jobs)

    async def test_the_scheduler_is_woken_when_triggers_change(self, driver: StoreDriver) -> None:
        """An instruction that changes triggers signals the loop, which may wait for one of them."""
        for instruction in set(SchedulerInstruction) - {_I.NO_INSTRUCTION, _I.RE_EXECUTE_JOB}:
            await driver.add_trigger(instruction.name, job=instruction.name, schedule=every(seconds=60))
            bundle = await driver.fire_one()
            driver.signaler.clear()
            await driver.complete(bundle, instruction)
            assert driver.signaler.scheduling_changes, instruction

    # Deleting what is finished --------------------------------------------------------------------------------

    async def test_a_reservation_that_is_completed_is_not_lost(self, driver: StoreDriver) -> None:
        """The completion of a firing that never started, as after a confusion, leaves its trigger free to fire."""
        await driver.add_trigger()
        acquired = await driver.acquire_one()
        job = await driver.stored_job(JobKey("job"))
        await driver.store.triggered_job_complete(acquired, job, _I.NO_INSTRUCTION)
        assert await driver.firings() == []
        assert (await driver.fire_one()).scheduled_fire_time == at(0)

    @pytest.mark.parametrize("durable", [True, False])
    async def test_a_finished_one_shot_is_deleted(self, driver: StoreDriver, durable: bool) -> None:
        """After its only run, failed or not, a one-shot leaves no trigger, no firing, and no job but a durable one."""
        job = await driver.add_job(durable=durable)
        trigger = await driver.add_trigger(job=job)
        await driver.complete(await driver.fire_one(), _I.DELETE_TRIGGER)
        assert await driver.state(trigger) is TriggerState.NONE
        assert await driver.firings() == []
        assert await driver.store.check_exists(job.key) is durable
        assert driver.signaler.deleted_jobs == ([] if durable else [job.key])

    async def test_a_trigger_that_its_job_stored_again_is_not_deleted(self, driver: StoreDriver) -> None:
        """A one-shot that its own run gave a new time stays: the stored trigger is looked at again."""
        trigger = await driver.add_trigger(job=await driver.add_job(durable=False))
        bundle = await driver.fire_one()
        await driver.store.add_trigger(a_trigger(when=at(60)), replace=True)
        await driver.complete(bundle, _I.DELETE_TRIGGER)
        assert (await driver.stored(trigger)).next_fire_time == at(60)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_a_trigger_that_its_job_rescheduled_is_not_deleted(self, driver: StoreDriver) -> None:
        """The same holds when the run put another trigger in the place of its own."""
        trigger = await driver.add_trigger(job=await driver.add_job(durable=False))
        bundle = await driver.fire_one()
        await driver.store.replace_trigger(trigger.key, a_trigger(when=at(60)))
        await driver.complete(bundle, _I.DELETE_TRIGGER)
        driver.move_to(at(60))
        assert (await driver.fire_one()).scheduled_fire_time == at(60)

    async def test_a_trigger_that_may_fire_again_is_deleted_when_asked_to(self, driver: StoreDriver) -> None:
        """DELETE_TRIGGER for a trigger with a next time deletes it all the same."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), _I.DELETE_TRIGGER)
        assert await driver.store.get_trigger(trigger.key) is None

    # Firings that are not known -------------------------------------------------------------------------------

    async def test_the_end_of_an_unknown_firing_changes_nothing(self, driver: StoreDriver) -> None:
        """A completion whose firing the store does not have is ignored, whatever it asks for, and tells nobody."""
        job = await driver.add_job(persist_job_data_after_execution=True, concurrent_execution_disallowed=True)
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        bundle = await driver.fire_one()
        await driver.complete(bundle)
        driver.advance(60)
        await driver.fire_one()
        before = await driver.snapshot()
        driver.signaler.clear()
        for instruction in SchedulerInstruction:
            await driver.complete(bundle, instruction, data={"stale": True})
        assert await driver.snapshot() == before
        assert (driver.signaler.triggers_in_error, driver.signaler.jobs_in_error) == ([], [])

    async def test_a_firing_ends_once(self, driver: StoreDriver) -> None:
        """The second completion of one firing does not count."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        bundle = await driver.fire_one()
        await driver.complete(bundle)
        await driver.complete(bundle, _I.SET_TRIGGER_ERROR)
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_the_job_may_be_gone_when_its_run_ends(self, driver: StoreDriver) -> None:
        """A completion whose job was deleted meanwhile brings nothing back and raises nothing."""
        for instruction in SchedulerInstruction:
            job = await driver.add_job(persist_job_data_after_execution=True)
            await driver.add_trigger(job=job, schedule=every(seconds=60))
            bundle = await driver.fire_one()
            await driver.store.delete_job(job.key)
            await driver.complete(bundle, instruction, data={"a": 1})
            snapshot = await driver.snapshot()
            assert (snapshot.jobs, snapshot.triggers, snapshot.firings) == ((), (), ()), instruction

    async def test_a_job_that_is_made_anew_while_the_old_one_runs_fires(self, driver: StoreDriver) -> None:
        """Deleting a running job and scheduling one of the same key leaves nothing behind that keeps it from firing."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        old = await driver.fire_one()
        await driver.store.delete_job(job.key)
        await driver.store.schedule_job(job, a_trigger("new", when=at(10)))
        await driver.complete(old)
        assert await driver.firings() == []
        driver.move_to(at(10))
        assert (await driver.fire_one()).trigger.key == TriggerKey("new")

    async def test_a_job_that_is_made_anew_does_not_overlap_the_old_run(self, driver: StoreDriver) -> None:
        """A non-concurrent job that was deleted while it ran, and stored again, waits for the end of that run."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_trigger(job=job)
        old = await driver.fire_one()
        await driver.store.delete_job(job.key)
        await driver.store.schedule_job(job, a_trigger("new"))
        assert await driver.acquire() == []
        await driver.complete(old)
        assert (await driver.fire_one()).trigger.key == TriggerKey("new")

    @pytest.mark.parametrize("by", ["delete_job", "delete_trigger", "delete_jobs"])
    async def test_the_end_of_an_old_run_leaves_a_new_job_of_its_key_alone(self, driver: StoreDriver, by: str) -> None:
        """The completion of a deleted job's run changes neither data nor triggers of a new job of the same key."""
        job = await driver.add_job(durable=False, persist_job_data_after_execution=True)
        trigger = await driver.add_trigger(job=job)
        old = await driver.fire_one()
        if by == "delete_trigger":
            await driver.store.delete_trigger(trigger.key)
        else:
            await (driver.store.delete_job(job.key) if by == "delete_job" else driver.store.delete_jobs([job.key]))
        await driver.store.schedule_job(job, a_trigger())
        other = await driver.add_trigger("z", job=job)
        (new,) = await driver.fire_due(1)
        for instruction in SchedulerInstruction:
            await driver.complete(old, instruction, data={"stale": True})
        assert await driver.stored_job(job) == job
        assert await driver.states(new.trigger, other) == [TriggerState.EXECUTING, TriggerState.NORMAL]

    # Many at once ---------------------------------------------------------------------------------------------

    async def test_completions_of_one_batch_are_each_carried_out(self, driver: StoreDriver) -> None:
        """Several completions in one call do what they would do one after the other."""
        job = await driver.add_job(persist_job_data_after_execution=True)
        names = ("normal", "complete", "error", "deleted")
        await driver.add_triggers(*names, job=job, schedule=every(seconds=60))
        bundles = {bundle.trigger.key.name: bundle for bundle in await driver.fire_due()}
        wanted = (_I.NO_INSTRUCTION, _I.SET_TRIGGER_COMPLETE, _I.SET_TRIGGER_ERROR, _I.DELETE_TRIGGER)
        done = [
            JobCompletion(bundles[name].trigger, bundles[name].job, one)
            for name, one in zip(names, wanted, strict=True)
        ]
        await driver.store.triggered_jobs_complete(done)
        states = [await driver.state(TriggerKey(name)) for name in names]
        assert states == [_S.NORMAL, _S.COMPLETE, _S.ERROR, _S.NONE]
        assert await driver.firings() == []

    async def test_a_batch_with_an_unknown_firing(self, driver: StoreDriver) -> None:
        """A completion that does not count does not disturb those beside it; one that comes twice counts once."""
        a, b = await driver.add_triggers("a", "b", schedule=every(seconds=60))
        first, second = await driver.fire_due()
        await driver.complete(first)
        done = [JobCompletion(one.trigger, one.job, _I.SET_TRIGGER_COMPLETE) for one in (first, second, second)]
        await driver.store.triggered_jobs_complete(done)
        assert await driver.states(a, b) == [TriggerState.NORMAL, TriggerState.COMPLETE]
