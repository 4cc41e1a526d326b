"""The example of the guide runs, and sends each event once."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.cluster.leases.processes import ROOT

SERVICE = ROOT / "examples" / "outbox" / "service.py"
pytestmark = pytest.mark.timeout(90)


async def started(node: str, *arguments: str) -> asyncio.subprocess.Process:
    """Start a node of the service."""
    return await asyncio.create_subprocess_exec(
        sys.executable, str(SERVICE), "--node", node, *arguments, stdout=asyncio.subprocess.DEVNULL
    )


def lines_of(topic: Path) -> list[str]:
    """Return what was sent so far."""
    return topic.read_text().splitlines() if topic.exists() else []


async def sent(topic: Path, wanted: int) -> list[tuple[int, str]]:
    """Wait until so many events were sent; return their numbers and the nodes that sent them."""
    async with asyncio.timeout(30):
        while True:
            lines = lines_of(topic)
            if len(lines) >= wanted:
                return [(int(line.split()[0]), line.split()[1]) for line in lines]
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("where", ["redis", "sqlite"])
async def test_the_outbox_sends_each_event_once(where: str, tmp_path: Path, redis_url: str, redis_prefix: str) -> None:
    """Two nodes send every event once and in order; when one is stopped, the other goes on."""
    topic = tmp_path / "topic"
    arguments = ["--database", str(tmp_path / "outbox.db"), "--topic", str(topic)]
    if where == "redis":
        arguments += ["--redis", redis_url, "--prefix", redis_prefix]
    nodes = [await started(name, *arguments) for name in "ab"]
    try:
        await sent(topic, 8)
        nodes[0].send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(nodes[0].wait(), 20) == 0
        before = len(await sent(topic, 0))
        events = await sent(topic, before + 4)
        nodes[1].send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(nodes[1].wait(), 20) == 0
    finally:
        for node in nodes:
            if node.returncode is None:
                node.kill()
                await node.wait()
    assert [number for number, _ in events] == list(range(1, len(events) + 1))
    assert {node for _, node in events[before:]} == {"b"}
