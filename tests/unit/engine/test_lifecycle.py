"""Lifecycle: initialize, start, standby, shutdown; what is told, what is given back, what is left."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from quartzite.abc import JobStore, Plugin, SchedulerListener
from quartzite.engine.health import HealthState
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.shutdown import ShutdownReport
from quartzite.errors import InvalidValueError, JobPersistenceError, SchedulerError
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.job import job
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import TriggerState
from quartzite.testing import FakeClock, FaultyJobStore, Recorded, RecordingJobStore, RecordingSchedulerListener
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.simple import every, once
from tests.schedulers import listen, make_scheduler

START = datetime(2026, 1, 1, tzinfo=UTC)
LIFE = {name for name in vars(SchedulerListener) if name.startswith("scheduler_")} | {
    "initialize",
    "scheduler_resumed",
    "scheduler_paused",
    "shutdown",
}


class NotingPlugin(Plugin):
    """Notes its life, and fails where it is told to."""

    def __init__(self, name: str, log: list[Recorded], *, fails_in: str = "") -> None:
        self.name = name
        self._log = log
        self.fails_in = fails_in

    async def initialize(self, name: str, scheduler: Scheduler) -> None:
        """Note."""
        assert name == self.name
        self._note("initialize")

    async def start(self) -> None:
        """Note."""
        self._note("start")

    async def shutdown(self) -> None:
        """Note."""
        self._note("shutdown")

    def _note(self, what: str) -> None:
        self._log.append(Recorded(f"{self.name}.{what}"))
        if self.fails_in == what:
            raise RuntimeError(f"{self.name} is broken")


class Subject:
    """A scheduler whose store and listener write into one list."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock(START, patience=timedelta(seconds=5))
        self.log: list[Recorded] = []
        self.scheduler = make_scheduler(self.clock, wrap_store=self._wrapped, **settings)
        self.told: RecordingSchedulerListener = listen(self.scheduler, RecordingSchedulerListener(log=self.log))
        self.ran: list[str] = []
        self.release = asyncio.Event()

    def _wrapped(self, inner: JobStore) -> JobStore:
        self.faults = FaultyJobStore(inner, clock=self.clock)
        self.store = RecordingJobStore(self.faults, log=self.log)
        return self.store

    @property
    def life(self) -> list[str]:
        """What was told and asked about the life of the scheduler, in order."""
        return [call.name for call in self.log if call.name in LIFE or "." in call.name]

    async def hold(self, context: JobContext) -> None:
        """Note the run and wait until the test lets go, or a day."""
        self.ran.append("began")
        await self.clock.wait(self.release, 86400)
        self.ran.append("ended")

    async def occupied(self, run: Callable[[JobContext], Any] | None = None) -> None:
        """Start with a job that runs."""
        await self.scheduler.schedule_job(JobBuilder.create(run or self.hold).with_identity("j"), once())
        await self.scheduler.start()
        await self.clock.settle()


@pytest.fixture
def subject() -> Subject:
    """A scheduler that was made and nothing more."""
    return Subject()


def engine_tasks() -> list[str]:
    """Return the names of the tasks of the engine that are alive."""
    return sorted(task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("quartzite"))


# ---------------------------------------------------------------------------------------------------------- initialize
async def test_a_scheduler_that_was_made_does_nothing(subject: Subject) -> None:
    """No task, no thread, no call of the store; it says that it is in standby."""
    threads = threading.active_count()
    await asyncio.sleep(0)
    assert (subject.log, engine_tasks(), threading.active_count()) == ([], [], threads)
    scheduler = subject.scheduler
    assert (scheduler.is_started, scheduler.in_standby_mode, scheduler.is_shutdown) == (False, True, False)


async def test_initialize_then_start_in_order(subject: Subject) -> None:
    """The store comes before the plugins, both before anything is told; plugins start after the store's recovery."""
    plugins = {name: NotingPlugin(name, subject.log) for name in ("a", "b")}
    await subject.scheduler.initialize(plugins)
    await subject.scheduler.start()
    await subject.scheduler.standby()
    await subject.scheduler.start()
    await subject.scheduler.shutdown()
    assert subject.life == [
        "initialize",
        "a.initialize",
        "b.initialize",
        "scheduler_starting",
        "scheduler_started",  # the store
        "a.start",
        "b.start",
        "scheduler_started",  # the listeners
        "scheduler_paused",
        "scheduler_in_standby_mode",
        "scheduler_starting",
        "scheduler_resumed",
        "scheduler_started",
        "scheduler_paused",
        "scheduler_in_standby_mode",
        "scheduler_shutting_down",
        "a.shutdown",
        "b.shutdown",
        "shutdown",
        "scheduler_shutdown",
    ]


async def test_the_store_learns_who_it_works_for() -> None:
    """Initialize hands the identity over, once."""
    subject = Subject(name="billing", instance_id="node1")
    await subject.scheduler.start()
    (call,) = subject.store.of("initialize")
    assert call.args == (SchedulerIdentity(scheduler_name="billing", instance_id="node1"),)
    assert (subject.scheduler.name, subject.scheduler.instance_id) == ("billing", "node1")
    assert repr(subject.scheduler) == "<Scheduler 'billing', node 'node1'>"
    await subject.scheduler.shutdown()


async def test_initialize_happens_once(subject: Subject) -> None:
    """A second time is an error that says what the scheduler is."""
    await subject.scheduler.initialize()
    with pytest.raises(SchedulerError, match="is initialized already"):
        await subject.scheduler.initialize()
    await subject.scheduler.shutdown()


async def test_what_was_ready_is_undone_when_a_part_fails(subject: Subject) -> None:
    """A plugin that can not be initialized fails the creation: plugins and store are shut down, in reverse."""
    plugins = {
        "a": NotingPlugin("a", subject.log),
        "b": NotingPlugin("b", subject.log, fails_in="initialize"),
        "c": NotingPlugin("c", subject.log),
    }
    with pytest.raises(RuntimeError, match="b is broken"):
        await subject.scheduler.initialize(plugins)
    assert subject.life == ["initialize", "a.initialize", "b.initialize", "b.shutdown", "a.shutdown", "shutdown"]
    with pytest.raises(SchedulerError, match="shut down"):
        await subject.scheduler.start()


async def test_a_plugin_that_exits_does_not_end_the_shutdown(subject: Subject) -> None:
    """A plugin whose shutdown raises SystemExit is logged, and the store is shut down all the same."""

    class Exiting(NotingPlugin):
        async def shutdown(self) -> None:
            raise SystemExit(3)

    await subject.scheduler.initialize({"a": Exiting("a", subject.log)})
    await subject.scheduler.start()
    await subject.scheduler.shutdown()
    assert subject.scheduler.is_shutdown
    assert "shutdown" in subject.life


async def test_a_store_that_can_not_be_initialized_is_shut_down(subject: Subject) -> None:
    """What the store had begun is freed, and the error is the store's."""
    subject.faults.fail("initialize", JobPersistenceError("no such database"))
    with pytest.raises(JobPersistenceError, match="no such database"):
        await subject.scheduler.start()
    assert subject.life == ["initialize", "shutdown"]
    assert engine_tasks() == []


# --------------------------------------------------------------------------------------------------- start and standby
async def test_starting_a_running_scheduler_changes_nothing(subject: Subject) -> None:
    """It stays as it is, and nobody is told again."""
    await subject.scheduler.start()
    life = subject.life
    await subject.scheduler.start()
    assert subject.life == life
    assert engine_tasks() == ["quartzite-loop"]
    await subject.scheduler.shutdown()


async def test_standby_of_what_does_not_run_changes_nothing(subject: Subject) -> None:
    """Before the first start, and a second time, standby does nothing."""
    await subject.scheduler.standby()
    assert subject.life == []
    await subject.scheduler.start()
    await subject.scheduler.standby()
    life = subject.life
    await subject.scheduler.standby()
    assert subject.life == life
    await subject.scheduler.shutdown()


async def test_running_jobs_go_on_in_standby(subject: Subject) -> None:
    """Standby does not touch what runs."""
    await subject.occupied()
    await subject.scheduler.standby()
    assert len(subject.scheduler.get_currently_executing_jobs()) == 1
    subject.release.set()
    await subject.clock.settle()
    assert subject.ran == ["began", "ended"]
    assert not await subject.scheduler.check_exists(JobKey("j"))
    await subject.scheduler.shutdown()


async def test_standby_does_not_wait_for_a_worker() -> None:
    """With all workers occupied standby returns, also when a job asks for it."""
    subject = Subject(max_concurrency=1)

    async def ask(context: JobContext) -> None:
        await context.scheduler.standby()
        subject.ran.append("standby")

    await subject.occupied(ask)
    assert subject.ran == ["standby"]
    assert subject.scheduler.in_standby_mode
    await subject.scheduler.shutdown()


async def test_a_store_that_refuses_the_first_start_is_asked_again(subject: Subject) -> None:
    """A start that the store refused can be repeated: it recovers then, and running-since is that of the second."""
    subject.faults.fail("scheduler_started", JobPersistenceError("not now"), times=1)
    with pytest.raises(JobPersistenceError, match="not now"):
        await subject.scheduler.start()
    assert not subject.scheduler.is_started
    await subject.clock.advance(seconds=5)
    await subject.scheduler.start()
    assert subject.life.count("scheduler_started") == 3  # the store twice, the listeners once
    assert subject.scheduler.get_metadata().running_since == START + timedelta(seconds=5)
    await subject.scheduler.shutdown()


async def test_a_plugin_that_can_not_start_is_asked_again(subject: Subject) -> None:
    """Plugins that have started are not started twice by the next attempt."""
    plugins = {"a": NotingPlugin("a", subject.log), "b": NotingPlugin("b", subject.log, fails_in="start")}
    await subject.scheduler.initialize(plugins)
    with pytest.raises(RuntimeError, match="b is broken"):
        await subject.scheduler.start()
    plugins["b"].fails_in = ""
    await subject.scheduler.start()
    assert [name for name in subject.life if name.endswith(".start")] == ["a.start", "b.start", "b.start"]
    await subject.scheduler.shutdown()


async def test_a_listener_may_call_the_scheduler_back(subject: Subject) -> None:
    """A listener that puts the scheduler into standby as soon as it has started does not lock it up."""

    class Eager(SchedulerListener):
        async def scheduler_started(self) -> None:
            await subject.scheduler.standby()

    subject.scheduler.listener_manager.add_scheduler_listener(Eager())
    await subject.scheduler.start()
    assert subject.scheduler.in_standby_mode
    await subject.scheduler.shutdown()


async def test_a_delayed_start_comes_by_itself(subject: Subject) -> None:
    """The call returns at once; the scheduler starts after the delay, by its clock."""
    await subject.scheduler.start_delayed(timedelta(seconds=10))
    await subject.clock.advance(seconds=9)
    assert not subject.scheduler.is_started
    await subject.clock.advance(seconds=1)
    assert subject.scheduler.is_started
    await subject.scheduler.shutdown()


async def test_a_delayed_start_that_fails_is_logged(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for it, so its error goes to the log."""
    subject.faults.fail("scheduler_started", JobPersistenceError("not now"))
    await subject.scheduler.start_delayed(timedelta(seconds=10))
    await subject.clock.advance(seconds=10)
    assert "The delayed start failed" in caplog.text
    subject.faults.heal()
    await subject.scheduler.shutdown()


async def test_a_shutdown_ends_a_delayed_start(subject: Subject) -> None:
    """What has not started yet does not start after the end."""
    await subject.scheduler.start_delayed(timedelta(seconds=10))
    await subject.scheduler.shutdown()
    await subject.clock.advance(seconds=10)
    assert not subject.scheduler.is_started
    assert engine_tasks() == []


# ------------------------------------------------------------------------------------------------------------ shutdown
async def test_shutdown_without_waiting_leaves_jobs_running(subject: Subject) -> None:
    """It returns at once and reports what was left; the job ends in its own time."""
    await subject.occupied()
    report = await subject.scheduler.shutdown()
    (left,) = report.left_running
    assert (left.job_key, left.trigger_key, left.fire_time) == (JobKey("j"), TriggerKey("j"), START)
    assert not report.is_clean
    assert subject.scheduler.is_shutdown
    subject.release.set()
    await subject.clock.settle()
    assert subject.ran == ["began", "ended"]
    assert engine_tasks() == []


async def test_shutdown_waits_for_jobs(subject: Subject) -> None:
    """With ``wait`` it returns when they have ended and the store knows, and only then closes the store."""
    await subject.occupied()
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    await subject.clock.advance(minutes=10)
    assert not closing.done()
    subject.release.set()
    assert await closing == ShutdownReport()
    names = subject.store.names
    assert names.index("triggered_jobs_complete") < names.index("shutdown")
    assert subject.ran == ["began", "ended"]


async def test_shutdown_waits_no_longer_than_told(subject: Subject) -> None:
    """After the time limit it closes, and reports what was left running."""
    await subject.occupied()
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True, timeout=timedelta(seconds=30)))
    await subject.clock.advance(seconds=29)
    assert not closing.done()
    await subject.clock.advance(seconds=1)
    report = await closing
    assert [left.job_key for left in report.left_running] == [JobKey("j")]
    subject.release.set()
    await subject.clock.settle()
    assert engine_tasks() == []


async def test_what_was_acquired_is_given_back(subject: Subject) -> None:
    """A trigger that waits for its time is released and reported: the next process fires it."""
    await subject.scheduler.schedule_job(
        JobBuilder.create(subject.hold),
        TriggerBuilder.create().with_identity("t").start_at(START + timedelta(seconds=9)),
    )
    await subject.scheduler.start()
    await subject.clock.settle()
    report = await subject.scheduler.shutdown(wait=True)
    assert report.released == (TriggerKey("t"),)
    assert await subject.store.get_trigger_state(TriggerKey("t")) is TriggerState.NORMAL
    assert subject.store.of("release_acquired_triggers")


async def test_a_second_shutdown_gets_the_report_of_the_first(subject: Subject) -> None:
    """Whoever asks again waits for the one that is under way; afterwards the report is at hand."""
    await subject.occupied()
    both = [asyncio.create_task(subject.scheduler.shutdown(wait=True)) for _ in range(2)]
    await subject.clock.settle()
    assert not any(task.done() for task in both)
    subject.release.set()
    first, second = await asyncio.gather(*both)
    assert first is second
    assert await subject.scheduler.shutdown() is first
    assert len(subject.store.of("shutdown")) == 1


async def test_cancelling_the_caller_does_not_stop_the_shutdown(subject: Subject) -> None:
    """A host that loses patience does not leave half a scheduler."""
    await subject.occupied()
    caller = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    await subject.clock.settle()
    caller.cancel()
    with suppress(asyncio.CancelledError):
        await caller
    subject.release.set()
    await subject.clock.settle()
    assert subject.scheduler.is_shutdown
    assert subject.store.of("shutdown")


@pytest.mark.parametrize(
    ("settings", "wait", "interrupted"),
    [
        ({}, False, False),
        ({}, True, False),
        ({"interrupt_jobs_on_shutdown": True}, False, True),
        ({"interrupt_jobs_on_shutdown": True}, True, False),
        ({"interrupt_jobs_on_shutdown_with_wait": True}, True, True),
        ({"interrupt_jobs_on_shutdown_with_wait": True}, False, False),
    ],
)
async def test_jobs_are_told_to_stop_when_the_settings_say_so(
    settings: dict[str, Any], wait: bool, interrupted: bool
) -> None:
    """Each setting is for one way of shutting down."""
    subject = Subject(**settings)
    tokens: list[bool] = []

    async def run(context: JobContext) -> None:
        await subject.clock.wait(subject.release, 86400)
        tokens.append(context.cancellation_token.is_set)

    await subject.occupied(run)
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=wait))
    await subject.clock.settle()
    subject.release.set()
    await closing
    await subject.clock.settle()
    assert tokens == [interrupted]


async def test_a_job_that_asks_for_it_is_cancelled_at_shutdown() -> None:
    """A hard cancel ends a job that would wait for ever."""
    subject = Subject(interrupt_jobs_on_shutdown_with_wait=True)

    @job(hard_cancel=True)
    async def for_ever(context: JobContext) -> None:
        await asyncio.Event().wait()

    await subject.scheduler.schedule_job(for_ever, once())
    await subject.scheduler.start()
    while not subject.scheduler.get_currently_executing_jobs():  # noqa: ASYNC110 - the job itself tells nobody
        await asyncio.sleep(0)
    report = await subject.scheduler.shutdown(wait=True)
    assert report.is_clean


@pytest.mark.parametrize(
    "step", ["scheduler_paused", "shutdown", "release_acquired_triggers", "triggered_jobs_complete"]
)
async def test_a_store_that_fails_at_the_end_does_not_stop_the_end(subject: Subject, step: str) -> None:
    """Whatever step of the shutdown the store fails, the rest is done, and the scheduler is closed."""
    await subject.scheduler.schedule_job(
        subject.hold, TriggerBuilder.create().with_identity("t").start_at(START + timedelta(seconds=9))
    )
    await subject.occupied()
    subject.faults.fail(step, JobPersistenceError("the database is away"))
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    await subject.clock.settle()
    subject.release.set()
    await subject.clock.advance(seconds=30)
    await closing
    assert subject.scheduler.is_shutdown
    assert subject.life[-1] == "scheduler_shutdown"
    assert engine_tasks() == []


async def test_a_store_that_does_not_take_completions_delays_the_end_for_a_while(subject: Subject) -> None:
    """While the store is away the shutdown keeps trying for some seconds, then gives up and says so."""
    await subject.occupied()
    for member in ("triggered_jobs_complete", "triggered_job_complete"):
        subject.faults.fail(member, JobPersistenceError("the database is away"))
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    subject.release.set()
    await subject.clock.advance(seconds=5)
    assert not closing.done()
    await subject.clock.advance(seconds=10)
    await closing
    assert subject.faults.failures["triggered_job_complete"] > 3


async def test_a_store_that_hangs_does_not_hold_a_shutdown_that_does_not_wait(subject: Subject) -> None:
    """An operation that does not end is given up after a grace of some seconds."""
    subject.faults.delay("acquire_next_triggers", timedelta(days=1))
    await subject.scheduler.start()
    await subject.clock.settle()
    closing = asyncio.create_task(subject.scheduler.shutdown())
    await subject.clock.advance(seconds=4)
    assert not closing.done()
    await subject.clock.advance(seconds=2)
    assert (await closing).is_clean
    assert engine_tasks() == []


async def test_a_plugin_that_fails_at_the_end_does_not_stop_the_end(subject: Subject) -> None:
    """The other plugins and the store are shut down all the same."""
    plugins = {"a": NotingPlugin("a", subject.log, fails_in="shutdown"), "b": NotingPlugin("b", subject.log)}
    await subject.scheduler.initialize(plugins)
    await subject.scheduler.shutdown()
    assert subject.life[-4:] == ["a.shutdown", "b.shutdown", "shutdown", "scheduler_shutdown"]


async def test_a_scheduler_that_never_started_can_be_shut_down(subject: Subject) -> None:
    """The store is told nothing of pauses, and is closed."""
    await subject.scheduler.shutdown(wait=True)
    assert "scheduler_paused" not in subject.life
    assert subject.life[-2:] == ["shutdown", "scheduler_shutdown"]


# --------------------------------------------------------------------------------------------------------- from inside
async def test_a_job_that_shuts_down_does_not_wait_for_itself(subject: Subject) -> None:
    """It gets its answer when the others have ended; the store is closed after its own end."""

    async def last_words(context: JobContext) -> None:
        report = await context.scheduler.shutdown(wait=True)
        subject.ran.append("answered")
        assert [left.job_key for left in report.left_running] == [JobKey("j")]
        assert not context.scheduler.is_shutdown
        assert (await context.scheduler.query_jobs()).items

    # The job is busy while it waits for the other one, so the clock would not settle.
    await subject.scheduler.schedule_job(JobBuilder.create(subject.hold).with_identity("other"), once())
    await subject.scheduler.schedule_job(JobBuilder.create(last_words).with_identity("j"), once())
    await subject.scheduler.start()
    for _ in range(20):
        await asyncio.sleep(0)
    assert subject.ran == ["began"]
    subject.release.set()
    await subject.clock.settle()
    assert subject.ran == ["began", "ended", "answered"]
    assert subject.scheduler.is_shutdown
    names = subject.store.names
    assert names.index("shutdown") > max(at for at, name in enumerate(names) if name == "triggered_jobs_complete")


async def test_a_job_in_a_thread_that_shuts_down_does_not_wait_for_itself(subject: Subject) -> None:
    """The same holds for a plain function that calls back into the event loop."""
    loop = asyncio.get_running_loop()

    def last_words(context: JobContext) -> None:
        asyncio.run_coroutine_threadsafe(context.scheduler.shutdown(wait=True), loop).result(5)
        subject.ran.append("answered")

    await subject.occupied(last_words)
    await subject.clock.settle()
    assert subject.ran == ["answered"]
    assert subject.scheduler.is_shutdown


async def test_jobs_that_all_shut_down_do_not_wait_for_each_other(subject: Subject) -> None:
    """The second job that asks is answered at once."""

    async def last_words(context: JobContext) -> None:
        await context.scheduler.shutdown(wait=True)
        subject.ran.append("answered")

    await subject.scheduler.schedule_job(JobBuilder.create(last_words).with_identity("other"), once())
    await subject.occupied(last_words)
    assert subject.ran == ["answered", "answered"]
    assert subject.scheduler.is_shutdown


async def test_a_job_that_is_waited_for_may_ask_and_query(subject: Subject) -> None:
    """While a shutdown waits for a job, that job may ask for the shutdown itself, query, and fail."""

    async def busy(context: JobContext) -> None:
        await subject.clock.wait(subject.release, 86400)
        await context.scheduler.shutdown(wait=True)
        await context.scheduler.query_jobs()
        subject.ran.append("queried")
        raise RuntimeError("at last")

    await subject.occupied(busy)
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    await subject.clock.settle()
    subject.release.set()
    await closing
    assert subject.ran == ["queried"]


@pytest.mark.parametrize("event", ["scheduler_error", "job_deleted"])
async def test_a_listener_that_shuts_down_does_not_lock_up(subject: Subject, event: str) -> None:
    """A listener that is told by the loop, or by a commit, may shut down and wait: it is answered at once."""

    class Strict(SchedulerListener):
        async def scheduler_error(self, message: str, error: Exception) -> None:
            await self.end("scheduler_error")

        async def job_deleted(self, key: JobKey) -> None:
            await self.end("job_deleted")

        async def end(self, told: str) -> None:
            if told == event:
                await subject.scheduler.shutdown(wait=True)
                subject.ran.append("answered")

    subject.scheduler.listener_manager.add_scheduler_listener(Strict())
    if event == "scheduler_error":
        subject.faults.fail("acquire_next_triggers", JobPersistenceError("away"), times=1)
    subject.release.set()
    await subject.occupied()
    await subject.clock.settle()
    assert "answered" in subject.ran
    assert subject.scheduler.is_shutdown
    assert engine_tasks() == []


async def test_another_scheduler_may_be_shut_down_from_inside_a_job(subject: Subject) -> None:
    """A job that shuts down some other scheduler waits for that one's jobs like anybody."""
    other = Subject(name="other")
    await other.occupied()

    async def end_other(context: JobContext) -> None:
        report = await other.scheduler.shutdown(wait=True)
        subject.ran.append(f"clean: {report.is_clean}")

    await subject.scheduler.schedule_job(end_other, once())
    await subject.scheduler.start()
    for _ in range(20):
        await asyncio.sleep(0)
    assert subject.ran == []
    other.release.set()
    await subject.clock.settle()
    assert subject.ran == ["clean: True"]
    await subject.scheduler.shutdown()


# ------------------------------------------------------------------------------------------------------------ after it
async def test_after_the_end_everything_is_refused(subject: Subject) -> None:
    """Every verb names the scheduler and what to do; starting does, too."""
    await subject.scheduler.shutdown()
    calls = [
        subject.scheduler.start(),
        subject.scheduler.standby(),
        subject.scheduler.start_delayed(timedelta(seconds=1)),
        subject.scheduler.schedule_job(subject.hold, every(hours=1)),
        subject.scheduler.pause_all(),
        subject.scheduler.trigger_job(JobKey("j")),
        subject.scheduler.interrupt(JobKey("j")),
        subject.scheduler.get_job_group_names(),
        subject.scheduler.initialize(),
    ]
    for call in calls:
        with pytest.raises(SchedulerError, match=r"scheduler 'default' .*shut down"):
            await call
    with pytest.raises(SchedulerError, match="shut down"):
        subject.scheduler.set_execution_limits(None)


async def test_what_a_scheduler_says_of_itself() -> None:
    """The metadata hold who it is, what it is made of and how far it got."""
    subject = Subject(name="meta", max_concurrency=3, context={"region": "eu"}, time_zone="Europe/Berlin")
    scheduler = subject.scheduler
    assert scheduler.get_metadata().running_since is None
    await subject.occupied()
    data = scheduler.get_metadata()
    assert (data.scheduler_name, data.scheduler_instance_id, data.is_remote) == ("meta", "NON_CLUSTERED", False)
    assert (data.started, data.in_standby_mode, data.shutdown) == (True, False, False)
    assert (data.running_since, data.jobs_executed, data.worker_pool_size) == (START, 1, 3)
    assert data.job_store_type == "quartzite.stores.ram.store:RamJobStore"
    assert (data.job_store_supports_persistence, data.job_store_clustered) == (False, False)
    assert data.worker_pool_type.endswith("AsyncWorkerPool")
    assert data.version[0].isdigit()
    assert (scheduler.context, str(scheduler.time_zone), scheduler.clock) == (
        {"region": "eu"},
        "Europe/Berlin",
        subject.clock,
    )
    subject.release.set()
    await scheduler.shutdown(wait=True)
    assert (scheduler.get_metadata().shutdown, scheduler.get_metadata().started) == (True, False)


# -------------------------------------------------------------------------------------------------------------- health
async def test_health_of_a_healthy_scheduler(subject: Subject) -> None:
    """A scheduler that works is ok, before the start and in standby too, where it says that nothing fires."""
    assert subject.scheduler.health().state is HealthState.OK
    assert subject.scheduler.health().last_loop_tick is None
    await subject.scheduler.start()
    await subject.clock.advance(minutes=1)
    health = subject.scheduler.health()
    assert (health.state, health.reasons, health.last_error) == (HealthState.OK, (), None)
    assert health.last_loop_tick is not None
    assert subject.clock.now() - health.last_loop_tick <= timedelta(seconds=30)
    await subject.scheduler.standby()
    await subject.clock.advance(hours=1)
    assert subject.scheduler.health().state is HealthState.OK
    assert subject.scheduler.health().reasons == ("in standby: nothing fires",)
    await subject.scheduler.shutdown()


async def test_a_loop_without_a_sign_of_life_has_failed(subject: Subject) -> None:
    """When the store hangs for three idle waits the scheduler does not look alive."""
    subject.faults.delay("acquire_next_triggers", timedelta(days=1), times=1)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=90)
    assert subject.scheduler.health().state is HealthState.OK
    await subject.clock.advance(seconds=1)
    health = subject.scheduler.health()
    assert health.state is HealthState.FAILED
    assert "no sign of life for 91 s" in health.reasons[0]
    await subject.clock.advance(days=1)
    assert subject.scheduler.health().state is HealthState.OK
    await subject.scheduler.shutdown()


async def test_occupied_workers_are_worth_a_word() -> None:
    """When all workers have been busy for three idle waits, firings are late: degraded, not failed."""
    subject = Subject(max_concurrency=1)
    await subject.occupied()
    await subject.clock.advance(seconds=90)
    assert subject.scheduler.health().state is HealthState.OK
    await subject.clock.advance(seconds=1)
    health = subject.scheduler.health()
    assert (health.state, health.reasons) == (HealthState.DEGRADED, ("all workers have been busy for 91 s",))
    subject.release.set()
    await subject.scheduler.shutdown(wait=True)


async def test_what_the_store_did_not_take_is_worth_a_word(subject: Subject) -> None:
    """Completions and releases that wait for the store make it degraded, until the store has taken them."""
    for member in ("triggered_jobs_complete", "triggered_job_complete"):
        subject.faults.fail(member, JobPersistenceError("away"))
    subject.release.set()
    await subject.occupied()
    assert subject.scheduler.health().reasons == ("the ends of 1 firings could not be stored yet",)
    assert subject.scheduler.health().state is HealthState.DEGRADED
    subject.faults.heal()
    await subject.clock.advance(seconds=1)
    assert subject.scheduler.health().state is HealthState.OK
    await subject.scheduler.shutdown()


async def test_a_scheduler_at_its_end_is_not_healthy(subject: Subject) -> None:
    """A probe that asks a scheduler that was shut down learns it."""
    await subject.occupied()
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    await subject.clock.settle()
    assert subject.scheduler.health().reasons == ("shutting down: nothing fires",)
    subject.release.set()
    await closing
    health = subject.scheduler.health()
    assert (health.state, health.reasons) == (HealthState.FAILED, ("the scheduler has been shut down",))


# ----------------------------------------------------------------------------------------------------------- bad input
@pytest.mark.parametrize("span", [timedelta(seconds=-1), 5, "soon"])
async def test_a_span_that_is_none_is_refused(subject: Subject, span: Any) -> None:
    """A delay or a time limit is a timedelta that is not negative; else nothing begins."""
    with pytest.raises(InvalidValueError, match="delay is"):
        await subject.scheduler.start_delayed(span)
    with pytest.raises(InvalidValueError, match="timeout is"):
        await subject.scheduler.shutdown(wait=True, timeout=span)
    assert not subject.scheduler.is_shutting_down
    assert engine_tasks() == []


async def test_two_starts_at_once_are_one(subject: Subject) -> None:
    """Starting twice side by side initializes and starts the store once, and runs one loop."""
    await asyncio.gather(subject.scheduler.start(), subject.scheduler.start())
    assert len(subject.store.of("initialize")) == 1
    assert "scheduler_resumed" not in subject.store.names
    assert engine_tasks() == ["quartzite-loop"]
    await subject.scheduler.shutdown()


@pytest.mark.parametrize("member", ["shutdown", "triggered_jobs_complete"])
async def test_a_step_that_hangs_is_given_up(subject: Subject, member: str) -> None:
    """A store that does not end its last operations does not hold the shutdown for ever."""
    subject.faults.delay(member, timedelta(days=1))
    subject.release.set()
    await subject.occupied()
    closing = asyncio.create_task(subject.scheduler.shutdown())
    await subject.clock.advance(seconds=29)
    assert not closing.done()
    await subject.clock.advance(seconds=2)
    await closing
    assert subject.scheduler.is_shutdown
    await subject.clock.settle()
    assert engine_tasks() == []


async def test_a_start_ends_a_long_pause(subject: Subject) -> None:
    """A loop that pauses for minutes because its store was away tries again at once when it is started again."""
    subject.store.get_acquire_retry_delay = lambda failure_count: timedelta(minutes=10)  # type: ignore[method-assign]
    subject.faults.fail("acquire_next_triggers", JobPersistenceError("away"), times=2)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=1)
    await subject.scheduler.standby()
    await subject.scheduler.start()
    await subject.clock.advance(seconds=1)
    assert len(subject.store.of("acquire_next_triggers")) == 3
    await subject.scheduler.shutdown()
