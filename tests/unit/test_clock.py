"""SystemClock: the machine's time, and waits that end on time."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from quartzite.clock import SystemClock


@pytest.fixture
def clock() -> SystemClock:
    """The machine's clock."""
    return SystemClock()


def test_it_shows_the_machines_time(clock: SystemClock) -> None:
    """Now is an aware UTC instant between two looks at the machine; monotonic seconds do not go back."""
    before = datetime.now(UTC)
    shown = clock.now()
    assert before <= shown <= datetime.now(UTC)
    assert shown.tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()


async def test_sleep_takes_its_time(clock: SystemClock) -> None:
    """A sleep does not end early; one of nothing gives a turn."""
    began = time.monotonic()
    await clock.sleep(0.02)
    assert time.monotonic() - began >= 0.02
    await clock.sleep(-1)


async def test_a_wait_ends_with_its_event(clock: SystemClock) -> None:
    """The answer is True, long before the time is over."""
    event = asyncio.Event()
    waiting = asyncio.create_task(clock.wait(event, 60))
    await asyncio.sleep(0)
    event.set()
    assert await asyncio.wait_for(waiting, 1)
    assert await clock.wait(event, 0)


@pytest.mark.parametrize("seconds", [0, -1, 0.0005, 0.02])
async def test_a_wait_ends_with_its_time(clock: SystemClock, seconds: float) -> None:
    """The answer is False, and not before the time is over."""
    began = time.monotonic()
    assert not await clock.wait(asyncio.Event(), seconds)
    assert time.monotonic() - began >= seconds


async def test_a_wait_for_a_moment_is_exact(clock: SystemClock) -> None:
    """Waits of 5.3 ms end sooner than a timer that is rounded up to 6 ms, and others get their turns meanwhile."""
    late, turns, stop = [], 0, False

    async def count_turns() -> None:
        nonlocal turns
        while not stop:
            turns += 1
            await asyncio.sleep(0.0001)

    others = asyncio.create_task(count_turns())
    for _ in range(50):
        began = time.monotonic()
        await clock.wait(asyncio.Event(), 0.0053)
        late.append(time.monotonic() - began - 0.0053)
    stop = True
    await others
    assert min(late) >= 0
    assert sorted(late)[10] < 0.0005  # a busy machine delays some of them
    assert turns > 50


async def test_a_cancelled_wait_ends_at_once(clock: SystemClock) -> None:
    """Cancelling leaves nothing behind."""
    for seconds in (60, 0.0009):
        waiting = asyncio.create_task(clock.wait(asyncio.Event(), seconds))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


def test_work_in_progress_is_no_matter(clock: SystemClock) -> None:
    """A mark costs nothing on a real clock."""
    with clock.busy("job"):
        assert clock.now() - datetime.now(UTC) < timedelta(seconds=1)
