"""What the end of firings does."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.model.job_data import JobData
from quartzite.model.states import SchedulerInstruction
from quartzite.rules.completion import CompletionPlan, Ending, plan_completions
from quartzite.rules.states import StoredFiringState
from tests.stores import job, once, trigger

I = SchedulerInstruction  # noqa: E741
F = StoredFiringState
KEY, JOB = trigger().key, job().key
CHANGED = JobData._adopt({"n": 1}, changed=True)


def ending(instruction: I = I.NO_INSTRUCTION, firing: F = F.EXECUTING, *, alone: bool = False, **of_job: Any) -> Ending:
    """Return the end of a firing of a trigger that will fire again."""
    return Ending(trigger(), job(**of_job), instruction, firing, alone)


def changes(plan: CompletionPlan) -> dict[str, Any]:
    """Return what a plan changes, without its empty parts."""
    return {name: value for name in CompletionPlan.__slots__ if (value := getattr(plan, name))}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (I.NO_INSTRUCTION, {}),
        (I.RE_EXECUTE_JOB, {}),
        (I.DELETE_TRIGGER, {"deleted": {KEY}}),
        (I.SET_TRIGGER_COMPLETE, {"completed": {KEY}}),
        (I.SET_TRIGGER_ERROR, {"failed": {KEY}}),
        (I.SET_ALL_JOB_TRIGGERS_COMPLETE, {"completed_jobs": {JOB}}),
        (I.SET_ALL_JOB_TRIGGERS_ERROR, {"failed_jobs": {JOB}}),
    ],
)
def test_instruction(instruction: I, expected: dict[str, Any]) -> None:
    """Each instruction changes its part, and only that one tells the scheduler to look again."""
    plan = plan_completions([ending(instruction)])
    assert changes(plan) == expected
    assert plan.changes_what_may_fire is bool(expected)


def test_a_trigger_that_came_to_its_end() -> None:
    """It is deleted only when the stored one has no next fire time either; nobody waits for that."""
    over = once().copy_with(next_fire_time=None)
    plan = plan_completions([Ending(over, job(), I.DELETE_TRIGGER, F.EXECUTING, False)])
    assert changes(plan) == {"finished": {KEY}}
    assert not plan.changes_what_may_fire


@pytest.mark.parametrize("instruction", list(I))
@pytest.mark.parametrize("firing", list(F))
def test_siblings_are_freed_on_every_path(instruction: I, firing: F) -> None:
    """The end of a non-concurrent firing frees its job, however it ended and whatever was deleted meanwhile."""
    plan = plan_completions([ending(instruction, firing, alone=True)])
    assert plan.freed == {JOB}
    assert plan.changes_what_may_fire


def test_concurrent_firings_free_nothing() -> None:
    """A firing that kept nobody from running frees nobody."""
    assert plan_completions([ending()]).freed == set()


@pytest.mark.parametrize(
    ("persists", "data", "written"),
    [(True, CHANGED, True), (True, JobData(n=1), False), (False, CHANGED, False), (False, JobData(n=1), False)],
)
def test_job_data(persists: bool, data: JobData, written: bool) -> None:
    """Data is written when the job says so and the run changed it."""
    plan = plan_completions([ending(persist_job_data_after_execution=persists, job_data=data)])
    assert plan.data == ({JOB: CHANGED} if written else {})


def test_the_last_of_several_runs_leaves_its_data() -> None:
    """Of two runs of one job that end together the later one's data stays."""
    later = JobData._adopt({"n": 2}, changed=True)
    both = [ending(persist_job_data_after_execution=True, job_data=data) for data in (CHANGED, later)]
    assert plan_completions(both).data == {JOB: later}


@pytest.mark.parametrize("instruction", [I.DELETE_TRIGGER, I.SET_TRIGGER_COMPLETE, I.SET_TRIGGER_ERROR])
def test_a_deleted_trigger_is_not_spoken_for(instruction: I) -> None:
    """A firing whose trigger was deleted says nothing of a new trigger of that key."""
    assert changes(plan_completions([ending(instruction, F.TRIGGER_GONE)])) == {}


def test_the_job_of_a_deleted_trigger_goes_on() -> None:
    """A firing whose trigger was deleted still speaks for its job."""
    told = ending(I.SET_ALL_JOB_TRIGGERS_ERROR, F.TRIGGER_GONE, persist_job_data_after_execution=True, job_data=CHANGED)
    assert changes(plan_completions([told])) == {"failed_jobs": {JOB}, "data": {JOB: CHANGED}}


@pytest.mark.parametrize("instruction", list(I))
def test_a_deleted_job_is_only_freed(instruction: I) -> None:
    """A firing whose job was deleted changes nothing of a new job of that key but that it may run."""
    told = ending(instruction, F.JOB_GONE, alone=True, persist_job_data_after_execution=True, job_data=CHANGED)
    assert changes(plan_completions([told])) == {"freed": {JOB}}


def test_a_firing_that_never_began_is_given_back() -> None:
    """Ending a firing that is only reserved lets its trigger go, instead of leaving it reserved for ever."""
    assert changes(plan_completions([ending(I.DELETE_TRIGGER, F.ACQUIRED)])) == {"released": {KEY}}
