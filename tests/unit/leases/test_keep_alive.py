"""Leases that are kept alive, on a fake clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from quartzite.engine.heartbeat import SchedulerHeartbeat
from quartzite.errors import InvalidValueError, LockError
from quartzite.leases import InMemoryLockProvider, KeepAliveLockProvider, Lease
from quartzite.testing import FakeClock
from tests.unit.leases.values import MINUTE, TICK, FailingProvider, asked

HOUR = timedelta(hours=1)


class World:
    """One node that keeps its leases alive, and another one that wants them.

    Attributes:
        clock: Their time.
        provider: What grants the leases of the first node, and fails when it is told to.
        keeping: The same, with leases that are kept alive.
        other: The other node.
    """

    def __init__(self) -> None:
        self.clock = FakeClock()
        shared = InMemoryLockProvider(clock=self.clock, holder="one")
        self.provider = FailingProvider(shared)
        self.heartbeat = SchedulerHeartbeat(clock=self.clock)
        self.keeping = KeepAliveLockProvider(self.provider, heartbeat=self.heartbeat, clock=self.clock)
        self.other = shared.as_node("two")

    async def lease(self, **fields: object) -> Lease:
        """Take the lock."""
        lease = await self.keeping.lock(asked(**fields))  # type: ignore[arg-type]
        assert lease is not None
        return lease


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """Two nodes."""
    made = World()
    yield made
    await made.keeping.close()
    await made.heartbeat.close()


async def test_a_lease_lasts_until_it_is_released(world: World) -> None:
    """A lease of a minute is held for an hour, extended twice a minute, and free after its release."""
    lease = await world.lease()
    await world.clock.advance(HOUR)
    assert await world.other.lock(asked()) is None
    assert world.provider.calls.count("prolong") == 120
    assert await lease.unlock()
    assert await world.other.lock(asked())
    await world.clock.advance(HOUR)
    assert world.provider.calls.count("prolong") == 120


async def test_the_at_least_time_is_not_extended(world: World) -> None:
    """Extensions keep the at-least time where it was: a lease that is released later is free at once."""
    early = await world.lease(lock_at_least_for=timedelta(seconds=50))
    await world.clock.advance(seconds=40)
    await early.unlock()
    assert await world.other.lock(asked()) is None
    await world.clock.advance(seconds=10)
    lease = await world.lease(lock_at_least_for=timedelta(seconds=50))
    await world.clock.advance(seconds=70)
    await lease.unlock()
    assert await world.other.lock(asked())


async def test_an_extension_that_fails_is_tried_again(world: World) -> None:
    """A short failure costs nothing: the next try comes after half of the time that is left for it."""
    lease = await world.lease()
    world.provider.fails = {"prolong"}
    await world.clock.advance(seconds=40)
    world.provider.fails = set()
    await world.clock.advance(HOUR)
    assert not lease.lost.is_set
    assert await world.other.lock(asked()) is None


async def test_the_holder_is_told_before_the_lease_ends(world: World) -> None:
    """When it can not be extended its holder is told why, when a fifth of the time is left and the lease is its own."""
    lease = await world.lease()
    told: list[float] = []
    lease.when_lost(lambda _: told.append(lease.deadline - world.clock.monotonic()))
    world.provider.fails = {"prolong"}
    await world.clock.advance(seconds=47)
    assert told == []
    await world.clock.advance(seconds=2)
    assert told == [pytest.approx(12, abs=0.05)]
    assert "the network is gone" in (lease.lost.reason or "")
    assert await world.other.lock(asked()) is None
    assert world.provider.calls.count("prolong") > 5


async def test_a_provider_that_does_not_answer_is_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extension that hangs is given up in time to tell the holder."""
    ended: list[str] = []

    async def hang(*_: object) -> bool:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return True

    monkeypatch.setattr(world.provider, "prolong", hang)
    lease = await world.lease()
    task = asyncio.ensure_future(lease.lost.wait())
    for _ in range(60):
        # Its call hangs within marked work, which waits on the clock meanwhile, so that the clock goes on.
        await world.clock.advance(seconds=1)
    assert "did not answer" in await task
    assert ended == ["cancelled"]


async def test_the_holder_is_told_at_once_when_somebody_else_has_the_lease(world: World) -> None:
    """After a pause that outlasted the lease, the next extension finds that it is gone and says so."""
    lease = await world.lease()
    world.provider._inner._records.clear()
    await world.clock.advance(seconds=31)
    assert "somebody else may have it" in (lease.lost.reason or "")
    assert world.provider.calls.count("prolong") == 1


async def test_what_the_holder_extends_is_not_shortened(world: World) -> None:
    """An extension by the holder is respected: the next one comes when half of the at-most time is left."""
    lease = await world.lease()
    assert await lease.extend(HOUR)
    await world.clock.advance(minutes=59)
    assert world.provider.calls.count("prolong") == 1
    await world.clock.advance(minutes=2)
    assert world.provider.calls.count("prolong") > 1
    assert await world.other.lock(asked()) is None


async def test_a_tick_beside_which_later_ones_may_run_needs_no_extension(world: World) -> None:
    """A tick that was claimed is nobody else's for ever, so only one that keeps others waiting is kept alive."""
    beside = await world.keeping.lock(asked("beside", tick=TICK))
    alone = await world.keeping.lock(asked("alone", tick=TICK, exclusive=True))
    assert beside
    assert alone
    await world.clock.advance(minutes=10)
    assert world.provider.calls.count("prolong") == 20
    assert await world.other.lock(asked("beside", tick=TICK)) is None
    later = asked("alone", tick=TICK + MINUTE, exclusive=True)
    assert await world.other.lock(later) is None


async def test_a_short_at_most_time_is_refused(world: World) -> None:
    """Below the minimum, 30 seconds unless another is given, there is no room for an extension that is late."""
    with pytest.raises(InvalidValueError, match="at least 0:00:30"):
        await world.keeping.lock(asked(lock_at_most_for=timedelta(seconds=29)))
    assert world.provider.calls == []
    brave = KeepAliveLockProvider(
        world.provider, heartbeat=world.heartbeat, clock=world.clock, minimum_at_most_for=timedelta(seconds=1)
    )
    assert await brave.lock(asked("brave", lock_at_most_for=timedelta(seconds=1)))
    await brave.close()


async def test_a_refusal_and_a_failure_keep_nothing(world: World) -> None:
    """What was not granted is not extended; who holds it can be asked."""
    await world.other.lock(asked(lock_at_most_for=HOUR))
    assert await world.keeping.lock(asked()) is None
    info = await world.keeping.holder("lock")
    assert info is not None
    assert info.holder == "two"
    world.provider.fails = {"lock"}
    with pytest.raises(LockError):
        await world.keeping.lock(asked("other"))
    await world.clock.advance(minutes=5)
    assert "prolong" not in world.provider.calls


async def test_closing_tells_the_holders(world: World) -> None:
    """Who still holds a lease when its provider is closed learns that nobody keeps it alive any more."""
    lease = await world.lease()
    await world.keeping.close()
    assert "closed" in (lease.lost.reason or "")
    assert world.provider.closed == 1
