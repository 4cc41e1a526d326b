"""Queries of triggers, trigger groups and firings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from quartzite.calendars.holiday import HolidayCalendar
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher, NameMatcher, StringOperator
from quartzite.model.query import TriggerGroup, TriggerGroupQuery, TriggerHeader
from quartzite.model.states import FiredState, TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import DISCORDANT_NAMES, SCHEDULES, at, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.cron import cron
from quartzite.triggers.simple import every

__all__ = ["TriggerQueriesContract"]

_FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "a.one a.two b.one b.two"),
    ({"group": GroupMatcher.group_equals("a")}, "a.one a.two"),
    ({"name": NameMatcher.name_ends_with("o")}, "a.two b.two"),
    ({"group": GroupMatcher.any_group(), "name": NameMatcher.any_name()}, "a.one a.two b.one b.two"),
    ({"group": GroupMatcher.group_equals("a"), "name": NameMatcher.name_equals("one")}, "a.one"),
    ({"job": JobKey("j1")}, "a.one b.two"),
    ({"job": JobKey("j1", "other")}, ""),
    ({"calendar_name": "c"}, "b.one b.two"),
    ({"calendar_name": "C"}, ""),
    ({"state": TriggerState.PAUSED}, "a.two b.two"),
    ({"state": TriggerState.NONE}, ""),
    ({"state": TriggerState.PAUSED, "calendar_name": "c", "job": JobKey("j1")}, "b.two"),
    ({"state": TriggerState.NORMAL, "job": JobKey("j2"), "group": GroupMatcher.group_equals("a")}, ""),
]
_GROUP_FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "a b* É"),
    ({"paused": None}, "a b* É"),
    ({"paused": False}, "a É"),
    ({"paused": True}, "Z* b* empty*"),
    ({"name": "a"}, "a"),
    ({"name": "A"}, ""),
    ({"name": "empty"}, ""),
    ({"name": "empty", "paused": True}, "empty*"),
    ({"name": "b", "paused": False}, ""),
    ({"name": "a", "paused": True}, ""),
]


async def _groups(driver: StoreDriver, **filters: Any) -> list[TriggerGroup]:
    return list((await driver.store.query_trigger_groups(TriggerGroupQuery(**filters))).items)


class TriggerQueriesContract(StoreContract):
    """Queries about triggers (spec 06 section 5)."""

    async def test_a_header_describes_the_trigger(self, driver: StoreDriver) -> None:
        """A header has everything of the trigger but its schedule and data."""
        await driver.store.add_calendar("c", HolidayCalendar())
        await driver.add_trigger(
            "t", group="g", job=JobKey("j", "h"), description="d", schedule=cron("0/30 * * * * ?"), calendar_name="c",
            end_time=at(9999.000001), priority=-2, execution_group="heavy", job_data={"a": 1},
        )  # fmt: skip
        await driver.run_due()
        assert await driver.headers() == [
            TriggerHeader(
                key=TriggerKey("t", "g"), job_key=JobKey("j", "h"), description="d", trigger_type="CRON",
                state=TriggerState.NORMAL, start_time=at(0), end_time=at(9999.000001), next_fire_time=at(30),
                previous_fire_time=at(0), calendar_name="c", priority=-2, execution_group="heavy",
            )
        ]  # fmt: skip

    async def test_a_header_of_a_bare_trigger(self, driver: StoreDriver) -> None:
        """What a trigger does not have is None in its header."""
        await driver.add_trigger(when=at(0.000001))
        assert await driver.headers() == [
            TriggerHeader(
                key=TriggerKey("trigger"), job_key=JobKey("job"), description=None, trigger_type="SIMPLE",
                state=TriggerState.NORMAL, start_time=at(0.000001), end_time=None, next_fire_time=at(0.000001),
                previous_fire_time=None, calendar_name=None, priority=5, execution_group=None,
            )
        ]  # fmt: skip

    async def test_a_header_names_the_kind(self, driver: StoreDriver) -> None:
        """Every kind has its discriminator."""
        for name, schedule in SCHEDULES.items():
            await driver.add_trigger(name, schedule=schedule)
        kinds = {header.key.name: header.trigger_type for header in await driver.headers()}
        assert kinds == {name: name.partition(" ")[0] for name in SCHEDULES}

    async def test_triggers_come_by_group_and_name(self, driver: StoreDriver) -> None:
        """Triggers are listed by group, then name, both by code point; the group DEFAULT has no privilege here."""
        for text in reversed(DISCORDANT_NAMES):
            await driver.add_trigger(text, group="a")
            await driver.add_trigger("n", group=text)
        await driver.add_trigger("n")
        listed = keys_of(await driver.headers())
        assert [(key.group, key.name) for key in listed] == sorted(
            [("a", text) for text in DISCORDANT_NAMES] + [(text, "n") for text in DISCORDANT_NAMES] + [("DEFAULT", "n")]
        )

    async def test_all_filters_must_match(self, driver: StoreDriver) -> None:
        """Group, name, job, calendar and state each narrow the list; None filters nothing."""
        await driver.add_trigger("one", group="a", job="j1")
        await driver.add_trigger("two", group="a", job="j2")
        await driver.add_trigger("one", group="b", job="j2", calendar_name="c")
        await driver.add_trigger("two", group="b", job="j1", calendar_name="c")
        for group in ("a", "b"):
            await driver.store.pause_trigger(TriggerKey("two", group))
        for filters, expected in _FILTERS:
            headers = await driver.headers(**filters)
            assert " ".join(str(header.key) for header in headers) == expected, filters

    async def test_triggers_are_filtered_literally(self, driver: StoreDriver) -> None:
        """Every operator compares by code point, by group as by name, and no character is a wildcard."""
        for text in ("ab", "AB", "a_b", "a%b"):
            await driver.add_trigger(text, group="g")
            await driver.add_trigger("n", group=text)
        in_g: GroupMatcher[TriggerKey] = GroupMatcher.group_equals("g")
        for operator, value, expected in (
            (StringOperator.EQUALITY, "A_b", ""),
            (StringOperator.STARTS_WITH, "a", "a%b a_b ab"),
            (StringOperator.ENDS_WITH, "_b", "a_b"),
            (StringOperator.CONTAINS, "%", "a%b"),
            (StringOperator.CONTAINS, "\\", ""),
        ):
            names = keys_of(await driver.headers(name=NameMatcher(operator, value), group=in_g))
            groups = await driver.headers(group=GroupMatcher(operator, value), name=NameMatcher.name_equals("n"))
            assert " ".join(key.name for key in names) == expected, (operator, value)
            assert " ".join(key.group for key in keys_of(groups)) == expected, (operator, value)

    # Groups ---------------------------------------------------------------------------------------------------

    async def test_trigger_groups_are_listed(self, driver: StoreDriver) -> None:
        """Groups with members come by name, each once; the paused ones also when they are empty (marked ``*``)."""
        for name, group in (("1", "b"), ("2", "b"), ("1", "É"), ("1", "a"), ("1", "gone")):
            await driver.add_trigger(name, group=group)
        await driver.store.delete_trigger(TriggerKey("1", "gone"))
        for group in ("empty", "b", "Z"):
            await driver.store.pause_triggers(GroupMatcher.group_equals(group))
        for filters, expected in _GROUP_FILTERS:
            listed = await _groups(driver, **filters)
            assert " ".join(group.name + "*" * group.paused for group in listed) == expected, filters

    # Firings --------------------------------------------------------------------------------------------------

    async def test_firings_come_by_trigger_and_id(self, driver: StoreDriver) -> None:
        """Firings are listed by trigger group and name by code point, then by their ids."""
        for name, group in (("b", "x"), ("a", "x"), ("B", "x"), ("z", "DEFAULT"), ("a", "É"), ("a", "A")):
            await driver.add_trigger(name, group=group, schedule=every(seconds=1))
        for _ in range(3):
            await driver.fire_due()
            driver.advance(1)
        listed = [(one.trigger_key.group, one.trigger_key.name, one.fire_instance_id) for one in await driver.firings()]
        assert len(listed) == 18
        assert listed == sorted(listed)

    async def test_firings_are_filtered(self, driver: StoreDriver) -> None:
        """By trigger, job, node and state; a firing that is only acquired has no job yet."""
        one = await driver.add_trigger("one", job="j1")
        await driver.fire_due()
        two = await driver.add_trigger("two", job="j2")
        await driver.acquire()
        for filters, expected in (
            ({}, [one.key, two.key]),
            ({"trigger": one.key}, [one.key]),
            ({"trigger": TriggerKey("one", "other")}, []),
            ({"job": JobKey("j1")}, [one.key]),
            ({"job": JobKey("j2")}, []),
            ({"instance_id": "node-1"}, [one.key, two.key]),
            ({"instance_id": "NODE-1"}, []),
            ({"state": FiredState.ACQUIRED}, [two.key]),
            ({"state": FiredState.EXECUTING}, [one.key]),
            ({"state": FiredState.EXECUTING, "trigger": two.key}, []),
        ):
            assert [firing.trigger_key for firing in await driver.firings(**filters)] == expected, filters

    async def test_a_firing_is_listed_until_it_ends(self, driver: StoreDriver) -> None:
        """A firing begins with its reservation and ends with its completion."""
        await driver.add_trigger(schedule=every(seconds=1))
        acquired = await driver.acquire_one()
        driver.advance(timedelta(milliseconds=250))
        (bundle,) = await driver.fire(acquired)
        (firing,) = await driver.firings()
        assert (firing.fire_instance_id, firing.fire_time) == (acquired.fire_instance_id, at(0.25))
        assert firing.scheduled_fire_time == at(0)
        await driver.complete(bundle)
        assert await driver.firings() == []

    async def test_a_paused_reservation_is_still_listed(self, driver: StoreDriver) -> None:
        """A firing whose trigger was paused stays listed until its node gives it back."""
        trigger = await driver.add_trigger()
        acquired = await driver.acquire_one()
        await driver.store.pause_trigger(trigger.key)
        assert [firing.state for firing in await driver.firings()] == [FiredState.ACQUIRED]
        assert await driver.is_refused(acquired)
        await driver.store.release_acquired_trigger(acquired)
        assert await driver.firings() == []
