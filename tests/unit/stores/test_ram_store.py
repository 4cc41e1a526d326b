"""What is particular to the store in memory, and what the shipped suite does not look at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

import pytest

from quartzite.calendars.base import Calendar
from quartzite.errors import InvalidValueError, JobPersistenceError, ObjectAlreadyExistsError, SchedulerError
from quartzite.execution import JobCompletion
from quartzite.model.job import JobType
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import FireInstanceQuery, JobQuery, TriggerGroupQuery, TriggerQuery
from quartzite.model.states import SchedulerInstruction, StoredTriggerState, TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.stores.ram import RamJobStore
from quartzite.triggers.simple import SimpleTrigger
from tests.stores import MINUTE, NOW, SECOND, Subject, job, new_subject, once, trigger

S = StoredTriggerState
ALONE = job("alone", concurrent_execution_disallowed=True)


@pytest.fixture
async def subject() -> Subject:
    """A store at ``NOW``."""
    return await new_subject()


def finish_at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Drive a coroutine and fail when it suspends."""
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value
    work.close()
    raise AssertionError("the operation suspended")


def test_no_operation_suspends() -> None:
    """Nothing can come between the steps of an operation: that is the store's lock, and its transaction."""
    subject = finish_at_once(new_subject())
    store: RamJobStore = subject.store
    finish_at_once(store.schedule_jobs({ALONE: [trigger("a", ALONE), trigger("b", ALONE)], job(): [trigger("c")]}))
    finish_at_once(store.pause_all())
    finish_at_once(store.resume_all())
    (bundle, *others) = finish_at_once(subject.fire())
    assert len(others) == 1
    finish_at_once(subject.complete(bundle, *others))
    assert finish_at_once(store.query_triggers(TriggerQuery())).items
    assert finish_at_once(store.query_jobs(JobQuery())).items
    finish_at_once(store.clear())


@pytest.mark.parametrize("threshold", [timedelta(0), timedelta(microseconds=999), -SECOND])
async def test_misfire_threshold_is_checked(threshold: timedelta, subject: Subject) -> None:
    """Less than a millisecond is refused, when the store is made and later."""
    with pytest.raises(InvalidValueError, match="at least 1 ms"):
        await new_subject(misfire_threshold=threshold)
    with pytest.raises(InvalidValueError, match="at least 1 ms"):
        subject.store.misfire_threshold = threshold
    assert subject.store.misfire_threshold == 5 * SECOND


async def test_misfire_threshold_may_be_changed(subject: Subject) -> None:
    """A threshold that is changed while the store is in use holds from the next acquisition on."""
    await subject.store.schedule_job(job(), trigger(misfire_instruction=4))
    subject.clock.advance(4 * SECOND)
    subject.store.misfire_threshold = SECOND
    assert await subject.acquire() == []
    assert subject.heard.misfires == [(TriggerKey("t"), NOW)]


async def test_functions_that_nobody_else_could_find_may_be_jobs(subject: Subject) -> None:
    """Lambdas are jobs here: nothing has to find them by name."""
    detail = job(job_type=JobType.of(lambda: None))
    assert not detail.job_type.is_storable
    await subject.store.schedule_job(detail, once())
    (bundle,) = await subject.fire()
    assert bundle.job.job_type.target is detail.job_type.target


@pytest.mark.parametrize("where", ["job", "trigger", "content", "replacement", "details"])
async def test_data_that_can_not_be_stored_is_refused(where: str, subject: Subject) -> None:
    """Data that a database could not keep is refused at the border, naming its key, and nothing is stored."""
    bad = JobData(handle=object())
    await subject.store.schedule_job(job("kept"), trigger("kept", job("kept")))
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "job": lambda: subject.store.add_job(job(job_data=bad)),
        "trigger": lambda: subject.store.add_trigger(trigger("new", job("kept"), job_data=bad)),
        "content": lambda: subject.store.schedule_jobs({job(): [trigger("new"), trigger("worse", job_data=bad)]}),
        "replacement": lambda: subject.store.replace_trigger(
            TriggerKey("kept"), trigger("kept", job("kept"), job_data=bad)
        ),
        "details": lambda: subject.store.update_trigger_details(
            TriggerKey("kept"), TriggerDetailsUpdate().with_job_data(bad)
        ),
    }
    with pytest.raises(InvalidValueError, match="handle"):
        await calls[where]()
    assert [header.key.name for header in (await subject.store.query_jobs(JobQuery())).items] == ["kept"]
    assert await subject.store.get_trigger(TriggerKey("kept")) == trigger("kept", job("kept"))


async def test_data_that_a_run_left_and_nobody_can_store(subject: Subject) -> None:
    """The firing ends all the same, with its batch; the error is told and the former data stays."""
    detail = job(persist_job_data_after_execution=True, job_data=JobData(n=1))
    other = job("other", persist_job_data_after_execution=True)
    await subject.store.schedule_jobs({detail: [once("a", detail)], other: [once("b", other)]})
    bundles = await subject.fire()
    values: list[dict[str, Any]] = [{"n": object()}, {"n": 2}]
    done = [
        JobCompletion(
            bundle.trigger,
            bundle.job.with_job_data(JobData._adopt(left, changed=True)),
            SchedulerInstruction.DELETE_TRIGGER,
        )
        for bundle, left in zip(bundles, values, strict=True)
    ]
    await subject.store.triggered_jobs_complete(done)
    stored = await subject.store.get_job_details([detail.key, other.key])
    assert [dict(kept.job_data) for kept in stored] == [{"n": 1}, {"n": 2}]
    assert [text for text, _ in subject.heard.errors] == [
        "the data that a run of job DEFAULT.job left can not be stored and is lost"
    ]
    assert (await subject.store.query_fire_instances(FireInstanceQuery())).items == []


async def test_a_stored_job_has_unchanged_data(subject: Subject) -> None:
    """Data that a run changed counts as unchanged once it is stored, so the next run writes only what it changes."""
    detail = job(persist_job_data_after_execution=True, job_data=JobData._adopt({"n": 1}, changed=True))
    await subject.store.schedule_job(detail, trigger())
    (bundle,) = await subject.fire()
    assert not bundle.job.job_data.changed


# A firing outlives what it belongs to ---------------------------------------------------------------------------
async def test_a_job_that_is_deleted_while_it_runs_keeps_its_key_from_running(subject: Subject) -> None:
    """A non-concurrent job stored anew under the key of a running one waits for that run, and is freed by its end."""
    await subject.store.schedule_job(ALONE, trigger("t", ALONE))
    (old,) = await subject.fire()
    await subject.store.delete_job(ALONE.key)
    await subject.store.schedule_job(ALONE, trigger("new", ALONE))
    assert await subject.state(TriggerKey("new")) is S.BLOCKED
    assert await subject.acquire() == []
    await subject.complete(old)
    assert (await subject.store.query_fire_instances(FireInstanceQuery())).items == []
    assert [bundle.trigger.key.name for bundle in await subject.fire()] == ["new"]


async def test_the_run_of_a_deleted_job_changes_nothing_of_a_new_one(subject: Subject) -> None:
    """Neither data nor instruction of the old run reach a job that was stored anew."""
    detail = job(persist_job_data_after_execution=True)
    await subject.store.schedule_job(detail, trigger())
    (old,) = await subject.fire()
    await subject.store.delete_job(detail.key)
    await subject.store.schedule_job(detail, trigger())
    left = old.job.with_job_data(JobData._adopt({"n": 1}, changed=True))
    await subject.store.triggered_job_complete(old.trigger, left, SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR)
    assert await subject.state(TriggerKey("t")) is S.WAITING
    assert await subject.store.get_job(detail.key) == detail


async def test_a_job_that_went_with_its_trigger_while_it_ran(subject: Subject) -> None:
    """A job that was deleted by the orphan rule is deleted: its run changes nothing of a new job of that key."""
    fleeting = job(durable=False, persist_job_data_after_execution=True)
    await subject.store.schedule_job(fleeting, trigger())
    (old,) = await subject.fire()
    await subject.store.delete_trigger(TriggerKey("t"))
    assert subject.heard.deleted_jobs == [fleeting.key]
    await subject.store.schedule_job(fleeting, trigger())
    left = old.job.with_job_data(JobData._adopt({"n": 1}, changed=True))
    await subject.store.triggered_job_complete(old.trigger, left, SchedulerInstruction.NO_INSTRUCTION)
    assert await subject.store.get_job(fleeting.key) == fleeting


async def test_a_trigger_that_its_run_unscheduled(subject: Subject) -> None:
    """A run that deletes its own trigger leaves its data and frees its siblings, when the job stays."""
    detail = job(concurrent_execution_disallowed=True, persist_job_data_after_execution=True)
    later = trigger("sibling", detail, start_time=NOW + MINUTE)
    await subject.store.schedule_jobs({detail: [trigger("t", detail), later]})
    (bundle,) = await subject.fire()
    await subject.store.delete_trigger(TriggerKey("t"))
    assert await subject.state(TriggerKey("sibling")) is S.BLOCKED
    left = bundle.job.with_job_data(JobData._adopt({"n": 1}, changed=True))
    await subject.store.triggered_job_complete(bundle.trigger, left, SchedulerInstruction.NO_INSTRUCTION)
    assert await subject.state(TriggerKey("sibling")) is S.WAITING
    stored = await subject.store.get_job(detail.key)
    assert stored is not None
    assert dict(stored.job_data) == {"n": 1}


async def test_a_rescheduled_trigger_is_not_executing(subject: Subject) -> None:
    """The firing of a replaced trigger goes on, is no execution of the new one, and says nothing about it."""
    await subject.store.schedule_job(job(), trigger())
    (old,) = await subject.fire()
    await subject.store.replace_trigger(TriggerKey("t"), trigger(start_time=NOW + MINUTE))
    assert await subject.store.get_trigger_state(TriggerKey("t")) is TriggerState.NORMAL
    assert len((await subject.store.query_fire_instances(FireInstanceQuery())).items) == 1
    await subject.complete(old, instruction=SchedulerInstruction.SET_TRIGGER_ERROR)
    assert await subject.store.get_trigger_state(TriggerKey("t")) is TriggerState.NORMAL


async def test_a_replaced_trigger_that_was_only_reserved_does_not_fire(subject: Subject) -> None:
    """The claim on a trigger goes with it: the new one of that key must be acquired itself."""
    await subject.store.schedule_job(job(), trigger())
    claims = await subject.acquire()
    await subject.store.replace_trigger(TriggerKey("t"), trigger())
    assert await subject.fire(claims) == []
    assert len(await subject.acquire()) == 1


async def test_what_was_over_while_its_job_ran_is_deleted(subject: Subject) -> None:
    """A sibling that missed its last time while the non-concurrent job ran is told of, and goes when it is freed."""
    over = once("over", ALONE, misfire_instruction=4, start_time=NOW + SECOND)
    await subject.store.schedule_jobs({ALONE: [trigger("t", ALONE), over]})
    (bundle,) = await subject.fire()
    subject.clock.advance(MINUTE)
    await subject.complete(bundle)
    assert TriggerKey("over") in dict(subject.heard.misfires)
    assert [value.key.name for value in subject.heard.finalized] == ["over"]
    assert not await subject.store.check_exists(TriggerKey("over"))
    assert await subject.store.check_exists(TriggerKey("t"))


async def test_a_claim_compares_the_time(subject: Subject) -> None:
    """A trigger whose next fire time changed between reading and claiming is not won, nor one that does not wait."""
    await subject.store.schedule_jobs({job(): [trigger("changed"), trigger("paused"), trigger("fine")]})
    await subject.store.pause_trigger(TriggerKey("paused"))
    claims = [trigger(name).copy_with(fire_instance_id=name) for name in ("changed", "paused", "fine", "gone")]
    claims[0] = claims[0].copy_with(next_fire_time=NOW + SECOND)
    assert await subject.work(lambda session: session.triggers.claim(claims)) == {TriggerKey("fine")}
    assert await subject.state(TriggerKey("changed")) is S.WAITING


# Pauses ---------------------------------------------------------------------------------------------------------
async def test_a_pause_outlives_a_new_definition(subject: Subject) -> None:
    """A paused trigger stays paused when it is rescheduled or stored again."""
    await subject.store.schedule_job(job(), trigger())
    await subject.store.pause_trigger(TriggerKey("t"))
    await subject.store.replace_trigger(TriggerKey("t"), trigger(start_time=NOW + MINUTE))
    assert await subject.state(TriggerKey("t")) is S.PAUSED
    await subject.store.schedule_jobs({job(): [trigger()]}, replace=True)
    assert await subject.state(TriggerKey("t")) is S.PAUSED


async def test_groups_that_appear_while_all_are_paused(subject: Subject) -> None:
    """They are paused and remembered; the marker is listed nowhere, and resuming all leaves nothing behind."""
    await subject.store.pause_all()
    await subject.store.schedule_job(job(), trigger(group="new"))
    paused = await subject.store.query_trigger_groups(TriggerGroupQuery(paused=True))
    assert [(group.name, group.paused) for group in paused.items] == [("new", True)]
    await subject.store.resume_all()
    assert (await subject.store.query_trigger_groups(TriggerGroupQuery(paused=True))).items == []
    await subject.store.add_trigger(trigger("later", group="later"))
    assert await subject.state(TriggerKey("later", "later")) is S.WAITING


async def test_resuming_any_group_ends_the_pause_of_all(subject: Subject) -> None:
    """Resuming by a matcher for every group is as good as resuming all."""
    await subject.store.pause_all()
    await subject.store.resume_triggers(GroupMatcher.any_group())
    await subject.store.schedule_job(job(), trigger())
    assert await subject.state(TriggerKey("t")) is S.WAITING


async def test_a_paused_trigger_without_a_time_stays_paused(subject: Subject) -> None:
    """There is nothing that it could go on with."""
    await subject.store.schedule_job(job(), trigger(next_fire_time=None))
    await subject.store.pause_trigger(TriggerKey("t"))
    await subject.store.resume_trigger(TriggerKey("t"))
    assert await subject.state(TriggerKey("t")) is S.PAUSED


async def test_leaving_error_while_the_job_runs(subject: Subject) -> None:
    """A trigger that leaves ERROR while its non-concurrent job runs waits for that."""
    later = trigger("sibling", ALONE, start_time=NOW + MINUTE)
    await subject.store.schedule_jobs({ALONE: [trigger("t", ALONE), later]})
    await subject.fire()
    await subject.force(TriggerKey("sibling"), S.ERROR)
    await subject.store.reset_trigger_from_error_state(TriggerKey("sibling"))
    assert await subject.state(TriggerKey("sibling")) is S.BLOCKED


# Faults of single triggers --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Broken(SimpleTrigger):
    """A kind whose arithmetic raises."""

    trigger_type: ClassVar[str] = "BROKEN"

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        raise ArithmeticError("no idea")

    def _misfired(self, calendar: Calendar | None, now: datetime) -> Self:
        raise ArithmeticError("no idea")


def broken(name: str = "broken") -> Broken:
    """Return a trigger of that kind, due now."""
    return Broken(key=TriggerKey(name), job_key=job().key, start_time=NOW, next_fire_time=NOW)


async def test_a_broken_kind_stops_nobody(subject: Subject) -> None:
    """In a batch, it alone fails and goes to ERROR, told once; its claim is gone, so nothing stays reserved."""
    await subject.store.schedule_jobs({job(): [trigger("a"), broken(), trigger("c")]})
    claims = await subject.acquire()
    results = await subject.store.triggers_fired(claims)
    assert [result.bundle is not None for result in results] == [True, False, True]
    assert isinstance(results[1].exception, ArithmeticError)
    assert await subject.state(TriggerKey("broken")) is S.ERROR
    assert subject.heard.triggers_in_error == [TriggerKey("broken")]
    assert [text for text, _ in subject.heard.errors] == [
        "firing trigger DEFAULT.broken failed, it is in ERROR now: no idea"
    ]
    firing = (await subject.store.query_fire_instances(FireInstanceQuery())).items
    assert [instance.trigger_key.name for instance in firing] == ["a", "c"]


async def test_an_error_that_is_told_holds_no_frames(subject: Subject) -> None:
    """What listeners may keep says what happened, and does not keep alive what the failing code had at hand."""
    await subject.store.schedule_job(job(), broken())
    await subject.store.triggers_fired(await subject.acquire())
    ((_, error),) = subject.heard.errors
    assert isinstance(error, JobPersistenceError)
    assert str(error) == "ArithmeticError: no idea"
    assert error.__cause__ is not None
    assert error.__cause__.__traceback__ is None


async def test_many_misfires_are_handled_in_one_acquisition(subject: Subject) -> None:
    """All that is late is handled before anything is taken, in goes of bounded size, broken ones too."""
    late = [trigger(f"late{i}", misfire_instruction=4) for i in range(1200)]
    await subject.store.schedule_jobs({job(): [*late, *(broken(f"broken{i}") for i in range(3)), trigger("soon")]})
    subject.clock.advance(10 * SECOND)
    await subject.acquire()
    assert len(subject.heard.misfires) == 1201
    assert len(subject.heard.triggers_in_error) == 3
    moved = await subject.store.get_trigger(TriggerKey("late7"))
    assert moved is not None
    assert moved.next_fire_time == NOW + MINUTE


async def test_those_that_do_not_mind_are_no_misfires(subject: Subject) -> None:
    """Triggers that ignore misfires fire every missed time, among the others, in fire order."""
    patient = trigger("patient", misfire_instruction=-1)
    await subject.store.schedule_jobs({job(): [patient, trigger("other", start_time=NOW + 90 * SECOND)]})
    subject.clock.advance(90 * SECOND)
    first = await subject.fire()
    assert [bundle.trigger.key.name for bundle in first] == ["patient", "other"]
    assert [bundle.scheduled_fire_time for bundle in await subject.fire()] == [NOW + MINUTE]
    assert subject.heard.misfires == []


async def test_a_trigger_whose_calendar_is_gone_goes_to_error_when_it_is_late(subject: Subject) -> None:
    """Without its calendar nobody can say when it fires next: the reason is told, and others go on."""
    await subject.store.schedule_jobs({job(): [trigger("t", calendar_name="gone"), once("other")]})
    subject.clock.advance(10 * SECOND)
    assert [bundle.trigger.key.name for bundle in await subject.fire()] == ["other"]
    assert await subject.state(TriggerKey("t")) is S.ERROR
    assert "calendar 'gone'" in subject.heard.errors[0][0]


# All or nothing -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({job("new"): [trigger("x", job("other"))]}, JobPersistenceError),
        ({job("new"): [trigger("x", job("new")), trigger("x", job("new"))]}, ObjectAlreadyExistsError),
        ({job("new"): [], job("new", description="again"): []}, ObjectAlreadyExistsError),
        ({job("new"): [trigger("t", job("new"))]}, ObjectAlreadyExistsError),
        ({job("new"): [], job(): []}, ObjectAlreadyExistsError),
        ({job("new"): [SimpleTrigger(key=TriggerKey("x"))]}, SchedulerError),
    ],
)
async def test_content_that_does_not_fit_together(
    content: dict[Any, Any], error: type[Exception], subject: Subject
) -> None:
    """Content with a key twice, a key that is taken, or a trigger of another job is refused as a whole."""
    await subject.store.schedule_job(job(), trigger())
    with pytest.raises(error):
        await subject.store.schedule_jobs(content)
    assert [header.key.name for header in (await subject.store.query_jobs(JobQuery())).items] == ["job"]
    assert [header.key.name for header in (await subject.store.query_triggers(TriggerQuery())).items] == ["t"]


async def test_a_trigger_that_changes_its_job_leaves_no_orphan(subject: Subject) -> None:
    """A job that is not durable goes when its last trigger is stored again for another job."""
    await subject.store.schedule_job(job("old", durable=False), trigger("t", job("old")))
    await subject.store.add_job(job("new"))
    await subject.store.add_trigger(trigger("t", job("new")), replace=True)
    assert not await subject.store.check_exists(JobKey("old"))
    assert subject.heard.deleted_jobs == [JobKey("old")]
    assert [value.key.name for value in await subject.store.get_triggers_for_job(JobKey("new"))] == ["t"]


async def test_details_that_a_trigger_can_not_have(subject: Subject) -> None:
    """A misfire instruction that the kind does not understand is refused, and the trigger is as before."""
    await subject.store.schedule_job(job(), trigger())
    with pytest.raises(InvalidValueError, match="misfire instruction 9"):
        await subject.store.update_trigger_details(TriggerKey("t"), TriggerDetailsUpdate().with_misfire_instruction(9))
    with pytest.raises(InvalidValueError, match="can not be updated"):
        await subject.store.update_trigger_details(TriggerKey("t"), TriggerDetailsUpdate({"colour": "blue"}))
    assert await subject.store.get_trigger(TriggerKey("t")) == trigger()


async def test_details_of_a_reserved_trigger(subject: Subject) -> None:
    """A trigger whose details change while it is reserved keeps its claim and fires with the new ones."""
    await subject.store.schedule_job(job(), trigger())
    claims = await subject.acquire()
    await subject.store.update_trigger_details(TriggerKey("t"), TriggerDetailsUpdate().with_priority(9))
    (bundle,) = await subject.fire(claims)
    assert bundle.trigger.priority == 9
    assert bundle.fire_instance_id == claims[0].fire_instance_id


# Nothing is left ------------------------------------------------------------------------------------------------
async def test_a_firing_leaves_nothing_behind(subject: Subject) -> None:
    """After many firings the tables hold what they held before."""
    await subject.store.schedule_jobs({ALONE: [trigger("r", ALONE)], job(): [trigger("s")]})
    for _ in range(200):
        bundles = await subject.fire()
        assert len(bundles) == 2
        await subject.complete(*bundles)
        subject.clock.advance(MINUTE)
    tables = subject.store._tables
    assert tables.fired.by_id == {}
    assert len(tables.fired._of_trigger.owners) == len(tables.fired._of_job.owners) == 0
    assert tables.triggers._states == {}
    assert len(tables.triggers._waiting._at) == 1


async def test_ids_of_firings_are_not_part_of_a_stored_trigger(subject: Subject) -> None:
    """A trigger is read without the id of a firing, whether it is reserved, fired, or was given back."""
    await subject.store.schedule_job(job(), trigger())
    claims = await subject.acquire()
    assert await subject.store.get_trigger(TriggerKey("t")) == trigger()
    await subject.store.release_acquired_triggers(claims)
    assert await subject.store.get_triggers_for_job(job().key) == [trigger()]
    (bundle,) = await subject.fire()
    stored = await subject.store.get_trigger(TriggerKey("t"))
    assert stored == bundle.trigger.copy_with(fire_instance_id=None)


async def test_two_stores_share_nothing(subject: Subject) -> None:
    """Each store has its own data, also within one event loop."""
    other = await new_subject()
    await asyncio.gather(subject.store.schedule_job(job(), trigger()), other.store.add_job(job("other")))
    assert not await other.store.check_exists(TriggerKey("t"))
    assert not await subject.store.check_exists(JobKey("other"))
