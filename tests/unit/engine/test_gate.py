"""The gate that decides for each firing whether it runs on this node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from quartzite.abc import FiringGate, FiringPass
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.scheduler import Scheduler
from quartzite.execution import JobContext, SkippedFiring, TriggerFiredBundle
from quartzite.model.builders import JobBuilder
from quartzite.model.job import job
from quartzite.model.keys import TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.testing import FakeClock
from quartzite.triggers.simple import once
from tests.schedulers import listen, make_scheduler


class Pass(FiringPass):
    """Notes when it is left, and is lost when the test says so."""

    def __init__(self, log: list[str]) -> None:
        self._log = log
        self.lose: Callable[[str], None] | None = None

    def when_lost(self, tell: Callable[[str], None]) -> None:
        """Remember whom to tell."""
        self.lose = tell

    async def leave(self) -> None:
        """Note it."""
        self._log.append("left")


class Gate(FiringGate):
    """Answers what the test wants.

    Attributes:
        log: What happened, in order.
        answer: A pass, a refusal, or an error to raise.
    """

    def __init__(self) -> None:
        self.log: list[str] = []
        self.granted = Pass(self.log)
        self.answer: FiringPass | SkippedFiring | BaseException = self.granted

    async def enter(self, bundle: TriggerFiredBundle) -> FiringPass | SkippedFiring:
        """Answer."""
        self.log.append("asked")
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        """Note it."""
        self.log.append("closed")


@asynccontextmanager
async def scheduler_with(gate: Gate, clock: FakeClock) -> AsyncIterator[Scheduler]:
    """Run a scheduler with a gate."""
    scheduler = make_scheduler(clock, listeners=ListenerManager(), firing_gate=gate)
    await scheduler.start()
    try:
        yield scheduler
    finally:
        await scheduler.shutdown(wait=True)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


async def fired_once(gate: Gate, clock: FakeClock, work: Any) -> tuple[list[str], Any]:
    """Fire a job once; return the log, and what scheduler listeners heard."""
    async with scheduler_with(gate, clock) as scheduler:
        heard = listen(scheduler)
        await scheduler.schedule_job(JobBuilder.create(work).with_identity("job"), once())
        await clock.advance(seconds=1)
        assert await scheduler.get_job_keys(GroupMatcher.any_group()) == []
        assert scheduler.get_currently_executing_jobs() == []
    return gate.log, heard


async def test_a_pass_is_asked_for_before_the_job_and_left_after_it(clock: FakeClock) -> None:
    """The gate is asked once, then the job runs, then the pass is left; the gate is closed with the scheduler."""
    gate = Gate()

    async def work() -> None:
        gate.log.append("ran")

    log, heard = await fired_once(gate, clock, work)
    assert log == ["asked", "ran", "left", "closed"]
    assert heard.errors == []


async def test_a_pass_is_left_when_the_job_can_not_be_built(clock: FakeClock) -> None:
    """A job that can not be built leaves its pass, so that another node is not kept out."""
    gate = Gate()

    class Unbuildable:
        def __init__(self) -> None:
            raise ValueError("no")

        async def execute(self, context: JobContext) -> None: ...

    async with scheduler_with(gate, clock) as scheduler:
        heard = listen(scheduler)
        await scheduler.schedule_job(JobBuilder.create(Unbuildable).with_identity("job"), once())
        await clock.advance(seconds=1)
    assert gate.log == ["asked", "left", "closed"]
    assert len(heard.errors) == 1


async def test_a_refusal_completes_the_firing_without_a_run(clock: FakeClock) -> None:
    """A firing that another node has is told, counted and completed; its job is not built."""
    gate = Gate()

    async def work() -> None:
        gate.log.append("ran")

    async with scheduler_with(gate, clock) as scheduler:
        heard = listen(scheduler)
        detail = JobBuilder.create(work).with_identity("job").build()
        gate.answer = SkippedFiring(
            job_key=detail.key, trigger_key=TriggerKey("job"), scheduled_fire_time=clock.now(), holder="other"
        )
        await scheduler.schedule_job(detail, once())
        await clock.advance(seconds=1)
        metadata = scheduler.get_metadata()
        assert await scheduler.get_job_keys(GroupMatcher.any_group()) == []
    assert gate.log == ["asked", "closed"]
    assert [call.args for call in heard.of("firing_skipped")] == [(gate.answer,)]
    assert len(heard.of("trigger_finalized")) == 1
    assert (metadata.jobs_executed, metadata.firings_skipped) == (0, 1)


@pytest.mark.parametrize("error", [RuntimeError("away"), asyncio.CancelledError()], ids=["error", "cancelled"])
async def test_without_an_answer_the_job_does_not_run(clock: FakeClock, error: BaseException) -> None:
    """When the gate fails, or is cancelled, the firing is completed and does not run."""
    gate = Gate()
    gate.answer = error

    async def work() -> None:
        gate.log.append("ran")

    async with scheduler_with(gate, clock) as scheduler:
        heard = listen(scheduler)
        await scheduler.schedule_job(JobBuilder.create(work).with_identity("job").store_durably(), once())
        await clock.advance(seconds=1)
    assert gate.log == ["asked", "closed"]
    told = [str(call.args[1]) for call in heard.of("scheduler_error")]
    assert all("does not run" in text and "RuntimeError: away" in text for text in told)
    assert len(told) == (1 if isinstance(error, RuntimeError) else 0)


async def test_a_lost_pass_is_told_from_any_thread(clock: FakeClock) -> None:
    """The token is set in the thread that found out, before the event loop has a turn; a task is cancelled then."""
    gate = Gate()
    seen: list[tuple[bool, str | None]] = []

    @job(hard_cancel=True)
    async def work(context: JobContext) -> None:
        lose = gate.granted.lose
        assert lose is not None

        def find_out() -> None:
            lose("the lease is over")
            seen.append((context.cancellation_token.is_set, context.cancellation_token.reason))

        await asyncio.to_thread(find_out)
        await clock.sleep(timedelta(hours=1).total_seconds())
        seen.append((False, "it was not cancelled"))

    log, heard = await fired_once(gate, clock, work)
    assert seen == [(True, "the lease is over")]
    assert log == ["asked", "left", "closed"]
    assert heard.errors == []


async def test_leaving_may_fail(clock: FakeClock) -> None:
    """A pass that can not be left is told; the firing has ended all the same."""
    gate = Gate()

    class Stuck(Pass):
        async def leave(self) -> None:
            raise RuntimeError("away")

    gate.answer = Stuck(gate.log)

    async def work() -> None:
        gate.log.append("ran")

    log, heard = await fired_once(gate, clock, work)
    assert log == ["asked", "ran", "closed"]
    assert heard.errors == ["What let job DEFAULT.job run could not be given back."]
