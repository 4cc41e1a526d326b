"""Which kind of unit of work each member of the contract is: what a store's locks and retries go by."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from quartzite.abc import JobStore
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.execution import JobCompletion
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import (
    CalendarQuery,
    FireInstanceQuery,
    JobGroupQuery,
    JobQuery,
    TriggerGroupQuery,
    TriggerQuery,
)
from quartzite.model.states import SchedulerInstruction
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.ram import RamJobStore
from quartzite.stores.standard import Body
from quartzite.stores.work import Work
from quartzite.testing.signaler import RecordingSignaler
from tests.stores import NOW, SECOND, StandingClock, job, trigger

T = TypeVar("T")
Call = Callable[[JobStore], Awaitable[Any]]

TRIGGER, JOB = TriggerKey("t"), JobKey("job")
TRIGGERS: GroupMatcher[TriggerKey] = GroupMatcher.any_group()
JOBS: GroupMatcher[JobKey] = GroupMatcher.any_group()
CALENDAR = HolidayCalendar()
DONE = SchedulerInstruction.NO_INSTRUCTION
CLAIM = trigger().copy_with(fire_instance_id="1")

CALLS: list[tuple[str, Work, Call]] = [
    ("schedule_job", Work.INSERT, lambda s: s.schedule_job(job("new"), trigger("new", job("new")))),
    ("schedule_jobs", Work.INSERT, lambda s: s.schedule_jobs({job("new"): []})),
    ("schedule_jobs", Work.CHANGE, lambda s: s.schedule_jobs({job("new"): []}, replace=True)),
    ("add_job", Work.INSERT, lambda s: s.add_job(job("new"))),
    ("add_job", Work.CHANGE, lambda s: s.add_job(job("new"), replace=True)),
    ("add_trigger", Work.INSERT, lambda s: s.add_trigger(trigger("new"))),
    ("add_trigger", Work.CHANGE, lambda s: s.add_trigger(trigger("new"), replace=True)),
    ("add_calendar", Work.INSERT, lambda s: s.add_calendar("c", CALENDAR)),
    ("add_calendar", Work.CHANGE, lambda s: s.add_calendar("c", CALENDAR, replace=True)),
    ("add_calendar", Work.CHANGE, lambda s: s.add_calendar("c", CALENDAR, update_triggers=True)),
    ("delete_job", Work.CHANGE, lambda s: s.delete_job(JOB)),
    ("delete_jobs", Work.CHANGE, lambda s: s.delete_jobs([JOB])),
    ("delete_trigger", Work.CHANGE, lambda s: s.delete_trigger(TRIGGER)),
    ("delete_triggers", Work.CHANGE, lambda s: s.delete_triggers([TRIGGER])),
    ("delete_calendar", Work.CHANGE, lambda s: s.delete_calendar("c")),
    ("replace_trigger", Work.CHANGE, lambda s: s.replace_trigger(TRIGGER, trigger())),
    ("update_trigger_details", Work.CHANGE, lambda s: s.update_trigger_details(TRIGGER, TriggerDetailsUpdate())),
    ("reset_trigger_from_error_state", Work.CHANGE, lambda s: s.reset_trigger_from_error_state(TRIGGER)),
    ("pause_trigger", Work.CHANGE, lambda s: s.pause_trigger(TRIGGER)),
    ("resume_trigger", Work.CHANGE, lambda s: s.resume_trigger(TRIGGER)),
    ("pause_job", Work.CHANGE, lambda s: s.pause_job(JOB)),
    ("resume_job", Work.CHANGE, lambda s: s.resume_job(JOB)),
    ("pause_triggers", Work.CHANGE, lambda s: s.pause_triggers(TRIGGERS)),
    ("resume_triggers", Work.CHANGE, lambda s: s.resume_triggers(TRIGGERS)),
    ("pause_jobs", Work.CHANGE, lambda s: s.pause_jobs(JOBS)),
    ("resume_jobs", Work.CHANGE, lambda s: s.resume_jobs(JOBS)),
    ("pause_triggers_by_key", Work.CHANGE, lambda s: s.pause_triggers_by_key([TRIGGER])),
    ("resume_triggers_by_key", Work.CHANGE, lambda s: s.resume_triggers_by_key([TRIGGER])),
    ("pause_jobs_by_key", Work.CHANGE, lambda s: s.pause_jobs_by_key([JOB])),
    ("resume_jobs_by_key", Work.CHANGE, lambda s: s.resume_jobs_by_key([JOB])),
    ("pause_all", Work.CHANGE, lambda s: s.pause_all()),
    ("resume_all", Work.CHANGE, lambda s: s.resume_all()),
    ("clear", Work.CHANGE, lambda s: s.clear()),
    (
        "acquire_next_triggers",
        Work.ACQUIRE,
        lambda s: s.acquire_next_triggers(TriggerAcquisitionRequest(no_later_than=NOW)),
    ),
    ("triggers_fired", Work.FIRE, lambda s: s.triggers_fired([CLAIM])),
    ("triggered_job_complete", Work.COMPLETE, lambda s: s.triggered_job_complete(CLAIM, job(), DONE)),
    (
        "triggered_jobs_complete",
        Work.COMPLETE,
        lambda s: s.triggered_jobs_complete([JobCompletion(CLAIM, job(), DONE)]),
    ),
    ("release_acquired_trigger", Work.RELEASE, lambda s: s.release_acquired_trigger(CLAIM)),
    ("release_acquired_triggers", Work.RELEASE, lambda s: s.release_acquired_triggers([CLAIM])),
    ("get_job", Work.READ, lambda s: s.get_job(JOB)),
    ("get_job_details", Work.READ, lambda s: s.get_job_details([JOB])),
    ("get_trigger", Work.READ, lambda s: s.get_trigger(TRIGGER)),
    ("get_triggers", Work.READ, lambda s: s.get_triggers([TRIGGER])),
    ("get_triggers_for_job", Work.READ, lambda s: s.get_triggers_for_job(JOB)),
    ("check_exists", Work.READ, lambda s: s.check_exists(JOB)),
    ("check_exists", Work.READ, lambda s: s.check_exists(TRIGGER)),
    ("get_calendar", Work.READ, lambda s: s.get_calendar("c")),
    ("get_trigger_state", Work.READ, lambda s: s.get_trigger_state(TRIGGER)),
    ("query_jobs", Work.READ, lambda s: s.query_jobs(JobQuery())),
    ("query_triggers", Work.READ, lambda s: s.query_triggers(TriggerQuery())),
    ("query_job_groups", Work.READ, lambda s: s.query_job_groups(JobGroupQuery())),
    ("query_trigger_groups", Work.READ, lambda s: s.query_trigger_groups(TriggerGroupQuery())),
    ("query_calendar_names", Work.READ, lambda s: s.query_calendar_names(CalendarQuery())),
    ("query_fire_instances", Work.READ, lambda s: s.query_fire_instances(FireInstanceQuery())),
    ("query_cluster_nodes", Work.READ, lambda s: s.query_cluster_nodes()),
]
LIFE = {"initialize", "scheduler_started", "scheduler_paused", "scheduler_resumed", "shutdown"}


class Watched(RamJobStore):
    """Notes the kind of each unit of work."""

    def __init__(self) -> None:
        super().__init__(clock=StandingClock(), signaler=RecordingSignaler(), serializer=JsonSerializer())
        self.done: list[Work] = []

    async def run(self, work: Work, body: Body[T]) -> T:
        """Note it."""
        self.done.append(work)
        return await super().run(work, body)


@pytest.mark.parametrize(("member", "work", "call"), CALLS)
async def test_each_call_is_one_unit_of_work(member: str, work: Work, call: Call) -> None:
    """Every member runs within exactly one unit of work, of this kind (spec 07 section 4)."""
    store = Watched()
    await store.initialize(SchedulerIdentity(scheduler_name="tests"))
    await store.schedule_job(job(), trigger(start_time=NOW + SECOND))
    store.done.clear()
    await call(store)
    assert store.done == [work]


def test_every_member_is_looked_at() -> None:
    """No member of the contract that reaches the data is missing above."""
    members = {name for name, value in vars(JobStore).items() if inspect.iscoroutinefunction(value)}
    assert {member for member, _, _ in CALLS} == members - LIFE
