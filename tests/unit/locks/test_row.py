"""DbSemaphore and the handlers of rows, on a SQLite database where a test decides what fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import CursorResult, Executable, event, make_url, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.schema import CreateTable

from quartzite.errors import LockError
from quartzite.locks import (
    AttemptingSemaphore,
    DbSemaphore,
    MemoryOptimizedUpdateRowSemaphore,
    PostgreSqlSelectForUpdateSemaphore,
    SelectForUpdateSemaphore,
    UpdateRowSemaphore,
)
from quartzite.locks.row import insert_lock
from quartzite.locks.select_for_update import insert_missing_lock, select_lock
from quartzite.locks.update_row import update_lock
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from quartzite.sql.engine import create_engine
from quartzite.sql.tables import tables
from quartzite.testing import FakeClock

TRIGGERS = SchedulerLock.TRIGGER_ACCESS
PREFIX = "ROW_"
LOCKS = tables(PREFIX).locks


@pytest.fixture
async def engine() -> AsyncIterator[AsyncEngine]:
    """A database with the table of locks, empty."""
    engine = create_engine("sqlite://")
    async with engine.begin() as connection:
        await connection.execute(CreateTable(LOCKS))
    yield engine
    await engine.dispose()


def context(clock: FakeClock) -> SemaphoreContext:
    """Return what a handler is told."""
    return SemaphoreContext(scheduler_name="s", instance_id="a", clock=clock, table_prefix=PREFIX)


class Failing:
    """Lets the first statements on an engine fail."""

    def __init__(self, engine: AsyncEngine, times: int) -> None:
        self.left = times
        event.listen(engine.sync_engine, "before_cursor_execute", self)

    def __call__(self, *_: Any) -> None:
        if self.left:
            self.left -= 1
            raise OperationalError("UPDATE", None, Exception("try again"))


KINDS: list[tuple[Callable[[], AttemptingSemaphore], int]] = [
    (UpdateRowSemaphore, 2),
    (MemoryOptimizedUpdateRowSemaphore, 5),
    (SelectForUpdateSemaphore, 3),
]


@pytest.mark.parametrize(("kind", "attempts"), KINDS)
async def test_the_last_attempt_may_succeed(
    engine: AsyncEngine, kind: Callable[[], AttemptingSemaphore], attempts: int
) -> None:
    """An attempt that fails is repeated after a second of the context's clock, and nothing is held meanwhile."""
    clock, requestor, semaphore = Watched(), uuid4(), kind()
    await semaphore.initialize(context(clock))
    async with engine.connect() as connection:
        failing = Failing(engine, attempts - 1)
        asked = asyncio.ensure_future(semaphore.obtain_lock(requestor, connection, TRIGGERS))
        for left in range(attempts - 1, 0, -1):
            await clock.waited_on()
            await clock.advance(milliseconds=999)
            assert (failing.left, asked.done()) == (left - 1, False)
            assert not semaphore.holds(requestor, TRIGGERS)
            await clock.advance(milliseconds=1)
        assert await asyncio.wait_for(asked, 5) is True
        assert semaphore.holds(requestor, TRIGGERS)
        found = await connection.execute(select(LOCKS.c.sched_name, LOCKS.c.lock_name))
        assert [tuple(row) for row in found] == [("s", "TRIGGER_ACCESS")]


class Watched(FakeClock):
    """A clock that tells when somebody has begun to wait on it: the driver's thread takes its time until then."""

    def __init__(self) -> None:
        super().__init__()
        self._waited_on = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait, and say so."""
        self._waited_on.set()
        await super().sleep(seconds)

    async def waited_on(self) -> None:
        """Wait until somebody waits, once more than before."""
        await asyncio.wait_for(self._waited_on.wait(), 5)
        self._waited_on.clear()


@pytest.mark.parametrize(("kind", "attempts"), KINDS)
async def test_after_the_last_attempt_the_lock_is_refused(
    engine: AsyncEngine, kind: Callable[[], AttemptingSemaphore], attempts: int
) -> None:
    """The error names lock, scheduler and reason, has the driver's error as its cause, and nothing is held."""
    clock, requestor, semaphore = Watched(), uuid4(), kind()
    await semaphore.initialize(context(clock))
    async with engine.connect() as connection:
        Failing(engine, attempts)
        asked = asyncio.ensure_future(semaphore.obtain_lock(requestor, connection, TRIGGERS))
        for _ in range(attempts - 1):
            await clock.waited_on()
            await clock.advance(seconds=1)
        with pytest.raises(
            LockError, match=r"row lock TRIGGER_ACCESS of scheduler 's' was not obtained: .*try again"
        ) as e:
            await asyncio.wait_for(asked, 5)
        assert isinstance(e.value.__cause__, OperationalError)
        assert not semaphore.holds(requestor, TRIGGERS)


async def test_a_subclass_says_how_often_and_how_long(engine: AsyncEngine) -> None:
    """Two lines are enough for other numbers."""

    class Patient(UpdateRowSemaphore):
        """Tries once, so that no pause is ever made."""

        retry_count = 1
        retry_period = timedelta(hours=1)

    semaphore = Patient()
    await semaphore.initialize(context(FakeClock()))
    async with engine.connect() as connection:
        Failing(engine, 1)
        with pytest.raises(LockError):
            await semaphore.obtain_lock(uuid4(), connection, TRIGGERS)


class OwnSemaphore(DbSemaphore):
    """A handler of an application: one method, and what it was given."""

    def __init__(self) -> None:
        super().__init__(update_lock)
        self.given: list[tuple[UUID, str, str, str]] = []

    async def execute_sql(
        self,
        requestor_id: UUID,
        connection: AsyncConnection,
        lock_name: str,
        select_or_update: Executable,
        insert: Executable,
    ) -> None:
        """Insert the row."""
        self.given.append((requestor_id, lock_name, str(select_or_update), str(insert)))
        done: CursorResult[Any] = await self.execute(connection, insert, scheduler_name="s", lock=lock_name)
        assert done.rowcount == 1


async def test_a_handler_of_ones_own_needs_one_method(engine: AsyncEngine) -> None:
    """It gets both statements ready made; ownership and re-entry are settled for it."""
    semaphore, requestor = OwnSemaphore(), uuid4()
    await semaphore.initialize(context(FakeClock()))
    async with engine.connect() as connection:
        assert await semaphore.obtain_lock(requestor, connection, TRIGGERS) is True
        assert await semaphore.obtain_lock(requestor, connection, TRIGGERS) is False
        await semaphore.release_lock(requestor, TRIGGERS)
        assert not semaphore.holds(requestor, TRIGGERS)
    (given,) = semaphore.given
    assert given[:2] == (requestor, "TRIGGER_ACCESS")
    assert given[2].startswith("UPDATE ROW_LOCKS SET")
    assert given[3].startswith("INSERT INTO ROW_LOCKS")


def test_statements_name_prefix_and_schema() -> None:
    """Table names are those of the store, quoted where the database needs it."""
    locks = tables("Q_", "my schema").locks
    assert '"my schema".Q_LOCKS' in str(select_lock(locks))
    assert str(select_lock(locks)).rstrip().endswith("FOR UPDATE")


def test_statements_say_what_each_database_understands() -> None:
    """SQL Server gets a hint, PostgreSQL and MariaDB an insert that a row which is there does not upset."""

    def written(statement: Any, database: str) -> str:
        return " ".join(str(statement.compile(dialect=make_url(f"{database}://").get_dialect()())).split())

    on_sql_server = written(select_lock(LOCKS), "mssql+aioodbc")
    assert "WITH (UPDLOCK, ROWLOCK)" in on_sql_server
    assert "FOR UPDATE" not in on_sql_server
    assert written(insert_missing_lock(LOCKS), "postgresql+asyncpg").endswith("ON CONFLICT DO NOTHING")
    assert written(insert_lock(LOCKS), "mariadb+asyncmy").endswith("ON DUPLICATE KEY UPDATE LOCK_NAME = LOCK_NAME")
    assert "CONFLICT" not in written(insert_lock(LOCKS), "postgresql+asyncpg")


def test_the_handlers_are_what_they_are_called() -> None:
    """Each variant is a subclass of what it varies, so that an application may derive from it too."""
    assert issubclass(MemoryOptimizedUpdateRowSemaphore, UpdateRowSemaphore)
    assert issubclass(PostgreSqlSelectForUpdateSemaphore, SelectForUpdateSemaphore)
