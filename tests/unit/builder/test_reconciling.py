"""Declared content meets what is stored: unchanged is untouched, changed goes on without an extra run."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest

from quartzite import (
    HolidayCalendar,
    JobContext,
    JobKey,
    QuartzContainer,
    Schedule,
    SchedulerBuilder,
    Trigger,
    TriggerBuilder,
    TriggerState,
    cron,
    every,
    persist_job_data_after_execution,
    running,
)
from quartzite.calendars import WeeklyCalendar
from quartzite.errors import ObjectAlreadyExistsError, SchedulerConfigError
from quartzite.model.keys import TriggerKey
from quartzite.testing import FaultyJobStore
from tests.unit.builder.deployments import Deployments

KEY = TriggerKey("work")
runs: list[str] = []


async def work(context: JobContext) -> None:
    runs.append(f"{context.scheduled_fire_time:%d %H:%M}")


async def other(context: JobContext) -> None: ...


@persist_job_data_after_execution
async def count(context: JobContext) -> None:
    context.job_data["n"] = context.job_data.get_int("n", default=0) + 1


@pytest.fixture(autouse=True)
def _no_runs() -> None:
    runs.clear()


@pytest.fixture
def deployments() -> Deployments:
    """A store that nobody has used yet."""
    return Deployments()


def scheduled(schedule: Schedule | TriggerBuilder, **more: Any) -> Callable[[SchedulerBuilder], object]:
    return lambda q: q.schedule(work, schedule, **more)


async def stored(deployments: Deployments) -> Trigger:
    trigger = await deployments.store.get_trigger(KEY)
    assert trigger is not None
    return trigger


# ------------------------------------------------------------------------------------------------------ unchanged
@pytest.mark.parametrize(
    "schedule", [every(minutes=30), cron("0 0 * * * ?"), every(minutes=30, times=100), cron("0 0 2 * * ?")]
)
async def test_unchanged_content_is_not_written(deployments: Deployments, schedule: Schedule) -> None:
    """The same declaration again touches neither the job nor the trigger, whatever fired meanwhile."""
    async with deployments.deployed(scheduled(schedule, data={"n": 1})):
        assert deployments.written == ["schedule_jobs"]
        await deployments.clock.advance(minutes=95)
    before = await stored(deployments)
    async with deployments.deployed(scheduled(schedule, data={"n": 1})):
        assert deployments.written == []
    assert await stored(deployments) == before


async def test_a_start_that_was_given_is_part_of_the_definition(deployments: Deployments) -> None:
    """The same start is unchanged, another one is a change; one that is not given is no part of it."""
    first, second = datetime(2026, 1, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 1, 10, tzinfo=UTC)
    await deployments.deploy(scheduled(every(hours=1), start_at=first))
    async with deployments.deployed(scheduled(every(hours=1), start_at=first)):
        assert deployments.written == []
    async with deployments.deployed(scheduled(every(hours=1))):
        assert deployments.written == []
    async with deployments.deployed(scheduled(every(hours=1), start_at=second)):
        assert deployments.written == ["replace_trigger"]
    assert (await stored(deployments)).next_fire_time == second


async def test_an_unchanged_calendar_is_not_written(deployments: Deployments) -> None:
    """A changed one is, and takes its triggers along."""

    def with_weekends(q: SchedulerBuilder) -> object:
        return q.add_calendar("closed", WeeklyCalendar()).schedule(work, cron("0 0 9 * * ?"), calendar_name="closed")

    await deployments.deploy(with_weekends)
    async with deployments.deployed(with_weekends):
        assert deployments.written == []

    def with_holidays(q: SchedulerBuilder) -> object:
        closed = HolidayCalendar().with_excluded(date(2026, 1, 1))
        return q.add_calendar("closed", closed).schedule(work, cron("0 0 9 * * ?"), calendar_name="closed")

    async with deployments.deployed(with_holidays):
        assert deployments.written == ["add_calendar"]
    assert (await stored(deployments)).next_fire_time == datetime(2026, 1, 2, 9, tzinfo=UTC)


async def test_a_changed_time_zone_of_the_scheduler_changes_its_schedules(deployments: Deployments) -> None:
    """A schedule that names no zone takes the scheduler's, so that another zone is another definition."""

    def declare(zone: str) -> Callable[[SchedulerBuilder], object]:
        return lambda q: q.use_time_zone(zone).schedule(work, cron("0 0 9 * * ?"))

    await deployments.deploy(declare("Europe/Berlin"))
    assert (await stored(deployments)).next_fire_time == datetime(2026, 1, 1, 8, tzinfo=UTC)
    async with deployments.deployed(declare("America/New_York")):
        assert deployments.written == ["replace_trigger"]
        await deployments.clock.advance(hours=15)
    assert runs == ["01 14:00"]


async def test_what_is_compared_is_read_at_once(deployments: Deployments) -> None:
    """The jobs and triggers of all content are read, and new ones written, in one call each."""
    await deployments.deploy(lambda q: q.add_calendar("closed", WeeklyCalendar()))

    def declare(q: SchedulerBuilder) -> None:
        for number in range(20):
            q.schedule(work, every(hours=1), key=f"job {number}", calendar_name="closed")

    async with deployments.deployed(declare):
        asked = [call.name for call in deployments.calls]
    assert asked.count("schedule_jobs") == 1
    assert asked[: asked.index("schedule_jobs")].count("get_job_details") == 1
    assert asked[: asked.index("schedule_jobs")].count("get_triggers") == 1


# -------------------------------------------------------------------------------------------------------- changed
async def test_a_changed_interval_goes_on_without_an_extra_run(deployments: Deployments) -> None:
    """It keeps its progress and the start of its grid, and fires next at the first time of the new one from now on."""
    async with deployments.deployed(scheduled(every(minutes=5))):
        await deployments.clock.advance(minutes=12)
    assert runs == ["01 00:00", "01 00:05", "01 00:10"]
    async with deployments.deployed(scheduled(every(minutes=15))):
        assert deployments.written == ["replace_trigger"]
        trigger = await stored(deployments)
        assert trigger.previous_fire_time == datetime(2026, 1, 1, 0, 10, tzinfo=UTC)
        assert trigger.times_triggered == 3
        await deployments.clock.advance(minutes=20)
    assert runs[3:] == ["01 00:15", "01 00:30"]


async def test_a_change_of_kind_makes_no_extra_run(deployments: Deployments) -> None:
    """From an interval to a cron expression and back: only times after the change are fired."""
    async with deployments.deployed(scheduled(every(minutes=5))):
        await deployments.clock.advance(minutes=2)
    async with deployments.deployed(scheduled(cron("0 0/10 * * * ?"))):
        await deployments.clock.advance(minutes=9)
    async with deployments.deployed(scheduled(every(minutes=7))):
        await deployments.clock.advance(minutes=5)
    assert runs == ["01 00:00", "01 00:10", "01 00:14"]


async def test_a_count_goes_on_where_it_was(deployments: Deployments) -> None:
    """Firings that were made count for the new definition; one that is used up begins again."""
    async with deployments.deployed(scheduled(every(minutes=5, times=3))):
        await deployments.clock.advance(minutes=6)
    async with deployments.deployed(scheduled(every(minutes=5, times=4))):
        await deployments.clock.advance(hours=1)
    assert runs == ["01 00:00", "01 00:05", "01 00:10", "01 00:15"]


async def test_a_schedule_that_is_used_up_begins_again(deployments: Deployments) -> None:
    """As it would if nothing were stored any more."""
    async with deployments.deployed(scheduled(every(minutes=5, times=10))):
        await deployments.clock.advance(minutes=21)
    async with deployments.deployed(scheduled(every(minutes=5, times=2))):
        await deployments.clock.advance(hours=1)
    assert runs[5:] == ["01 00:21", "01 00:26"]


async def test_a_trigger_that_never_fired_starts_afresh(deployments: Deployments) -> None:
    """There is no grid to keep: the new definition is scheduled as if it were new."""
    await deployments.deploy(scheduled(every(hours=1), start_at=datetime(2026, 1, 2, tzinfo=UTC)))
    async with deployments.deployed(scheduled(every(hours=2))):
        await deployments.clock.advance(hours=3)
    assert runs == ["01 00:00", "01 02:00"]


async def test_a_calendar_is_kept_by_the_next_fire_time(deployments: Deployments) -> None:
    """The first time from now on is one that the calendar includes."""

    def declare(schedule: Schedule) -> Callable[[SchedulerBuilder], object]:
        return lambda q: q.add_calendar("closed", WeeklyCalendar()).schedule(work, schedule, calendar_name="closed")

    friday = Deployments("2026-01-02T08:00Z")
    async with friday.deployed(declare(cron("0 0 9 * * ?"))):
        await friday.clock.advance(hours=2)
    await friday.deploy(declare(cron("0 0 8 * * ?")))
    assert (await stored(friday)).next_fire_time == datetime(2026, 1, 5, 8, tzinfo=UTC)


async def test_other_changes_leave_the_next_fire_time(deployments: Deployments) -> None:
    """A new priority or new data of an interval moves nothing."""
    async with deployments.deployed(scheduled(every(minutes=10))):
        await deployments.clock.advance(minutes=4)
    await deployments.deploy(scheduled(every(minutes=10), priority=9))
    trigger = await stored(deployments)
    assert (trigger.priority, trigger.next_fire_time) == (9, datetime(2026, 1, 1, 0, 10, tzinfo=UTC))


async def test_a_changed_job_is_replaced_and_its_triggers_stay(deployments: Deployments) -> None:
    """Description and data are the declared ones; the trigger is not touched."""
    await deployments.deploy(scheduled(every(hours=1), data={"n": 1}))
    async with deployments.deployed(scheduled(every(hours=1), data={"n": 2}, description="new")):
        assert deployments.written == ["add_job"]
        job = await deployments.store.get_job(JobKey("work"))
        assert job is not None
        assert (dict(job.job_data), job.description) == ({"n": 2}, "new")


async def test_data_that_runs_left_is_kept(deployments: Deployments) -> None:
    """A job that persists its data owns it: neither the same nor a changed declaration resets it."""

    def declare(**more: Any) -> Callable[[SchedulerBuilder], object]:
        return lambda q: q.schedule(count, every(hours=1), data={"n": 10}, **more)

    async with deployments.deployed(declare()):
        await deployments.clock.advance(hours=1)
    async with deployments.deployed(declare()):
        assert deployments.written == []
    async with deployments.deployed(declare(description="changed")):
        assert deployments.written == ["add_job"]
    job = await deployments.store.get_job(JobKey("count"))
    assert job is not None
    assert (dict(job.job_data), job.description) == ({"n": 12}, "changed")


async def test_a_trigger_moves_to_the_job_that_is_declared(
    deployments: Deployments, caplog: pytest.LogCaptureFixture
) -> None:
    """A key that was used for another job is usually a mistake: it is done, with a warning."""
    await deployments.deploy(lambda q: q.schedule(other, every(hours=1), trigger_key="work"))
    await deployments.deploy(scheduled(every(hours=1)))
    assert (await stored(deployments)).job_key == JobKey("work")
    assert "stored with another job" in caplog.text


# ---------------------------------------------------------------------------------------------------------- states
@pytest.mark.parametrize("changed", [every(minutes=30), every(minutes=10)])
async def test_a_paused_trigger_stays_paused(deployments: Deployments, changed: Schedule) -> None:
    """Unchanged or changed, somebody paused it for a reason."""
    async with deployments.deployed(scheduled(every(minutes=30))) as scheduler:
        await deployments.clock.advance(minutes=5)
        await scheduler.pause_trigger(KEY)
    async with deployments.deployed(scheduled(changed)) as scheduler:
        await deployments.clock.advance(hours=2)
        assert await scheduler.get_trigger_state(KEY) is TriggerState.PAUSED
        assert runs == ["01 00:00"]


async def test_a_paused_group_stays_paused(deployments: Deployments) -> None:
    """New content of a group that was paused starts paused."""
    async with deployments.deployed(scheduled(every(hours=1))) as scheduler:
        await scheduler.pause_all()
    async with deployments.deployed(
        lambda q: scheduled(every(hours=1))(q) and q.schedule(other, every(hours=1))
    ) as scheduler:
        assert await scheduler.get_trigger_state(TriggerKey("other")) is TriggerState.PAUSED


# ----------------------------------------------------------------------------------------------------------- rules
async def test_without_overwriting_what_exists_is_an_error(deployments: Deployments) -> None:
    """Unless duplicates are to be ignored; nothing is written in either case."""
    await deployments.deploy(scheduled(every(hours=1)))
    strict = deployments.container(
        lambda q: q.use_content_rules(overwrite_existing=False).schedule(work, every(hours=2))
    )
    with pytest.raises(ObjectAlreadyExistsError, match=r"job DEFAULT\.work exists already"):
        await _run(strict)
    async with deployments.deployed(
        lambda q: (
            q.use_content_rules(overwrite_existing=False, ignore_duplicates=True)
            .schedule(work, every(hours=2))
            .add_trigger(every(hours=3), job="work", key="new")
        )
    ):
        assert deployments.written == ["add_trigger"]
    assert (await stored(deployments)).schedule == every(hours=1)


async def test_a_calendar_that_may_not_be_replaced_is_an_error(deployments: Deployments) -> None:
    """The same one again is none."""
    await deployments.deploy(lambda q: q.add_calendar("closed", WeeklyCalendar(), replace=False))
    await deployments.deploy(lambda q: q.add_calendar("closed", WeeklyCalendar(), replace=False))
    changed = deployments.container(lambda q: q.add_calendar("closed", HolidayCalendar(), replace=False))
    with pytest.raises(ObjectAlreadyExistsError, match="calendar closed exists already"):
        await _run(changed)


async def test_relative_content_makes_up_for_what_was_missed(deployments: Deployments) -> None:
    """With that rule the new schedule goes on from the last firing, not from now."""

    def declare(schedule: Schedule) -> Callable[[SchedulerBuilder], object]:
        return lambda q: q.use_content_rules(relative_to_replaced=True).schedule(work, schedule)

    async with deployments.deployed(declare(every(minutes=60))):
        await deployments.clock.advance(minutes=10)
    await deployments.clock.advance(minutes=20, seconds=-2)
    async with deployments.deployed(declare(every(minutes=29, seconds=58))):
        pass
    assert runs == ["01 00:00", "01 00:29"]


# ---------------------------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda q: q.add_job(other, durable=False), r"job DEFAULT\.other would have no trigger: declare one, or make"),
        (
            lambda q: q.add_trigger(every(hours=1), job="gone"),
            r"trigger DEFAULT\.gone names job DEFAULT\.gone, which is",
        ),
        (lambda q: q.schedule(other, every(hours=1), calendar_name="gone"), "names calendar 'gone', which is neither"),
        (lambda q: q.schedule(other, cron("0 0 0 1 1 ? 1999")), r"trigger DEFAULT\.other never fires"),
    ],
)
async def test_content_that_can_not_be_stored_leaves_the_store_alone(
    deployments: Deployments, declare: Callable[[SchedulerBuilder], object], message: str
) -> None:
    """Every problem is found before anything is written, what would have been right included."""
    container = deployments.container(lambda q: (q.schedule(work, every(hours=1)), declare(q)))
    with pytest.raises(SchedulerConfigError, match=message):
        await _run(container)
    assert deployments.written == []
    assert await deployments.store.get_job(JobKey("work")) is None


async def test_all_problems_are_listed(deployments: Deployments) -> None:
    """One error for the whole content."""
    container = deployments.container(lambda q: q.add_job(other, durable=False).add_trigger(every(hours=1), job="gone"))
    with pytest.raises(SchedulerConfigError) as caught:
        await _run(container)
    assert len(str(caught.value).splitlines()) == 3


async def test_a_job_that_is_not_durable_may_keep_its_stored_triggers(deployments: Deployments) -> None:
    """Its triggers were added by somebody else, and still stand."""
    async with deployments.deployed(lambda q: q.add_job(work)) as scheduler:
        await scheduler.schedule_job(TriggerBuilder().with_identity("t").for_job("work").with_schedule(every(hours=1)))
    async with deployments.deployed(lambda q: q.add_job(work, durable=False)):
        assert deployments.written == ["add_job"]


async def test_another_node_may_come_first(deployments: Deployments) -> None:
    """Content that appears between the look and the write is looked at again instead of failing the start."""
    container = deployments.container(scheduled(every(hours=1)))
    parts = container.schedulers()["default"]
    faulty = FaultyJobStore(deployments.store)
    faulty.fail("schedule_jobs", ObjectAlreadyExistsError("job", JobKey("work")), times=1)
    parts.base_job_store.override(faulty)
    await _run(container)
    assert faulty.failures == {"schedule_jobs": 1}
    assert (await stored(deployments)).schedule == every(hours=1)


async def _run(container: QuartzContainer) -> None:
    async with running(container):
        pass
