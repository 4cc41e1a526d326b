"""The heartbeat of a scheduler: a thread of its own, or inline under a clock that a test moves."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import pytest

from quartzite.clock import SystemClock
from quartzite.engine.heartbeat import SchedulerHeartbeat
from quartzite.errors import InvalidValueError, SchedulerError
from quartzite.testing import FakeClock

SHORT = timedelta(milliseconds=5)


@pytest.fixture
async def heartbeat() -> AsyncIterator[SchedulerHeartbeat]:
    """A heartbeat in a thread."""
    beating = SchedulerHeartbeat(clock=SystemClock(), name="test")
    yield beating
    await beating.close()


@pytest.fixture
def clock() -> FakeClock:
    """A clock that the test moves."""
    return FakeClock()


@pytest.fixture
async def inline(clock: FakeClock) -> AsyncIterator[SchedulerHeartbeat]:
    """A heartbeat on the test's event loop."""
    beating = SchedulerHeartbeat(clock=clock, name="test")
    yield beating
    await beating.close()


def names_of_threads() -> list[str]:
    """Return the names of the threads that run."""
    return [thread.name for thread in threading.enumerate()]


async def test_it_goes_on_while_the_event_loop_is_blocked(heartbeat: SchedulerHeartbeat) -> None:
    """A blocked event loop does not keep the heartbeat from working, in a daemon thread of its own."""
    beats: list[threading.Thread] = []

    async def beat() -> None:
        beats.append(threading.current_thread())

    heartbeat.every(SHORT, beat, name="count")
    time.sleep(0.3)  # noqa: ASYNC251 - that is what the test is about
    assert len(beats) > 5
    assert {(thread.name, thread.daemon) for thread in beats} == {("quartzite-heartbeat-test", True)}


async def test_nothing_is_started_before_it_is_asked() -> None:
    """A heartbeat that nobody asked for anything has no thread, and closing it needs none."""
    heartbeat = SchedulerHeartbeat(clock=SystemClock(), name="idle")
    assert "quartzite-heartbeat-idle" not in names_of_threads()
    await heartbeat.close()
    assert "quartzite-heartbeat-idle" not in names_of_threads()


async def test_closing_ends_the_thread() -> None:
    """Closed, a heartbeat calls nothing any more; its thread has ended, and it takes no more work."""
    heartbeat = SchedulerHeartbeat(clock=SystemClock(), name="closed")
    calls: list[int] = []

    async def beat() -> None:
        calls.append(1)

    heartbeat.every(SHORT, beat, name="count")
    await heartbeat.close()
    await heartbeat.close()
    assert "quartzite-heartbeat-closed" not in names_of_threads()
    with pytest.raises(SchedulerError, match="closed"):
        heartbeat.every(SHORT, beat, name="count")


async def test_what_is_to_be_closed_is_closed_in_its_thread(heartbeat: SchedulerHeartbeat) -> None:
    """At the end, what its work has opened is closed on its event loop, the last one first, whatever fails."""
    closed: list[tuple[str, str]] = []

    async def close(what: str) -> None:
        closed.append((what, threading.current_thread().name))
        if what == "second":
            raise RuntimeError("does not close")

    for what in ("first", "second", "third"):
        heartbeat.at_end(partial(close, what))
    await heartbeat.run(_nothing)
    await heartbeat.close()
    assert closed == [(what, "quartzite-heartbeat-test") for what in ("third", "second", "first")]


async def _nothing() -> None:
    """Do nothing."""


async def test_work_is_run_in_its_thread(heartbeat: SchedulerHeartbeat) -> None:
    """``run`` returns what the work returned, or raises what it raised, from the other event loop."""

    async def where() -> str:
        return threading.current_thread().name

    async def fail() -> None:
        raise ValueError("no")

    assert await heartbeat.run(where) == "quartzite-heartbeat-test"
    with pytest.raises(ValueError, match="no"):
        await heartbeat.run(fail)


async def test_a_beat_may_be_asked_for_by_any_thread(heartbeat: SchedulerHeartbeat) -> None:
    """A thread without an event loop can ask for a beat, and cancel it."""
    beaten = threading.Event()

    async def beat() -> None:
        beaten.set()

    def ask() -> bool:
        asked = heartbeat.every(SHORT, beat, name="count")
        found = beaten.wait(5)
        asked.cancel()
        asked.cancel()
        return found

    assert await asyncio.to_thread(ask)


async def test_inline_it_beats_by_the_clock(inline: SchedulerHeartbeat, clock: FakeClock) -> None:
    """Under a fake clock it works on the event loop of the test, at exactly each period."""
    times: list[float] = []

    async def beat() -> None:
        assert threading.current_thread() is threading.main_thread()
        times.append(clock.monotonic())

    beat_handle = inline.every(timedelta(seconds=10), beat, name="count")
    await clock.advance(seconds=35)
    assert times == [10, 20, 30]
    beat_handle.cancel()
    await clock.advance(seconds=35)
    assert times == [10, 20, 30]


async def test_a_late_beat_leaves_out_what_passed(inline: SchedulerHeartbeat, clock: FakeClock) -> None:
    """Calls never overlap; the periods that pass during a long one are left out but for one, which is due at once."""
    times: list[float] = []

    async def beat() -> None:
        times.append(clock.monotonic())
        if len(times) == 1:
            await clock.sleep(35)

    inline.every(timedelta(seconds=10), beat, name="slow")
    await clock.advance(seconds=70)
    assert times == [10, 45, 55, 65]


async def test_the_work_may_say_when_to_come_again(inline: SchedulerHeartbeat, clock: FakeClock) -> None:
    """A duration that the work returns takes the place of the period once, and keeps a single call going."""
    every: list[float] = []
    once: list[float] = []

    async def beat() -> timedelta | None:
        every.append(clock.monotonic())
        return timedelta(seconds=1) if len(every) == 1 else None

    async def call() -> timedelta | None:
        once.append(clock.monotonic())
        return timedelta(seconds=2) if len(once) < 3 else None

    inline.every(timedelta(seconds=10), beat, name="every")
    inline.schedule(timedelta(seconds=5), call, name="once")
    await clock.advance(seconds=32)
    assert (every, once) == ([10, 11, 21, 31], [5, 7, 9])


async def test_an_error_does_not_end_a_beat(
    inline: SchedulerHeartbeat, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    """What a call raises is logged with the name of the beat, and the next one is made."""
    calls: list[float] = []

    async def beat() -> None:
        calls.append(clock.monotonic())
        raise RuntimeError("database away")

    with caplog.at_level(logging.ERROR, "quartzite.engine"):
        inline.every(timedelta(seconds=10), beat, name="check-in")
        await clock.advance(seconds=20)
    assert calls == [10, 20]
    assert [record.__dict__["beat"] for record in caplog.records] == ["check-in", "check-in"]


async def test_work_that_is_under_way_is_not_torn_by_cancelling(inline: SchedulerHeartbeat, clock: FakeClock) -> None:
    """Cancelling a beat lets a call that has begun finish."""
    ends: list[str] = []

    async def beat() -> None:
        await clock.sleep(5)
        ends.append("finished")

    handle = inline.every(timedelta(seconds=10), beat, name="long")
    await clock.advance(seconds=12)
    handle.cancel()
    await clock.advance(seconds=20)
    assert ends == ["finished"]


async def test_who_asks_is_not_busy_with_it(inline: SchedulerHeartbeat, clock: FakeClock) -> None:
    """A beat that was asked for within marked work is none of that work: a fake clock still waits for the work."""
    log: list[str] = []
    go_on = asyncio.Event()

    async def beat() -> None:
        log.append("beat")

    async def work() -> None:
        with clock.busy("work"):
            inline.schedule(timedelta(seconds=1), beat, name="inner")
            await asyncio.to_thread(go_on.is_set)
            log.append("worked")

    task = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    await clock.advance(seconds=2)
    await task
    assert log == ["worked", "beat"]


@pytest.mark.parametrize("period", [timedelta(0), timedelta(seconds=-1)])
async def test_a_period_must_be_positive(inline: SchedulerHeartbeat, period: timedelta) -> None:
    """A period that is not above zero is refused, naming the beat."""
    with pytest.raises(InvalidValueError, match="check-in"):
        inline.every(period, _nothing, name="check-in")
