"""SchedulingSignal: what was signalled, and whether it is worth giving up what is waited for."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest

from quartzite.engine.signals import SchedulingSignal

DUE = datetime(2026, 1, 1, tzinfo=UTC)
EARLIER, LATER = DUE - timedelta(seconds=1), DUE + timedelta(seconds=1)


@pytest.fixture
def signal() -> SchedulingSignal:
    """The signal of a scheduler in memory."""
    return SchedulingSignal(persistent=False)


def test_nothing_signalled_keeps(signal: SchedulingSignal) -> None:
    """Without a signal what is waited for is kept."""
    assert not signal.is_earlier(DUE, 10)


@pytest.mark.parametrize(("candidate", "earlier"), [(EARLIER, True), (DUE, False), (LATER, False), (None, True)])
def test_only_an_earlier_candidate_counts(signal: SchedulingSignal, candidate: datetime | None, earlier: bool) -> None:
    """A candidate before the awaited time is earlier, one without a time too, one at the same time is not."""
    signal.set(candidate)
    assert signal.is_earlier(DUE, 10) is earlier


@pytest.mark.parametrize(
    ("persistent", "seconds_left", "earlier"),
    [(False, 0.0069, False), (False, 0.007, True), (True, 0.0699, False), (True, 0.07, True)],
)
def test_what_is_due_at_once_is_kept(persistent: bool, seconds_left: float, earlier: bool) -> None:
    """Within 7 ms in memory, 70 ms with a persistent store, releasing costs more than it gains."""
    signal = SchedulingSignal(persistent=persistent)
    signal.set(EARLIER)
    assert signal.is_earlier(DUE, seconds_left) is earlier


@pytest.mark.parametrize("order", [(LATER, EARLIER), (EARLIER, LATER), (None, LATER), (LATER, None)])
def test_the_earliest_of_several_counts(
    signal: SchedulingSignal, order: tuple[datetime | None, datetime | None]
) -> None:
    """A later signal does not hide an earlier one, nor one without a time."""
    for candidate in order:
        signal.set(candidate)
    assert signal.is_earlier(DUE, 10)


def test_looking_clears(signal: SchedulingSignal) -> None:
    """A signal counts once, and its event is cleared with it."""
    signal.set(None)
    assert signal.event.is_set()
    assert signal.is_earlier(DUE, 10)
    assert not signal.event.is_set()
    assert not signal.is_earlier(DUE, 10)


def test_an_old_candidate_is_forgotten(signal: SchedulingSignal) -> None:
    """What was cleared does not come back with the next signal."""
    signal.set(EARLIER)
    signal.clear()
    signal.set(LATER)
    assert not signal.is_earlier(DUE, 10)


def test_waking_is_no_signal(signal: SchedulingSignal) -> None:
    """Waking the loop sets the event and gives nothing up."""
    signal.wake()
    assert signal.event.is_set()
    assert not signal.is_earlier(DUE, 10)
    assert not signal.event.is_set()


async def test_a_signal_from_another_thread_arrives(signal: SchedulingSignal) -> None:
    """A thread may signal; the event is set by the loop's own thread."""
    signal.bind()
    thread = threading.Thread(target=signal.set, args=(EARLIER,))
    thread.start()
    await asyncio.wait_for(signal.event.wait(), 5)
    thread.join()
    assert signal.is_earlier(DUE, 10)


def test_a_signal_to_a_closed_loop_is_dropped(signal: SchedulingSignal) -> None:
    """A thread that signals after the loop was closed is not disturbed."""

    async def bind() -> None:
        signal.bind()

    asyncio.run(bind())
    thread = threading.Thread(target=signal.set, args=(EARLIER,))
    thread.start()
    thread.join()
    assert not signal.event.is_set()
