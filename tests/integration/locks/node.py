"""A process that wants a lock: ``python -m tests.integration.locks.node '<json>'``. It prints JSON lines.

* ``count``: take the lock, read a number, write the next one, release the lock; again and again.
* ``hold``: take the lock, say so, wait for a line, verify the lock, write a number if it was not lost, and release it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.abc import Semaphore
from quartzite.clock import SystemClock
from quartzite.errors import LockError
from quartzite.locks import (
    PostgreSqlAdvisorySemaphore,
    PostgreSqlSelectForUpdateSemaphore,
    SelectForUpdateSemaphore,
    UpdateRowSemaphore,
)
from quartzite.locks.redis import RedisLockOptions, RedisSemaphore
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from quartzite.sql.engine import create_engine
from tests.services import redis_client

ROWS = (PostgreSqlAdvisorySemaphore, PostgreSqlSelectForUpdateSemaphore, SelectForUpdateSemaphore, UpdateRowSemaphore)
HANDLERS = {handler.__name__: handler for handler in ROWS}
LOCK = SchedulerLock.TRIGGER_ACCESS
PREFIX = "NODE_"


class Place(ABC):
    """Where the locks are, and a number that nothing but the lock protects."""

    def __init__(self, told: dict[str, Any], semaphore: Semaphore) -> None:
        self.told = told
        self.semaphore = semaphore
        self.context = SemaphoreContext(
            scheduler_name="fight",
            instance_id=str(uuid4()),
            clock=SystemClock(),
            table_prefix=PREFIX,
            schema=told.get("schema"),
        )

    @abstractmethod
    def work(self) -> Any:
        """Open a connection; what was done in it is committed at the end of the block."""

    @abstractmethod
    async def count(self, connection: Any) -> None:
        """Read the number and write the next one."""


class InDatabase(Place):
    """Rows."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(told, HANDLERS[told["handler"]]())
        self.engine = create_engine(told["url"])
        self.table = f"{told['schema']}.numbers" if told.get("schema") else "numbers"

    @asynccontextmanager
    async def work(self) -> AsyncIterator[AsyncConnection]:
        async with self.engine.begin() as connection:
            yield connection

    async def count(self, connection: AsyncConnection) -> None:
        number = (await connection.execute(text(f"SELECT n FROM {self.table}"))).scalar_one()  # noqa: S608
        await connection.execute(text(f"UPDATE {self.table} SET n = :n"), {"n": number + 1})  # noqa: S608


class OnRedis(Place):
    """Keys."""

    def __init__(self, told: dict[str, Any]) -> None:
        options = RedisLockOptions(
            redis_configuration=told["url"],
            key_prefix=told["prefix"],
            lock_time_to_live=timedelta(milliseconds=told.get("ttl", 30_000)),
        )
        super().__init__(told, RedisSemaphore(options))

    @asynccontextmanager
    async def work(self) -> AsyncIterator[None]:
        yield None

    async def count(self, connection: None) -> None:
        async with redis_client(self.told["url"]) as client:
            number = int(await client.get(self.told["prefix"] + "number") or 0)
            await client.set(self.told["prefix"] + "number", number + 1)


async def count(place: Place) -> None:
    """Add to the number, under the lock."""
    for _ in range(place.told["rounds"]):
        requestor = uuid4()
        async with place.work() as connection:
            assert await place.semaphore.obtain_lock(requestor, connection, LOCK)
            await place.count(connection)
        await place.semaphore.release_lock(requestor, LOCK)
    say("counted")


async def hold(place: Place) -> None:
    """Hold the lock until a line is read."""
    requestor = uuid4()
    async with place.work() as connection:
        await place.semaphore.obtain_lock(requestor, connection, LOCK)
        say("held")
        await asyncio.to_thread(sys.stdin.readline)
        try:
            await place.semaphore.verify_lock(requestor, LOCK)
            await place.count(connection)
            say("committed")
        except LockError as error:
            say("lost", reason=str(error))
    await place.semaphore.release_lock(requestor, LOCK)
    say("released")


def say(event: str, **more: object) -> None:
    """Print one line."""
    print(json.dumps({"event": event, **more}), flush=True)


async def main(told: dict[str, Any]) -> None:
    """Do what was told."""
    place = OnRedis(told) if told["handler"] == "RedisSemaphore" else InDatabase(told)
    await place.semaphore.initialize(place.context)
    await {"count": count, "hold": hold}[told["do"]](place)
    await place.semaphore.shutdown()
    if isinstance(place, InDatabase):
        await place.engine.dispose()


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
