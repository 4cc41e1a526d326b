"""Queries of jobs, job groups and calendars, and the rules of paging, which hold for every query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from quartzite.calendars.holiday import HolidayCalendar
from quartzite.model.job import JobType
from quartzite.model.keys import JobKey
from quartzite.model.matchers import GroupMatcher, NameMatcher, StringOperator
from quartzite.model.query import (
    CalendarQuery,
    FireInstanceQuery,
    JobGroup,
    JobGroupQuery,
    JobHeader,
    JobQuery,
    PagedQuery,
    PagedResult,
    TriggerGroupQuery,
    TriggerQuery,
)
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import DISCORDANT_NAMES, a_job, keys_of
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.subjects import OtherJob

__all__ = ["JobQueriesContract"]

_Ask = Callable[[StoreDriver, Any], Awaitable[PagedResult[Any]]]
_QUERIES: dict[str, tuple[PagedQuery, _Ask]] = {
    "jobs": (JobQuery(), lambda driver, query: driver.store.query_jobs(query)),
    "triggers": (TriggerQuery(), lambda driver, query: driver.store.query_triggers(query)),
    "job groups": (JobGroupQuery(), lambda driver, query: driver.store.query_job_groups(query)),
    "trigger groups": (TriggerGroupQuery(), lambda driver, query: driver.store.query_trigger_groups(query)),
    "paused groups": (TriggerGroupQuery(paused=True), lambda driver, query: driver.store.query_trigger_groups(query)),
    "calendars": (CalendarQuery(), lambda driver, query: driver.store.query_calendar_names(query)),
    "firings": (FireInstanceQuery(), lambda driver, query: driver.store.query_fire_instances(query)),
}
_FILTERS = [
    (StringOperator.EQUALITY, "a_b", "a_b"),
    (StringOperator.EQUALITY, "A_B", ""),
    (StringOperator.STARTS_WITH, "a", "a%b a_b ab"),
    (StringOperator.STARTS_WITH, "_", ""),
    (StringOperator.ENDS_WITH, "%b", "a%b"),
    (StringOperator.ENDS_WITH, "B", "AB"),
    (StringOperator.CONTAINS, "_", "a_b"),
    (StringOperator.CONTAINS, "É", "É"),
    (StringOperator.CONTAINS, "é", ""),
    (StringOperator.ANYTHING, "", "AB a%b a_b ab É"),
]
_each_query = pytest.mark.parametrize(("query", "ask"), _QUERIES.values(), ids=_QUERIES)


async def _five_of_each(driver: StoreDriver) -> None:
    """Store five jobs, triggers, groups of both, paused groups, calendars and firings."""
    for name in "abcde":
        job = await driver.add_job(name, group=name)
        await driver.add_trigger(name, group=name, job=job)
        await driver.store.add_calendar(name, HolidayCalendar())
    await driver.acquire()
    await driver.store.pause_triggers(GroupMatcher.any_group())


async def pages(driver: StoreDriver, query: PagedQuery, ask: _Ask, size: int) -> list[Sequence[Any]]:
    """Follow ``has_more`` page by page."""
    found: list[Sequence[Any]] = []
    more = True
    while more:
        page = await ask(driver, replace(query, skip=len(found) * size, take=size))
        more = page.has_more
        found.append(page.items)
    return found


class JobQueriesContract(StoreContract):
    """Paged queries (spec 06 section 5)."""

    # Paging, for every query ----------------------------------------------------------------------------------

    @_each_query
    async def test_a_page_is_cut_exactly(self, driver: StoreDriver, query: PagedQuery, ask: _Ask) -> None:
        """For every skip and take: the right items, ``has_more`` exact, a total only when asked for and of all."""
        await _five_of_each(driver)
        everything = list((await ask(driver, query)).items)
        assert len(everything) == 5
        for skip in (0, 1, 4, 5, 6):
            for take in (0, 1, 4, 5, 6, None):
                for count in (False, True):
                    page = await ask(driver, replace(query, skip=skip, take=take, include_total_count=count))
                    end = 5 if take is None else skip + take
                    assert list(page.items) == everything[skip:end], (skip, take)
                    assert page.has_more is (end < 5), (skip, take)
                    assert page.total_count == (5 if count else None), (skip, take)

    async def test_an_empty_store_gives_empty_pages(self, driver: StoreDriver) -> None:
        """Where nothing is, nothing more follows and the total is 0."""
        for name, (query, ask) in _QUERIES.items():
            page = await ask(driver, replace(query, include_total_count=True))
            assert (list(page.items), page.has_more, page.total_count) == ([], False, 0), name

    @_each_query
    async def test_the_pages_make_up_the_whole(self, driver: StoreDriver, query: PagedQuery, ask: _Ask) -> None:
        """Following ``has_more`` shows every item once and ends with a page that is not empty."""
        await _five_of_each(driver)
        for size in (1, 2, 5):
            found = await pages(driver, query, ask, size)
            assert [item for page in found for item in page] == list((await ask(driver, query)).items)
            assert len(found) == -(-5 // size)

    # Jobs -----------------------------------------------------------------------------------------------------

    async def test_a_header_describes_the_job(self, driver: StoreDriver) -> None:
        """A header has everything of the job but its data."""
        await driver.add_job(
            "j", group="g", description="d", runs=OtherJob, durable=True, persist_job_data_after_execution=True,
            requests_recovery=True, concurrent_execution_disallowed=True, job_data={"a": 1},
        )  # fmt: skip
        await driver.add_job("k", group="g", durable=False)
        first, second = (await driver.store.query_jobs(JobQuery())).items
        assert first == JobHeader(
            key=JobKey("j", "g"), description="d", job_type_name=JobType.of(OtherJob).full_name, durable=True,
            concurrent_execution_disallowed=True, persist_job_data_after_execution=True, requests_recovery=True,
        )  # fmt: skip
        assert (second.description, second.durable, second.requests_recovery) == (None, False, False)

    async def test_jobs_come_by_group_and_name(self, driver: StoreDriver) -> None:
        """Jobs are listed by group, then name, both by code point; the group DEFAULT has no privilege here."""
        for text in reversed(DISCORDANT_NAMES):
            await driver.add_job(text, group="a")
            await driver.add_job("n", group=text)
        await driver.add_job("n")
        listed = keys_of((await driver.store.query_jobs(JobQuery())).items)
        assert [(key.group, key.name) for key in listed] == sorted(
            [("a", text) for text in DISCORDANT_NAMES] + [(text, "n") for text in DISCORDANT_NAMES] + [("DEFAULT", "n")]
        )

    async def test_jobs_are_filtered_literally(self, driver: StoreDriver) -> None:
        """Every operator compares by code point, by group as by name, and no character is a wildcard."""
        for text in ("ab", "AB", "a_b", "a%b", "É"):
            await driver.add_job(text, group="g")
            await driver.add_job("n", group=text)
        for operator, value, expected in _FILTERS:
            by_name = JobQuery(group=GroupMatcher.group_equals("g"), name=NameMatcher(operator, value))
            by_group = JobQuery(group=GroupMatcher(operator, value), name=NameMatcher.name_equals("n"))
            names = keys_of((await driver.store.query_jobs(by_name)).items)
            groups = keys_of((await driver.store.query_jobs(by_group)).items)
            assert " ".join(key.name for key in names) == expected, (operator, value)
            assert " ".join(key.group for key in groups) == expected, (operator, value)

    async def test_the_total_counts_what_the_filters_select(self, driver: StoreDriver) -> None:
        """The total is neither that of the page nor that of the store; without rows it is counted all the same."""
        for name in "abcde":
            await driver.add_job(name, group="x" if name < "d" else "y")
        query = JobQuery(group=GroupMatcher.group_equals("x"), take=2, include_total_count=True)
        page = await driver.store.query_jobs(query)
        assert (len(page.items), page.has_more, page.total_count) == (2, True, 3)
        page = await driver.store.query_jobs(replace(query, take=0))
        assert (list(page.items), page.has_more, page.total_count) == ([], True, 3)

    # Job groups and calendars ---------------------------------------------------------------------------------

    async def test_job_groups_are_listed_once(self, driver: StoreDriver) -> None:
        """Groups come by name, each once, as long as they have members; a job group is never paused."""
        for name, group in (("a", "z"), ("b", "z"), ("a", "É"), ("a", "Z"), ("a", "gone")):
            await driver.add_job(name, group=group)
        await driver.store.delete_job(JobKey("a", "gone"))
        await driver.store.pause_jobs(GroupMatcher.any_group())
        page = await driver.store.query_job_groups(JobGroupQuery(include_total_count=True))
        assert list(page.items) == [JobGroup(name=name, paused=False) for name in ("Z", "z", "É")]
        assert page.total_count == 3

    async def test_job_groups_are_filtered(self, driver: StoreDriver) -> None:
        """By exact name and by being paused."""
        await driver.store.schedule_jobs({a_job("j", "a"): [], a_job("j", "b"): []})
        for query, expected in (
            (JobGroupQuery(name="a"), ["a"]),
            (JobGroupQuery(name="A"), []),
            (JobGroupQuery(paused=False), ["a", "b"]),
            (JobGroupQuery(paused=True), []),
            (JobGroupQuery(name="b", paused=False), ["b"]),
        ):
            page = await driver.store.query_job_groups(query)
            assert [group.name for group in page.items] == expected, query

    async def test_calendar_names_come_by_code_point(self, driver: StoreDriver) -> None:
        """Names of calendars are listed by code point."""
        for name in reversed(DISCORDANT_NAMES):
            await driver.store.add_calendar(name, HolidayCalendar())
        page = await driver.store.query_calendar_names(CalendarQuery())
        assert list(page.items) == list(DISCORDANT_NAMES)
