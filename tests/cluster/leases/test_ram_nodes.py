"""Nodes with schedules in memory that share nothing but leases on Redis: each tick runs once."""

from __future__ import annotations

import asyncio
import math
import signal
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.cluster.leases.processes import Event, Process, processes
from tests.cluster.leases.providers import Place

NODE = "tests.cluster.leases.ram_node"
pytestmark = pytest.mark.timeout(150)


@pytest.fixture
def place(redis_url: str, redis_prefix: str) -> Place:
    """Where the leases are."""
    return Place(url=redis_url, prefix=redis_prefix)


def ticks_from(first: datetime, count: int, period: timedelta) -> list[datetime]:
    """Return the ticks of an interval that is anchored to the epoch, from the first one after an instant."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    number = math.ceil((first - epoch) / period)
    return [epoch + (number + n) * period for n in range(count)]


def instants(nodes: Sequence[Process], kind: str) -> list[datetime]:
    """Return the ticks that nodes told of in events of a kind."""
    return [datetime.fromisoformat(event[kind]) for node in nodes for event in node.events if kind in event]


def is_begin_of(ticks: Sequence[datetime]) -> object:
    """Return the test whether an event is the begin of a run of one of the ticks."""
    texts = {tick.isoformat() for tick in ticks}
    return lambda event: event.get("began") in texts


def skips_of(node: Process, tick: datetime) -> list[Event]:
    """Return what a node told of a tick that it left to another one."""
    return [event for event in node.events if event.get("skipped") == tick.isoformat()]


async def until(instant: datetime) -> None:
    """Wait for an instant in real time."""
    await asyncio.sleep(max(0.0, (instant - datetime.now(UTC)).total_seconds()))


async def test_each_tick_runs_once_though_a_node_is_killed_and_one_is_frozen(place: Place) -> None:
    """Of 200 ticks of 0.2 s each runs once, with clocks 100 ms ahead and behind, a node killed and a node frozen.

    Only a tick that the killed node had claimed may be missing, and both others say that it has it.
    """
    period = timedelta(milliseconds=200)
    arguments = ("--place", str(place), "--period", "200", "--work", "40", "--at-least", "150")
    async with processes() as start:
        ahead, right, behind = nodes = [
            await start(NODE, *arguments, "--id", name, "--skew", skew)
            for name, skew in (("ahead", "100"), ("right", "0"), ("behind", "-100"))
        ]
        await asyncio.gather(*(node.hear(lambda event: "ready" in event) for node in nodes))
        ticks = ticks_from(datetime.now(UTC) + timedelta(seconds=1), 200, period)
        killed_in = await ahead.hear(is_begin_of(ticks[60:]))
        ahead.send(signal.SIGKILL)
        await ahead.ended()
        frozen_in = await right.hear(is_begin_of(ticks[100:]))
        right.send(signal.SIGSTOP)
        await until(ticks[130])
        right.send(signal.SIGCONT)
        await until(ticks[-1] + timedelta(seconds=1))
        for node in (right, behind):
            node.send(signal.SIGTERM)
        assert [await node.ended() for node in (right, behind)] == [0, 0]

    runs = Counter(instants(nodes, "ran"))
    missing = [tick for tick in ticks if not runs[tick]]
    assert [event for node in nodes for event in node.events if "error" in event] == []
    assert {tick: count for tick, count in runs.items() if count > 1} == {}
    assert missing == [datetime.fromisoformat(killed_in["began"])]
    assert [[event["holder"] for event in skips_of(node, missing[0])] for node in (right, behind)] == [
        ["ahead"],
        ["ahead"],
    ]
    frozen = datetime.fromisoformat(frozen_in["began"])
    assert frozen in instants([right], "ran")
    assert [event["holder"] for event in skips_of(behind, frozen)] == ["right"]
    for node in (right, behind):
        counted = next(event["counted"] for event in node.events if "counted" in event)
        assert counted == sum("skipped" in event for event in node.events[: node.events.index({"counted": counted})])
    shares = {
        name: len(instants([node], "ran")) for name, node in zip(("ahead", "right", "behind"), nodes, strict=True)
    }
    assert min(shares.values()) > 20, shares
