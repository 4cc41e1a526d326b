"""Querying: by key, in pages, and all at once."""

import pytest

from quartzite.engine.scheduler import Scheduler
from quartzite.errors import InvalidValueError, SchedulerError
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import FireInstanceQuery, JobQuery, TriggerQuery
from quartzite.model.states import TriggerState
from quartzite.testing import FakeClock
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.simple import every
from tests.schedulers import make_scheduler


async def report() -> None:
    """A job."""


@pytest.fixture
async def scheduler() -> Scheduler:
    """A scheduler with the jobs DEFAULT.a, DEFAULT.b and g.c, each with a trigger of its name."""
    scheduler = make_scheduler(FakeClock())
    for name, group in (("b", "DEFAULT"), ("a", "DEFAULT"), ("c", "g")):
        await scheduler.schedule_job(
            JobBuilder.create(report).with_identity(name, group),
            TriggerBuilder.create().with_identity(name, group).with_schedule(every(hours=1)),
        )
    return scheduler


async def test_by_key(scheduler: Scheduler) -> None:
    """Single things are returned or None; several in the order of the request, each once, the missing left out."""
    job = await scheduler.get_job_detail(JobKey("a"))
    assert job is not None
    assert await scheduler.get_job_detail(JobKey("nobody")) is None
    assert await scheduler.get_trigger(TriggerKey("nobody")) is None
    keys = [JobKey("b"), JobKey("nobody"), JobKey("a"), JobKey("b")]
    assert [one.key.name for one in await scheduler.get_job_details(keys)] == ["b", "a"]
    wanted = [TriggerKey("c", "g"), TriggerKey("a")]
    assert [one.key for one in await scheduler.get_triggers(wanted)] == wanted
    assert [one.key.name for one in await scheduler.get_triggers_of_job(JobKey("a"))] == ["a"]
    assert await scheduler.check_exists(JobKey("a"))
    assert not await scheduler.check_exists(TriggerKey("a", "g"))
    assert await scheduler.get_trigger_state(TriggerKey("nobody")) is TriggerState.NONE
    assert await scheduler.get_calendar("nobody") is None


async def test_in_pages(scheduler: Scheduler) -> None:
    """Queries return one page, or without a query everything, in the order of group and name."""
    page = await scheduler.query_jobs(JobQuery(take=2, include_total_count=True))
    assert [header.key.name for header in page.items] == ["a", "b"]
    assert (page.has_more, page.total_count) == (True, 3)
    assert [header.key.name for header in (await scheduler.query_triggers()).items] == ["a", "b", "c"]
    only = await scheduler.query_triggers(TriggerQuery(job=JobKey("c", "g")))
    assert [header.key.name for header in only.items] == ["c"]
    assert [group.name for group in (await scheduler.query_job_groups()).items] == ["DEFAULT", "g"]
    assert [group.name for group in (await scheduler.query_trigger_groups()).items] == ["DEFAULT", "g"]
    assert (await scheduler.query_calendar_names()).items == []
    assert (await scheduler.query_fire_instances(FireInstanceQuery())).items == []
    assert [node.is_current_node for node in await scheduler.query_cluster_nodes()] == [True]


async def test_all_at_once(scheduler: Scheduler) -> None:
    """The listings return every key or name."""
    assert [key.name for key in await scheduler.get_job_keys(GroupMatcher.any_group())] == ["a", "b", "c"]
    assert [key.name for key in await scheduler.get_trigger_keys(GroupMatcher.group_equals("g"))] == ["c"]
    assert await scheduler.get_job_group_names() == ["DEFAULT", "g"]
    assert await scheduler.get_trigger_group_names() == ["DEFAULT", "g"]
    assert not await scheduler.is_job_group_paused("g")


@pytest.mark.parametrize("listing", ["get_job_keys", "get_trigger_keys"])
async def test_a_listing_needs_its_matcher(scheduler: Scheduler, listing: str) -> None:
    """No matcher is no wish for everything: it is refused with the way to say so."""
    with pytest.raises(InvalidValueError, match="any_group"):
        await getattr(scheduler, listing)(None)


async def test_nothing_is_answered_after_the_end(scheduler: Scheduler) -> None:
    """Every question to a scheduler that was shut down is an error that says so."""
    await scheduler.shutdown()
    with pytest.raises(SchedulerError, match="has been shut down"):
        await scheduler.query_jobs()
    with pytest.raises(SchedulerError, match="has been shut down"):
        await scheduler.get_trigger_state(TriggerKey("a"))
    with pytest.raises(SchedulerError, match="has been shut down"):
        await scheduler.schedule_job(report, every(hours=1))
