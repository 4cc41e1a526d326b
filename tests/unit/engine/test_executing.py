"""ExecutingJobs: what runs, what is left of the limits, who is told to stop."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from quartzite.engine.executing import ExecutingJobs
from quartzite.execution import JobContext, TriggerFiredBundle
from quartzite.model.acquisition import ExecutionLimits
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.simple import SimpleTrigger

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCHEDULER: Any = None


def context(job: str = "a", fire_instance_id: str = "1") -> JobContext:
    """Return the context of a firing."""
    key = JobKey(job)
    return JobContext(
        TriggerFiredBundle(
            job=JobDetail(key=key, job_type=JobType("tests:run")),
            trigger=SimpleTrigger(key=TriggerKey(job), job_key=key, fire_instance_id=fire_instance_id),
            calendar=None,
            recovering=False,
            fire_time=NOW,
            scheduled_fire_time=NOW,
            previous_fire_time=None,
            next_fire_time=None,
        ),
        SCHEDULER,
    )


@pytest.fixture
def executing() -> ExecutingJobs:
    """An empty registry."""
    return ExecutingJobs()


def test_jobs_are_listed_while_they_execute(executing: ExecutingJobs) -> None:
    """The listing is a snapshot in the order of the starts."""
    first, second = context("a"), context("b")
    executing.begin(first)
    executing.begin(second)
    listed = executing.contexts()
    executing.end(first)
    assert listed == [first, second]
    assert executing.contexts() == [second]
    assert len(executing) == 1


def test_every_start_counts(executing: ExecutingJobs) -> None:
    """A refire is a start, and the job is listed once."""
    one = context()
    executing.begin(one)
    executing.begin(one)
    assert (executing.started, len(executing)) == (2, 1)


def test_ending_twice_does_nothing(executing: ExecutingJobs) -> None:
    """Ending what does not execute is no error."""
    one = context()
    executing.end(one)
    executing.begin(one)
    executing.end(one)
    executing.end(one)
    assert len(executing) == 0


def test_interrupting_a_job_reaches_each_of_its_runs(executing: ExecutingJobs) -> None:
    """All runs of the key are told, others are not; without a run the answer is False."""
    runs = [context("a", "1"), context("a", "2"), context("b", "3")]
    for run in runs:
        executing.begin(run)
    assert executing.interrupt_job(JobKey("a"))
    assert [run.cancellation_token.is_set for run in runs] == [True, True, False]
    assert not executing.interrupt_job(JobKey("c"))


def test_interrupting_a_firing_reaches_one_run(executing: ExecutingJobs) -> None:
    """Only the run of that fire instance is told."""
    runs = [context("a", "1"), context("a", "2")]
    for run in runs:
        executing.begin(run)
    assert executing.interrupt_fire_instance("2")
    assert [run.cancellation_token.is_set for run in runs] == [False, True]
    assert not executing.interrupt_fire_instance("9")


def test_interrupting_all_reaches_those_that_begin_later(executing: ExecutingJobs) -> None:
    """Once everything was told to stop, a run that begins afterwards is told at once, with the same reason."""
    before, after = context("a"), context("b")
    executing.begin(before)
    executing.interrupt_all("stopping")
    executing.begin(after)
    assert [one.cancellation_token.reason for one in (before, after)] == ["stopping", "stopping"]


async def test_a_hard_cancel_cancels_the_task(executing: ExecutingJobs) -> None:
    """An interruption cancels the task that was noted, also when it came before the task was."""
    for interrupt_first in (True, False):
        one = context()
        executing.begin(one)
        task = asyncio.create_task(asyncio.Event().wait())
        if interrupt_first:
            executing.interrupt_job(JobKey("a"))
        executing.cancel_hard(one, task)
        executing.interrupt_job(JobKey("a"))
        with pytest.raises(asyncio.CancelledError):
            await task
        executing.end(one)


def test_no_limits_leave_no_limits(executing: ExecutingJobs) -> None:
    """Without limits, or with empty ones, nothing is limited whatever runs."""
    executing.dispatched("g")
    assert executing.left_of(None) is None
    assert executing.left_of(ExecutionLimits()) is None


def test_running_firings_are_taken_off(executing: ExecutingJobs) -> None:
    """What is left of a group is its limit less what runs, never below 0; explicitly unlimited stays so."""
    for group in ("a", "a", "a", "b", None):
        executing.dispatched(group)
    left = executing.left_of(ExecutionLimits({"a": 2, "b": 3, None: 1, "c": 5, "free": None}))
    assert left is not None
    assert left.groups == {"a": 0, "b": 2, None: 0, "c": 5, "free": None}


def test_others_have_an_allowance_each(executing: ExecutingJobs) -> None:
    """A running group under ``*`` gets an entry of its own; the ungrouped never use ``*``."""
    executing.dispatched("x")
    executing.dispatched(None)
    left = executing.left_of(ExecutionLimits({"*": 2}))
    assert left is not None
    assert left.groups == {"*": 2, "x": 1}


def test_ended_groups_are_forgotten(executing: ExecutingJobs) -> None:
    """A group without firings leaves nothing behind, so that names do not pile up."""
    executing.dispatched("a")
    executing.dispatched("a")
    executing.ended("a")
    assert executing.left_of(ExecutionLimits({"*": 2})).groups == {"*": 2, "a": 1}  # type: ignore[union-attr]
    executing.ended("a")
    assert executing._groups == {}
