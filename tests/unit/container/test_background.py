"""running_in_thread: schedulers for applications without an event loop."""

import threading

import pytest

from quartzite import JobContext, JobKey, QuartzContainer, Scheduler, TriggerState, add_quartz, every, running_in_thread
from quartzite.errors import JobNotFoundError, SchedulerConfigError
from quartzite.model.keys import TriggerKey


def test_every_method_is_called_through_one_portal() -> None:
    """Results and errors come back to the calling thread; jobs run in the other one."""
    ran: list[threading.Thread] = []
    done = threading.Event()

    async def report(context: JobContext) -> None:
        ran.append(threading.current_thread())
        done.set()

    container = QuartzContainer()
    add_quartz(container).add_job(report)
    with running_in_thread(container) as portal:
        scheduler = container.scheduler()
        portal.call(scheduler.trigger_job, JobKey("report"))
        assert done.wait(timeout=10)
        assert portal.call(scheduler.get_trigger_state, TriggerKey("none")) is TriggerState.NONE
        with pytest.raises(JobNotFoundError, match="none"):
            portal.call(scheduler.trigger_job, JobKey("none"))
    assert len(ran) == 1
    assert ran[0] is not threading.current_thread()
    assert not container.schedulers().is_running


async def nothing() -> None: ...


def test_errors_of_the_start_come_out() -> None:
    """A wrong container fails in the calling thread, and no thread is left."""
    before = threading.active_count()
    with pytest.raises(SchedulerConfigError, match="no scheduler"), running_in_thread(QuartzContainer()):
        pytest.fail("it started")
    assert threading.active_count() == before


def test_an_error_in_the_block_ends_the_schedulers() -> None:
    """The schedulers are shut down on every way out."""
    container = QuartzContainer()
    add_quartz(container).schedule(nothing, every(hours=1))
    seen: list[Scheduler] = []
    with pytest.raises(LookupError):
        fail_within(container, seen)
    assert seen[0].is_shutdown


def fail_within(container: QuartzContainer, seen: list[Scheduler]) -> None:
    with running_in_thread(container):
        seen.append(container.scheduler())
        raise LookupError
