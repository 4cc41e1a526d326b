"""Jobs and listeners of other people do odd things: they hurt themselves only."""

import sys
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import pytest

from quartzite.abc import Job, SchedulerListener, TriggerListener
from quartzite.clock import SystemClock
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobType, job
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance
from quartzite.model.states import FiredState
from quartzite.testing import FakeClock
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import every
from tests.schedulers import listen, make_scheduler, running_scheduler


async def _async_generator(context: JobContext) -> AsyncIterator[None]:
    """Look like a job."""
    yield


def _generator(context: JobContext) -> Iterator[None]:
    """Look like a job."""
    yield


class GeneratingJob:
    """Looks like a job class."""

    async def execute(self, context: JobContext) -> AsyncIterator[None]:
        """Yield."""
        yield


class GeneratingObject:
    """Looks like a function."""

    def __call__(self, context: JobContext) -> Iterator[None]:
        """Yield."""
        yield


class AbstractJob(Job):
    """A base of jobs."""

    @abstractmethod
    def part(self) -> None:
        """Do the part of a subclass."""

    async def execute(self, context: JobContext) -> None:
        """Do it."""


@pytest.mark.parametrize(
    "target", [_async_generator, _generator, partial(_generator), GeneratingJob, GeneratingObject()]
)
def test_generator_is_no_job(target: Any) -> None:
    """What a call would not run is refused when the job is made; it would end well and never have run."""
    with pytest.raises(InvalidValueError, match="is a generator"):
        JobType.of(target)


def test_abstract_class_is_no_job() -> None:
    """A class that nobody can make an object of is refused when the job is made, not at each firing."""
    with pytest.raises(InvalidValueError, match="AbstractJob is no job: it is abstract"):
        JobBuilder.create(AbstractJob)


@pytest.mark.parametrize("key", [JobKey, TriggerKey])
def test_key_with_half_a_character_is_refused(key: type[JobKey] | type[TriggerKey]) -> None:
    """A lone surrogate, which no database can store, is refused in name and group."""
    with pytest.raises(InvalidValueError, match="half of a character"):
        key("a\ud800")
    with pytest.raises(InvalidValueError, match="half of a character"):
        key("a", "\udfff")


async def _unfinished(scheduler: Scheduler) -> list[FireInstance]:
    return [one for one in (await scheduler.query_fire_instances()).items if one.state is FiredState.EXECUTING]


class OddError(BaseException):
    """An error that is no Exception."""


@pytest.mark.parametrize("hard_cancel", [False, True])
@pytest.mark.parametrize("error", [OddError("odd"), BaseExceptionGroup("odd ones", [OddError("odd")])])
async def test_error_that_is_no_exception_is_told_like_any_other(error: BaseException, hard_cancel: bool) -> None:
    """A job that raises a bare BaseException has failed: scheduler listeners hear of it, and it fires again."""

    @job(hard_cancel=hard_cancel)
    async def odd(context: JobContext) -> None:
        raise error

    clock = FakeClock()
    async with running_scheduler(clock) as scheduler:
        heard = listen(scheduler)
        await scheduler.schedule_job(odd, every(seconds=1))
        await clock.advance(seconds=1)
        told = [call for call in heard.calls if call.name == "scheduler_error"]
        assert len(told) == 2
        assert not await _unfinished(scheduler)


class ExitingTriggerListener(TriggerListener):
    """Calls sys.exit when it is told of a firing."""

    async def trigger_fired(self, trigger: Trigger, context: JobContext) -> None:
        """Exit."""
        sys.exit("enough")


class ExitingSchedulerListener(SchedulerListener):
    """Calls sys.exit when it is told of a new trigger."""

    async def job_scheduled(self, trigger: Trigger) -> None:
        """Exit."""
        sys.exit("enough")


async def test_listener_that_exits_does_not_end_the_event_loop() -> None:
    """A listener that calls sys.exit has failed: it is told as that, and the scheduler goes on."""
    clock = FakeClock()
    async with running_scheduler(clock) as scheduler:
        heard = listen(scheduler)
        scheduler.listener_manager.add_scheduler_listener(ExitingSchedulerListener())
        scheduler.listener_manager.add_trigger_listener(ExitingTriggerListener())
        await scheduler.schedule_job(lambda: None, every(seconds=1))
        await clock.advance(seconds=1)
        assert len([call for call in heard.calls if call.name == "scheduler_error"]) == 2
        assert not await _unfinished(scheduler)


@pytest.mark.parametrize("event", ["scheduler_in_standby_mode", "scheduler_shutting_down", "scheduler_shutdown"])
async def test_listener_that_hears_of_a_shutdown_may_ask_for_one(event: str) -> None:
    """A shutdown that is asked for by a listener of the shutdown returns at once; it would wait for itself."""
    scheduler = make_scheduler(SystemClock())
    asked: list[str] = []

    class Asking(SchedulerListener):
        """Asks for a shutdown."""

    async def ask(self: SchedulerListener) -> None:
        await scheduler.shutdown(wait=True)
        asked.append(event)

    setattr(Asking, event, ask)
    scheduler.listener_manager.add_scheduler_listener(Asking())
    await scheduler.start()
    await scheduler.shutdown(wait=True)
    assert asked == [event]
    assert scheduler.is_shutdown
