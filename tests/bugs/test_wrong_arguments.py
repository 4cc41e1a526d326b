"""Every verb refuses a key, query or part of the wrong type, so that a typo is not answered with "not there"."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from quartzite.calendars.holiday import HolidayCalendar
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import InvalidValueError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import CalendarQuery
from quartzite.testing import RecordingSchedulerListener
from quartzite.triggers.simple import every
from tests.schedulers import listen, running_scheduler

Verb: TypeAlias = Callable[[Scheduler, Any], Coroutine[Any, Any, Any]]
OF_JOBS: list[Verb] = [
    Scheduler.delete_job,
    Scheduler.pause_job,
    Scheduler.resume_job,
    Scheduler.trigger_job,
    Scheduler.interrupt,
    Scheduler.get_job_detail,
    Scheduler.get_triggers_of_job,
    Scheduler.check_exists,
]
OF_TRIGGERS: list[Verb] = [
    Scheduler.unschedule_job,
    Scheduler.pause_trigger,
    Scheduler.resume_trigger,
    Scheduler.get_trigger,
    Scheduler.get_trigger_state,
    Scheduler.reset_trigger_from_error_state,
]
OF_MANY_JOBS: list[Verb] = [
    Scheduler.delete_jobs,
    Scheduler.get_job_details,
    Scheduler.pause_jobs,
    Scheduler.resume_jobs,
]
OF_MANY_TRIGGERS: list[Verb] = [
    Scheduler.unschedule_jobs,
    Scheduler.get_triggers,
    Scheduler.pause_triggers,
    Scheduler.resume_triggers,
]
QUERIES: list[Verb] = [
    Scheduler.query_jobs,
    Scheduler.query_triggers,
    Scheduler.query_job_groups,
    Scheduler.query_trigger_groups,
    Scheduler.query_fire_instances,
]


async def _payroll() -> None:
    """Pay nobody."""


async def _refused(verb: Verb, argument: object) -> RecordingSchedulerListener:
    async with running_scheduler() as scheduler:
        await scheduler.schedule_job(_payroll, every(hours=1))
        heard = listen(scheduler)
        with pytest.raises(InvalidValueError, match="give "):
            await verb(scheduler, argument)
        assert not heard.calls
        assert await scheduler.check_exists(JobKey("_payroll"))
    return heard


@pytest.mark.parametrize("verb", OF_JOBS)
@pytest.mark.parametrize("key", ["_payroll", None, 5])
async def test_verb_of_a_job_refuses_what_is_no_job_key(verb: Verb, key: object) -> None:
    """What is no job key is refused, naming it and what to give; nobody is told that anything happened."""
    await _refused(verb, key)


@pytest.mark.parametrize("verb", OF_TRIGGERS)
@pytest.mark.parametrize("key", ["_payroll", None, JobKey("_payroll")])
async def test_verb_of_a_trigger_refuses_what_is_no_trigger_key(verb: Verb, key: object) -> None:
    """What is no trigger key is refused, a job key too: it would be no trigger's, silently."""
    await _refused(verb, key)


@pytest.mark.parametrize("verb", OF_MANY_JOBS)
async def test_verb_of_several_jobs_refuses_other_keys(verb: Verb) -> None:
    """One trigger key among job keys refuses the whole call."""
    await _refused(verb, [JobKey("_payroll"), TriggerKey("_payroll")])


@pytest.mark.parametrize("verb", OF_MANY_TRIGGERS)
async def test_verb_of_several_triggers_refuses_other_keys(verb: Verb) -> None:
    """One job key among trigger keys refuses the whole call."""
    await _refused(verb, [TriggerKey("_payroll"), JobKey("_payroll")])


@pytest.mark.parametrize("verb", QUERIES)
@pytest.mark.parametrize("query", ["x", {}, CalendarQuery()])
async def test_query_of_another_kind_is_refused(verb: Verb, query: object) -> None:
    """A query that selects something else is refused, not read as far as it fits."""
    await _refused(verb, query)


async def test_calendar_that_is_none_is_refused() -> None:
    """A calendar that is none, or whose name no database could hold, is refused before it is stored."""
    async with running_scheduler() as scheduler:
        for calendar in (None, HolidayCalendar, "holidays"):
            with pytest.raises(InvalidValueError, match=r"calendar 'c': .* give an object"):
                await scheduler.add_calendar("c", calendar)  # type: ignore[arg-type]
        for name in ("", None, 5, "a\0b", "x" * 201):
            with pytest.raises(InvalidValueError, match="calendar name"):
                await scheduler.add_calendar(name, HolidayCalendar())  # type: ignore[arg-type]
        assert not (await scheduler.query_calendar_names()).items


async def test_update_and_limits_of_another_type_are_refused() -> None:
    """A dictionary in place of an update or of limits is refused: limits of that kind would stop the loop."""
    async with running_scheduler() as scheduler:
        with pytest.raises(InvalidValueError, match="is no update"):
            await scheduler.update_trigger_details(TriggerKey("t"), {"priority": 5})  # type: ignore[arg-type]
        with pytest.raises(InvalidValueError, match="is no ExecutionLimits"):
            scheduler.set_execution_limits({"bulk": 1})  # type: ignore[arg-type]
        assert scheduler.get_execution_limits() is None


async def test_keys_that_can_be_read_once_reach_the_listeners_too() -> None:
    """Deleting the keys of a generator tells listeners of each of them."""
    async with running_scheduler() as scheduler:
        await scheduler.schedule_job(_payroll, every(hours=1))
        heard = listen(scheduler)
        await scheduler.delete_jobs(key for key in [JobKey("_payroll")])  # type: ignore[arg-type]
        assert heard.names == ["job_deleted"]
