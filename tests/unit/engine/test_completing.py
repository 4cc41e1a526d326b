"""GroupCommit: completions that come together are committed together, and each is committed in the end."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from quartzite.engine.backoff import Backoff
from quartzite.engine.completing import GroupCommit
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.notifying import Notifier
from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job_data import JobData
from quartzite.testing import FakeClock, RecordingSchedulerListener
from tests.unit.engine.completions import JOB, NotingStore, completion

AWAY = JobPersistenceError("the database is away")


class Subject:
    """A group commit with everything around it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = NotingStore(self.clock)
        self.listener = RecordingSchedulerListener()
        manager = ListenerManager()
        manager.add_scheduler_listener(self.listener)
        self.backoff = Backoff(self.store, self.clock)
        self.commit = GroupCommit(
            store=self.store, clock=self.clock, notifier=Notifier(manager), backoff=self.backoff, owner=self
        )

    def hand_in(self, *names: str) -> list[asyncio.Task[bool]]:
        """Complete firings of triggers of these names, each in a task of its own."""
        return [asyncio.create_task(self.commit.complete(completion(name), JOB)) for name in names]


@pytest.fixture
async def subject() -> Subject:
    """A group commit on a store that works."""
    return Subject()


async def test_what_comes_together_is_committed_together(subject: Subject) -> None:
    """Firings that end in the same turn make one group, in their order."""
    assert await asyncio.gather(*subject.hand_in("a", "b", "c")) == [True] * 3
    assert subject.store.groups == [["a", "b", "c"]]


async def test_what_comes_meanwhile_makes_the_next_group(subject: Subject) -> None:
    """Firings that end while a commit is under way wait for it and are committed together."""
    subject.store.gate.clear()
    first = subject.hand_in("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = subject.hand_in("b", "c")
    await asyncio.sleep(0)
    subject.store.gate.set()
    await asyncio.gather(*first, *later)
    assert subject.store.groups == [["a"], ["b", "c"]]


async def test_a_completion_returns_when_it_is_committed(subject: Subject) -> None:
    """Nobody goes on before the store has taken the end of his firing."""
    subject.store.gate.clear()
    (task,) = subject.hand_in("a")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(task), 0.02)
    subject.store.gate.set()
    assert await task


async def test_a_failed_group_is_committed_one_by_one(subject: Subject) -> None:
    """One completion that the store can not take in a group does not hold the others back, and nobody is alarmed."""
    subject.store.fail = lambda member, name: AWAY if (member, name) == ("bulk", "b") else None
    assert await asyncio.gather(*subject.hand_in("a", "b", "c")) == [True] * 3
    assert sorted(subject.store.singles) == ["a", "b", "c"]
    assert subject.listener.errors == []


async def test_a_completion_is_tried_until_the_store_is_back(subject: Subject) -> None:
    """An outage delays completions, with the store's growing pauses; it is told once, however long it lasts."""
    subject.store.fail = lambda *_: AWAY
    tasks = subject.hand_in("a", "b")
    await subject.clock.advance(seconds=10)
    assert subject.commit.failing == 2
    assert len(subject.listener.of("scheduler_error")) == 1
    subject.store.fail = lambda *_: None
    await subject.clock.advance(seconds=10)
    assert await asyncio.gather(*tasks) == [True, True]
    assert sorted(subject.store.singles) == ["a", "b"]
    assert subject.commit.failing == 0


async def test_the_next_outage_is_told_again(subject: Subject) -> None:
    """After a success the next failure is news."""
    for _ in range(2):
        subject.store.fail = lambda *_: AWAY
        tasks = subject.hand_in("a")
        await subject.clock.settle()
        subject.store.fail = lambda *_: None
        await subject.clock.advance(seconds=1)
        assert await asyncio.gather(*tasks) == [True]
    assert len(subject.listener.of("scheduler_error")) == 2


async def test_closing_ends_the_attempts(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """A shutdown ends the waiting: what the store did not take is logged with the job."""
    subject.store.fail = lambda *_: AWAY
    (task,) = subject.hand_in("a")
    await subject.clock.settle()
    subject.backoff.close()
    assert not await task
    assert "the store was not told" in caplog.text


async def test_the_grace_of_closing_lets_attempts_go_on(subject: Subject) -> None:
    """Within the grace of a shutdown a store that comes back takes the completion."""
    subject.store.fail = lambda *_: AWAY
    subject.store.retry_delay = timedelta(minutes=5)
    (task,) = subject.hand_in("a")
    await subject.clock.settle()
    subject.backoff.close(grace=timedelta(seconds=10))
    await subject.clock.advance(seconds=5)
    subject.store.fail = lambda *_: None
    await subject.clock.advance(seconds=2)
    assert await task


async def test_after_the_end_completions_are_dropped(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """A firing that ends after the shutdown does not touch the store, and is logged."""
    await subject.commit.close()
    assert await asyncio.gather(*subject.hand_in("a")) == [False]
    assert subject.store.groups == []
    assert "after the shutdown" in caplog.text


async def test_closing_waits_for_the_commit_under_way(subject: Subject) -> None:
    """A commit that was begun is not cut off."""
    subject.store.gate.clear()
    (task,) = subject.hand_in("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    closing = asyncio.create_task(subject.commit.close())
    await asyncio.sleep(0)
    assert not closing.done()
    subject.store.gate.set()
    await closing
    assert await task


async def test_refused_job_data_does_not_hold_the_firing(subject: Subject) -> None:
    """Data that the store refuses is told and left as it was; the firing is completed with the stored job."""
    changed = replace(JOB, job_data=JobData({"socket": 1}))
    jobs = []

    def fail(member: str, _: str) -> Exception | None:
        jobs.append(member)
        return InvalidValueError("job data 'socket' can not be stored") if len(jobs) <= 2 else None

    subject.store.fail = fail
    assert await subject.commit.complete(completion("a", changed), JOB)
    assert jobs == ["bulk", "single", "single"]
    assert ["can not be stored, and stays as it was" in text for text in subject.listener.errors] == [True]


async def test_a_cancelled_waiter_neither_loses_its_completion_nor_disturbs_others(subject: Subject) -> None:
    """A task that is cancelled while it waits goes on when the commit has ended, as do those that wait beside it."""
    subject.store.gate.clear()
    tasks = subject.hand_in("a", "b")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.sleep(0)
    subject.store.gate.set()
    assert await asyncio.gather(*tasks) == [True, True]
    assert subject.store.groups == [["a", "b"]]


async def test_a_cancelled_waiter_gives_up_on_a_store_that_is_away(subject: Subject) -> None:
    """A task that was cancelled does not try for ever: the end of the event loop must not wait for the store."""
    subject.store.fail = lambda *_: AWAY
    subject.store.gate.clear()
    (task,) = subject.hand_in("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    subject.store.gate.set()
    assert not await task


async def test_a_committer_that_is_cancelled_from_outside_loses_nothing(subject: Subject) -> None:
    """Whoever cancels all tasks of a program cancels the committer too: each firing then commits by itself."""
    subject.store.gate.clear()
    first = subject.hand_in("a")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = subject.hand_in("b")
    await asyncio.sleep(0)
    committer = next(task for task in asyncio.all_tasks() if task.get_name() == "quartzite-commit")
    committer.cancel()
    assert await asyncio.gather(*first, *later) == [True, True]
    assert sorted(subject.store.singles) == ["a", "b"]
