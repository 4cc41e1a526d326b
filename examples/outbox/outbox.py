"""The outbox: events that are written with the business data and sent to a broker later."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened and has to be told."""

    number: int
    text: str


class Outbox:
    """A table of events. Calls of the database run in a thread, one at a time.

    Args:
        file: The database of the service; its nodes share it.
    """

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file, check_same_thread=False, timeout=10, isolation_level=None)
        self._one_at_a_time = asyncio.Lock()
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS outbox (number INTEGER PRIMARY KEY, text TEXT NOT NULL, sent_at TEXT)"
        )

    async def add(self, text: str) -> None:
        """Write an event; in a service this is part of the transaction that changes the business data."""
        await self._run("INSERT INTO outbox (text) VALUES (?)", text)

    async def unsent(self, limit: int = 100) -> list[Event]:
        """Return the oldest events that were not sent."""
        rows = await self._run("SELECT number, text FROM outbox WHERE sent_at IS NULL ORDER BY number LIMIT ?", limit)
        return [Event(number=number, text=text) for number, text in rows]

    async def mark_sent(self, event: Event, at: datetime) -> None:
        """Note that an event was sent."""
        await self._run("UPDATE outbox SET sent_at = ? WHERE number = ?", at.isoformat(), event.number)

    async def clean(self, now: datetime, keep: timedelta) -> int:
        """Delete what was sent long ago; return how many events that were."""
        limit = (now - keep).isoformat()
        return len(await self._run("DELETE FROM outbox WHERE sent_at < ? RETURNING number", limit))

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    async def _run(self, statement: str, *values: object) -> list[tuple[int, str]]:
        async with self._one_at_a_time:
            return await asyncio.to_thread(lambda: self._connection.execute(statement, values).fetchall())
