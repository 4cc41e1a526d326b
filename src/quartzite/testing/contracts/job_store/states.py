"""Reported states: each stored state, idle and executing, as every way of asking answers it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["StatesContract"]

_KEY = TriggerKey("trigger")
_I = SchedulerInstruction
_Bring = Callable[[StoreDriver], Awaitable[object]]


async def _waiting(driver: StoreDriver) -> None:
    await driver.add_trigger(schedule=every(seconds=1))


async def _waiting_executing(driver: StoreDriver) -> None:
    await _waiting(driver)
    await driver.fire_one()


async def _acquired(driver: StoreDriver) -> None:
    await _waiting(driver)
    await driver.acquire_one()


async def _acquired_executing(driver: StoreDriver) -> None:
    await _waiting_executing(driver)
    driver.advance(1)
    await driver.acquire_one()


async def _complete(driver: StoreDriver) -> None:
    await driver.add_trigger()
    await driver.complete(await driver.fire_one())


async def _complete_executing(driver: StoreDriver) -> None:
    await driver.add_trigger()
    await driver.fire_one()


async def _paused(driver: StoreDriver) -> None:
    await _waiting(driver)
    await driver.store.pause_trigger(_KEY)


async def _paused_executing(driver: StoreDriver) -> None:
    await _waiting_executing(driver)
    await driver.store.pause_trigger(_KEY)


async def _blocked(driver: StoreDriver) -> None:
    job = await driver.add_job(concurrent_execution_disallowed=True)
    await driver.add_trigger("runs", job=job, priority=9)
    await driver.add_trigger(job=job)
    await driver.fire_due(1)


async def _blocked_executing(driver: StoreDriver) -> None:
    job = await driver.add_job(concurrent_execution_disallowed=True)
    await driver.add_trigger(job=job, schedule=every(seconds=1))
    await driver.fire_one()


async def _paused_blocked(driver: StoreDriver) -> None:
    await _blocked(driver)
    await driver.store.pause_trigger(_KEY)


async def _paused_blocked_executing(driver: StoreDriver) -> None:
    await _blocked_executing(driver)
    await driver.store.pause_trigger(_KEY)


async def _error(driver: StoreDriver) -> None:
    await _waiting(driver)
    await driver.complete(await driver.fire_one(), _I.SET_TRIGGER_ERROR)


async def _error_executing(driver: StoreDriver) -> None:
    await _waiting(driver)
    first = await driver.fire_one()
    driver.advance(1)
    await driver.fire_one()
    await driver.complete(first, _I.SET_TRIGGER_ERROR)


async def _missing(driver: StoreDriver) -> None:
    await driver.add_job()


async def _missing_executing(driver: StoreDriver) -> None:
    await _waiting_executing(driver)
    await driver.store.delete_trigger(_KEY)


_SITUATIONS: dict[str, tuple[_Bring, TriggerState]] = {
    "waiting": (_waiting, TriggerState.NORMAL),
    "waiting, executing": (_waiting_executing, TriggerState.EXECUTING),
    "acquired": (_acquired, TriggerState.NORMAL),
    "acquired, executing": (_acquired_executing, TriggerState.EXECUTING),
    "complete": (_complete, TriggerState.COMPLETE),
    "complete, executing": (_complete_executing, TriggerState.EXECUTING),
    "paused": (_paused, TriggerState.PAUSED),
    "paused, executing": (_paused_executing, TriggerState.PAUSED),
    "blocked": (_blocked, TriggerState.BLOCKED),
    "blocked, executing": (_blocked_executing, TriggerState.EXECUTING),
    "paused and blocked": (_paused_blocked, TriggerState.PAUSED),
    "paused and blocked, executing": (_paused_blocked_executing, TriggerState.PAUSED),
    "error": (_error, TriggerState.ERROR),
    "error, executing": (_error_executing, TriggerState.ERROR),
    "missing": (_missing, TriggerState.NONE),
    "missing, executing": (_missing_executing, TriggerState.NONE),
}


class StatesContract(StoreContract):
    """States (spec 06 section 3): None > Error > Paused > Executing > Blocked > Complete > Normal."""

    @pytest.mark.parametrize(("bring", "expected"), _SITUATIONS.values(), ids=_SITUATIONS)
    async def test_each_situation_reports_its_state(
        self, driver: StoreDriver, bring: _Bring, expected: TriggerState
    ) -> None:
        """The state, the header and the filter by state all say the same."""
        await bring(driver)
        assert await driver.state(_KEY) is expected
        listed = [header.state for header in await driver.headers() if header.key == _KEY]
        assert listed == [expected] * (expected is not TriggerState.NONE)
        for state in TriggerState:
            found = _KEY in keys_of(await driver.headers(state=state))
            assert found is (state is expected is not TriggerState.NONE)

    @pytest.mark.parametrize(("bring", "expected"), _SITUATIONS.values(), ids=_SITUATIONS)
    async def test_pausing_in_each_situation(self, driver: StoreDriver, bring: _Bring, expected: TriggerState) -> None:
        """However it is done, pausing turns all but NONE, COMPLETE and ERROR into PAUSED."""
        kept = {TriggerState.NONE, TriggerState.ERROR, TriggerState.COMPLETE}
        stays = expected in kept or bring is _complete_executing
        for way, pause in _PAUSE.items():
            await driver.store.clear()
            await bring(driver)
            await pause(driver)
            assert await driver.state(_KEY) is (expected if stays else TriggerState.PAUSED), way

    @pytest.mark.parametrize(("bring", "expected"), _SITUATIONS.values(), ids=_SITUATIONS)
    async def test_resuming_in_each_situation(self, driver: StoreDriver, bring: _Bring, expected: TriggerState) -> None:
        """Resuming a trigger that is not paused changes nothing; a paused one shows what lay under the pause."""
        under: dict[_Bring, TriggerState] = {
            _paused: TriggerState.NORMAL,
            _paused_executing: TriggerState.EXECUTING,
            _paused_blocked: TriggerState.BLOCKED,
            _paused_blocked_executing: TriggerState.EXECUTING,
        }
        for way, resume in _RESUME.items():
            await driver.store.clear()
            await bring(driver)
            await resume(driver)
            assert await driver.state(_KEY) is under.get(bring, expected), way

    @pytest.mark.parametrize(("bring", "expected"), _SITUATIONS.values(), ids=_SITUATIONS)
    async def test_resetting_in_each_situation(
        self, driver: StoreDriver, bring: _Bring, expected: TriggerState
    ) -> None:
        """Resetting from ERROR does so for a trigger in ERROR, and leaves every other one as it is."""
        await bring(driver)
        await driver.store.reset_trigger_from_error_state(_KEY)
        after: dict[_Bring, TriggerState] = {_error: TriggerState.NORMAL, _error_executing: TriggerState.EXECUTING}
        assert await driver.state(_KEY) is after.get(bring, expected)

    async def test_resetting_in_a_paused_group(self, driver: StoreDriver) -> None:
        """A trigger of a paused group comes back from ERROR as PAUSED."""
        await _error(driver)
        await driver.store.pause_triggers(GroupMatcher.group_equals("DEFAULT"))
        await driver.store.reset_trigger_from_error_state(_KEY)
        assert await driver.state(_KEY) is TriggerState.PAUSED

    async def test_a_trigger_that_was_reset_fires(self, driver: StoreDriver) -> None:
        """After the reset the trigger fires at its next time."""
        await _error(driver)
        await driver.store.reset_trigger_from_error_state(_KEY)
        driver.advance(1)
        assert (await driver.fire_one()).trigger.key == _KEY


_GROUP: GroupMatcher[TriggerKey] = GroupMatcher.group_equals("DEFAULT")
_PAUSE: dict[str, _Bring] = {
    "trigger": lambda driver: driver.store.pause_trigger(_KEY),
    "job": lambda driver: driver.store.pause_job(JobKey("job")),
    "group": lambda driver: driver.store.pause_triggers(_GROUP),
    "matcher": lambda driver: driver.store.pause_triggers(GroupMatcher.any_group()),
    "all": lambda driver: driver.store.pause_all(),
}
_RESUME: dict[str, _Bring] = {
    "trigger": lambda driver: driver.store.resume_trigger(_KEY),
    "job": lambda driver: driver.store.resume_job(JobKey("job")),
    "group": lambda driver: driver.store.resume_triggers(_GROUP),
    "all": lambda driver: driver.store.resume_all(),
}
