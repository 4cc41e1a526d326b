"""Faults of job stores that users reported: pauses (B074 to B076)."""

from __future__ import annotations

import pytest

from quartzite.model.keys import TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import TriggerGroupQuery
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts import StoreContract, StoreDriver
from quartzite.testing.contracts.job_store.content import a_job, a_trigger, at
from quartzite.triggers.simple import every
from tests.contract.subjects import InMemory


def in_group(name: str) -> GroupMatcher[TriggerKey]:
    """Return the matcher of one trigger group."""
    return GroupMatcher.group_equals(name)


class PauseFaults(StoreContract):
    """What went wrong elsewhere with pauses."""

    async def test_b074_the_pause_of_an_empty_group_can_be_undone(self, driver: StoreDriver) -> None:
        """A group that was paused and resumed while it was empty holds nothing back."""
        await driver.store.pause_triggers(in_group("abc"))
        await driver.store.resume_triggers(in_group("abc"))
        await driver.add_trigger("t", group="abc")
        assert len(await driver.run_due()) == 1

    async def test_b074_the_pause_of_all_can_be_undone_without_triggers(self, driver: StoreDriver) -> None:
        """Pause all, delete the only job, resume all, add another: it fires."""
        trigger = await driver.add_trigger()
        await driver.store.pause_all()
        await driver.store.delete_job(trigger.job_key)
        await driver.store.resume_all()
        await driver.add_trigger("another", job="another")
        assert len(await driver.run_due()) == 1

    async def test_b075_a_prefix_pauses_every_group(self, driver: StoreDriver) -> None:
        """Pausing by a prefix pauses all groups that have it and undoes the same; ERROR stays."""
        prefix: GroupMatcher[TriggerKey] = GroupMatcher.group_starts_with("group1")
        failing = await driver.add_trigger("failing", group="group1a", schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), SchedulerInstruction.SET_TRIGGER_ERROR)
        groups = ("group1a", "group1b", "group2")
        triggers = [await driver.add_trigger("t", group=group, when=at(60)) for group in groups]
        assert sorted(await driver.store.pause_triggers(prefix)) == ["group1a", "group1b"]
        normal, paused = TriggerState.NORMAL, TriggerState.PAUSED
        assert await driver.states(*triggers, failing) == [paused, paused, normal, TriggerState.ERROR]
        await driver.store.resume_triggers(prefix)
        assert await driver.states(*triggers, failing) == [normal, normal, normal, TriggerState.ERROR]
        page = await driver.store.query_trigger_groups(TriggerGroupQuery(paused=True))
        assert list(page.items) == []

    @pytest.mark.parametrize("changed", [False, True])
    async def test_b076_what_is_paused_stays_paused_when_it_is_declared_again(
        self, driver: StoreDriver, changed: bool
    ) -> None:
        """Of ten triggers that an application stores at each start, the three that were paused stay so."""
        seconds = [20] * 10
        names = [f"{number}" for number in range(10)]
        for _ in range(2):
            triggers = [
                a_trigger(name, schedule=every(seconds=span)) for name, span in zip(names, seconds, strict=True)
            ]
            await driver.store.schedule_jobs({a_job(): triggers}, replace=True)
            for trigger in triggers[:3] if seconds == [20] * 10 else []:
                await driver.store.pause_trigger(trigger.key)
            seconds = [30] * 10 if changed else seconds
        states = await driver.states(*triggers)
        assert states == [TriggerState.PAUSED] * 3 + [TriggerState.NORMAL] * 7
        assert await driver.stored(triggers[0]) == triggers[0]


class TestPauseFaultsInMemory(InMemory, PauseFaults):
    """RamJobStore."""
