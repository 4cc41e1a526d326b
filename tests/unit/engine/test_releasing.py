"""Releasing and Backoff: triggers are given back in the end, and nobody waits for it."""

import logging
from datetime import timedelta

import pytest

from quartzite.engine.backoff import Backoff
from quartzite.engine.releasing import Releasing
from quartzite.errors import JobPersistenceError
from quartzite.testing import FakeClock
from quartzite.triggers.base import Trigger
from tests.unit.engine.completions import NotingStore, completion

AWAY = JobPersistenceError("the database is away")


class Subject:
    """What releases, with its store and clock."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = NotingStore(self.clock)
        self.backoff = Backoff(self.store, self.clock)
        self.releasing = Releasing(store=self.store, clock=self.clock, backoff=self.backoff)


@pytest.fixture
async def subject() -> Subject:
    """A store that works."""
    return Subject()


def triggers(*names: str) -> list[Trigger]:
    """Return triggers of these names."""
    return [completion(name).trigger for name in names]


async def test_triggers_are_released_at_once(subject: Subject) -> None:
    """A store that works is asked once for all."""
    await subject.releasing.release(triggers("a", "b"))
    assert subject.store.released == ["a", "b"]
    await subject.releasing.release([])


async def test_a_failure_is_not_the_callers(subject: Subject) -> None:
    """A release that fails returns all the same, and is tried again in the background until it succeeds."""
    subject.store.fail = lambda *_: AWAY
    await subject.releasing.release(triggers("a", "b"))
    assert subject.releasing.failing == 2
    await subject.clock.advance(seconds=1)
    assert subject.store.released == []
    subject.store.fail = lambda *_: None
    await subject.clock.advance(seconds=1)
    assert sorted(subject.store.released) == ["a", "b"]
    assert subject.releasing.failing == 0


async def test_a_trigger_that_is_freed_late_is_told(subject: Subject) -> None:
    """A release that succeeds in the background is told, as the trigger may be due and nobody waits for it."""
    freed: list[str] = []
    subject.releasing.on_freed = lambda: freed.append("freed")
    await subject.releasing.release(triggers("a"))
    assert freed == []
    subject.store.fail = lambda *_: AWAY
    await subject.releasing.release(triggers("b"))
    subject.store.fail = lambda *_: None
    await subject.clock.advance(seconds=1)
    assert freed == ["freed"]


async def test_one_that_can_not_be_released_does_not_hold_the_others(subject: Subject) -> None:
    """Each trigger is tried by itself after the first failure."""
    subject.store.fail = lambda _, name: AWAY if name == "a" else None
    await subject.releasing.release(triggers("a", "b"))
    await subject.clock.advance(seconds=1)
    assert subject.store.released == ["b"]
    subject.backoff.close()
    await subject.releasing.close()


async def test_closing_ends_the_attempts(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """At the end what could not be released is logged, and nothing is left running."""
    subject.store.fail = lambda *_: AWAY
    await subject.releasing.release(triggers("a"))
    subject.backoff.close()
    await subject.releasing.close()
    assert "could not be released" in caplog.text
    assert subject.releasing.failing == 0


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (timedelta(0), timedelta(milliseconds=20)),
        (timedelta(seconds=15), timedelta(seconds=15)),
        (timedelta(hours=1), timedelta(minutes=10)),
    ],
)
async def test_the_stores_delay_is_kept_within_bounds(subject: Subject, wanted: timedelta, given: timedelta) -> None:
    """The store says how long to wait, between 20 ms and 10 minutes."""
    subject.store.retry_delay = wanted
    assert subject.backoff.delay(1) == given


async def test_a_store_that_can_not_say_gets_a_short_pause(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that fails even when it is asked for a delay is asked again after 100 ms."""
    monkeypatch.setattr(subject.store, "retry_delay", "soon")
    with caplog.at_level(logging.ERROR):
        assert subject.backoff.delay(2) == timedelta(milliseconds=100)
    assert "failed to say" in caplog.text


async def test_waiting_ends_early_when_it_is_closed(subject: Subject) -> None:
    """Whoever waits is woken by the end, may try once more, and is then told to stop."""
    subject.store.retry_delay = timedelta(minutes=5)
    subject.backoff.close()
    assert not await subject.backoff.wait(1)
