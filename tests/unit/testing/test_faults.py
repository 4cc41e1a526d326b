"""FaultyJobStore: fails what it is told to fail, as often as told, and nothing else."""

import asyncio
from datetime import timedelta

import pytest

from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey
from quartzite.testing import FakeClock, FaultyJobStore
from tests.unit.testing.test_recording import ram_store

JOB = JobDetail(key=JobKey("job"), job_type=JobType("tests:run"), durable=True)
AWAY = JobPersistenceError("the database is away")


async def test_a_member_fails_as_often_as_told() -> None:
    """The given number of calls raise the error, the next one works; other members are not touched."""
    store = FaultyJobStore(ram_store())
    store.fail("add_job", AWAY, times=2)
    for _ in range(2):
        with pytest.raises(JobPersistenceError, match="away"):
            await store.add_job(JOB)
        assert not await store.check_exists(JobKey("job"))
    await store.add_job(JOB)
    assert await store.check_exists(JobKey("job"))
    assert store.failures == {"add_job": 2}


async def test_a_member_fails_until_it_is_healed() -> None:
    """Without a number every call fails; healing one leaves the others ill, healing without names heals all."""
    store = FaultyJobStore(ram_store())
    for member in ("add_job", "get_job", "clear"):
        store.fail(member, AWAY)
    store.heal("add_job")
    await store.add_job(JOB)
    with pytest.raises(JobPersistenceError):
        await store.get_job(JobKey("job"))
    store.heal()
    await store.clear()


async def test_the_work_may_be_done_all_the_same() -> None:
    """An answer that got lost: the call raises, and the store has changed."""
    store = FaultyJobStore(ram_store())
    store.fail("add_job", AWAY, after=True)
    with pytest.raises(JobPersistenceError):
        await store.add_job(JOB)
    assert await store.check_exists(JobKey("job"))


async def test_a_member_takes_its_time() -> None:
    """A delayed call waits on the clock before the work is done."""
    clock = FakeClock()
    store = FaultyJobStore(ram_store(), clock=clock)
    store.delay("add_job", timedelta(seconds=10), times=1)
    task = asyncio.create_task(store.add_job(JOB))
    await clock.advance(seconds=9)
    assert not await store.check_exists(JobKey("job"))
    await clock.advance(seconds=1)
    await task
    assert await store.check_exists(JobKey("job"))
    await store.delete_job(JobKey("job"))
    await store.add_job(JOB)


@pytest.mark.parametrize("member", ["add_jobb", "_inner", "inner_job_store"])
def test_an_unknown_member_is_refused(member: str) -> None:
    """A misspelt member would never fail: it is refused."""
    with pytest.raises(InvalidValueError, match=member):
        FaultyJobStore(ram_store()).fail(member, AWAY)


def test_a_delay_needs_a_clock() -> None:
    """Without a clock there is nothing to wait on."""
    with pytest.raises(InvalidValueError, match="clock"):
        FaultyJobStore(ram_store()).delay("clear", timedelta(seconds=1))
