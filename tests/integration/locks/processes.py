"""Processes that want a lock, seen from the test that starts them."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.docs.pages import ROOT


class Node:
    """One process of ``tests.integration.locks.node``."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def says(self) -> dict[str, Any]:
        """Return the next thing it says."""
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), 15)
        assert line, "the process ended without a word"
        said: dict[str, Any] = json.loads(line)
        return said

    async def go_on(self) -> None:
        """Give it the line it waits for."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        await self._process.stdin.drain()

    def send(self, what: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(what)

    async def ended(self) -> int:
        """Wait for its end and return the exit code."""
        return await asyncio.wait_for(self._process.wait(), 15)


@asynccontextmanager
async def node(**told: object) -> AsyncIterator[Node]:
    """Start a process, and kill it at the end if it still runs."""
    command = (sys.executable, "-m", "tests.integration.locks.node", json.dumps(told))
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE)
    try:
        yield Node(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()  # closes the pipes
