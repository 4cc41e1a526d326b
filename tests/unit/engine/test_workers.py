"""AsyncWorkerPool: bounded concurrency, threads on demand, an end that can be waited for."""

import asyncio
import threading
from contextvars import ContextVar
from datetime import timedelta

import pytest

from quartzite.clock import SystemClock
from quartzite.engine.own_task import own_task
from quartzite.engine.workers import AsyncWorkerPool
from quartzite.errors import InvalidValueError
from quartzite.testing import FakeClock

tenant: ContextVar[str] = ContextVar("tenant", default="none")


def make_pool(max_concurrency: int = 2) -> AsyncWorkerPool:
    """Return a pool on the machine's clock."""
    return AsyncWorkerPool(max_concurrency=max_concurrency, clock=SystemClock())


async def test_no_more_than_the_limit_run_at_once() -> None:
    """A full pool takes no work, and counts its free workers down and up."""
    pool, release = make_pool(2), asyncio.Event()

    async def work() -> None:
        await release.wait()

    assert await pool.wait_for_available() == 2
    assert pool.try_run(work)
    assert await pool.wait_for_available() == 1
    assert pool.try_run(work)
    assert not pool.try_run(work)
    release.set()
    await pool.shutdown()
    assert pool.size == 2


async def test_work_never_runs_in_the_caller() -> None:
    """Handing over starts nothing before the caller gives the event loop a turn."""
    pool, ran = make_pool(), []

    async def work() -> None:
        ran.append(True)

    assert pool.try_run(work)
    assert ran == []
    await asyncio.sleep(0)
    assert ran == [True]
    await pool.shutdown()


async def test_waiting_for_a_worker_ends_with_the_first_that_is_free() -> None:
    """Who waits for a worker goes on when one is free."""
    pool, release = make_pool(1), asyncio.Event()

    async def work() -> None:
        await release.wait()

    pool.try_run(work)
    waiting = asyncio.create_task(pool.wait_for_available())
    await asyncio.sleep(0)
    assert not waiting.done()
    release.set()
    assert await waiting == 1
    await pool.shutdown()


async def test_an_error_frees_the_worker(caplog: pytest.LogCaptureFixture) -> None:
    """An error that escapes from the work is logged, and its worker is free again."""
    pool = make_pool(1)

    async def work() -> None:
        raise RuntimeError("boom")

    pool.try_run(work)
    await asyncio.sleep(0)
    assert await pool.wait_for_available() == 1
    assert "boom" in caplog.text
    await pool.shutdown()


async def test_a_pool_that_was_shut_down_takes_nothing() -> None:
    """After the shutdown work is refused, and who waits for a worker is told 0."""
    pool, release = make_pool(1), asyncio.Event()

    async def work() -> None:
        await release.wait()

    pool.try_run(work)
    waiting = asyncio.create_task(pool.wait_for_available())
    await asyncio.sleep(0)
    assert await pool.shutdown(wait=False) == 1
    assert await waiting == 0
    assert await pool.wait_for_available() == 0
    assert not pool.try_run(work)
    release.set()
    assert await pool.shutdown() == 0


async def test_shutdown_waits_no_longer_than_told() -> None:
    """The time limit is measured by the clock, and what still runs is counted."""
    clock = FakeClock()
    pool, release = AsyncWorkerPool(max_concurrency=2, clock=clock), asyncio.Event()

    async def work() -> None:
        await release.wait()

    pool.try_run(work)
    closing = asyncio.create_task(pool.shutdown(timeout=timedelta(seconds=5)))
    await clock.advance(seconds=4)
    assert not closing.done()
    await clock.advance(seconds=1)
    assert await closing == 1
    release.set()
    assert await pool.shutdown() == 0


async def test_shutdown_from_inside_does_not_wait_for_itself() -> None:
    """Work that shuts its pool down waits for the others only, and is not counted."""
    pool, release, left = make_pool(2), asyncio.Event(), []

    async def other() -> None:
        await release.wait()

    async def closing() -> None:
        own_task.set((pool, asyncio.current_task()))
        left.append(await pool.shutdown())

    pool.try_run(other)
    pool.try_run(closing)
    await asyncio.sleep(0)
    assert left == []
    release.set()
    assert await pool.shutdown() == 0
    assert left == [0]


async def test_blocking_work_runs_in_a_thread_with_its_context() -> None:
    """A call runs in another thread, sees the context variables of the caller, and returns its result."""
    pool = make_pool()
    tenant.set("blue")
    seen = await pool.call_in_thread(lambda: (tenant.get(), threading.current_thread() is threading.main_thread()))
    assert seen == ("blue", False)
    await pool.shutdown()


async def test_an_error_comes_out_of_the_thread() -> None:
    """What the call raises is raised to the caller; StopIteration, which no future takes, as a RuntimeError."""
    pool = make_pool()

    def fail() -> None:
        raise KeyError("missing")

    def stop() -> None:
        raise StopIteration

    with pytest.raises(KeyError, match="missing"):
        await pool.call_in_thread(fail)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await pool.call_in_thread(stop)
    await pool.shutdown()


async def test_threads_are_made_on_demand_and_used_again() -> None:
    """Calls one after the other share a thread; calls side by side get one each, up to the limit."""
    pool, barrier = make_pool(3), threading.Barrier(3)
    one_by_one = {await pool.call_in_thread(threading.get_ident) for _ in range(5)}
    assert len(one_by_one) == 1

    def meet() -> int:
        barrier.wait(5)
        return threading.get_ident()

    side_by_side = await asyncio.gather(*(pool.call_in_thread(meet) for _ in range(3)))
    assert len(set(side_by_side)) == 3
    await pool.shutdown()


async def test_threads_end_with_the_pool() -> None:
    """No thread of the pool is left after the shutdown."""
    pool = AsyncWorkerPool(max_concurrency=2, clock=SystemClock(), name="ending-pool")
    await asyncio.gather(*(pool.call_in_thread(threading.get_ident) for _ in range(2)))
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("ending-pool")]
    assert threads
    await pool.shutdown()
    for thread in threads:
        await asyncio.to_thread(thread.join, 5)
    assert not any(thread.is_alive() for thread in threads)


async def test_work_that_runs_may_still_use_threads_after_shutdown() -> None:
    """A firing that was begun before the shutdown may end in its own way, threads included."""
    pool, release, done = make_pool(), asyncio.Event(), []

    async def work() -> None:
        await release.wait()
        done.append(await pool.call_in_thread(lambda: "thread"))

    pool.try_run(work)
    await asyncio.sleep(0)
    await pool.shutdown(wait=False)
    release.set()
    await pool.shutdown()
    assert done == ["thread"]


def test_threads_do_not_outlive_their_event_loop() -> None:
    """A thread whose event loop was closed meanwhile ends without an error."""
    release = threading.Event()

    async def leave() -> list[threading.Thread]:
        pool = AsyncWorkerPool(max_concurrency=1, clock=SystemClock(), name="orphan")
        pool.try_run(lambda: pool.call_in_thread(lambda: release.wait(5)))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await pool.shutdown(wait=False)
        return [thread for thread in threading.enumerate() if thread.name.startswith("orphan")]

    threads = asyncio.run(leave())
    release.set()
    assert all(thread.daemon for thread in threads)
    assert len(threads) == 1


@pytest.mark.parametrize("max_concurrency", [0, -1])
def test_a_pool_without_workers_is_refused(max_concurrency: int) -> None:
    """At least one firing must be able to run."""
    with pytest.raises(InvalidValueError, match="at least 1"):
        make_pool(max_concurrency)
