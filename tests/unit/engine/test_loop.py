"""SchedulingLoop: what it asks the store, when it fires, and what it does when something fails."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from quartzite.abc import JobStore
from quartzite.engine.health import HealthState
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.workers import AsyncWorkerPool
from quartzite.errors import JobPersistenceError
from quartzite.execution import JobContext, TriggerFiredResult
from quartzite.model.acquisition import ExecutionLimits, TriggerAcquisitionRequest
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.testing import FakeClock, FaultyJobStore, RecordingJobStore, RecordingSchedulerListener
from quartzite.triggers.base import Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.simple import SimpleTrigger, every, once
from tests.schedulers import listen, make_scheduler, one_shots

START = datetime(2026, 1, 1, tzinfo=UTC)
AWAY = JobPersistenceError("the database is away")
FOREVER = timedelta(hours=1)


class Subject:
    """A scheduler on a clock of its own, with what its store was asked and its jobs have done."""

    def __init__(self, wrap: Callable[[JobStore], JobStore] = lambda store: store, **settings: Any) -> None:
        self.clock = FakeClock(START)
        self._wrap = wrap
        self.scheduler: Scheduler = make_scheduler(self.clock, wrap_store=self._wrapped, **settings)
        self.told: RecordingSchedulerListener = listen(self.scheduler)
        self.ran: list[tuple[str, float]] = []
        self.release = asyncio.Event()

    def _wrapped(self, inner: JobStore) -> JobStore:
        self.faults = FaultyJobStore(self._wrap(inner), clock=self.clock)
        self.store = RecordingJobStore(self.faults)
        return self.store

    async def run(self, context: JobContext) -> None:
        """Note the trigger and the seconds since the start."""
        self.ran.append((context.trigger.key.name, self.clock.monotonic()))

    async def hold(self, context: JobContext) -> None:
        """Note the run and wait until the test lets go; not on the clock, so that it has to be let go."""
        await self.run(context)
        await self.clock.wait(self.release, FOREVER.total_seconds())

    async def at(self, name: str, seconds: float, **fields: Any) -> None:
        """Schedule a run after some seconds."""
        start = self.clock.now() + timedelta(seconds=seconds)
        job = JobBuilder.create(self.run).with_identity(name)
        await self.scheduler.schedule_job(job, SimpleTrigger(key=TriggerKey(name), start_time=start, **fields))

    def requests(self) -> list[TriggerAcquisitionRequest]:
        """Return what the store was asked for."""
        return [call.args[0] for call in self.store.of("acquire_next_triggers")]


@pytest.fixture
def subject() -> Subject:
    """A scheduler that is not started yet."""
    return Subject()


async def close(subject: Subject) -> None:
    """Let all jobs end and shut down."""
    subject.faults.heal()
    subject.release.set()
    await subject.scheduler.shutdown(wait=True)


# ------------------------------------------------------------------------------------------------------- acquisition
async def test_the_request_says_what_the_settings_say() -> None:
    """The store is asked for what is due within the idle wait, in batches, with the window."""
    subject = Subject(
        idle_wait_time=timedelta(seconds=20), max_batch_size=7, batch_time_window=timedelta(milliseconds=5)
    )
    await subject.scheduler.start()
    await subject.clock.settle()
    (request,) = subject.requests()
    assert request == TriggerAcquisitionRequest(
        no_later_than=START + timedelta(seconds=20), max_count=7, time_window=timedelta(milliseconds=5)
    )
    await close(subject)


async def test_no_more_is_acquired_than_workers_are_free() -> None:
    """With two of three workers occupied, one trigger is asked for; with none free, nothing."""
    subject = Subject(max_concurrency=3)
    await one_shots(subject.scheduler, subject.hold, 5)
    await subject.scheduler.start()
    await subject.clock.settle()
    assert [request.max_count for request in subject.requests()] == [3]
    assert len(subject.ran) == 3
    await close(subject)


async def test_after_firing_it_acquires_at_once() -> None:
    """A burst is drained batch after batch without the clock moving."""
    subject = Subject(max_batch_size=10)
    await one_shots(subject.scheduler, subject.run, 100)
    await subject.scheduler.start()
    await subject.clock.settle()
    assert len(subject.ran) == 100
    assert subject.clock.now() == START
    await close(subject)


async def test_an_idle_loop_looks_again_before_the_idle_wait_ends(subject: Subject) -> None:
    """Two looks lie 80 to 100 % of the idle wait apart, at random."""
    await subject.scheduler.start()
    await subject.clock.advance(minutes=10)
    looks = [request.no_later_than for request in subject.requests()]
    gaps = [(after - before).total_seconds() for before, after in pairwise(looks)]
    assert len(gaps) >= 20
    assert all(24 <= gap <= 30 for gap in gaps)
    assert len(set(gaps)) > 1
    await close(subject)


async def test_a_change_during_the_acquisition_is_not_lost(subject: Subject) -> None:
    """What is signalled while the store is being asked makes the loop look again at once."""
    seen: list[int] = []

    class Signalling(DelegatingJobStore):
        async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
            found = await super().acquire_next_triggers(request)
            seen.append(len(found))
            if len(seen) == 1:
                await subject.at("late", 0)
            return found

    subject = Subject(Signalling)
    await subject.scheduler.start()
    await subject.clock.settle()
    assert seen[:2] == [0, 1]
    assert subject.ran == [("late", 0.0)]
    await close(subject)


async def test_execution_limits_are_what_is_left() -> None:
    """Running firings of a group are taken off its limit, and a group at its limit waits for a place."""
    subject = Subject(execution_limits={"reports": 1})
    await one_shots(subject.scheduler, subject.hold, 2, execution_group="reports")
    await subject.scheduler.start()
    await subject.clock.settle()
    assert len(subject.ran) == 1
    limits = subject.requests()[-1].execution_limits
    assert limits is not None
    assert limits.groups == {"reports": 0}
    subject.release.set()
    await subject.clock.advance(seconds=30)
    assert len(subject.ran) == 2
    await close(subject)


async def test_limits_that_are_set_later_are_right_at_once(subject: Subject) -> None:
    """Firings that began before there were limits count against them."""
    await one_shots(subject.scheduler, subject.hold, 1, execution_group="reports")
    await subject.scheduler.start()
    await subject.clock.settle()
    subject.scheduler.set_execution_limits(ExecutionLimits({"reports": 1}))
    await one_shots(subject.scheduler, subject.run, 1, job="second", execution_group="reports", start_time=START)
    await subject.clock.settle()
    assert len(subject.ran) == 1
    assert subject.scheduler.get_execution_limits() == ExecutionLimits({"reports": 1})
    subject.scheduler.set_execution_limits(None)
    await subject.clock.settle()
    assert len(subject.ran) == 2
    await close(subject)


# ------------------------------------------------------------------------------------------------------------ waiting
async def test_nothing_fires_before_its_time(subject: Subject) -> None:
    """A trigger that was acquired ahead of its time fires at its time, to the microsecond."""
    await subject.at("a", 10.000001)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=10)
    assert subject.ran == []
    await subject.clock.advance(timedelta(microseconds=1))
    assert subject.ran == [("a", 10.000001)]
    await close(subject)


async def test_something_earlier_is_fired_first(subject: Subject) -> None:
    """A trigger that comes while the loop waits for a later one is not kept waiting: the later one is released."""
    await subject.at("late", 20)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=5)
    await subject.at("early", 1)
    await subject.clock.settle()
    assert "release_acquired_triggers" in subject.store.names
    await subject.clock.advance(seconds=20)
    assert subject.ran == [("early", 6.0), ("late", 20.0)]
    await close(subject)


async def test_something_later_changes_nothing(subject: Subject) -> None:
    """A trigger that is due after the awaited one does not make the loop give that up."""
    await subject.at("early", 10)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=5)
    await subject.at("late", 20)
    await subject.clock.advance(seconds=30)
    assert "release_acquired_triggers" not in subject.store.names
    assert [name for name, _ in subject.ran] == ["early", "late"]
    await close(subject)


async def test_what_is_due_within_milliseconds_is_kept(subject: Subject) -> None:
    """Closer than 7 ms to its time a trigger is not released for an earlier one."""
    await subject.at("a", 10)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=9.995)
    await subject.at("b", 0.001)
    await subject.clock.advance(seconds=1)
    assert "release_acquired_triggers" not in subject.store.names
    assert [name for name, _ in subject.ran] == ["a", "b"]
    await close(subject)


async def test_a_batch_comes_in_one_acquisition() -> None:
    """Ten triggers that are due at the same time are acquired together, without a window."""
    subject = Subject(max_batch_size=10)
    await one_shots(subject.scheduler, subject.run, 10, start_time=START + timedelta(seconds=5))
    await subject.scheduler.start()
    await subject.clock.advance(seconds=5)
    assert [len(call.args[0]) for call in subject.store.of("triggers_fired")] == [10]
    assert {moment for _, moment in subject.ran} == {5.0}
    await close(subject)


async def test_within_a_window_each_fires_at_its_own_time() -> None:
    """Triggers that a window brings in one acquisition fire one after the other, none too early."""
    subject = Subject(batch_time_window=timedelta(seconds=5))
    for name, seconds in (("a", 1), ("b", 2.5), ("c", 5.5)):
        await subject.at(name, seconds)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=10)
    assert subject.ran == [("a", 1.0), ("b", 2.5), ("c", 5.5)]
    assert "release_acquired_triggers" not in subject.store.names
    await close(subject)


async def test_within_a_window_one_that_is_due_again_goes_first() -> None:
    """A trigger that fires again before the rest of its batch does not wait for that rest."""
    subject = Subject(batch_time_window=timedelta(seconds=5))
    await subject.at("often", 1, repeat_count=3, repeat_interval=timedelta(seconds=1))
    await subject.at("later", 4.5)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=10)
    assert subject.ran == [("often", 1.0), ("often", 2.0), ("often", 3.0), ("often", 4.0), ("later", 4.5)]
    await close(subject)


async def test_priority_decides_among_equal_times() -> None:
    """With one worker, triggers of one time run by priority."""
    subject = Subject(max_concurrency=1)
    for name, priority in (("low", 1), ("high", 9), ("middle", 5)):
        await subject.at(name, 1, priority=priority)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=1)
    assert [name for name, _ in subject.ran] == ["high", "middle", "low"]
    await close(subject)


# ------------------------------------------------------------------------------------------------------------ failures
async def test_an_outage_is_told_once_and_ended_by_itself(subject: Subject) -> None:
    """While the store is away the loop tries again with pauses, tells once, and goes on when it is back."""
    await subject.at("a", 1)
    subject.faults.fail("acquire_next_triggers", AWAY)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=10)
    assert subject.told.errors == ["An error occurred while scanning for the next trigger to fire."]
    assert subject.faults.failures["acquire_next_triggers"] > 10
    health = subject.scheduler.health()
    assert health.state is HealthState.DEGRADED
    assert health.last_error == "JobPersistenceError: the database is away"
    subject.faults.heal()
    await subject.clock.advance(seconds=1)
    assert len(subject.ran) == 1
    assert subject.scheduler.health().state is HealthState.OK
    await close(subject)


async def test_the_store_says_how_long_to_wait() -> None:
    """From the second failure on the loop waits as the store says, with the number of failures, at most 10 minutes."""

    class Slow(DelegatingJobStore):
        def get_acquire_retry_delay(self, failure_count: int) -> timedelta:
            return timedelta(minutes=5 * failure_count)

    subject = Subject(Slow)
    subject.faults.fail("acquire_next_triggers", AWAY)
    await subject.scheduler.start()
    tries = []
    for _ in range(35):
        await subject.clock.settle()
        tries.append(subject.faults.failures["acquire_next_triggers"])
        await subject.clock.advance(minutes=1)
    # The second try follows at once; then come pauses of 10 minutes each, which is the most.
    assert [tries[0], tries[9], tries[10], tries[19], tries[20], tries[30]] == [2, 2, 3, 3, 4, 5]
    await close(subject)


async def test_an_error_of_any_kind_does_not_end_the_loop(subject: Subject) -> None:
    """Not only errors of the store are survived."""
    await subject.at("a", 1)
    subject.faults.fail("acquire_next_triggers", ZeroDivisionError("bug"), times=3)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=2)
    assert len(subject.ran) == 1
    assert len(subject.told.errors) == 1
    await close(subject)


async def test_a_second_outage_is_told_again(subject: Subject) -> None:
    """After a success the next failure is news."""
    await subject.scheduler.start()
    for _ in range(2):
        subject.faults.fail("acquire_next_triggers", AWAY, times=3)
        await subject.clock.advance(minutes=2)
    assert len(subject.told.errors) == 2
    await close(subject)


async def test_firing_that_fails_releases_and_tries_again(subject: Subject) -> None:
    """When the store can not fire, what was acquired is given back and fired later; it is told once."""
    await subject.at("a", 1)
    subject.faults.fail("triggers_fired", AWAY, times=4)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=2)
    assert [name for name, _ in subject.ran] == ["a"]
    assert subject.told.errors == ["An error occurred while firing triggers."]
    assert len(subject.store.of("release_acquired_triggers")) == 4
    await close(subject)


def answering(answer: Callable[[list[TriggerFiredResult]], list[TriggerFiredResult]]) -> type[DelegatingJobStore]:
    """Return a store that changes what firing answers, the first time."""

    class Answering(DelegatingJobStore):
        answered = False

        async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
            if self.answered:
                return await super().triggers_fired(triggers)
            self.answered = True
            return answer([TriggerFiredResult.NOT_FIRED for _ in triggers])

    return Answering


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda results: results, []),
        (lambda results: [TriggerFiredResult.failed(AWAY) for _ in results], []),
        (lambda results: results[:-1], ["RamJobStore.triggers_fired answered 2 of 3 triggers"]),
        (lambda results: [*results, *results], ["RamJobStore.triggers_fired answered 6 of 3 triggers"]),
    ],
    ids=["not fired", "failed", "too few", "too many"],
)
async def test_what_did_not_fire_is_released(
    answer: Callable[[list[TriggerFiredResult]], list[TriggerFiredResult]], told: list[str]
) -> None:
    """Not fired, failed, or left out of a ragged answer: each trigger is given back, and fires the next time."""
    subject = Subject(answering(answer))
    for name in "abc":
        await subject.at(name, 1)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=5)
    assert [name for name, _ in subject.ran] == ["a", "b", "c"]
    released = [trigger.key.name for call in subject.store.of("release_acquired_triggers") for trigger in call.args[0]]
    assert released == ["a", "b", "c"]
    assert [error[: len(expected)] for error, expected in zip(subject.told.errors, told, strict=True)] == told
    await close(subject)


async def test_one_that_can_not_fire_neither_stops_others_nor_burns_the_processor(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A trigger that fails each time it is fired is tried at a bounded rate, logged, and the others fire on time."""

    class Poisoned(DelegatingJobStore):
        async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
            results = await super().triggers_fired([one for one in triggers if one.key.name != "bad"])
            good = iter(results)
            return [TriggerFiredResult.failed(AWAY) if one.key.name == "bad" else next(good) for one in triggers]

        def get_acquire_retry_delay(self, failure_count: int) -> timedelta:
            return timedelta(seconds=15)

    subject = Subject(Poisoned)
    await subject.at("bad", 1)
    await subject.at("good", 1, repeat_count=-1, repeat_interval=timedelta(seconds=10))
    await subject.scheduler.start()
    await subject.clock.advance(seconds=60)
    lateness = [moment - (1 + 10 * number) for number, (_, moment) in enumerate(subject.ran)]
    assert len(lateness) == 6
    assert max(lateness) <= 1
    assert len(subject.store.of("triggers_fired")) < 100
    assert 1 <= caplog.text.count("Triggers could not be fired") <= 7
    await close(subject)


# ------------------------------------------------------------------------------------------------------------- workers
class RefusingPool(AsyncWorkerPool):
    """Says that workers are free and takes nothing."""

    error: Exception | None = None

    def try_run(self, work: Any) -> bool:
        """Refuse, or fail."""
        if self.error is not None:
            raise self.error
        return False


@pytest.mark.parametrize("error", [None, ZeroDivisionError("bug")])
async def test_a_firing_that_no_worker_takes_is_completed(error: Exception | None) -> None:
    """A pool that refuses, or fails, leaves its trigger in ERROR and the store in order."""
    clock = FakeClock(START)
    pool = RefusingPool(max_concurrency=2, clock=clock)
    pool.error = error
    stores: list[RecordingJobStore] = []
    scheduler = make_scheduler(clock, worker_pool=pool, wrap_store=lambda inner: remembered(stores, inner))

    async def run(context: JobContext) -> None:
        raise AssertionError("it must not run")

    await scheduler.schedule_job(JobBuilder.create(run).with_identity("j"), once())
    await scheduler.start()
    await clock.settle()
    ((completion,),) = [call.args[0] for call in stores[0].of("triggered_jobs_complete")]
    assert completion.instruction is SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR
    assert await scheduler.get_trigger_state(TriggerKey("j")) is TriggerState.ERROR
    assert (await scheduler.query_fire_instances()).items == []
    await scheduler.shutdown()


def remembered(stores: list[RecordingJobStore], inner: JobStore) -> JobStore:
    """Put a recorder in front of a store, and remember it."""
    stores.append(RecordingJobStore(inner))
    return stores[-1]


async def test_a_pool_that_fails_does_not_end_the_loop(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the workers is told, and the loop goes on when they work again."""
    await subject.at("a", 1)
    working = subject.scheduler._workers.wait_for_available

    async def fail() -> int:
        raise ZeroDivisionError("bug")

    monkeypatch.setattr(subject.scheduler._workers, "wait_for_available", fail)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=2)
    assert subject.told.errors == ["A turn of the scheduling loop failed."]
    monkeypatch.setattr(subject.scheduler._workers, "wait_for_available", working)
    await subject.clock.advance(seconds=2)
    assert len(subject.ran) == 1
    await close(subject)


async def test_a_pool_that_was_shut_down_by_others_is_an_error(subject: Subject) -> None:
    """A scheduler whose workers were taken away says so, and does not spin."""
    await subject.scheduler.start()
    await subject.clock.settle()
    await subject.scheduler._workers.shutdown()
    await subject.clock.advance(minutes=1)
    health = subject.scheduler.health()
    assert health.state is HealthState.DEGRADED
    assert "worker pool was shut down" in (health.last_error or "")
    await close(subject)


async def test_a_completion_frees_a_worker_only_when_it_is_committed() -> None:
    """While the store has not taken the end of a firing, its worker stays occupied."""
    subject = Subject(max_concurrency=1)
    subject.faults.delay("triggered_jobs_complete", timedelta(seconds=10), times=1)
    await one_shots(subject.scheduler, subject.run, 2)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=9)
    assert len(subject.ran) == 1
    await subject.clock.advance(seconds=1)
    assert len(subject.ran) == 2
    await close(subject)


# ---------------------------------------------------------------------------------------------------- from the outside
async def test_standby_gives_back_what_was_acquired(subject: Subject) -> None:
    """Standby fires nothing more, releases at once what waits for its time, and start fires it."""
    await subject.at("a", 10)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=5)
    await subject.scheduler.standby()
    assert subject.store.names[-1] == "release_acquired_triggers"
    await subject.clock.advance(seconds=10)
    assert subject.ran == []
    await subject.scheduler.start()
    await subject.clock.settle()
    assert subject.ran == [("a", 15.0)]
    await close(subject)


async def test_a_loop_that_is_cancelled_from_outside_is_reported_and_can_be_started(
    subject: Subject, caplog: pytest.LogCaptureFixture
) -> None:
    """A dead loop does not look alive: health says failed, the log says so, and start runs it again."""
    await subject.at("a", 10)
    await subject.scheduler.start()
    await subject.clock.settle()
    next(task for task in asyncio.all_tasks() if task.get_name() == "quartzite-loop").cancel()
    await subject.clock.settle()
    health = subject.scheduler.health()
    assert health.state is HealthState.FAILED
    assert "cancelled from outside" in health.reasons[0]
    assert "cancelled from outside" in caplog.text
    assert await subject.scheduler.get_trigger_state(TriggerKey("a")) is TriggerState.NORMAL
    await subject.scheduler.start()
    await subject.clock.advance(seconds=10)
    assert subject.scheduler.health().state is HealthState.OK
    assert subject.ran == [("a", 10.0)]
    await close(subject)


async def test_pausing_what_waits_for_its_time_keeps_it_from_firing(subject: Subject) -> None:
    """A trigger that is paused while the loop waits for it does not fire; resumed, it is."""
    await subject.at("a", 10)
    await subject.scheduler.start()
    await subject.clock.advance(seconds=5)
    await subject.scheduler.pause_trigger(TriggerKey("a"))
    await subject.clock.advance(seconds=10)
    assert subject.ran == []
    await subject.scheduler.resume_trigger(TriggerKey("a"))
    await subject.clock.settle()
    assert [name for name, _ in subject.ran] == ["a"]
    await close(subject)


async def test_a_signal_from_a_thread_wakes_the_loop(subject: Subject) -> None:
    """A store may signal from a thread of its own."""
    await subject.scheduler.start()
    await subject.clock.settle()
    looks = len(subject.requests())
    await asyncio.to_thread(subject.scheduler.signal_scheduling_change, None)
    await subject.clock.settle()
    assert len(subject.requests()) == looks + 1
    await close(subject)


async def test_a_job_that_is_rescheduled_by_itself_fires_again(subject: Subject) -> None:
    """A job that gives its own trigger a new schedule is fired by that, not deleted with the old one."""

    async def again(context: JobContext) -> None:
        subject.ran.append((context.trigger.key.name, subject.clock.monotonic()))
        if len(subject.ran) == 1:
            await context.scheduler.reschedule_job(context.trigger.key, every(seconds=3, times=2))

    await subject.scheduler.schedule_job(
        JobBuilder.create(again).with_identity("j"), TriggerBuilder.create().with_identity("t")
    )
    await subject.scheduler.start()
    await subject.clock.advance(seconds=10)
    assert subject.ran == [("t", 0.0), ("t", 0.0), ("t", 3.0)]
    assert not await subject.scheduler.check_exists(JobKey("j"))
    await close(subject)
