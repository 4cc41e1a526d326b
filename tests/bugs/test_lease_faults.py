"""Leases that ended too early, were freed by others, or followed wrong clocks (B033, B072, B073). Times are a tenth."""

from __future__ import annotations

import asyncio
import signal
import time
from datetime import timedelta

import pytest

from quartzite import JobContext, QuartzContainer, SchedulerBuilder, add_quartz, every, job, once, running
from quartzite.clock import SystemClock
from quartzite.engine.heartbeat import SchedulerHeartbeat
from quartzite.leases import InMemoryLockProvider, KeepAliveLockProvider, LockConfiguration
from tests.cluster.leases.processes import processes
from tests.cluster.leases.providers import Place
from tests.unit.leases.nodes import Node, Nodes


async def test_b033_a_blocked_event_loop_loses_no_lease() -> None:
    """Beside a job that blocks the event loop, a job that waits runs once, though its lease is much shorter."""
    runs: list[str] = []
    reasons: list[str | None] = []
    over = asyncio.Event()

    @job(disallow_concurrent_execution=True)
    async def waits(context: JobContext) -> None:
        runs.append("waits")
        await asyncio.sleep(0.6)
        reasons.append(context.cancellation_token.reason)
        over.set()

    async def blocks() -> None:
        runs.append("blocks")
        time.sleep(0.6)  # noqa: ASYNC251 - that is the fault

    container = QuartzContainer()
    add_quartz(container).use_job_locks(
        InMemoryLockProvider(clock=SystemClock()), default_at_most_for=timedelta(milliseconds=200)
    ).schedule(waits, once()).schedule(blocks, once())
    async with running(container):
        await asyncio.wait_for(over.wait(), 10)
    assert (sorted(runs), reasons) == (["blocks", "waits"], [None])


async def test_b072_a_lease_is_held_for_ten_times_its_length(redis_url: str, redis_prefix: str) -> None:
    """With keep-alive a lease of 0.3 s is held for 3 s of work."""
    place, clock = Place(url=redis_url, prefix=redis_prefix), SystemClock()
    asked = LockConfiguration(name="lock", lock_at_most_for=timedelta(milliseconds=300))
    heartbeat = SchedulerHeartbeat(clock=clock)
    keeping = KeepAliveLockProvider(
        place.provider("one"), heartbeat=heartbeat, clock=clock, minimum_at_most_for=timedelta(milliseconds=1)
    )
    other = place.provider("two")
    lease = await keeping.lock(asked)
    assert lease is not None
    end = clock.monotonic() + 3
    while clock.monotonic() < end:
        assert await other.lock(asked) is None
        await asyncio.sleep(0.01)
    assert await lease.unlock()
    for closing in (keeping, other, heartbeat):
        await closing.close()


@pytest.mark.timeout(60)
async def test_b072_a_frozen_holder_frees_nothing_of_the_next_one(redis_url: str, redis_prefix: str) -> None:
    """Awake again, the former holder learns that its lease is over before it commits; the next one keeps its own."""
    place = Place(url=redis_url, prefix=redis_prefix)
    provider = place.provider("two")
    async with processes() as start:
        holder = await start(
            "tests.cluster.leases.contender", "--place", str(place), "--id", "one", "--at-most", "0.5", "--commit"
        )
        await holder.hear(lambda event: "held" in event)
        holder.send(signal.SIGSTOP)
        asked = LockConfiguration(name="lock", lock_at_most_for=timedelta(seconds=30))
        lease = None
        async with asyncio.timeout(10):
            while lease is None:
                await asyncio.sleep(0.02)
                lease = await provider.lock(asked)
        before = await provider.holder("lock")
        holder.send(signal.SIGCONT)
        assert await holder.ended() == 0
    said = [event for event in holder.events if "held" not in event]
    assert said == [{"committed": False, "reason": said[0]["reason"]}, {"done": True}]
    assert "lock_at_most_for" in said[0]["reason"]
    assert await provider.holder("lock") == before
    assert await lease.unlock()
    await provider.close()


async def test_b073_clocks_that_are_minutes_apart_run_no_tick_twice() -> None:
    """A job of 5 ms that is locked for 2 s at least runs once per tick over 50 ticks, with clocks 90 s apart."""
    nodes = Nodes(2, skews=(timedelta(0), timedelta(seconds=-90)))

    def declare(builder: SchedulerBuilder, node: Node) -> None:
        async def work(context: JobContext) -> None:
            node.note(context)
            await nodes.clock.sleep(0.005)

        builder.schedule(work, every(seconds=5), key="work")

    async with nodes.running(
        declare, default_at_most_for=timedelta(seconds=3), default_at_least_for=timedelta(seconds=2)
    ):
        await nodes.clock.advance(seconds=250)
    ran = nodes.ran()
    assert nodes[0].runs == nodes.ticks(*range(5, 255, 5))
    assert [tick for tick in ran if tick >= nodes.ticks(0)[0]] == nodes[0].runs[: len(ran)]
    assert len(nodes[1].skips) >= 30
