"""Recorders: every call, in order, and nothing changed by the recording."""

import inspect
from typing import Any

import pytest

from quartzite.abc import JobListener, JobStore, SchedulerListener, TriggerListener
from quartzite.engine.signaler import SchedulerSignaler
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.stores.ram.store import RamJobStore
from quartzite.testing import (
    FakeClock,
    FaultyJobStore,
    Recorded,
    RecordingJobListener,
    RecordingJobStore,
    RecordingSchedulerListener,
    RecordingTriggerListener,
)

JOB = JobDetail(key=JobKey("job"), job_type=JobType("tests:run"), durable=True)
ANYTHING: Any = None


def ram_store() -> RamJobStore:
    """Return an empty store."""
    return RamJobStore(clock=FakeClock(), signaler=SchedulerSignaler(), serializer=JsonSerializer())


def coroutines(contract: type) -> list[str]:
    """Return the names of the coroutine functions of a contract."""
    return [name for name, member in inspect.getmembers(contract, inspect.iscoroutinefunction)]


@pytest.mark.parametrize(
    ("recorder", "contract"),
    [
        (RecordingJobListener(), JobListener),
        (RecordingTriggerListener(), TriggerListener),
        (RecordingSchedulerListener(), SchedulerListener),
    ],
)
async def test_every_event_is_recorded(recorder: Any, contract: type) -> None:
    """Each method of the contract writes its name and its arguments."""
    events = coroutines(contract)
    for event in events:
        method = getattr(recorder, event)
        await method(*range(len(inspect.signature(method).parameters)))
    assert recorder.names == events
    assert all(call.args == tuple(range(len(call.args))) for call in recorder.calls)


def test_recorders_have_a_name() -> None:
    """It is the class's name unless another is given, so that two fit on one scheduler."""
    assert RecordingJobListener().name == "RecordingJobListener"
    assert RecordingSchedulerListener("second").name == "second"


async def test_recorders_may_share_a_list() -> None:
    """Two recorders with one list show the order among them."""
    log: list[Recorded] = []
    jobs, scheduler = RecordingJobListener(log=log), RecordingSchedulerListener(log=log)
    await scheduler.job_added(JOB)
    await jobs.job_to_be_executed(ANYTHING)
    await scheduler.scheduler_error("oh", RuntimeError())
    assert [call.name for call in log] == ["job_added", "job_to_be_executed", "scheduler_error"]
    assert scheduler.errors == ["oh"]
    assert scheduler.of("job_added") == [Recorded("job_added", (JOB,))]


async def test_a_trigger_recorder_vetoes_when_told() -> None:
    """Its answer is the test's; without one it never vetoes."""
    assert not await RecordingTriggerListener().veto_job_execution(ANYTHING, ANYTHING)
    vetoing = RecordingTriggerListener(veto=lambda *_: True)
    assert await vetoing.veto_job_execution(ANYTHING, ANYTHING)
    assert vetoing.names == ["veto_job_execution"]


@pytest.mark.parametrize("decorator", [RecordingJobStore, FaultyJobStore])
def test_every_member_of_a_store_goes_through(decorator: type) -> None:
    """No coroutine of the contract gets past a recorder or a fault."""
    past = [name for name in coroutines(JobStore) if getattr(decorator, name) is getattr(DelegatingJobStore, name)]
    assert past == []


async def test_a_recording_store_is_faithful() -> None:
    """Answers and errors are those of the inner store; keyword arguments are recorded, too."""
    inner = ram_store()
    store = RecordingJobStore(inner)
    await store.add_job(JOB, replace=True)
    assert await store.check_exists(JobKey("job"))
    assert await store.get_job(JobKey("job")) == JOB
    assert not await store.delete_trigger(TriggerKey("nobody"))
    assert store.names == ["add_job", "check_exists", "get_job", "delete_trigger"]
    assert store.calls[0] == Recorded("add_job", (JOB,), (("replace", True),))
    assert store.inner_job_store is inner
    assert not store.supports_persistence


async def test_a_bulk_call_is_recorded_and_forwarded_as_one() -> None:
    """Recording does not take a call for many keys apart."""
    innermost = RecordingJobStore(ram_store())
    store = RecordingJobStore(innermost)
    await store.delete_jobs([JobKey("a"), JobKey("b")])
    assert store.names == innermost.names == ["delete_jobs"]
