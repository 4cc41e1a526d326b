"""What the end of firings does to triggers and jobs (spec 06 section 8, spec 07 section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from quartzite.model.job import JobDetail
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction
from quartzite.rules.states import StoredFiringState
from quartzite.triggers.base import Trigger

__all__ = ["CompletionPlan", "Ending", "plan_completions"]

_I = SchedulerInstruction


class Ending(NamedTuple):
    """The end of one firing whose fired row was there.

    Attributes:
        trigger: As it was handed to the run, advanced.
        job: As the run left it.
        instruction: What the run says.
        firing: The state of the fired row that was removed.
        non_concurrent: Whether the firing kept others of its job from running.
    """

    trigger: Trigger
    job: JobDetail
    instruction: SchedulerInstruction
    firing: StoredFiringState
    non_concurrent: bool


@dataclass(slots=True)
class CompletionPlan:
    """What a batch of completions changes.

    Attributes:
        released: Triggers whose firing had never started.
        finished: Triggers to delete when the stored one has no next fire time either.
        deleted: Triggers to delete.
        completed: Triggers to set complete.
        failed: Triggers to put into error.
        completed_jobs: Jobs whose triggers are all set complete.
        failed_jobs: Jobs whose triggers are all put into error.
        freed: Non-concurrent jobs that do not run any more.
        data: Job data to write.
    """

    released: set[TriggerKey] = field(default_factory=set)
    finished: set[TriggerKey] = field(default_factory=set)
    deleted: set[TriggerKey] = field(default_factory=set)
    completed: set[TriggerKey] = field(default_factory=set)
    failed: set[TriggerKey] = field(default_factory=set)
    completed_jobs: set[JobKey] = field(default_factory=set)
    failed_jobs: set[JobKey] = field(default_factory=set)
    freed: set[JobKey] = field(default_factory=set)
    data: dict[JobKey, JobData] = field(default_factory=dict)

    @property
    def changes_what_may_fire(self) -> bool:
        """Whether the scheduler should look again: a trigger was freed, ended or given back."""
        return bool(
            self.freed
            or self.released
            or self.deleted
            or self.completed
            or self.failed
            or self.completed_jobs
            or self.failed_jobs
        )


def plan_completions(endings: Iterable[Ending]) -> CompletionPlan:
    """Return what a batch of endings changes.

    A firing whose trigger was deleted says nothing about a new trigger of that key; one whose job was deleted only
    frees the job key.
    """
    plan = CompletionPlan()
    for trigger, job, instruction, firing, non_concurrent in endings:
        if non_concurrent:
            plan.freed.add(job.key)
        if firing is StoredFiringState.JOB_GONE:
            continue
        if job.persist_job_data_after_execution and job.job_data.changed:
            plan.data[job.key] = job.job_data
        if firing is StoredFiringState.EXECUTING:
            _apply_to_trigger(plan, trigger, instruction)
        elif firing is StoredFiringState.ACQUIRED:
            plan.released.add(trigger.key)
        _apply_to_job(plan, job.key, instruction)
    return plan


def _apply_to_trigger(plan: CompletionPlan, trigger: Trigger, instruction: SchedulerInstruction) -> None:
    if instruction is _I.DELETE_TRIGGER:
        # The run may have rescheduled a trigger that had come to its end: then the stored one goes on.
        (plan.finished if trigger.next_fire_time is None else plan.deleted).add(trigger.key)
    elif instruction is _I.SET_TRIGGER_COMPLETE:
        plan.completed.add(trigger.key)
    elif instruction is _I.SET_TRIGGER_ERROR:
        plan.failed.add(trigger.key)


def _apply_to_job(plan: CompletionPlan, key: JobKey, instruction: SchedulerInstruction) -> None:
    if instruction is _I.SET_ALL_JOB_TRIGGERS_COMPLETE:
        plan.completed_jobs.add(key)
    elif instruction is _I.SET_ALL_JOB_TRIGGERS_ERROR:
        plan.failed_jobs.add(key)
