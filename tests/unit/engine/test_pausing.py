"""Pausing: who is held back, and who hears of it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from quartzite.engine.scheduler import Scheduler
from quartzite.errors import InvalidValueError
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import TriggerState
from quartzite.testing import FakeClock, RecordingSchedulerListener
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.simple import every
from tests.schedulers import listen, make_scheduler

ANY: GroupMatcher[Any] = GroupMatcher.any_group()


async def report() -> None:
    """A job."""


async def scheduled(scheduler: Scheduler, name: str, group: str) -> None:
    """Store a job and a trigger of this name and group."""
    job = JobBuilder.create(report).with_identity(name, group)
    await scheduler.schedule_job(job, TriggerBuilder.create().with_identity(name, group).with_schedule(every(hours=1)))


@pytest.fixture
async def scheduler() -> Scheduler:
    """A scheduler with the triggers DEFAULT.a, DEFAULT.b and other.c."""
    scheduler = make_scheduler(FakeClock())
    for name, group in (("a", "DEFAULT"), ("b", "DEFAULT"), ("c", "other")):
        await scheduled(scheduler, name, group)
    return scheduler


@pytest.fixture
def told(scheduler: Scheduler) -> RecordingSchedulerListener:
    """What the scheduler tells."""
    return listen(scheduler)


async def paused(scheduler: Scheduler) -> str:
    """Return the names of the triggers that are paused, as one text."""
    headers = (await scheduler.query_triggers()).items
    return "".join(header.key.name for header in headers if header.state is TriggerState.PAUSED)


def events(told: RecordingSchedulerListener) -> list[tuple[str, str]]:
    """Return what was told, with its argument as text."""
    return [(call.name, str(call.args[0])) for call in told.calls]


CALLS: dict[str, tuple[Callable[[Scheduler], Awaitable[None]], str, list[tuple[str, str]]]] = {
    "one trigger": (lambda s: s.pause_trigger(TriggerKey("a")), "a", [("trigger_paused", "DEFAULT.a")]),
    "one job": (lambda s: s.pause_job(JobKey("a")), "a", [("job_paused", "DEFAULT.a")]),
    "default group of triggers": (lambda s: s.pause_triggers(), "ab", [("triggers_paused", "DEFAULT")]),
    "default group of jobs": (lambda s: s.pause_jobs(), "ab", [("jobs_paused", "DEFAULT")]),
    "a group of triggers": (
        lambda s: s.pause_triggers(GroupMatcher.group_equals("other")),
        "c",
        [("triggers_paused", "other")],
    ),
    "a group of jobs": (lambda s: s.pause_jobs(GroupMatcher.group_equals("other")), "c", [("jobs_paused", "other")]),
    "triggers by key": (
        lambda s: s.pause_triggers([TriggerKey("a"), TriggerKey("c", "other")]),
        "ac",
        [("trigger_paused", "DEFAULT.a"), ("trigger_paused", "other.c")],
    ),
    "jobs by key": (lambda s: s.pause_jobs({JobKey("b")}), "b", [("job_paused", "DEFAULT.b")]),
    "all": (lambda s: s.pause_all(), "abc", [("triggers_paused", "None")]),
}


@pytest.mark.parametrize("name", CALLS)
async def test_pausing_holds_back_what_was_selected(
    scheduler: Scheduler, told: RecordingSchedulerListener, name: str
) -> None:
    """What the call selects is paused, and listeners hear of it: once for each key or group, None for all."""
    call, expected, heard = CALLS[name]
    await call(scheduler)
    assert await paused(scheduler) == expected
    assert events(told) == heard


@pytest.mark.parametrize(
    ("call", "heard"),
    [
        (lambda s: s.resume_trigger(TriggerKey("a")), [("trigger_resumed", "DEFAULT.a")]),
        (lambda s: s.resume_job(JobKey("a")), [("job_resumed", "DEFAULT.a")]),
        (lambda s: s.resume_triggers([TriggerKey("a")]), [("trigger_resumed", "DEFAULT.a")]),
        (lambda s: s.resume_jobs([JobKey("a")]), [("job_resumed", "DEFAULT.a")]),
    ],
)
async def test_resuming_undoes_pausing_by_key(
    scheduler: Scheduler,
    told: RecordingSchedulerListener,
    call: Callable[[Scheduler], Awaitable[None]],
    heard: list[tuple[str, str]],
) -> None:
    """A resumed trigger or job is not held back any more, and listeners hear of it."""
    await scheduler.pause_triggers([TriggerKey("a"), TriggerKey("b")])
    told.calls.clear()
    await call(scheduler)
    assert await paused(scheduler) == "b"
    assert events(told) == heard


async def test_resuming_groups_forgets_them(scheduler: Scheduler, told: RecordingSchedulerListener) -> None:
    """Groups that were paused are resumed by the same matcher, and later members start unpaused."""
    await scheduler.pause_triggers(ANY)
    await scheduler.pause_jobs(ANY)
    assert await scheduler.get_paused_trigger_groups() == ["DEFAULT", "other"]
    assert await scheduler.is_trigger_group_paused("other")
    told.calls.clear()
    await scheduler.resume_jobs(ANY)
    await scheduler.resume_triggers(ANY)
    assert await paused(scheduler) == ""
    assert await scheduler.get_paused_trigger_groups() == []
    assert {name for name, _ in events(told)} == {"jobs_resumed", "triggers_resumed"}


async def test_resuming_all_is_told_once(scheduler: Scheduler, told: RecordingSchedulerListener) -> None:
    """All groups are resumed, and listeners hear None."""
    await scheduler.pause_all()
    await scheduler.resume_all()
    assert await paused(scheduler) == ""
    assert events(told)[-1] == ("triggers_resumed", "None")


async def test_a_paused_group_is_remembered_while_it_is_empty(scheduler: Scheduler) -> None:
    """A group that was paused by its exact name holds back triggers that come later; resumed, it does not."""
    await scheduler.pause_triggers(GroupMatcher.group_equals("later"))
    await scheduled(scheduler, "d", "later")
    assert await paused(scheduler) == "d"
    await scheduler.resume_triggers(GroupMatcher.group_equals("later"))
    await scheduled(scheduler, "e", "later")
    assert await paused(scheduler) == ""


@pytest.mark.parametrize("selection", ["DEFAULT", TriggerKey("a"), ["a"], 7])
async def test_what_selects_nothing_is_refused(scheduler: Scheduler, selection: Any) -> None:
    """A text, a single key, or a list of texts is refused with a hint, and nothing is paused."""
    with pytest.raises((InvalidValueError, TypeError), match=r"GroupMatcher|not iterable"):
        await scheduler.pause_triggers(selection)
    assert await paused(scheduler) == ""
