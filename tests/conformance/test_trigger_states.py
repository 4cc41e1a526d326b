"""States and their changes against those recorded of Quartz.NET's relational store; each is driven through ours.

Both of our stores take the recorded column ``database`` (decision 3).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from quartzite.errors import JobExecutionError
from quartzite.execution import TriggerFiredBundle
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.selectors import All
from quartzite.model.states import SchedulerInstruction, StoredTriggerState
from quartzite.rules.states import resolve_trigger_state
from quartzite.rules.transitions import FREE_AT_START
from quartzite.triggers.base import Trigger
from quartzite.triggers.misfire import SimpleMisfireInstruction
from tests.conformance.vectors import Record, Vectors
from tests.stores import MINUTE, NOW, SECOND, Subject, job, new_subject, once, trigger

pytestmark = pytest.mark.vectors("trigger_states.json")

KEY, SIBLING = TriggerKey("t", "group"), TriggerKey("other", "group")
JOBS: GroupMatcher[JobKey] = GroupMatcher.group_equals("DEFAULT")
TRIGGERS: GroupMatcher[TriggerKey] = GroupMatcher.group_equals("group")

Drive = Callable[[Subject, StoredTriggerState, str], Awaitable[TriggerKey]]
"""Brings a trigger into a state and does an operation in a context; returns whose state is recorded."""


# Arranging ------------------------------------------------------------------------------------------------------
async def stored(subject: Subject, state: StoredTriggerState, value: Trigger | None = None, **of_job: Any) -> JobDetail:
    """Store a job with one trigger in some state."""
    detail = job(**of_job)
    await subject.store.schedule_job(detail, value or trigger(KEY.name, group=KEY.group))
    await subject.force(KEY, state)
    return detail


async def acquired(subject: Subject, state: StoredTriggerState, value: Trigger | None = None, **of_job: Any) -> Trigger:
    """Store a job with one trigger, acquire it, and put it into some state."""
    await stored(subject, StoredTriggerState.WAITING, value, **of_job)
    (claim,) = await subject.acquire()
    await subject.force(KEY, state)
    return claim


async def sibling_of_firing(subject: Subject, **of_job: Any) -> TriggerFiredBundle:
    """Store a job with two triggers and fire one of them; the other has not reached its time."""
    detail = job(**of_job)
    later = trigger(SIBLING.name, detail, group=SIBLING.group, start_time=NOW + MINUTE)
    await subject.store.schedule_jobs({detail: [trigger(KEY.name, detail, group=KEY.group), later]})
    (bundle,) = await subject.fire()
    return bundle


async def running_job(subject: Subject) -> None:
    """Let another trigger of the (non-concurrent) job fire."""
    await subject.store.add_trigger(once("runs"))
    bundles = await subject.fire()
    assert [bundle.trigger.key.name for bundle in bundles] == ["runs"]


# Operations -----------------------------------------------------------------------------------------------------
async def pause_trigger(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    await stored(subject, state)
    await subject.store.pause_trigger(KEY)
    return KEY


async def pause_trigger_group(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    await stored(subject, state)
    assert await subject.store.pause_triggers(TRIGGERS) == ["group"]
    return KEY


async def pause_job(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    detail = await stored(subject, state)
    await subject.store.pause_job(detail.key)
    return KEY


async def resume_trigger(subject: Subject, state: StoredTriggerState, context: str) -> TriggerKey:
    if context.startswith("job blocked"):
        later = trigger(KEY.name, group=KEY.group, start_time=NOW + MINUTE)
        await stored(subject, StoredTriggerState.WAITING, later, concurrent_execution_disallowed=True)
        await running_job(subject)
        await subject.force(KEY, state)
    elif "no next fire time" in context:
        await stored(subject, state, late_and_over())
        subject.clock.advance(MINUTE)
    else:
        await stored(subject, state)
    await subject.store.resume_trigger(KEY)
    return KEY


async def resume_trigger_group(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    await stored(subject, state)
    await subject.store.pause_jobs(JOBS)
    await subject.force(KEY, state)
    await subject.store.resume_triggers(TRIGGERS)
    return KEY


async def acquire(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    await stored(subject, state)
    taken = await subject.acquire()
    assert bool(taken) is (state is StoredTriggerState.WAITING)
    return KEY


async def release_acquired(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    claim = await acquired(subject, state)
    await subject.store.release_acquired_trigger(claim)
    return KEY


async def fire(subject: Subject, state: StoredTriggerState, context: str) -> TriggerKey:
    alone = "no-concurrency job" in context
    if context.startswith("another"):
        await sibling_in(subject, state, alone)
        return SIBLING
    value = once(KEY.name, group=KEY.group) if "no fire times remain" in context else None
    claim = await acquired(subject, state, value, concurrent_execution_disallowed=alone)
    fired = await subject.fire([claim])
    assert bool(fired) is (state is StoredTriggerState.ACQUIRED)
    return KEY


async def sibling_in(subject: Subject, state: StoredTriggerState, alone: bool) -> None:
    """Acquire one trigger, put its sibling into some state, and fire the first."""
    detail = job(concurrent_execution_disallowed=alone)
    later = trigger(SIBLING.name, detail, group=SIBLING.group, start_time=NOW + MINUTE)
    await subject.store.schedule_jobs({detail: [trigger(KEY.name, detail, group=KEY.group), later]})
    (claim,) = await subject.acquire()
    await subject.force(SIBLING, state)
    assert len(await subject.fire([claim])) == 1


async def job_complete(subject: Subject, state: StoredTriggerState, context: str) -> TriggerKey:
    if "any trigger of the job" in context or context == "concurrent job, no instruction":
        bundle = await sibling_of_firing(subject, concurrent_execution_disallowed=context.startswith("no-conc"))
        await subject.force(SIBLING, state)
        await subject.complete(bundle, instruction=instruction_in(context))
        return SIBLING
    is_last = "delete trigger" in context
    await subject.store.schedule_job(job(), (once if is_last else trigger)(KEY.name, group=KEY.group))
    (bundle,) = await subject.fire()
    if "rescheduled" in context:
        again = trigger(KEY.name, group=KEY.group, start_time=NOW + MINUTE)
        await subject.store.add_trigger(again, replace=True)
    await subject.force(KEY, state)
    await subject.complete(bundle, instruction=instruction_in(context))
    return KEY


def instruction_in(context: str) -> SchedulerInstruction:
    """Read the instruction that a context names."""
    named = [i for i in SchedulerInstruction if f"instruction {i.value}" in context]
    return named[0] if named else SchedulerInstruction.NO_INSTRUCTION


async def reset_from_error(subject: Subject, state: StoredTriggerState, context: str) -> TriggerKey:
    if context == "trigger group paused":
        await subject.store.pause_triggers(TRIGGERS)
    await stored(subject, state)
    await subject.store.reset_trigger_from_error_state(KEY)
    return KEY


async def misfire_applied(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    await stored(subject, state, late_and_over())
    subject.clock.advance(MINUTE)
    await subject.acquire()
    return KEY


async def recover_at_startup(subject: Subject, state: StoredTriggerState, _: str) -> TriggerKey:
    # The record is about the first step of the recovery; a later one deletes what is complete (spec 07 section 5).
    await stored(subject, state)
    await subject.work(lambda session: session.triggers.move(All(), FREE_AT_START))
    return KEY


async def add_trigger(subject: Subject, state: StoredTriggerState, context: str) -> TriggerKey:
    assert state is StoredTriggerState.DELETED
    alone = "job blocked" in context
    detail = job(concurrent_execution_disallowed=alone)
    await subject.store.add_job(detail)
    if alone:
        await running_job(subject)
    if context.startswith("trigger group paused"):
        await subject.store.pause_triggers(TRIGGERS)
    if context.startswith("job group paused"):
        await subject.store.pause_jobs(JOBS)
    if "resumed individually" in context:
        await subject.store.resume_job(detail.key)
    await subject.store.add_trigger(trigger(KEY.name, detail, group=KEY.group))
    return KEY


def late_and_over() -> Trigger:
    """Return a trigger that, once it missed its time, has no other."""
    return trigger(
        KEY.name,
        group=KEY.group,
        end_time=NOW + SECOND,
        misfire_instruction=SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT,
    )


OPERATIONS: dict[str, Drive] = {
    operation.__name__: operation
    for operation in (
        pause_trigger,
        pause_trigger_group,
        pause_job,
        resume_trigger,
        resume_trigger_group,
        acquire,
        release_acquired,
        fire,
        job_complete,
        reset_from_error,
        misfire_applied,
        recover_at_startup,
        add_trigger,
    )
}


def test_reported_states(vectors: Vectors) -> None:
    """A stored state, and whether a firing executes, is reported as recorded."""
    vectors.compare(
        vectors.records,
        lambda record: resolve_trigger_state(stored_state(record["stored"]), record["executing"]).name.lower(),
        lambda record: record["public"],
    )


def stored_state(text: str | None) -> StoredTriggerState:
    """Read a recorded state as a database would hold it."""
    return StoredTriggerState.from_stored_value(None if text is None else text.upper())


def test_transitions(vectors: Vectors) -> None:
    """Every operation, from every state, in every recorded context, leaves the recorded state."""
    vectors.compare(
        vectors.list("transitions"), lambda record: asyncio.run(_left(record)), lambda record: record["database"]
    )


async def _left(record: Record) -> str:
    subject = await new_subject()
    state = StoredTriggerState.DELETED if record["state"] == "(new)" else stored_state(record["state"])
    key = await OPERATIONS[record["operation"]](subject, state, record["context"])
    left = await subject.state(key)
    return "(deleted)" if left is StoredTriggerState.DELETED else left.value.lower()


CONDITIONS: dict[str, tuple[JobExecutionError | None, bool]] = {
    "job error asks for immediate refire": (JobExecutionError(refire_immediately=True), True),
    "job error asks to unschedule the firing trigger": (JobExecutionError(unschedule_firing_trigger=True), True),
    "job error asks to unschedule all triggers of the job": (JobExecutionError(unschedule_all_triggers=True), True),
    "none of these, trigger may not fire again (no next fire time)": (None, False),
    "none of these, trigger may fire again": (None, True),
}


def test_instructions(vectors: Vectors) -> None:
    """How a run ended, and whether the trigger fires again, gives the recorded instruction."""
    vectors.compare(vectors.list("execution_complete"), _instruction, lambda record: record["instruction"])


def _instruction(record: Record) -> str:
    error, fires_again = CONDITIONS[record["condition"]]
    return trigger(next_fire_time=NOW if fires_again else None).execution_complete(error).value
