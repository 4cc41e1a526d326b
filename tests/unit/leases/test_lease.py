"""A lease tells its holder when it is lost."""

from __future__ import annotations

from quartzite.leases import InMemoryLockProvider, Lease
from quartzite.testing import FakeClock
from tests.unit.leases.values import asked


async def a_lease() -> Lease:
    """Return a lease that was taken."""
    lease = await InMemoryLockProvider(clock=FakeClock(), holder="one").lock(asked())
    assert lease is not None
    return lease


async def test_everybody_who_asked_is_told_once() -> None:
    """The first reason goes to all who want to know, once, and stays."""
    lease = await a_lease()
    told: list[str] = []
    lease.when_lost(told.append)
    lease.when_lost(told.append)
    lease.lose("the server is gone")
    lease.lose("something else")
    assert (told, lease.lost.reason) == (["the server is gone"] * 2, "the server is gone")


async def test_who_asks_late_is_told_at_once() -> None:
    """A lease that is lost already says so to whoever asks then."""
    lease = await a_lease()
    lease.lose("the server is gone")
    told: list[str] = []
    lease.when_lost(told.append)
    assert told == ["the server is gone"]


async def test_it_can_be_told_apart_in_a_log() -> None:
    """A lease shows its name, its holder and its token."""
    lease = await a_lease()
    assert repr(lease) == f"Lease('lock', holder='one', token={lease.token})"
