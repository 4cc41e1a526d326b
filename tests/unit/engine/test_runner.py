"""JobRunner: the order around one firing, errors of all kinds, and exactly one completion on every path."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest

from quartzite.abc import JobFactory, JobListener, JobScope, JobStore, SchedulerListener, TriggerListener
from quartzite.engine.job_factory import SimpleJobFactory
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.errors import JobExecutionError, JobExecutionProcessError, JobInstantiationError
from quartzite.execution import JobContext, TriggerFiredBundle
from quartzite.model.builders import JobBuilder
from quartzite.model.job import job
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import KeyMatcher
from quartzite.model.query import FireInstanceQuery
from quartzite.model.states import FiredState, SchedulerInstruction, TriggerState
from quartzite.testing import (
    FakeClock,
    FaultyJobStore,
    Recorded,
    RecordingJobListener,
    RecordingJobStore,
    RecordingSchedulerListener,
    RecordingTriggerListener,
)
from quartzite.triggers.base import Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.simple import SimpleTrigger, every, once
from tests.schedulers import listen, make_scheduler

START = datetime(2026, 1, 1, tzinfo=UTC)
FIRE_CYCLE = {"triggers_fired", "triggered_jobs_complete", "triggered_job_complete"}
NO, DELETE = SchedulerInstruction.NO_INSTRUCTION, SchedulerInstruction.DELETE_TRIGGER
ALL_FAILED = SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR
tenant: ContextVar[str] = ContextVar("tenant", default="none")


class NotingFactory(SimpleJobFactory):
    """Notes what it makes and takes back, and fails when it is told to."""

    def __init__(self, log: list[Recorded]) -> None:
        super().__init__(type_loader=ImportTypeLoader())
        self.log = log
        self.create_error: BaseException | None = None
        self.return_error: Exception | None = None
        self.returned: list[BaseException | None] = []

    async def create_job(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:
        """Note, set a context variable, and make the job."""
        self.log.append(Recorded("create_job"))
        tenant.set("blue")
        if self.create_error is not None:
            raise self.create_error
        return await super().create_job(bundle, scheduler)

    async def return_job(self, scope: JobScope, error: BaseException | None) -> None:
        """Note, and close the job."""
        self.log.append(Recorded("return_job"))
        self.returned.append(error)
        await super().return_job(scope, error)
        if self.return_error is not None:
            raise self.return_error


class Subject:
    """A scheduler whose listeners, store and factory write into one list."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock(START, patience=timedelta(seconds=5))
        self.log: list[Recorded] = []
        self.factory = NotingFactory(self.log)
        self.scheduler = make_scheduler(
            self.clock, wrap_store=self._wrapped, job_factory=self.factory, max_concurrency=2, **settings
        )
        self.told: RecordingSchedulerListener = listen(self.scheduler, RecordingSchedulerListener(log=self.log))

    def _wrapped(self, inner: JobStore) -> JobStore:
        self.faults = FaultyJobStore(inner, clock=self.clock)
        self.store = RecordingJobStore(self.faults, log=self.log)
        return self.store

    def listen(self, name: str = "", *, veto: bool = False) -> tuple[RecordingJobListener, RecordingTriggerListener]:
        """Register a job and a trigger listener that write into the list."""
        of_jobs = RecordingJobListener(name or None, log=self.log)
        of_triggers = RecordingTriggerListener(name or None, log=self.log, veto=lambda *_: veto)
        self.scheduler.listener_manager.add_job_listener(of_jobs)
        self.scheduler.listener_manager.add_trigger_listener(of_triggers)
        return of_jobs, of_triggers

    async def fire(self, run: Any, schedule: Any = None, *, until: float = 0) -> None:
        """Schedule a job as ``j`` with a trigger ``t``, start, and let everything happen until some seconds later."""
        builder = run if isinstance(run, JobBuilder) else JobBuilder.create(run)
        trigger = TriggerBuilder.create().with_identity("t").with_schedule(schedule or once())
        await self.scheduler.schedule_job(builder.with_identity("j"), trigger)
        self.log.clear()
        await self.scheduler.start()
        await self.clock.advance(seconds=until)

    @property
    def story(self) -> list[str]:
        """What happened around the firing, in order."""
        told = {name for contract in (JobListener, TriggerListener) for name in vars(contract)}
        wanted = told | FIRE_CYCLE | {"create_job", "return_job", "execute", "trigger_finalized", "scheduler_error"}
        return [call.name for call in self.log if call.name in wanted]

    @property
    def instructions(self) -> list[SchedulerInstruction]:
        """What the store was told, one for each completion."""
        return [one.instruction for call in self.store.of("triggered_jobs_complete") for one in call.args[0]]

    async def is_at_rest(self) -> bool:
        """Whether nothing of a firing is left, in the store or out of it."""
        query = FireInstanceQuery(state=FiredState.EXECUTING)
        firings = (await self.scheduler.query_fire_instances(query)).items
        return (
            not firings and not self.scheduler.get_currently_executing_jobs() and not self.scheduler._executing._groups
        )


async def until(condition: Callable[[], Any]) -> None:
    """Give the event loop turns until a condition holds."""
    while not condition():  # noqa: ASYNC110 - conditions of other objects have no event
        await asyncio.sleep(0)


@pytest.fixture
def subject() -> Subject:
    """A scheduler without listeners of jobs and triggers."""
    return Subject()


def executing(subject: Subject) -> Callable[[JobContext], Any]:
    """Return a job that writes into the list."""

    async def run(context: JobContext) -> None:
        subject.log.append(Recorded("execute"))

    return run


# --------------------------------------------------------------------------------------------------------------- order
async def test_the_order_around_one_firing(subject: Subject) -> None:
    """Store, factory, trigger listeners, job listeners, job, listeners again, store, factory: in exactly this order."""
    subject.listen()
    await subject.fire(executing(subject))
    assert subject.story == [
        "triggers_fired",
        "create_job",
        "trigger_fired",
        "veto_job_execution",
        "job_to_be_executed",
        "execute",
        "job_was_executed",
        "trigger_complete",
        "trigger_finalized",
        "triggered_jobs_complete",
        "return_job",
    ]
    assert subject.instructions == [DELETE]
    await subject.scheduler.shutdown()


async def test_without_listeners_the_rest_stays_in_order(subject: Subject) -> None:
    """Nobody listens: the job runs, the store and the factory are told."""
    await subject.fire(executing(subject), every(hours=1))
    assert subject.story == ["triggers_fired", "create_job", "execute", "triggered_jobs_complete", "return_job"]
    assert subject.instructions == [NO]
    await subject.scheduler.shutdown()


async def test_each_trigger_listener_is_told_and_asked_before_the_next(subject: Subject) -> None:
    """A trigger listener hears of the firing and is asked for its veto before the next one hears of it."""
    names: list[str] = []

    class Named(TriggerListener):
        def __init__(self, name: str) -> None:
            self._name = name

        @property
        def name(self) -> str:
            return self._name

        async def trigger_fired(self, trigger: Trigger, context: JobContext) -> None:
            names.append(f"{self._name} fired")

        async def veto_job_execution(self, trigger: Trigger, context: JobContext) -> bool:
            names.append(f"{self._name} asked")
            return self._name == "first"

    for name in ("first", "second"):
        subject.scheduler.listener_manager.add_trigger_listener(Named(name))
    await subject.fire(executing(subject))
    assert names == ["first fired", "first asked", "second fired", "second asked"]
    assert "execute" not in subject.story
    await subject.scheduler.shutdown()


async def test_a_veto_consumes_the_firing(subject: Subject) -> None:
    """A vetoed job does not run; job listeners hear of the veto, the trigger goes on or is finished, and is told so."""
    subject.listen(veto=True)
    await subject.fire(executing(subject))
    assert subject.story == [
        "triggers_fired",
        "create_job",
        "trigger_fired",
        "veto_job_execution",
        "job_execution_vetoed",
        "triggered_jobs_complete",
        "trigger_finalized",
        "return_job",
    ]
    assert subject.instructions == [DELETE]
    assert not await subject.scheduler.check_exists(JobKey("j"))
    assert subject.scheduler.get_metadata().jobs_executed == 0
    await subject.scheduler.shutdown()


async def test_a_vetoed_trigger_fires_again(subject: Subject) -> None:
    """A veto counts for one firing."""
    subject.listen(veto=True)
    await subject.fire(executing(subject), every(seconds=1), until=2)
    assert subject.instructions == [NO, NO, NO]
    await subject.scheduler.shutdown()


async def test_a_job_executes_while_its_listeners_are_told(subject: Subject) -> None:
    """The listing holds a job from before it is to be executed until before it was executed."""
    seen: list[tuple[str, int]] = []

    class Looking(JobListener, TriggerListener):
        async def trigger_fired(self, trigger: Trigger, context: JobContext) -> None:
            self.look("fired", context)

        async def job_to_be_executed(self, context: JobContext) -> None:
            self.look("to be executed", context)

        async def job_was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:
            self.look("was executed", context)

        def look(self, moment: str, context: JobContext) -> None:
            seen.append((moment, len(context.scheduler.get_currently_executing_jobs())))

    subject.scheduler.listener_manager.add_job_listener(Looking())
    subject.scheduler.listener_manager.add_trigger_listener(Looking())

    async def run(context: JobContext) -> None:
        seen.append(("execute", len(context.scheduler.get_currently_executing_jobs())))
        assert context.scheduler.get_currently_executing_jobs() == [context]

    await subject.fire(run)
    assert seen == [("fired", 0), ("to be executed", 1), ("execute", 1), ("was executed", 0)]
    await subject.scheduler.shutdown()


async def test_listeners_hear_of_what_they_match(subject: Subject) -> None:
    """A listener with matchers is not told of other jobs and triggers."""
    job_listener, trigger_listener = RecordingJobListener(), RecordingTriggerListener()
    manager = subject.scheduler.listener_manager
    manager.add_job_listener(job_listener, KeyMatcher.key_equals(JobKey("other")))
    manager.add_trigger_listener(trigger_listener, KeyMatcher.key_equals(TriggerKey("t")))
    await subject.fire(executing(subject))
    assert job_listener.names == []
    assert trigger_listener.names == ["trigger_fired", "veto_job_execution", "trigger_complete"]
    await subject.scheduler.shutdown()


# ------------------------------------------------------------------------------------------------------------- context
async def test_what_a_job_sees(subject: Subject) -> None:
    """The context carries the firing: times, keys, data, the scheduler; the trigger is the advanced one."""
    seen: list[JobContext] = []

    async def look(context: JobContext) -> str:
        seen.append(context)
        await context.scheduler.clock.sleep(0.25)
        return "done"

    await subject.fire(JobBuilder.create(look).using_job_data({"a": 1, "b": 1}), every(minutes=1), until=61)
    first, second = seen
    assert first.scheduler is subject.scheduler
    assert (first.job.key, first.trigger.key, first.refire_count) == (JobKey("j"), TriggerKey("t"), 0)
    assert (first.scheduled_fire_time, first.fire_time, first.previous_fire_time) == (START, START, None)
    assert first.next_fire_time == first.trigger.next_fire_time == START + timedelta(minutes=1)
    assert (second.scheduled_fire_time, second.previous_fire_time) == (START + timedelta(minutes=1), START)
    assert first.job_run_time == timedelta(seconds=0.25)
    assert (first.result, first.job_instance) == ("done", look)
    assert (first.recovering, first.recovering_trigger_key, first.calendar) == (False, None, None)
    assert first.fire_instance_id != second.fire_instance_id
    await subject.scheduler.shutdown()


async def test_the_trigger_wins_over_the_job(subject: Subject) -> None:
    """The merged view lays the trigger's data over the job's."""
    seen: list[dict[str, Any]] = []

    async def look(context: JobContext) -> None:
        seen.append(dict(context.data))

    trigger = TriggerBuilder.create().using_job_data({"b": 2, "c": 2})
    await subject.scheduler.schedule_job(JobBuilder.create(look).using_job_data({"a": 1, "b": 1}), trigger)
    await subject.scheduler.start()
    await subject.clock.settle()
    assert seen == [{"a": 1, "b": 2, "c": 2}]
    await subject.scheduler.shutdown()


async def test_changed_data_is_kept_when_the_job_asks_for_it(subject: Subject) -> None:
    """A job that persists its data finds what the last run left, also when that failed; others find the old."""

    async def count(context: JobContext) -> None:
        context.job_data["runs"] = context.job_data.get_int("runs", default=0) + 1
        raise RuntimeError("even so")

    for persist, runs in ((True, 3), (False, None)):
        subject = Subject()
        await subject.fire(
            JobBuilder.create(count).persist_job_data_after_execution(persist), every(seconds=1), until=2
        )
        stored = await subject.scheduler.get_job_detail(JobKey("j"))
        assert stored is not None
        assert stored.job_data.get("runs") == runs
        await subject.scheduler.shutdown()


async def test_data_that_can_not_be_stored_does_not_hold_the_firing(subject: Subject) -> None:
    """A job that leaves a socket in its data is told so; its data stays, and it fires again."""

    async def spoil(context: JobContext) -> None:
        context.job_data["lock"] = threading.Lock()

    await subject.fire(JobBuilder.create(spoil).persist_job_data_after_execution(), every(seconds=1), until=2)
    assert subject.scheduler.get_metadata().jobs_executed == 3
    assert len(subject.told.errors) == 3
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()


async def test_context_variables_of_the_factory_reach_the_job(subject: Subject) -> None:
    """What the factory sets is seen by an async job, by a thread, and by a task of its own."""
    seen: list[str] = []

    async def on_loop(context: JobContext) -> None:
        seen.append(tenant.get())

    def in_thread(context: JobContext) -> None:
        seen.append(tenant.get())

    @job(hard_cancel=True)
    async def apart(context: JobContext) -> None:
        seen.append(tenant.get())

    for run in (on_loop, in_thread, apart):
        await subject.scheduler.schedule_job(run, once())
    await subject.scheduler.start()
    await subject.clock.settle()
    assert seen == ["blue"] * 3
    assert tenant.get() == "none"
    await subject.scheduler.shutdown()


# --------------------------------------------------------------------------------------------------------------- kinds
async def test_plain_functions_run_in_threads(subject: Subject) -> None:
    """A plain function does not run on the event loop, which goes on meanwhile; its result is kept."""
    threads: list[bool] = []
    results: list[Any] = []

    def work(context: JobContext) -> int:
        time.sleep(0.02)
        threads.append(threading.current_thread() is threading.main_thread())
        return 42

    class Results(JobListener):
        async def job_was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:
            results.append(context.result)

    subject.scheduler.listener_manager.add_job_listener(Results())
    await subject.fire(work)
    assert (threads, results) == ([False], [42])
    await subject.scheduler.shutdown()


async def test_an_awaitable_from_a_plain_function_is_awaited(subject: Subject) -> None:
    """A plain callable that returns a coroutine is run to its end, on the event loop."""
    ran: list[bool] = []

    async def work() -> None:
        ran.append(threading.current_thread() is threading.main_thread())

    await subject.fire(lambda context: work())
    assert ran == [True]
    await subject.scheduler.shutdown()


async def test_a_class_is_closed_after_its_listeners_and_before_its_worker_is_free(subject: Subject) -> None:
    """The job object is closed once, after ``job_was_executed``."""
    subject.listen()
    log = subject.log

    class Closing:
        async def execute(self, context: JobContext) -> None:
            log.append(Recorded("execute"))

        async def aclose(self) -> None:
            log.append(Recorded("return_job"))
            assert subject.scheduler._workers._free == 1  # type: ignore[attr-defined]

    await subject.fire(Closing)
    assert subject.story[-4:] == ["trigger_finalized", "triggered_jobs_complete", "return_job", "return_job"]
    assert subject.scheduler._workers._free == 2  # type: ignore[attr-defined]
    await subject.scheduler.shutdown()


# -------------------------------------------------------------------------------------------------------------- errors
async def test_an_error_of_a_job_is_told_and_the_schedule_goes_on(subject: Subject) -> None:
    """A job that raises is told to scheduler listeners, wrapped for job listeners, and fires again."""
    of_jobs, _ = subject.listen()

    async def fail(context: JobContext) -> None:
        raise ValueError("no such file")

    await subject.fire(fail, every(seconds=1), until=1)
    assert subject.told.errors == ["Job DEFAULT.j threw an exception."] * 2
    told = subject.told.of("scheduler_error")[0].args[1]
    assert isinstance(told, JobExecutionProcessError)
    assert isinstance(told.__cause__, ValueError)
    wrapped = of_jobs.of("job_was_executed")[0].args[1]
    assert isinstance(wrapped, JobExecutionError)
    assert "no such file" in str(wrapped)
    assert isinstance(wrapped.__cause__, ValueError)
    assert subject.instructions == [NO, NO]
    assert isinstance(subject.factory.returned[0], ValueError)
    await subject.scheduler.shutdown()


async def test_a_failure_that_a_job_reports_itself_is_not_told(subject: Subject) -> None:
    """``JobExecutionError`` is the job's own word: scheduler listeners do not hear of it, job listeners do."""
    of_jobs, _ = subject.listen()

    async def report(context: JobContext) -> None:
        raise JobExecutionError("not today")

    await subject.fire(report)
    assert subject.told.errors == []
    assert str(of_jobs.of("job_was_executed")[0].args[1]) == "not today"
    await subject.scheduler.shutdown()


@pytest.mark.parametrize(
    ("flags", "instruction"),
    [
        ({}, NO),
        ({"unschedule_firing_trigger": True}, SchedulerInstruction.SET_TRIGGER_COMPLETE),
        ({"unschedule_all_triggers": True}, SchedulerInstruction.SET_ALL_JOB_TRIGGERS_COMPLETE),
        (
            {"unschedule_all_triggers": True, "unschedule_firing_trigger": True},
            SchedulerInstruction.SET_TRIGGER_COMPLETE,
        ),
    ],
)
async def test_a_job_may_unschedule_itself(
    subject: Subject, flags: dict[str, Any], instruction: SchedulerInstruction
) -> None:
    """The first flag that is set decides what the store is told."""

    async def give_up(context: JobContext) -> None:
        raise JobExecutionError(**flags)

    await subject.fire(give_up, every(seconds=1))
    assert subject.instructions == [instruction]
    await subject.scheduler.shutdown()


@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError("not interrupted"), StopIteration()])
@pytest.mark.parametrize("kind", ["on the loop", "in a thread", "in a task of its own"])
async def test_no_error_of_a_job_ends_the_scheduler(subject: Subject, error: BaseException, kind: str) -> None:
    """Not even an exit or a stray cancellation does: each counts as a failure of the job."""

    def fail(context: JobContext) -> None:
        raise error

    async def fail_on_loop(context: JobContext) -> None:
        raise error

    async def fail_apart(context: JobContext) -> None:
        raise error

    kinds = {
        "on the loop": fail_on_loop,
        "in a thread": fail,
        "in a task of its own": job(hard_cancel=True)(fail_apart),
    }
    await subject.fire(kinds[kind], every(seconds=1), until=1)
    assert subject.told.errors == ["Job DEFAULT.j threw an exception."] * 2
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()


async def test_a_one_shot_whose_job_fails_leaves_nothing(subject: Subject) -> None:
    """Afterwards there is no trigger, no firing, and no job; a durable job stays."""

    async def fail(context: JobContext) -> None:
        raise ValueError

    await subject.fire(fail)
    assert await subject.is_at_rest()
    assert not await subject.scheduler.check_exists(JobKey("j"))
    await subject.scheduler.schedule_job(JobBuilder.create(fail).with_identity("stays").store_durably(), once())
    await subject.clock.settle()
    assert await subject.scheduler.check_exists(JobKey("stays"))
    assert not await subject.scheduler.check_exists(TriggerKey("stays"))
    await subject.scheduler.shutdown()


# -------------------------------------------------------------------------------------------------------------- refire
async def test_a_refire_repeats_the_beginning_only(subject: Subject) -> None:
    """Job, context and factory are used again; beginning listeners hear each attempt, ending ones the last."""
    of_jobs, _ = subject.listen()
    contexts: list[JobContext] = []

    async def third_time(context: JobContext) -> None:
        contexts.append(context)
        subject.log.append(Recorded("execute"))
        if context.refire_count < 2:
            raise JobExecutionError("again", refire_immediately=True)

    await subject.fire(third_time)
    attempt = ["trigger_fired", "veto_job_execution", "job_to_be_executed", "execute"]
    assert subject.story == [
        "triggers_fired",
        "create_job",
        *attempt * 3,
        "job_was_executed",
        "trigger_complete",
        "trigger_finalized",
        "triggered_jobs_complete",
        "return_job",
    ]
    assert len(set(map(id, contexts))) == 1
    assert subject.scheduler.get_metadata().jobs_executed == 3
    assert of_jobs.of("job_was_executed")[0].args[1] is None
    await subject.scheduler.shutdown()


async def test_a_refire_can_be_vetoed(subject: Subject) -> None:
    """A veto of a later attempt ends the firing, and nothing counts as executing any more."""
    asked: list[int] = []

    def second_time(_: Trigger, context: JobContext) -> bool:
        asked.append(context.refire_count)
        return len(asked) == 2

    vetoing = RecordingTriggerListener(veto=second_time)
    subject.scheduler.listener_manager.add_trigger_listener(vetoing)

    async def again(context: JobContext) -> None:
        raise JobExecutionError(refire_immediately=True)

    await subject.fire(again)
    assert asked == [0, 1]
    assert subject.instructions == [DELETE]
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()


async def test_endless_refires_let_others_run(subject: Subject) -> None:
    """A job that refires without end does not keep the event loop, and ends when it is interrupted."""
    others: list[float] = []

    async def for_ever(context: JobContext) -> None:
        if len(others) > 3:
            await context.scheduler.interrupt(context.job.key)
        raise JobExecutionError(refire_immediately=True)

    async def other(context: JobContext) -> None:
        others.append(subject.clock.monotonic())

    await subject.scheduler.schedule_job(for_ever, once())
    for number in range(5):
        await subject.scheduler.schedule_job(
            JobBuilder.create(other).with_identity(f"o{number}"), TriggerBuilder.create().with_priority(1)
        )
    await subject.scheduler.start()
    await subject.clock.settle()
    assert len(others) == 5
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()


# ------------------------------------------------------------------------------------------------------- interruption
async def test_interruption_sets_the_token(subject: Subject) -> None:
    """A job that is told to stop sees it; ending by cancellation then counts as a normal end, with its event."""
    of_jobs, _ = subject.listen()

    async def wait(context: JobContext) -> None:
        reason = await context.cancellation_token.wait()
        assert reason == "interrupted"
        context.cancellation_token.raise_if_set()

    await subject.scheduler.schedule_job(JobBuilder.create(wait).with_identity("j"), every(hours=1))
    await subject.scheduler.start()
    await until(subject.scheduler.get_currently_executing_jobs)
    assert await subject.scheduler.interrupt(JobKey("j"))
    await subject.clock.settle()
    assert subject.told.names[-1] != "scheduler_error"
    assert subject.told.errors == []
    assert [call.args[0] for call in subject.told.of("job_interrupted")] == [JobKey("j")]
    assert of_jobs.of("job_was_executed")[0].args[1] is None
    assert [type(error) for error in subject.factory.returned] == [asyncio.CancelledError]
    assert subject.instructions == [NO]
    assert not await subject.scheduler.interrupt(JobKey("j"))
    assert len(subject.told.of("job_interrupted")) == 1
    await subject.scheduler.shutdown()


async def test_one_firing_can_be_interrupted(subject: Subject) -> None:
    """Only the run of that firing is told; no listener hears of it."""
    ended: list[str] = []

    async def wait(context: JobContext) -> None:
        await context.cancellation_token.wait()
        ended.append(context.trigger.key.name)

    await subject.scheduler.add_job(JobBuilder.create(wait).with_identity("j").store_durably())
    for name in "ab":
        await subject.scheduler.schedule_job(SimpleTrigger(key=TriggerKey(name), job_key=JobKey("j")))
    await subject.scheduler.start()
    await until(lambda: len(subject.scheduler.get_currently_executing_jobs()) == 2)
    running = subject.scheduler.get_currently_executing_jobs()
    assert await subject.scheduler.interrupt_fire_instance(running[1].fire_instance_id)
    assert not await subject.scheduler.interrupt_fire_instance("nobody")
    await until(lambda: ended)
    assert ended == [running[1].trigger.key.name]
    assert subject.told.of("job_interrupted") == []
    await subject.scheduler.interrupt(JobKey("j"))
    await subject.scheduler.shutdown(wait=True)


async def test_a_hard_cancel_is_for_jobs_that_ask_for_it(subject: Subject) -> None:
    """A job that asks for it is cancelled where it waits; its clean-up runs, and it counts as a normal end."""
    cleaned: list[str] = []

    @job(hard_cancel=True)
    async def stubborn(context: JobContext) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("stubborn")

    await subject.scheduler.schedule_job(JobBuilder.create(stubborn).with_identity("j"), every(hours=1))
    await subject.scheduler.start()
    await until(subject.scheduler.get_currently_executing_jobs)
    await asyncio.sleep(0)
    await subject.scheduler.interrupt(JobKey("j"))
    await subject.clock.settle()
    assert cleaned == ["stubborn"]
    assert subject.told.errors == []
    assert subject.instructions == [NO]
    await subject.scheduler.shutdown()


async def test_a_hard_cancel_that_comes_at_the_end_does_not_hurt_the_completion(subject: Subject) -> None:
    """A job that interrupts itself in its last step is completed like any other."""

    @job(hard_cancel=True)
    async def suicidal(context: JobContext) -> None:
        await context.scheduler.interrupt(context.job.key)

    await subject.fire(suicidal, every(hours=1))
    assert subject.instructions == [NO]
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()


async def test_a_thread_sees_the_token(subject: Subject) -> None:
    """A plain function in a thread looks at its token, which may be set from the event loop."""
    started, stopped = threading.Event(), []

    def work(context: JobContext) -> None:
        started.set()
        while not context.cancellation_token.is_set:
            time.sleep(0.001)
        stopped.append(context.cancellation_token.reason)

    await subject.scheduler.schedule_job(JobBuilder.create(work).with_identity("j"), once())
    await subject.scheduler.start()
    await asyncio.to_thread(started.wait, 5)
    await subject.scheduler.interrupt(JobKey("j"))
    await subject.clock.settle()
    assert stopped == ["interrupted"]
    await subject.scheduler.shutdown()


async def test_a_run_whose_task_is_cancelled_waits_for_its_thread(subject: Subject) -> None:
    """A firing does not count as ended while its thread runs: cancelling its task sets the token, no more."""
    started = threading.Event()

    def work(context: JobContext) -> None:
        started.set()
        while not context.cancellation_token.is_set:
            time.sleep(0.001)

    await subject.scheduler.schedule_job(JobBuilder.create(work).with_identity("j"), every(hours=1))
    await subject.scheduler.start()
    await asyncio.to_thread(started.wait, 5)
    next(task for task in asyncio.all_tasks() if task.get_name() == "quartzite-run").cancel()
    await subject.clock.settle()
    assert subject.instructions == [NO]
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()


# ------------------------------------------------------------------------------------------------------------- factory
@pytest.mark.parametrize("error", [RuntimeError("no database"), SystemExit(1)])
async def test_a_job_that_can_not_be_built_is_put_into_error(subject: Subject, error: BaseException) -> None:
    """All triggers of the job go into ERROR; it is told, no listener of jobs is called, nothing is left."""
    subject.listen()
    subject.factory.create_error = error
    await subject.fire(executing(subject), every(hours=1))
    assert subject.story == ["triggers_fired", "create_job", "scheduler_error", "triggered_jobs_complete"]
    told = subject.told.of("scheduler_error")[0].args[1]
    assert isinstance(told, JobInstantiationError)
    assert told.__cause__ is error
    assert (told.job.key, told.trigger_key) == (JobKey("j"), TriggerKey("t"))
    assert subject.instructions == [ALL_FAILED]
    assert await subject.scheduler.get_trigger_state(TriggerKey("t")) is TriggerState.ERROR
    assert subject.told.of("triggers_in_error")[0].args == (JobKey("j"),)
    assert await subject.is_at_rest()
    subject.factory.create_error = None
    await subject.scheduler.reset_trigger_from_error_state(TriggerKey("t"))
    await subject.clock.advance(hours=1)
    assert "execute" in subject.story
    await subject.scheduler.shutdown()


async def test_a_factory_that_returns_nothing_has_failed() -> None:
    """No scope is no job, and the error names the factory."""

    class Empty(JobFactory):
        async def create_job(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:
            return None  # type: ignore[return-value]

    clock = FakeClock(START)
    scheduler = make_scheduler(clock, job_factory=Empty())
    told = listen(scheduler)
    await scheduler.schedule_job(lambda: None, once())
    await scheduler.start()
    await clock.settle()
    assert "Empty returned no job" in told.errors[0]
    await scheduler.shutdown()


async def test_a_job_that_can_not_be_built_during_the_shutdown_is_not_blamed(subject: Subject) -> None:
    """What the job needs may be closed already then: its triggers stay as they are."""
    gate = asyncio.Event()

    async def too_late(bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:
        await gate.wait()
        raise RuntimeError("the pool is closed")

    subject.factory.create_job = too_late  # type: ignore[method-assign]
    await subject.scheduler.schedule_job(executing(subject), every(hours=1))
    await subject.scheduler.start()
    for _ in range(5):
        await asyncio.sleep(0)
    closing = asyncio.create_task(subject.scheduler.shutdown(wait=True))
    await until(lambda: subject.scheduler.is_shutting_down)
    gate.set()
    await closing
    assert subject.instructions == [NO]


async def test_a_job_that_can_not_be_closed_is_told(subject: Subject) -> None:
    """The firing has ended well; the error of the factory is told and does not disturb the next one."""
    subject.factory.return_error = OSError("already closed")
    await subject.fire(executing(subject), every(seconds=1), until=1)
    assert subject.told.errors == ["Job DEFAULT.j could not be closed after its run."] * 2
    assert subject.instructions == [NO, NO]
    await subject.scheduler.shutdown()


# ----------------------------------------------------------------------------------------------------------- listeners
class Failing(JobListener, TriggerListener):
    """Raises in one of its methods; as a plain function, or after its first await."""

    methods: ClassVar[list[str]] = [
        "trigger_fired",
        "veto_job_execution",
        "job_to_be_executed",
        "job_execution_vetoed",
        "job_was_executed",
        "trigger_complete",
    ]

    def __init__(self, method: str, *, plain: bool) -> None:
        async def fail(*_: Any) -> None:
            await asyncio.sleep(0)
            raise RuntimeError("listener is broken")

        def fail_plainly(*_: Any) -> None:
            raise RuntimeError("listener is broken")

        setattr(self, method, fail_plainly if plain else fail)


RUNS = {"job_execution_vetoed", "job_was_executed", "trigger_complete"}


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("method", Failing.methods)
async def test_a_listener_that_fails_does_not_hold_the_firing(subject: Subject, method: str, plain: bool) -> None:
    """Whatever method fails: it is told by name, the firing is completed once, the next one comes on time."""
    failing, second = Failing(method, plain=plain), RecordingTriggerListener("second", log=subject.log)
    manager = subject.scheduler.listener_manager
    manager.add_job_listener(failing)
    manager.add_trigger_listener(failing)
    manager.add_job_listener(RecordingJobListener("second", log=subject.log))
    manager.add_trigger_listener(second)
    if method == "job_execution_vetoed":
        manager.add_trigger_listener(RecordingTriggerListener("vetoing", veto=lambda *_: True))
    await subject.fire(executing(subject), every(seconds=1), until=1)
    assert len(subject.told.errors) == 2
    assert all("'Failing'" in error and method in error and "DEFAULT.j" in error for error in subject.told.errors)
    assert subject.instructions == [NO, NO]
    assert await subject.is_at_rest()
    assert subject.story.count("return_job") == 2
    ran = method in {"job_was_executed", "trigger_complete"}
    assert ("execute" in subject.story) is ran
    # The listeners that come after the failing one are left out, and so are trigger listeners after a job listener.
    assert method not in subject.story
    assert ("trigger_complete" in subject.story) is False
    await subject.scheduler.shutdown()


async def test_a_failing_completion_listener_does_not_hide_the_end(subject: Subject) -> None:
    """When a trigger listener fails at the end, scheduler listeners hear all the same that the trigger is finished."""
    subject.scheduler.listener_manager.add_trigger_listener(Failing("trigger_complete", plain=False))
    await subject.fire(executing(subject))
    assert "trigger_finalized" in subject.story
    await subject.scheduler.shutdown()


async def test_a_failing_scheduler_listener_is_logged(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """A scheduler listener that raises is logged, and the others hear the event."""

    class Broken(SchedulerListener):
        async def job_added(self, job: object) -> None:
            raise RuntimeError("listener is broken")

    manager = subject.scheduler.listener_manager
    second = RecordingSchedulerListener("second")
    manager.add_scheduler_listener(Broken())
    manager.add_scheduler_listener(second)
    await subject.scheduler.schedule_job(executing(subject), once())
    assert second.names == ["job_added", "job_scheduled"]
    assert "listener is broken" in caplog.text


async def test_a_failing_misfire_listener_does_not_hold_the_misfire(subject: Subject) -> None:
    """Its failure is told, the next listener hears of the misfire, and the trigger goes on."""

    class Broken(TriggerListener):
        async def trigger_misfired(self, trigger: Trigger) -> None:
            raise RuntimeError("listener is broken")

    of_triggers = RecordingTriggerListener(log=subject.log)
    subject.scheduler.listener_manager.add_trigger_listener(Broken())
    subject.scheduler.listener_manager.add_trigger_listener(of_triggers)
    await subject.scheduler.schedule_job(executing(subject), every(minutes=1))
    await subject.clock.advance(seconds=90)
    await subject.scheduler.start()
    await subject.clock.advance(minutes=1)
    assert "trigger_misfired" in subject.story
    assert any("trigger_misfired" in error for error in subject.told.errors)
    assert "execute" in subject.story
    await subject.scheduler.shutdown()


async def test_a_trigger_that_can_not_say_what_follows_keeps_its_schedule(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kind of trigger whose ``execution_complete`` raises is told, and the store gets no instruction."""

    def broken(self: Trigger, error: object) -> SchedulerInstruction:
        raise ZeroDivisionError

    monkeypatch.setattr(SimpleTrigger, "execution_complete", broken)
    await subject.fire(executing(subject), every(seconds=1), until=1)
    assert subject.instructions == [NO, NO]
    assert len(subject.told.errors) == 2
    await subject.scheduler.shutdown()


async def test_a_run_that_is_cancelled_in_a_listener_is_completed(subject: Subject) -> None:
    """A task that is cancelled outside its job, while a listener waits, is completed all the same."""
    waiting = asyncio.Event()

    class Waiting(JobListener):
        async def job_to_be_executed(self, context: JobContext) -> None:
            waiting.set()
            await asyncio.Event().wait()

    subject.scheduler.listener_manager.add_job_listener(Waiting())
    await subject.scheduler.schedule_job(executing(subject), every(hours=1))
    await subject.scheduler.start()
    await waiting.wait()
    next(task for task in asyncio.all_tasks() if task.get_name() == "quartzite-run").cancel()
    await subject.clock.settle()
    assert subject.instructions == [NO]
    assert await subject.is_at_rest()
    assert [type(error) for error in subject.factory.returned] == [asyncio.CancelledError]
    await subject.scheduler.shutdown()


async def test_a_run_that_is_cancelled_while_its_job_is_built_is_completed(subject: Subject) -> None:
    """A task that is cancelled in the factory is completed without an instruction."""
    waiting = asyncio.Event()

    async def slow(bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:
        waiting.set()
        await asyncio.Event().wait()
        raise AssertionError

    subject.factory.create_job = slow  # type: ignore[method-assign]
    await subject.scheduler.schedule_job(executing(subject), every(hours=1))
    await subject.scheduler.start()
    await waiting.wait()
    next(task for task in asyncio.all_tasks() if task.get_name() == "quartzite-run").cancel()
    await subject.clock.settle()
    assert subject.instructions == [NO]
    assert await subject.is_at_rest()
    await subject.scheduler.shutdown()
