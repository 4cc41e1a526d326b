"""FakeClock: time moves only when a test says so, and everything has settled when it stands still again."""

import asyncio
import threading
from datetime import UTC, datetime, timedelta

import pytest

from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.model.keys import TriggerKey
from quartzite.testing import FakeClock
from quartzite.triggers.simple import SimpleTrigger
from tests.schedulers import make_scheduler

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    """A clock that gives up soon."""
    return FakeClock(START, patience=timedelta(milliseconds=200))


@pytest.mark.parametrize("start", ["2026-01-01T00:00Z", "2026-01-01T01:00+01:00", START, START.astimezone()], ids=str)
def test_it_starts_at_an_instant(start: datetime | str) -> None:
    """Text and datetimes name the instant, whatever their offset; what it shows is UTC."""
    assert FakeClock(start).now() == START
    assert FakeClock(start).now().tzinfo is UTC


@pytest.mark.parametrize("start", ["2026-01-01T00:00", datetime(2026, 1, 1), "next week"])  # noqa: DTZ001
def test_a_start_without_a_zone_is_refused(start: datetime | str) -> None:
    """A naive instant, or a text that is none, is refused with the reason."""
    with pytest.raises(InvalidValueError, match=r"time zone|no instant"):
        FakeClock(start)


async def test_it_stands_still_by_itself(clock: FakeClock) -> None:
    """Nothing but advancing moves the time."""
    await asyncio.sleep(0)
    assert (clock.now(), clock.monotonic()) == (START, 0.0)


async def test_advance_moves_both_times(clock: FakeClock) -> None:
    """The wall clock and the monotonic seconds move together, by the sum of the parts."""
    await clock.advance(timedelta(hours=1), days=1, minutes=1, seconds=1, milliseconds=1)
    span = timedelta(days=1, hours=1, minutes=1, seconds=1, milliseconds=1)
    assert clock.now() == START + span
    assert clock.monotonic() == span.total_seconds()


async def test_advance_to_an_instant(clock: FakeClock) -> None:
    """Advancing to an instant stops there; one that has passed is refused."""
    await clock.advance_to("2026-01-01T09:00Z")
    assert clock.now() == START + timedelta(hours=9)
    with pytest.raises(InvalidValueError, match="does not go back"):
        await clock.advance_to(START)


async def test_sleepers_wake_in_order_at_their_own_instants(clock: FakeClock) -> None:
    """Each sleeper sees the clock at the instant it slept for, to the microsecond, in the order of these."""
    woken: list[tuple[str, datetime]] = []

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.now()))

    async with asyncio.TaskGroup() as tasks:
        for name, seconds in {"c": 3.0, "a": 0.000001, "b": 0.1}.items():
            tasks.create_task(sleep(name, seconds))
        await clock.advance(seconds=10)
    assert woken == [(name, START + timedelta(seconds=at)) for name, at in [("a", 0.000001), ("b", 0.1), ("c", 3.0)]]


async def test_what_a_sleeper_starts_within_the_span_is_met(clock: FakeClock) -> None:
    """A sleeper that sleeps again and again is woken each time that lies within the span, and not afterwards."""
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            await clock.sleep(1)
            ticks.append(clock.monotonic())

    task = asyncio.create_task(tick())
    await clock.advance(seconds=3.5)
    assert ticks == [1, 2, 3]
    await clock.advance(seconds=0.5)
    assert ticks == [1, 2, 3, 4]
    task.cancel()


async def test_sleeping_for_nothing_gives_one_turn(clock: FakeClock) -> None:
    """A sleep of 0 or less returns without the clock moving."""
    await clock.sleep(0)
    await clock.sleep(-1)
    assert clock.now() == START


async def test_waiting_ends_with_the_event(clock: FakeClock) -> None:
    """A wait that the event ends answers True, at the instant of the event, and leaves no alarm behind."""
    event = asyncio.Event()
    waiting = asyncio.create_task(clock.wait(event, 60))
    await clock.advance(seconds=10)
    assert not waiting.done()
    event.set()
    assert await waiting
    await clock.advance(seconds=100)


async def test_waiting_ends_with_the_time(clock: FakeClock) -> None:
    """A wait that its time ends answers False, and not a moment earlier."""
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), 60))
    await clock.advance(timedelta(seconds=60) - timedelta(microseconds=1))
    assert not waiting.done()
    await clock.advance(timedelta(microseconds=1))
    assert waiting.done()
    assert not await waiting


async def test_waiting_without_time_asks_the_event(clock: FakeClock) -> None:
    """A wait of 0 seconds answers at once whether the event is set."""
    event = asyncio.Event()
    assert not await clock.wait(event, 0)
    event.set()
    assert await clock.wait(event, 0)


async def test_a_cancelled_wait_leaves_nothing_behind(clock: FakeClock) -> None:
    """Cancelling a sleeper or a waiter takes its alarm away."""
    tasks = [asyncio.create_task(clock.sleep(5)), asyncio.create_task(clock.wait(asyncio.Event(), 5))]
    await clock.settle()
    for task in tasks:
        task.cancel()
    assert [type(outcome) for outcome in await asyncio.gather(*tasks, return_exceptions=True)] == [
        asyncio.CancelledError
    ] * 2
    await clock.advance(seconds=10)
    assert not clock._alarms


async def test_chains_of_turns_settle(clock: FakeClock) -> None:
    """A woken task that needs many turns of the event loop has ended when the clock stands still."""
    done: list[int] = []

    async def chain() -> None:
        await clock.sleep(1)
        for turn in range(100):
            await asyncio.sleep(0)
            done.append(turn)

    task = asyncio.create_task(chain())
    await clock.advance(seconds=1)
    assert len(done) == 100
    await task


async def test_busy_threads_settle(clock: FakeClock) -> None:
    """Work that is marked as busy has ended when the clock stands still, though a thread does it."""
    release, done = threading.Event(), []

    async def work() -> None:
        await clock.sleep(1)
        with clock.busy("thread"):
            await asyncio.to_thread(release.wait, 5)
            done.append(clock.now())

    task = asyncio.create_task(work())
    asyncio.get_running_loop().call_later(0.02, release.set)
    await clock.advance(seconds=5)
    assert done == [START + timedelta(seconds=1)]
    await task


async def test_busy_work_that_sleeps_on_the_clock_is_not_busy(clock: FakeClock) -> None:
    """Marked work that waits on the clock itself lets it go on, also when a task within waits for it."""
    ended: list[datetime] = []

    async def work() -> None:
        with clock.busy("job"):
            await clock.sleep(10)
            await asyncio.gather(clock.sleep(10), clock.wait(asyncio.Event(), 5))
            ended.append(clock.now())

    task = asyncio.create_task(work())
    await clock.advance(seconds=30)
    assert ended == [START + timedelta(seconds=20)]
    await task


async def test_work_that_never_ends_is_named(clock: FakeClock) -> None:
    """A clock that can not settle fails after its patience, naming the work and the line where it waits."""
    never = asyncio.Event()

    async def wait_for_ever() -> None:
        with clock.busy("job DEFAULT.digest"):
            await never.wait()

    task = asyncio.create_task(wait_for_ever())
    with pytest.raises(TimeoutError, match=r"job DEFAULT\.digest \(in .* at .*:\d+\)"):
        await clock.advance(seconds=1)
    never.set()
    await task
    await clock.advance(seconds=1)
    assert clock.monotonic() == 1


async def test_busy_work_in_a_thread_is_named(clock: FakeClock) -> None:
    """Work that a thread marked is named with its thread."""
    release, marked = threading.Event(), threading.Event()

    def work() -> None:
        with clock.busy("index"):
            marked.set()
            release.wait(5)

    thread = threading.Thread(target=work, name="indexer")
    thread.start()
    marked.wait(5)
    with pytest.raises(TimeoutError, match=r"index \(in thread indexer\)"):
        await clock.settle()
    release.set()
    thread.join()


async def test_who_only_takes_turns_does_not_stop_the_clock(clock: FakeClock) -> None:
    """A task that polls without end, and is not marked, does not keep the clock from going on."""
    stop = False

    async def poll() -> None:
        while not stop:  # noqa: ASYNC110 - polling is what the test is about
            await asyncio.sleep(0)

    task = asyncio.create_task(poll())
    await clock.advance(seconds=1)
    stop = True
    await task
    assert clock.monotonic() == 1


async def test_jumps_move_the_wall_clock_alone(clock: FakeClock) -> None:
    """Setting and jumping move what the clock shows; sleepers and the monotonic seconds do not notice."""
    task = asyncio.create_task(clock.sleep(10))
    await clock.advance(seconds=1)
    clock.jump(timedelta(days=-1))
    assert clock.now() == START + timedelta(seconds=1, days=-1)
    clock.set("2030-01-01T00:00Z")
    assert clock.now() == datetime(2030, 1, 1, tzinfo=UTC)
    assert clock.monotonic() == 1
    await clock.advance(seconds=8.9)
    assert not task.done()
    await clock.advance(seconds=0.1)
    assert task.done()


async def test_time_does_not_go_back(clock: FakeClock) -> None:
    """Advancing by a negative span is refused, and the message names the way to move the wall clock."""
    with pytest.raises(InvalidValueError, match="jump"):
        await clock.advance(seconds=-1)


async def test_only_one_advances(clock: FakeClock) -> None:
    """A second advance while the first one is under way is refused: their steps would mix."""

    async def advance_again() -> None:
        await clock.sleep(1)
        with pytest.raises(RuntimeError, match="already"):
            await clock.advance(seconds=1)

    task = asyncio.create_task(advance_again())
    await clock.advance(seconds=2)
    await task
    assert clock.monotonic() == 2


async def test_clocks_are_independent(clock: FakeClock) -> None:
    """Advancing one clock wakes none that sleep on another, in the same event loop."""
    other = FakeClock(START)
    here, there = asyncio.create_task(clock.sleep(1)), asyncio.create_task(other.sleep(1))
    await clock.advance(seconds=10)
    assert (here.done(), there.done()) == (True, False)
    await other.advance(seconds=1)
    assert there.done()


async def test_work_of_one_clock_is_not_busy_for_another(clock: FakeClock) -> None:
    """Work that is marked on one clock does not hold the other one."""
    other = FakeClock(START)
    with other.busy("elsewhere"):
        await clock.advance(seconds=1)
    assert clock.monotonic() == 1


async def test_a_sleeper_of_another_event_loop_is_woken(clock: FakeClock) -> None:
    """A task in the event loop of another thread that sleeps on the clock has gone on when it stands still."""
    asleep, woken = threading.Event(), []

    async def sleep() -> None:
        asyncio.get_running_loop().call_soon(asleep.set)
        await clock.sleep(1)
        woken.append(clock.monotonic())

    thread = threading.Thread(target=lambda: asyncio.run(sleep()))
    thread.start()
    await asyncio.to_thread(asleep.wait, 5)
    await clock.advance(seconds=1)
    assert woken == [1]
    thread.join()


async def test_long_spans_stay_exact(clock: FakeClock) -> None:
    """A thousand sleeps of a tenth of a second end exactly when a hundred seconds have passed."""
    moments: list[datetime] = []

    async def tick() -> None:
        for _ in range(1000):
            await clock.sleep(0.1)
            moments.append(clock.now())

    task = asyncio.create_task(tick())
    await clock.advance(seconds=100)
    await task
    assert moments == [START + number * timedelta(milliseconds=100) for number in range(1, 1001)]


async def test_each_of_two_schedulers_is_driven_by_its_own_clock() -> None:
    """Two schedulers in one event loop: advancing the clock of one runs its jobs only, in threads as well."""
    ran: list[str] = []

    def in_thread(context: JobContext) -> None:
        ran.append(context.scheduler.name)

    async def on_loop(context: JobContext) -> None:
        ran.append(context.scheduler.name)

    clocks = {name: FakeClock(START) for name in ("a", "b")}
    schedulers = [make_scheduler(clock, name=name) for name, clock in clocks.items()]
    for scheduler in schedulers:
        for run in (in_thread, on_loop):
            later = SimpleTrigger(key=TriggerKey(run.__name__), start_time=START + timedelta(minutes=1))
            await scheduler.schedule_job(run, later)
        await scheduler.start()
    await clocks["a"].advance(minutes=2)
    assert ran == ["a", "a"]
    await clocks["b"].advance(minutes=2)
    assert ran[2:] == ["b", "b"]
    for scheduler in schedulers:
        await scheduler.shutdown(wait=True)
