"""Leases that are kept alive on real servers: through a blocked event loop, and until the server is gone."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest

from quartzite import JobContext, QuartzContainer, add_quartz, every, job, running
from quartzite.clock import SystemClock
from quartzite.engine.heartbeat import SchedulerHeartbeat
from quartzite.leases import (
    KeepAliveLockProvider,
    Lease,
    LockConfiguration,
    LockProvider,
    RedisLockProvider,
    SqlLockProvider,
    current_lease,
)
from tests.cluster.leases.providers import Place
from tests.servers import PrivateRedis

AT_MOST = timedelta(seconds=0.8)
pytestmark = pytest.mark.timeout(60)


@asynccontextmanager
async def kept_alive(provider: LockProvider) -> AsyncIterator[KeepAliveLockProvider]:
    """Keep the leases of a provider alive for as long as the block lasts."""
    clock = SystemClock()
    heartbeat = SchedulerHeartbeat(clock=clock, name="test")
    keeping = KeepAliveLockProvider(
        provider, heartbeat=heartbeat, clock=clock, minimum_at_most_for=timedelta(milliseconds=1)
    )
    try:
        yield keeping
    finally:
        await keeping.close()
        await heartbeat.close()


class Rival:
    """Another node, in a thread of its own, that asks for a lock again and again.

    Attributes:
        asked: How often it asked.
        granted: What it was granted.
    """

    def __init__(self, place: Place, asked: LockConfiguration) -> None:
        self.asked = 0
        self.granted: list[Lease] = []
        self._place = place
        self._configuration = asked
        self._stop = Event()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask for as long as the block lasts."""
        thread = Thread(target=lambda: asyncio.run(self._ask()))
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    async def _ask(self) -> None:
        provider = self._place.provider("rival")
        while not self._stop.is_set():
            lease = await provider.lock(self._configuration)
            self.asked += 1
            self.granted += [] if lease is None else [lease]
            await asyncio.sleep(0.02)
        await provider.close()


async def block_half_of_the_time(seconds: float, part: float) -> None:
    """Work for some seconds, and let nobody else use the event loop half of the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(part)  # noqa: ASYNC251 - that is what the test is about
        await asyncio.sleep(part)


class KeepAlive:
    """The tests; a subclass says where the leases are."""

    @pytest.fixture
    def place(self) -> Place:
        """Where the leases are: to be overridden."""
        raise NotImplementedError

    async def test_a_blocked_event_loop_keeps_its_lease(self, place: Place) -> None:
        """Work of 3 times the at-most time is alone, though it blocks the event loop half of the time."""
        asked = LockConfiguration(name="work", lock_at_most_for=AT_MOST)
        provider = place.provider("worker")
        if isinstance(provider, SqlLockProvider):
            await provider.create_table()
        rival = Rival(place, asked)
        async with kept_alive(provider) as keeping:
            lease = await keeping.lock(asked)
            assert lease is not None
            with rival.asking():
                # Longer than the at-most time at a stretch: the event loop could not extend the lease by itself.
                await block_half_of_the_time(3 * AT_MOST.total_seconds(), 1.2 * AT_MOST.total_seconds())
            assert (rival.granted, rival.asked > 10, lease.lost.reason) == ([], True, None)
            assert await lease.unlock()
            assert await keeping.lock(asked)


class TestSqlite(KeepAlive):
    """On a SQLite file."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        """Where the leases are."""
        return Place(url=f"sqlite:///{tmp_path / 'leases.db'}")


class TestPostgresql(KeepAlive):
    """On PostgreSQL."""

    @pytest.fixture
    def place(self, postgresql_url: str, postgresql_schema: str) -> Place:
        """Where the leases are."""
        return Place(url=postgresql_url, schema=postgresql_schema)


class TestMariaDb(KeepAlive):
    """On MariaDB."""

    @pytest.fixture
    def place(self, mariadb_database: str) -> Place:
        """Where the leases are."""
        return Place(url=mariadb_database)


class TestRedis(KeepAlive):
    """On Redis, where a scheduler is tried as well."""

    @pytest.fixture
    def place(self, redis_url: str, redis_prefix: str) -> Place:
        """Where the leases are."""
        return Place(url=redis_url, prefix=redis_prefix)

    @pytest.mark.parametrize("blocking", [False, True], ids=["on the loop", "in a thread"])
    async def test_a_long_job_runs_alone(self, place: Place, blocking: bool) -> None:
        """A job that must not overlap runs for 3 times its at-most time while another node gets none of its ticks."""
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        reasons: list[str | None] = []
        rival = Rival(place, LockConfiguration(name="unused", lock_at_most_for=AT_MOST))

        def note(context: JobContext) -> None:
            reasons.append(context.cancellation_token.reason)
            loop.call_soon_threadsafe(ended.set)

        def claim_later(context: JobContext) -> None:
            rival._configuration = LockConfiguration(
                name="default/DEFAULT/long",
                lock_at_most_for=AT_MOST,
                tick=context.scheduled_fire_time + timedelta(days=1),
                exclusive=True,
            )

        @job(disallow_concurrent_execution=True)
        async def long_on_the_loop(context: JobContext) -> None:
            if reasons:
                return
            claim_later(context)
            with rival.asking():
                await block_half_of_the_time(3 * AT_MOST.total_seconds(), 1.2 * AT_MOST.total_seconds())
            note(context)

        @job(disallow_concurrent_execution=True)
        def long_in_a_thread(context: JobContext) -> None:
            if reasons:
                return
            claim_later(context)
            with rival.asking():
                time.sleep(3 * AT_MOST.total_seconds())
            note(context)

        work = long_in_a_thread if blocking else long_on_the_loop
        container = QuartzContainer()
        add_quartz(container).use_job_locks(place.provider("worker"), default_at_most_for=AT_MOST).schedule(
            work, every(seconds=1), key="long"
        )
        async with running(container):
            await asyncio.wait_for(ended.wait(), 20)
        assert (rival.granted, rival.asked > 10, reasons[0]) == ([], True, None)

    @pytest.mark.parametrize("how", ["stopped", "frozen"])
    async def test_a_job_is_told_before_its_lease_ends(self, private_redis: PrivateRedis, how: str) -> None:
        """When the server is gone or does not answer, the job is told the reason while its lease lasts."""
        told: list[tuple[str, float]] = []
        began, over = asyncio.Event(), asyncio.Event()
        clock = SystemClock()

        @job(disallow_concurrent_execution=True)
        async def work(context: JobContext) -> None:
            if began.is_set():  # a later tick, when the server is back
                return
            lease = current_lease()
            assert lease is not None
            began.set()
            reason = await context.cancellation_token.wait()
            told.append((reason, lease.deadline - clock.monotonic()))
            over.set()

        container = QuartzContainer()
        add_quartz(container).use_job_locks(
            RedisLockProvider(private_redis.url, clock=clock), default_at_most_for=timedelta(seconds=2)
        ).schedule(work, every(seconds=1))
        async with running(container):
            await asyncio.wait_for(began.wait(), 10)
            with gone(private_redis, how):
                await asyncio.wait_for(over.wait(), 10)
        [(reason, left)] = told
        assert "could not be extended in time" in reason
        assert 0 < left < 2

    async def test_a_killed_lease_is_told_at_once(self, redis_url: str, redis_prefix: str) -> None:
        """Work whose lease was taken away is told with the next extension, not only when its time is over."""
        provider = RedisLockProvider(redis_url, clock=SystemClock(), key_prefix=redis_prefix)
        async with kept_alive(provider) as keeping:
            lease = await keeping.lock(LockConfiguration(name="work", lock_at_most_for=AT_MOST))
            assert lease is not None
            await provider._client.delete(f"{redis_prefix}work")
            reason = await asyncio.wait_for(lease.lost.wait(), 5)
            assert "somebody else may have it" in reason
            assert lease.deadline > SystemClock().monotonic()


@contextmanager
def gone(server: PrivateRedis, how: str) -> Iterator[None]:
    """Stop or freeze a server for as long as the block lasts."""
    if how == "stopped":
        server.stop()
        try:
            yield
        finally:
            server.start()
        return
    assert server._process is not None
    server._process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server._process.send_signal(signal.SIGCONT)
