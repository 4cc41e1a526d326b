"""Pausing groups: what is paused, what is remembered, what is answered, and how it is undone."""

from __future__ import annotations

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher, StringOperator
from quartzite.model.query import JobGroup, JobGroupQuery, TriggerGroup, TriggerGroupQuery
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import at
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.simple import every

__all__ = ["GroupsContract"]

_GROUPS = ("Group1", "a%b", "a_b", "axb", "ä", "group1", "group1a", "group1b", "group2", "x!y", "x\\y")
_MATCHES: list[tuple[StringOperator, str, set[str]]] = [
    (StringOperator.EQUALITY, "group1", {"group1"}),
    (StringOperator.EQUALITY, "a_b", {"a_b"}),
    (StringOperator.STARTS_WITH, "group1", {"group1", "group1a", "group1b"}),
    (StringOperator.STARTS_WITH, "a_", {"a_b"}),
    (StringOperator.STARTS_WITH, "%", set()),
    (StringOperator.ENDS_WITH, "%b", {"a%b"}),
    (StringOperator.ENDS_WITH, "1", {"Group1", "group1"}),
    (StringOperator.CONTAINS, "_", {"a_b"}),
    (StringOperator.CONTAINS, "!", {"x!y"}),
    (StringOperator.CONTAINS, "\\", {"x\\y"}),
    (StringOperator.CONTAINS, "roup", {"Group1", "group1", "group1a", "group1b", "group2"}),
    (StringOperator.CONTAINS, "GROUP", set()),
    (StringOperator.CONTAINS, "a", {"a%b", "a_b", "axb", "group1a"}),
    (StringOperator.CONTAINS, "", set(_GROUPS)),
    (StringOperator.ANYTHING, "", set(_GROUPS)),
]


def triggers_in(group: str) -> GroupMatcher[TriggerKey]:
    """Return the matcher of one trigger group."""
    return GroupMatcher.group_equals(group)


async def paused_groups(driver: StoreDriver) -> list[str]:
    """Return the names of the remembered groups."""
    page = await driver.store.query_trigger_groups(TriggerGroupQuery(paused=True))
    return [group.name for group in page.items]


async def paused_triggers(driver: StoreDriver) -> set[str]:
    """Return the groups of the paused triggers."""
    return {header.key.group for header in await driver.headers(state=TriggerState.PAUSED)}


class GroupsContract(StoreContract):
    """Groups (spec 06 section 4)."""

    async def test_trigger_groups_by_matcher(self, driver: StoreDriver) -> None:
        """Every operator pauses, remembers and answers each matching group, literally; the same matcher undoes it."""
        for group in _GROUPS:
            await driver.add_trigger("t", group=group)
        for operator, value, matched in _MATCHES:
            matcher: GroupMatcher[TriggerKey] = GroupMatcher(operator, value)
            assert sorted(await driver.store.pause_triggers(matcher)) == sorted(matched), matcher
            assert set(await paused_groups(driver)) == await paused_triggers(driver) == matched, matcher
            assert sorted(await driver.store.resume_triggers(matcher)) == sorted(matched), matcher
            assert (await paused_groups(driver), await paused_triggers(driver)) == ([], set()), matcher

    async def test_job_groups_by_matcher(self, driver: StoreDriver) -> None:
        """Every operator pauses the triggers of the jobs in each matching group; the same matcher undoes it."""
        for group in _GROUPS:
            await driver.add_trigger("t", group=group, job=await driver.add_job("j", group=group))
        for operator, value, matched in _MATCHES:
            matcher: GroupMatcher[JobKey] = GroupMatcher(operator, value)
            assert sorted(await driver.store.pause_jobs(matcher)) == sorted(matched), matcher
            assert await paused_triggers(driver) == matched, matcher
            assert sorted(await driver.store.resume_jobs(matcher)) == sorted(matched), matcher
            assert await paused_triggers(driver) == set(), matcher

    async def test_later_members_of_a_paused_group_start_paused(self, driver: StoreDriver) -> None:
        """A paused group is remembered: what is added to it is paused, until the group is resumed."""
        await driver.add_trigger("first", group="g")
        await driver.store.pause_triggers(triggers_in("g"))
        later = await driver.add_trigger("later", group="g")
        elsewhere = await driver.add_trigger("elsewhere", group="G")
        assert await driver.states(later, elsewhere) == [TriggerState.PAUSED, TriggerState.NORMAL]
        await driver.store.resume_triggers(triggers_in("g"))
        afterwards = await driver.add_trigger("afterwards", group="g")
        assert await driver.states(later, afterwards) == [TriggerState.NORMAL] * 2

    async def test_a_group_can_be_paused_before_it_has_members(self, driver: StoreDriver) -> None:
        """A group that is named exactly is remembered and answered although it is empty."""
        assert await driver.store.pause_triggers(triggers_in("abc")) == ["abc"]
        assert await paused_groups(driver) == ["abc"]
        trigger = await driver.add_trigger("t", group="abc")
        assert await driver.state(trigger) is TriggerState.PAUSED

    async def test_a_pause_without_members_can_be_undone(self, driver: StoreDriver) -> None:
        """Resuming an empty paused group forgets the pause, and what is added then fires."""
        await driver.store.pause_triggers(triggers_in("abc"))
        assert await driver.store.resume_triggers(triggers_in("abc")) == ["abc"]
        assert await paused_groups(driver) == []
        await driver.add_trigger("t", group="abc")
        assert len(await driver.acquire()) == 1

    async def test_a_matcher_undoes_the_pauses_of_empty_groups_too(self, driver: StoreDriver) -> None:
        """Resuming by a prefix forgets every remembered group with it, members or not."""
        for group in ("abc", "abd", "b"):
            await driver.store.pause_triggers(triggers_in(group))
        await driver.store.resume_triggers(GroupMatcher.group_starts_with("ab"))
        assert await paused_groups(driver) == ["b"]

    async def test_a_matcher_remembers_only_groups_that_exist(self, driver: StoreDriver) -> None:
        """A group that begins to exist after it would have matched is not paused."""
        await driver.add_trigger("t", group="group1a")
        await driver.store.pause_triggers(GroupMatcher.group_starts_with("group1"))
        later = await driver.add_trigger("t", group="group1b")
        assert await driver.state(later) is TriggerState.NORMAL
        assert await paused_groups(driver) == ["group1a"]

    async def test_a_paused_group_outlives_its_members(self, driver: StoreDriver) -> None:
        """The pause of a group is remembered when its last trigger is gone."""
        trigger = await driver.add_trigger("t", group="g")
        await driver.store.pause_triggers(triggers_in("g"))
        await driver.store.delete_trigger(trigger.key)
        assert await paused_groups(driver) == ["g"]
        assert await driver.state(await driver.add_trigger("new", group="g")) is TriggerState.PAUSED

    async def test_pausing_a_group_again_reaches_what_was_resumed(self, driver: StoreDriver) -> None:
        """A trigger that was resumed within a paused group is paused again with the group, which is answered again."""
        trigger = await driver.add_trigger("t", group="g")
        await driver.store.pause_triggers(triggers_in("g"))
        await driver.store.resume_trigger(trigger.key)
        assert await driver.state(trigger) is TriggerState.NORMAL
        assert await driver.store.pause_triggers(triggers_in("g")) == ["g"]
        assert await driver.state(trigger) is TriggerState.PAUSED

    async def test_resuming_a_group_reaches_what_was_paused_alone(self, driver: StoreDriver) -> None:
        """Resuming a group resumes all of its triggers, also those that were paused one by one."""
        trigger = await driver.add_trigger("t", group="g")
        await driver.store.pause_trigger(trigger.key)
        assert await driver.store.resume_triggers(triggers_in("g")) == ["g"]
        assert await driver.state(trigger) is TriggerState.NORMAL

    async def test_resuming_a_group_deals_with_missed_times(self, driver: StoreDriver) -> None:
        """Triggers that are resumed with their group misfire at once when their time has passed."""
        triggers = await driver.add_triggers("a", "b", group="g", schedule=every(seconds=60))
        await driver.store.pause_triggers(triggers_in("g"))
        driver.advance(30)
        await driver.store.resume_triggers(GroupMatcher.any_group())
        assert sorted(driver.signaler.misfires) == [(trigger.key, at(0)) for trigger in triggers]
        assert [(await driver.stored(trigger)).next_fire_time for trigger in triggers] == [at(60)] * 2

    async def test_a_trigger_in_error_stays_there(self, driver: StoreDriver) -> None:
        """Neither pausing nor resuming its group takes a trigger out of ERROR."""
        trigger = await driver.add_trigger("t", group="g", schedule=every(seconds=60))
        await driver.complete(await driver.fire_one(), SchedulerInstruction.SET_TRIGGER_ERROR)
        await driver.store.pause_triggers(triggers_in("g"))
        assert await driver.state(trigger) is TriggerState.ERROR
        await driver.store.resume_triggers(triggers_in("g"))
        assert await driver.state(trigger) is TriggerState.ERROR

    # Job groups -----------------------------------------------------------------------------------------------

    async def test_a_job_group_is_not_remembered(self, driver: StoreDriver) -> None:
        """Pausing a job group concerns the triggers that are there: later ones fire, and the group is not paused."""
        job = await driver.add_job("j", group="g")
        present = await driver.add_trigger("present", job=job)
        assert await driver.store.pause_jobs(GroupMatcher.group_equals("g")) == ["g"]
        later = await driver.add_trigger("later", job=job)
        assert await driver.states(present, later) == [TriggerState.PAUSED, TriggerState.NORMAL]
        page = await driver.store.query_job_groups(JobGroupQuery())
        assert list(page.items) == [JobGroup(name="g", paused=False)]

    async def test_a_job_group_that_is_not_there(self, driver: StoreDriver) -> None:
        """A job group without jobs is not answered."""
        assert await driver.store.pause_jobs(GroupMatcher.group_equals("none")) == []
        assert await driver.store.resume_jobs(GroupMatcher.group_equals("none")) == []

    async def test_trigger_groups_are_resumed_whatever_their_job_group(self, driver: StoreDriver) -> None:
        """A trigger that was paused with its job group is resumed with its trigger group."""
        job = await driver.add_job("j", group="g")
        trigger = await driver.add_trigger("t", group="h", job=job)
        await driver.store.pause_jobs(GroupMatcher.group_equals("g"))
        await driver.store.resume_triggers(triggers_in("h"))
        assert await driver.state(trigger) is TriggerState.NORMAL

    # All ------------------------------------------------------------------------------------------------------

    async def test_all_is_paused_and_resumed(self, driver: StoreDriver) -> None:
        """Pausing all pauses every trigger and remembers every group; resuming all undoes that."""
        for group in ("a", "b", "DEFAULT"):
            await driver.add_trigger("t", group=group)
        await driver.store.pause_all()
        assert await paused_groups(driver) == ["DEFAULT", "a", "b"]
        assert await driver.acquire() == []
        await driver.store.resume_all()
        assert await paused_groups(driver) == []
        assert len(await driver.acquire()) == 3

    async def test_groups_that_appear_after_pausing_all_are_paused(self, driver: StoreDriver) -> None:
        """A trigger of a new group starts paused, and its group is remembered from then on."""
        await driver.store.pause_all()
        trigger = await driver.add_trigger("t", group="new")
        assert await driver.state(trigger) is TriggerState.PAUSED
        assert await paused_groups(driver) == ["new"]

    async def test_resuming_all_forgets_every_pause(self, driver: StoreDriver) -> None:
        """After resuming all no pause is left: neither of empty groups, nor the mark of pausing all."""
        trigger = await driver.add_trigger("t", group="g", job=await driver.add_job(durable=False))
        await driver.store.pause_triggers(triggers_in("empty"))
        await driver.store.pause_all()
        await driver.store.delete_trigger(trigger.key)
        await driver.store.resume_all()
        assert await paused_groups(driver) == []
        for group in ("g", "empty", "new"):
            await driver.add_trigger("t", group=group)
        assert len(await driver.acquire()) == 3

    async def test_one_group_can_be_resumed_after_pausing_all(self, driver: StoreDriver) -> None:
        """Resuming one group leaves the others paused."""
        for group in ("a", "b"):
            await driver.add_trigger("t", group=group)
        await driver.store.pause_all()
        assert await driver.store.resume_triggers(triggers_in("a")) == ["a"]
        assert await paused_groups(driver) == ["b"]
        assert [trigger.key.group for trigger in await driver.acquire()] == ["a"]

    async def test_resuming_one_group_leaves_the_mark_of_pausing_all(self, driver: StoreDriver) -> None:
        """After all was paused and one group resumed, a group that appears then is paused all the same."""
        await driver.add_trigger("t", group="a")
        await driver.store.pause_all()
        await driver.store.resume_triggers(triggers_in("a"))
        assert await driver.state(await driver.add_trigger("t", group="new")) is TriggerState.PAUSED

    async def test_resuming_every_group_takes_the_mark_of_pausing_all_away(self, driver: StoreDriver) -> None:
        """Resuming by the matcher of every group also ends the pause of groups that are yet to appear."""
        await driver.store.pause_all()
        await driver.store.resume_triggers(GroupMatcher.any_group())
        assert await driver.state(await driver.add_trigger("t", group="new")) is TriggerState.NORMAL

    async def test_the_groups_tell_whether_they_are_paused(self, driver: StoreDriver) -> None:
        """A listed group says whether it is paused; a pause of its only trigger does not make it so."""
        await driver.add_trigger("t", group="a")
        trigger = await driver.add_trigger("t", group="b")
        await driver.store.pause_triggers(triggers_in("a"))
        await driver.store.pause_trigger(trigger.key)
        page = await driver.store.query_trigger_groups(TriggerGroupQuery())
        assert list(page.items) == [TriggerGroup(name="a", paused=True), TriggerGroup(name="b", paused=False)]
