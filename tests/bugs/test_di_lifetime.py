"""Faults of other schedulers with injected jobs: scopes that leak, close twice, are shared, or mix containers.

Each test names the report it comes from.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import pytest
from dependency_injector import containers, providers

from quartzite import (
    HolidayCalendar,
    JobContext,
    JobKey,
    JobListener,
    QuartzContainer,
    Scheduler,
    add_quartz,
    every,
    job,
    once,
    per_run,
    running,
)
from quartzite.errors import JobExecutionError
from quartzite.testing import FakeClock

HANDLES = Path("/proc/self/fd")
STATM = Path("/proc/self/statm")


class Ledger:
    """Counts what was opened and closed, and how each run ended."""

    def __init__(self) -> None:
        self.opened: Counter[str] = Counter()
        self.closed: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()


class Session:
    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger


class Connection:
    def __init__(self, handle: int) -> None:
        self.handle = handle


async def open_session(ledger: Ledger) -> AsyncIterator[Session]:
    ledger.opened["async"] += 1
    ending = "ended"
    try:
        yield Session(ledger)
    except BaseException as error:
        ending = type(error).__name__
        raise
    finally:
        ledger.endings[ending] += 1
        ledger.closed["async"] += 1


def open_connection(ledger: Ledger) -> Iterator[Connection]:
    ledger.opened["plain"] += 1
    read, write = os.pipe()
    try:
        yield Connection(read)
    finally:
        os.close(read)
        os.close(write)
        ledger.closed["plain"] += 1


class Orders:
    def __init__(self, session: Session) -> None:
        self.session = session


class Application(containers.DeclarativeContainer):
    ledger = providers.ThreadSafeSingleton(Ledger)
    session = per_run(open_session, ledger)
    connection = per_run(open_connection, ledger)
    orders = providers.Factory(Orders, session)


@job(hard_cancel=True)
class Work:
    """Ends well eight times in ten, raises once, and is cancelled once."""

    def __init__(self, session: Session, connection: Connection) -> None:
        self.session, self.connection = session, connection

    async def execute(self, context: JobContext) -> None:
        number = context.data.get_int("number")
        if number % 10 == 1:
            raise LookupError(number)
        if number % 10 == 2:
            await context.scheduler.interrupt_fire_instance(context.fire_instance_id)
            await asyncio.sleep(0)


async def run_many(scheduler: Scheduler, clock: FakeClock, count: int) -> None:
    for number in range(count):
        await scheduler.trigger_job(JobKey("Work"), {"number": number})
    await clock.settle()


# Where the system does not tell (it is Linux's way), what was opened and closed still counts.
def open_handles() -> int:
    return len(list(HANDLES.iterdir())) if HANDLES.exists() else 0


def resident_memory() -> int:
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if STATM.exists() else 0


@pytest.mark.timeout(120)
async def test_every_scope_is_closed_once(caplog: pytest.LogCaptureFixture) -> None:
    """B059: after 10,000 runs, some of which raised or were cancelled, as much was closed as was opened."""
    caplog.set_level("CRITICAL", logger="quartzite")  # a thousand runs fail on purpose
    clock, application = FakeClock(), Application()
    container = QuartzContainer(application=application)
    add_quartz(container).use_clock(clock).add_job(Work)
    async with running(container):
        await run_many(container.scheduler(), clock, 1000)
        handles, memory = open_handles(), resident_memory()
        for _ in range(9):
            await run_many(container.scheduler(), clock, 1000)
        assert open_handles() == handles
        assert resident_memory() - memory < 10_000_000
    ledger = application.ledger()
    assert ledger.opened == ledger.closed == {"async": 10_000, "plain": 10_000}
    assert ledger.endings == {"ended": 8000, "LookupError": 1000, "CancelledError": 1000}


class Closing:
    """Notes when it is closed."""

    log: ClassVar[list[str]] = []

    def __init__(self) -> None:
        self.label = "own"

    async def execute(self, context: JobContext) -> None:
        self.log.append(f"{self.label} execute")

    async def aclose(self) -> None:
        self.log.append(f"{self.label} closed")

    async def close(self) -> None:
        self.log.append(f"{self.label} closed the other way")


class Shared(Closing):
    def __init__(self) -> None:
        self.label = "shared"


class Watch(JobListener):
    async def job_was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:
        Closing.log.append("was executed")


async def test_a_job_is_closed_once_and_a_shared_one_never() -> None:
    """B060: ``aclose`` is called once per run, after the listeners and before the worker is free again."""

    class WithShared(containers.DeclarativeContainer):
        shared = providers.ThreadSafeSingleton(Shared)

    Closing.log.clear()
    clock = FakeClock()
    container = QuartzContainer(application=WithShared())
    builder = add_quartz(container).use_clock(clock).use_workers(1).add_job_listener(Watch)
    builder.schedule(Closing, once(), key="a").schedule(Closing, once(), key="b").schedule(Shared, once(), key="c")
    async with running(container):
        await clock.settle()
    one_run = ["own execute", "was executed", "own closed"]
    assert Closing.log == [*one_run, *one_run, "shared execute", "was executed"]


async def test_overlapping_runs_have_sessions_of_their_own() -> None:
    """B061: three overlapping runs, three sessions; within a run services, tasks and threads see the same one."""
    seen: dict[str, set[Session]] = {}
    together = asyncio.Barrier(3)

    async def first(context: JobContext, orders: Orders, again: Orders, session: Session) -> None:
        own = seen.setdefault(context.fire_instance_id, set())
        own |= {orders.session, again.session, session}
        await together.wait()
        own.add((await asyncio.create_task(ask())).session)
        own.add((await asyncio.to_thread(application.orders)).session)

    async def ask() -> Orders:
        return application.orders()

    async def second(context: JobContext, session: Session) -> None:
        seen.setdefault(context.fire_instance_id, set()).add(session)
        await together.wait()

    clock, application = FakeClock(), Application()
    container = QuartzContainer(application=application)
    builder = add_quartz(container).use_clock(clock).schedule(first, once()).schedule(second, once())
    builder.add_trigger(once(), job=first, key="again")
    async with running(container):
        await clock.settle()
    assert [len(sessions) for sessions in seen.values()] == [1, 1, 1]
    assert len(set.union(*seen.values())) == 3


async def test_the_first_use_from_everywhere_builds_one_of_each() -> None:
    """B062: fifty threads and fifty tasks that ask for the scheduler and its store at once get the same ones."""
    container = QuartzContainer()
    parts = add_quartz(container).parts
    ready = threading.Barrier(50)

    def resolve() -> tuple[object, object]:
        return parts.scheduler(), parts.job_store()

    def resolve_together() -> tuple[object, object]:
        ready.wait()
        return resolve()

    async def in_a_task() -> tuple[object, object]:
        return resolve()

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(50) as pool:
        threads = [loop.run_in_executor(pool, resolve_together) for _ in range(50)]
        tasks = [asyncio.create_task(in_a_task()) for _ in range(50)]
        found = await asyncio.gather(*threads, *tasks)
    assert len(set(found)) == 1
    async with running(container):
        assert (container.scheduler(), parts.job_store()) == found[0]


async def test_two_containers_of_one_process_do_not_meet() -> None:
    """B063: schedulers of the same name in two containers run side by side; the end of one leaves the other alone."""
    clock = FakeClock()
    ran: list[str] = []
    one, other = (container_of("reports", clock, ran, label) for label in ("one", "other"))
    async with running(one):
        async with running(other):
            assert one.scheduler("reports") is not other.scheduler("reports")
            await clock.settle()
        assert other.schedulers().is_running is False
        assert one.scheduler("reports").is_started
        await clock.advance(hours=1)
    assert Counter(ran) == {"one": 2, "other": 1}


def container_of(name: str, clock: FakeClock, ran: list[str], label: str) -> QuartzContainer:
    async def note(context: JobContext) -> None:
        ran.append(label)

    container = QuartzContainer()
    add_quartz(container, name).use_clock(clock).schedule(note, every(hours=1))
    return container


def test_containers_in_threads_do_not_meet() -> None:
    """B063: eight threads, each with a container and a scheduler of the same name."""
    together = threading.Barrier(8)

    def run_one(number: int) -> list[str]:
        return asyncio.run(run_alone(number))

    async def run_alone(number: int) -> list[str]:
        clock = FakeClock()
        ran: list[str] = []
        container = container_of("reports", clock, ran, str(number))
        async with running(container):
            together.wait(timeout=10)
            await clock.advance(hours=3)
            assert container.scheduler("reports").clock is clock
        return ran

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run_one, range(8)))
    assert results == [[str(number)] * 4 for number in range(8)]


async def test_two_schedulers_keep_everything_apart() -> None:
    """B064: each has its own store, listeners, calendars, settings and jobs, and the end of one is its own."""
    clock = FakeClock()
    ran: list[tuple[str, str]] = []

    async def local_job(context: JobContext) -> None:
        ran.append(("local_job", context.scheduler.name))

    async def cluster_job(context: JobContext) -> None:
        ran.append(("cluster_job", context.scheduler.name))

    container = QuartzContainer()
    container.clock.override(clock)
    local = add_quartz(container, "local").configure(max_batch_size=1).add_job_listener(Watch)
    local.add_calendar("holidays", HolidayCalendar()).schedule(local_job, every(hours=1), calendar_name="holidays")
    add_quartz(container, "cluster").configure(max_batch_size=2).schedule(cluster_job, every(hours=1))
    async with running(container):
        await clock.settle()
        first, second = container.scheduler("local"), container.scheduler("cluster")
        assert [await one.check_exists(JobKey("local_job")) for one in (first, second)] == [True, False]
        assert [await one.get_calendar_names() for one in (first, second)] == [["holidays"], []]
        assert [len(one.listener_manager.get_job_listeners()) for one in (first, second)] == [1, 0]
        assert [parts.settings().max_batch_size for parts in container.schedulers().values()] == [1, 2]
        await first.shutdown(wait=True)
        await clock.advance(hours=1)
        assert second.is_started
    assert sorted(ran) == [("cluster_job", "cluster"), ("cluster_job", "cluster"), ("local_job", "local")]
