"""Persistence: what survives a store, and what becomes of the work that its former life left."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from quartzite.calendars.holiday import HolidayCalendar
from quartzite.errors import SchedulerError
from quartzite.execution import (
    ORIGINAL_FIRE_TIME,
    ORIGINAL_SCHEDULED_FIRE_TIME,
    ORIGINAL_TRIGGER_GROUP,
    ORIGINAL_TRIGGER_NAME,
)
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import RECOVERY_GROUP, JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import TriggerGroupQuery
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.capabilities import Capability, requires
from quartzite.testing.contracts.job_store.base import MakeDriver, MakeStore, StoreContract, StoreParts
from quartzite.testing.contracts.job_store.content import a_job, a_trigger, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.cron import cron
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.simple import every

__all__ = ["JobNamesContract", "PersistenceContract", "RecoveryContract"]


async def _after_a_crash(make_driver: MakeDriver) -> StoreDriver:
    """Return a new store for the same node, as a process that starts again after it died would make it."""
    return await make_driver()


@requires(Capability.PERSISTENCE)
class PersistenceContract(StoreContract):
    """Data survives (spec 06 section 1)."""

    async def test_everything_survives(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """A store that is made again shows the content, progress and pauses of the one before it."""
        await driver.store.add_calendar("c", HolidayCalendar())
        await driver.add_job("durable", description="d", job_data={"a": [1, 2.5, None]})
        await driver.add_trigger("runs", schedule=every(seconds=60), calendar_name="c", job_data={"b": True})
        await driver.add_trigger("cron", group="g", schedule=cron("0 0 9 * * ?", time_zone="Asia/Kolkata"))
        await driver.run_due()
        await driver.store.pause_triggers(GroupMatcher.group_equals("g"))
        await driver.store.pause_triggers(GroupMatcher.group_equals("empty"))
        before = await driver.snapshot()
        await driver.store.shutdown()
        assert await (await make_driver()).snapshot() == before

    async def test_written_data_survives(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """Job data that a run changed is there after a restart."""
        job = await driver.add_job(persist_job_data_after_execution=True)
        await driver.add_trigger(job=job, schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), data={"runs": 1})
        assert (await (await _after_a_crash(make_driver)).stored_job(job)).job_data == {"runs": 1}

    async def test_the_mark_of_pausing_all_survives(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """Groups that appear after a restart are paused when all had been paused before it."""
        await driver.store.pause_all()
        again = await _after_a_crash(make_driver)
        assert await again.state(await again.add_trigger("t", group="new")) is TriggerState.PAUSED
        page = await again.store.query_trigger_groups(TriggerGroupQuery(paused=True))
        assert [group.name for group in page.items] == ["new"]

    async def test_schedulers_of_other_names_are_apart(
        self, driver: StoreDriver, make_store: MakeStore, store_parts: StoreParts
    ) -> None:
        """Two schedulers may use the same keys in one database; neither sees, fires or clears what the other has."""
        trigger = await driver.add_trigger()
        await driver.store.pause_triggers(GroupMatcher.group_equals("g"))
        name = f"{store_parts.identity.scheduler_name} too"
        identity = replace(store_parts.identity, scheduler_name=name)
        other = await make_store(replace(store_parts, identity=identity))
        try:
            assert await other.get_trigger(trigger.key) is None
            await other.schedule_job(a_job(), a_trigger(when=at(60)))
            before = await driver.snapshot()
            await other.clear()
            assert await driver.snapshot() == before
        finally:
            await other.shutdown()


@requires(Capability.JOBS_BY_NAME)
class JobNamesContract(StoreContract):
    """Jobs are stored by name (decision 7, conventions "Values")."""

    async def test_a_job_that_can_not_be_found_again_is_refused(self, driver: StoreDriver) -> None:
        """A lambda has no name that leads to it: it is refused when it is stored, with the remedy."""
        job = JobDetail(key=JobKey("lambda"), job_type=JobType.of(lambda context: None))
        with pytest.raises(SchedulerError, match=r"@job\(name"):
            await driver.store.add_job(job)
        assert await driver.store.get_job(job.key) is None

    async def test_a_job_type_that_is_gone_concerns_its_own_trigger_only(self, driver: StoreDriver) -> None:
        """A trigger whose job can not be loaded goes to ERROR and is told once; the others of the batch fire."""
        await driver.store.add_job(JobDetail(key=JobKey("bad"), job_type=JobType("no.such.module:Job"), durable=True))
        bad = await driver.add_trigger("bad", job="bad", priority=9)
        await driver.add_triggers(*(f"good {number}" for number in range(9)))
        fired = [result.bundle for result in await driver.store.triggers_fired(await driver.acquire(10))]
        while acquired := await driver.acquire(10):
            fired += [result.bundle for result in await driver.store.triggers_fired(acquired)]
        assert len([bundle for bundle in fired if bundle is not None]) == 9
        assert await driver.state(bad) is TriggerState.ERROR
        assert driver.signaler.triggers_in_error == [bad.key]


@requires(Capability.PERSISTENCE)
class RecoveryContract(StoreContract):
    """The start after a crash, of a scheduler that is alone on its data (spec 07 section 5, "start recovery")."""

    async def test_reservations_are_given_back(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """A trigger that was reserved and never fired fires after the restart, once."""
        await driver.add_trigger()
        await driver.acquire_one()
        again = await _after_a_crash(make_driver)
        assert await again.firings() == []
        assert (await again.fire_one()).scheduled_fire_time == at(0)
        assert await again.acquire() == []

    async def test_blocked_triggers_are_freed(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """Triggers that a run blocked which died with its process go on; paused ones stay paused."""
        job = await driver.add_job(concurrent_execution_disallowed=True)
        await driver.add_trigger("own", job=job, priority=9, schedule=every(seconds=60))
        blocked, paused = await driver.add_triggers("blocked", "paused", job=job)
        await driver.fire_due(1)
        await driver.store.pause_trigger(paused.key)
        again = await _after_a_crash(make_driver)
        assert await again.states(blocked, paused) == [TriggerState.NORMAL, TriggerState.PAUSED]
        assert keys_of(await again.acquire()) == [blocked.key]

    async def test_a_run_that_asked_for_it_is_made_again(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """The run of a job that requests recovery is repeated, once, and knows which run it repeats."""
        job = await driver.add_job(requests_recovery=True)
        trigger = await driver.add_trigger(
            "t", group="g", job=job, when=at(-2), priority=7, job_data={"a": 1}, schedule=every(days=1)
        )
        await driver.fire_one()
        driver.advance(3600)
        again = await _after_a_crash(make_driver)
        bundle = await again.fire_one()
        assert (bundle.recovering, bundle.job, bundle.trigger.priority) == (True, job, 7)
        assert bundle.trigger.key.group == RECOVERY_GROUP
        data = bundle.trigger.job_data
        assert (data["a"], data[ORIGINAL_TRIGGER_NAME], data[ORIGINAL_TRIGGER_GROUP]) == (1, "t", "g")
        assert data.get_datetime(ORIGINAL_FIRE_TIME) == at(0)
        assert data.get_datetime(ORIGINAL_SCHEDULED_FIRE_TIME) == at(-2)
        await again.complete(bundle, bundle.trigger.execution_complete(None))
        assert await again.acquire() == []
        assert keys_of(await again.headers()) == [trigger.key]

    async def test_other_runs_are_not_made_again(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """A run of a job that does not request recovery is lost with its process; its trigger goes on."""
        await driver.add_trigger(schedule=every(seconds=60))
        await driver.fire_one()
        again = await _after_a_crash(make_driver)
        assert (await again.acquire(), await again.firings()) == ([], [])
        again.move_to(at(60))
        assert (await again.fire_one()).scheduled_fire_time == at(60)

    async def test_a_recovery_trigger_can_be_taken_away_before_the_start(
        self, driver: StoreDriver, make_driver: MakeDriver
    ) -> None:
        """A recovery trigger that is deleted does not fire."""
        await driver.add_trigger(job=await driver.add_job(requests_recovery=True))
        await driver.fire_one()
        again = await _after_a_crash(make_driver)
        recovering = keys_of(await again.headers(group=GroupMatcher.group_equals(RECOVERY_GROUP)))
        assert len(recovering) == 1
        await again.store.delete_triggers(recovering)
        assert await again.acquire() == []

    async def test_complete_triggers_are_cleared_away(self, driver: StoreDriver, make_driver: MakeDriver) -> None:
        """Triggers that will never fire again are deleted at the start."""
        trigger = await driver.add_trigger(schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), SchedulerInstruction.SET_TRIGGER_COMPLETE)
        again = await _after_a_crash(make_driver)
        assert await again.store.get_trigger(trigger.key) is None

    async def test_times_that_passed_while_the_process_was_down_misfire(
        self, driver: StoreDriver, make_driver: MakeDriver
    ) -> None:
        """What came due while nobody ran is dealt with by its misfire instruction."""
        nothing = every(seconds=60).with_misfire_instruction(MisfireInstruction.IGNORE_MISFIRES)
        smart, ignoring = await driver.add_trigger("smart"), await driver.add_trigger("ignoring", schedule=nothing)
        driver.advance(timedelta(seconds=90))
        again = await _after_a_crash(make_driver)
        await self.handle_misfires(again)
        times = {trigger.key: trigger.next_fire_time for trigger in await again.acquire()}
        assert times == {smart.key: at(90), ignoring.key: at(0)}

    async def test_recovery_works_again_after_all_was_paused(
        self, driver: StoreDriver, make_driver: MakeDriver
    ) -> None:
        """Pausing and resuming all leaves no pause on the group of the recovery triggers."""
        await driver.add_trigger(job=await driver.add_job(requests_recovery=True), schedule=every(days=1))
        await driver.fire_one()
        again = await _after_a_crash(make_driver)
        bundle = await again.fire_one()
        await again.store.pause_all()
        await again.complete(bundle, bundle.trigger.execution_complete(None))
        await again.store.resume_all()
        assert [group for group in (await again.snapshot()).paused_groups if group.paused] == []
        again.move_to(at(86400))
        await again.fire_one()
        once_more = await _after_a_crash(make_driver)
        assert (await once_more.fire_one()).trigger.key.group == RECOVERY_GROUP

    async def test_the_trigger_of_a_finished_run_is_known_no_more(
        self, driver: StoreDriver, make_driver: MakeDriver
    ) -> None:
        """A completion from before the crash that comes late changes nothing."""
        await driver.add_trigger(schedule=every(seconds=60))
        bundle = await driver.fire_one()
        again = await _after_a_crash(make_driver)
        await again.complete(bundle, SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR)
        assert await again.state(TriggerKey("trigger")) is TriggerState.NORMAL
