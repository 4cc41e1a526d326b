"""Jobs that disallow concurrent execution: one run at a time, and no trigger that stays blocked."""

from __future__ import annotations

import pytest

from quartzite.execution import JobCompletion, TriggerFiredBundle
from quartzite.model.job import JobDetail
from quartzite.model.keys import TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_trigger, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.base import Trigger
from quartzite.triggers.cron import cron
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.simple import every

__all__ = ["ExclusiveContract"]

_I = SchedulerInstruction


async def _running(driver: StoreDriver, *siblings: str) -> tuple[TriggerFiredBundle, list[Trigger]]:
    """Run a non-concurrent job by a trigger ``own``, beside siblings that are due; return the run and the siblings."""
    job = await driver.add_job(concurrent_execution_disallowed=True)
    await driver.add_trigger("own", job=job, schedule=every(seconds=60), priority=9)
    others = await driver.add_triggers(*siblings, job=job, schedule=every(seconds=60))
    (bundle,) = await driver.fire_due(1)
    assert bundle.trigger.key == TriggerKey("own")
    return bundle, others


async def _job_of(driver: StoreDriver, bundle: TriggerFiredBundle) -> JobDetail:
    return await driver.stored_job(bundle.job)


class ExclusiveContract(StoreContract):
    """Non-concurrent jobs (spec 06 sections 2, 3 and 8; spec 07 section 5)."""

    async def test_one_trigger_of_the_job_per_batch(self, driver: StoreDriver) -> None:
        """One batch holds at most one trigger of the job; other jobs are not concerned, though of the same type."""
        for name in ("one", "two"):
            job = await driver.add_job(name, concurrent_execution_disallowed=True)
            await driver.add_triggers(f"{name} a", f"{name} b", job=job)
        assert [key.name for key in keys_of(await driver.acquire())] == ["one a", "two a"]

    async def test_siblings_of_a_running_job_take_up_no_place(self, driver: StoreDriver) -> None:
        """A trigger that must wait for the end of a run does not keep triggers of other jobs waiting."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        names = [f"{number:02}" for number in range(12)]
        await driver.add_triggers(*names, job=job, priority=9)
        reserved = [(await driver.acquire(1))[0] for _ in names]
        await driver.fire(reserved[0])
        await driver.store.release_acquired_triggers(reserved[1:])
        other = await driver.add_trigger("other", job="another")
        assert keys_of(await driver.acquire(1)) == [other.key]

    async def test_a_run_blocks_the_siblings(self, driver: StoreDriver) -> None:
        """While the job runs its other triggers are BLOCKED and not reserved; the one that runs is EXECUTING."""
        bundle, siblings = await _running(driver, "a", "b")
        assert await driver.state(bundle.trigger) is TriggerState.EXECUTING
        assert await driver.states(*siblings) == [TriggerState.BLOCKED] * 2
        driver.advance(60)
        assert await driver.acquire() == []

    async def test_a_run_blocks_no_other_job(self, driver: StoreDriver) -> None:
        """What may not overlap is counted by job key, not by type."""
        await _running(driver, "a")
        other = await driver.add_job("other", concurrent_execution_disallowed=True)
        trigger = await driver.add_trigger("of the other", job=other)
        assert keys_of(await driver.acquire()) == [trigger.key]

    @pytest.mark.parametrize("instruction", SchedulerInstruction, ids=lambda value: value.name)
    @pytest.mark.parametrize("bulk", [False, True], ids=["alone", "in a batch"])
    async def test_the_end_of_the_run_frees_the_siblings(
        self, driver: StoreDriver, instruction: SchedulerInstruction, bulk: bool
    ) -> None:
        """However a run ends, no sibling stays BLOCKED, and the loop is woken."""
        bundle, siblings = await _running(driver, "a", "b")
        driver.signaler.clear()
        if bulk:
            await driver.store.triggered_jobs_complete([JobCompletion(bundle.trigger, bundle.job, instruction)])
        else:
            await driver.complete(bundle, instruction)
        ended = {
            _I.SET_ALL_JOB_TRIGGERS_COMPLETE: TriggerState.COMPLETE, _I.SET_ALL_JOB_TRIGGERS_ERROR: TriggerState.ERROR,
        }  # fmt: skip
        assert await driver.states(*siblings) == [ended.get(instruction, TriggerState.NORMAL)] * 2
        assert driver.signaler.scheduling_changes

    async def test_the_freed_siblings_run_one_after_the_other(self, driver: StoreDriver) -> None:
        """After the run each sibling gets its turn, and no two of them at once."""
        bundle, _ = await _running(driver, "a", "b")
        await driver.complete(bundle)
        order = []
        while bundles := await driver.fire_due():
            assert len(bundles) == 1
            order.append(bundles[0].trigger.key.name)
            await driver.complete(bundles[0])
        assert order == ["a", "b"]

    async def test_two_reservations_of_the_job_give_one_run(self, driver: StoreDriver) -> None:
        """When two triggers of the job were reserved one after the other, only the first to fire runs."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_triggers("a", "b", job=job, schedule=every(seconds=60))
        first, second = [*await driver.acquire(1), *await driver.acquire(1)]
        (bundle,) = await driver.fire(first)
        assert await driver.is_refused(second)
        await driver.store.release_acquired_trigger(second)
        assert await driver.acquire() == [], "the job runs already"
        await driver.complete(bundle)
        assert keys_of(await driver.acquire()) == [second.key]

    async def test_two_reservations_of_the_job_in_one_firing_give_one_run(self, driver: StoreDriver) -> None:
        """The same holds when both are fired in one call: the first in the order of the call runs."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_triggers("a", "b", job=job)
        both = [*await driver.acquire(1), *await driver.acquire(1)]
        results = await driver.store.triggers_fired(both)
        assert [result.bundle is not None for result in results] == [True, False]

    async def test_a_trigger_that_is_added_during_the_run_is_blocked(self, driver: StoreDriver) -> None:
        """A new trigger of a running job waits for the end of the run."""
        bundle, _ = await _running(driver)
        await driver.store.add_trigger(a_trigger("new"))
        assert await driver.state(TriggerKey("new")) is TriggerState.BLOCKED
        await driver.complete(bundle)
        assert await driver.state(TriggerKey("new")) is TriggerState.NORMAL

    async def test_a_trigger_that_is_added_to_a_paused_group_during_the_run(self, driver: StoreDriver) -> None:
        """A new trigger of a running job in a paused group is PAUSED, during the run and after it."""
        bundle, _ = await _running(driver)
        await driver.store.pause_triggers(GroupMatcher.group_equals("p"))
        await driver.store.add_trigger(a_trigger("new", "p"))
        for _ in range(2):
            assert await driver.state(TriggerKey("new", "p")) is TriggerState.PAUSED
            await driver.complete(bundle)
        await driver.store.resume_triggers(GroupMatcher.group_equals("p"))
        assert await driver.state(TriggerKey("new", "p")) is TriggerState.NORMAL

    async def test_a_sibling_that_is_paused_during_the_run_stays_paused(self, driver: StoreDriver) -> None:
        """The end of the run does not resume what was paused, before or during it."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_trigger("own", job=job)
        before, during = await driver.add_triggers("before", "during", job=job, when=at(30))
        await driver.store.pause_trigger(before.key)
        bundle = await driver.fire_one()
        await driver.store.pause_trigger(during.key)
        assert await driver.states(before, during) == [TriggerState.PAUSED] * 2
        await driver.complete(bundle)
        assert await driver.states(before, during) == [TriggerState.PAUSED] * 2
        await driver.store.resume_job(job.key)
        assert await driver.states(before, during) == [TriggerState.NORMAL] * 2

    async def test_a_sibling_that_is_resumed_during_the_run_is_blocked(self, driver: StoreDriver) -> None:
        """Resuming looks at the job again: while it runs, its trigger becomes BLOCKED."""
        bundle, (sibling,) = await _running(driver, "a")
        await driver.store.pause_trigger(sibling.key)
        await driver.store.resume_trigger(sibling.key)
        assert await driver.state(sibling) is TriggerState.BLOCKED
        await driver.complete(bundle)
        assert await driver.state(sibling) is TriggerState.NORMAL

    async def test_the_running_trigger_can_be_paused(self, driver: StoreDriver) -> None:
        """The trigger that runs is PAUSED when it is paused, and stays so after the run."""
        bundle, _ = await _running(driver)
        await driver.store.pause_trigger(bundle.trigger.key)
        assert await driver.state(bundle.trigger) is TriggerState.PAUSED
        await driver.complete(bundle)
        assert await driver.state(bundle.trigger) is TriggerState.PAUSED

    async def test_a_sibling_in_error_stays_there(self, driver: StoreDriver) -> None:
        """Neither the begin nor the end of a run takes a sibling out of ERROR or COMPLETE."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        error, complete = await driver.add_triggers("error", "complete", job=job, schedule=every(days=1))
        for instruction in (_I.SET_TRIGGER_COMPLETE, _I.SET_TRIGGER_ERROR):
            (bundle,) = await driver.fire_due(1)
            await driver.complete(bundle, instruction)
        await driver.add_trigger("own", job=job)
        bundle = await driver.fire_one()
        expected = [TriggerState.ERROR, TriggerState.COMPLETE]
        assert await driver.states(error, complete) == expected
        await driver.complete(bundle)
        assert await driver.states(error, complete) == expected

    async def test_a_trigger_that_is_reset_during_the_run_does_not_run(self, driver: StoreDriver) -> None:
        """A trigger that comes back from ERROR while its job runs is not reserved before the run ends."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        trigger = await driver.add_trigger("failing", job=job, schedule=every(seconds=1))
        await driver.complete(await driver.fire_one(), _I.SET_TRIGGER_ERROR)
        await driver.add_trigger("own", job=job)
        bundle = await driver.fire_one()
        await driver.store.reset_trigger_from_error_state(trigger.key)
        driver.advance(1)
        assert await driver.acquire() == []
        await driver.complete(bundle)
        assert keys_of(await driver.acquire()) == [trigger.key]

    async def test_deleting_the_running_trigger_leaves_no_sibling_blocked(self, driver: StoreDriver) -> None:
        """When the trigger that runs is unscheduled, its siblings wait for the end of the run and then go on."""
        bundle, (sibling,) = await _running(driver, "a")
        await driver.store.delete_trigger(bundle.trigger.key)
        assert await driver.acquire() == [], "the job still runs"
        await driver.complete(bundle)
        assert await driver.state(sibling) is TriggerState.NORMAL
        assert keys_of(await driver.acquire()) == [sibling.key]

    async def test_replacing_the_running_trigger_makes_no_second_run(self, driver: StoreDriver) -> None:
        """When a run reschedules its own trigger, the new one waits for the end of the run."""
        bundle, (sibling,) = await _running(driver, "a")
        new = a_trigger("new", priority=9)
        await driver.store.replace_trigger(bundle.trigger.key, new)
        assert await driver.acquire() == [], "the job still runs"
        await driver.complete(bundle)
        assert await driver.states(new, sibling) == [TriggerState.NORMAL] * 2
        assert keys_of(await driver.acquire(1)) == [new.key]

    async def test_storing_the_running_trigger_again_makes_no_second_run(self, driver: StoreDriver) -> None:
        """A run that is declared again, as at the start of an application, is not joined by another one."""
        bundle, _ = await _running(driver, "a")
        await driver.store.add_trigger(a_trigger("own"), replace=True)
        await driver.store.add_job(await _job_of(driver, bundle), replace=True)
        assert await driver.acquire() == []
        await driver.complete(bundle)
        assert [key.name for key in keys_of(await driver.acquire())] == ["a"]

    async def test_times_that_the_run_itself_kept_are_misfires(self, driver: StoreDriver) -> None:
        """A trigger that a long run of its own job made late misfires, and that is told, once, with the old time."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        trigger = await driver.add_trigger(job=job, schedule=every(seconds=3))
        bundle = await driver.fire_one()
        driver.advance(driver.too_late.total_seconds() + 3)
        await driver.complete(bundle)
        assert driver.signaler.misfires == [(trigger.key, at(3))]
        await self.handle_misfires(driver)
        assert driver.signaler.misfires == [(trigger.key, at(3))]

    async def test_a_sibling_that_has_nothing_left_after_the_run_is_deleted(self, driver: StoreDriver) -> None:
        """A freed sibling whose misfire leaves it no time is over: that is told, and it is deleted at once."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_trigger("own", job=job, priority=9)
        nothing = cron("0/2 * * * * ?").with_misfire_instruction(MisfireInstruction.DO_NOTHING)
        sibling = await driver.add_trigger("sibling", job=job, schedule=nothing, end_time=at(3))
        (bundle,) = await driver.fire_due(1)
        driver.advance(driver.too_late.total_seconds() + 3)
        await driver.complete(bundle)
        assert driver.signaler.misfires == [(sibling.key, at(0))]
        assert keys_of(driver.signaler.finalized) == [sibling.key]
        assert await driver.state(sibling) is TriggerState.NONE
