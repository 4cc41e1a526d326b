"""Processes that a test starts, hears, freezes and kills."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
PATIENCE = 30.0
Event = dict[str, Any]


class Process:
    """A process of a module of the tests, which prints one JSON object per line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.events: list[Event] = []
        self._heard = asyncio.Condition()
        self._reading = asyncio.ensure_future(self._read())

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    async def hear(self, wanted: Callable[[Event], bool], *, after: int = 0) -> Event:
        """Wait for an event behind the first ``after`` ones."""
        async with asyncio.timeout(PATIENCE), self._heard:
            while True:
                for event in self.events[after:]:
                    if wanted(event):
                        return event
                if self._reading.done():
                    raise AssertionError(f"the process ended with {self._process.returncode}; it said {self.events}")
                await self._heard.wait()

    async def ended(self) -> int:
        """Wait for the end, and return the code."""
        async with asyncio.timeout(PATIENCE):
            await self._reading
            return await self._process.wait()

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            async with self._heard:
                self.events.append(json.loads(line))
                self._heard.notify_all()
        async with self._heard:
            self._heard.notify_all()

    async def end(self) -> None:
        """Kill what still runs."""
        if self._process.returncode is None:
            for number in (signal.SIGCONT, signal.SIGKILL):
                self.send(number)
        await self._process.wait()
        await self._reading


@asynccontextmanager
async def processes() -> AsyncIterator[Callable[..., Any]]:
    """Yield what starts a module of the tests with arguments; whatever still runs at the end is killed."""
    started: list[Process] = []

    async def start(module: str, *arguments: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        started.append(Process(process))
        return started[-1]

    try:
        yield start
    finally:
        for one in started:
            await one.end()


def say(**event: object) -> None:
    """Print an event, for good: nothing is kept back when the process is killed."""
    sys.stdout.write(json.dumps(event, default=str) + "\n")
    sys.stdout.flush()
