"""A store's transactions take back what was not committed; those of the application are left to the application."""

import asyncio

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.schema import CreateTable

from quartzite.errors import JobPersistenceError
from quartzite.sql.engine import create_engine
from quartzite.sql.transactions import EnlistedTransaction, LocalTransaction
from tests.integration.sql.conftest import MARIADB_ONLY, POSTGRESQL_ONLY, SQLITE, Database


@pytest.fixture(autouse=True)
async def created(database: Database) -> None:
    """Create the table that the tests write to."""
    await database.create_only(database.tables.locks)


async def write(connection: AsyncConnection, database: Database, name: str) -> None:
    """Insert a row."""
    await connection.execute(insert(database.tables.locks).values(sched_name="s", lock_name=name))


async def names(database: Database) -> list[str]:
    """Return what another connection sees."""
    async with database.engine.connect() as connection:
        return list((await connection.execute(select(database.tables.locks.c.lock_name))).scalars())


def local(database: Database, *, read_only: bool = False) -> LocalTransaction:
    """Return a transaction of the store's own."""
    return LocalTransaction(database.engine, database.dialect, read_only=read_only)


async def test_a_transaction_opens_no_connection_before_it_needs_one(database: Database) -> None:
    """Whoever takes a lock first can do so without holding a connection; the connection stays the same."""
    async with local(database) as transaction:
        assert not transaction.is_open
        assert await transaction.connection() is await transaction.connection()
        assert transaction.is_open
        assert not transaction.is_enlisted
    assert not transaction.is_open


async def test_what_is_committed_stays(database: Database) -> None:
    """A commit makes the work visible to others."""
    async with local(database) as transaction:
        await write(await transaction.connection(), database, "a")
        await transaction.commit()
    assert await names(database) == ["a"]


async def test_what_is_not_committed_goes(database: Database) -> None:
    """Leaving without a commit, a rollback and an error all take the work back."""
    async with local(database) as transaction:
        await write(await transaction.connection(), database, "a")
    async with local(database) as transaction:
        await write(await transaction.connection(), database, "b")
        await transaction.rollback()
    with pytest.raises(DBAPIError):
        await write_twice(database, "c")
    assert await names(database) == []


async def write_twice(database: Database, name: str) -> None:
    """Write one row twice in a transaction, which fails."""
    async with local(database) as transaction:
        await write(await transaction.connection(), database, name)
        await write(await transaction.connection(), database, name)


async def test_a_transaction_without_a_connection_ends_quietly(database: Database) -> None:
    """Commit and rollback of nothing do nothing."""
    async with local(database) as transaction:
        await transaction.rollback()
        await transaction.commit()
        assert not transaction.is_open


async def test_a_cancelled_operation_gives_its_connection_back(database: Database) -> None:
    """Cancellation in the middle leaves no connection behind and nothing written."""
    writing = asyncio.Event()

    async def operation() -> None:
        async with local(database) as transaction:
            await write(await transaction.connection(), database, "a")
            writing.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(operation())
    await writing.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    assert await names(database) == []


@pytest.mark.parametrize("database", [POSTGRESQL_ONLY, MARIADB_ONLY], indirect=True)
async def test_a_connection_that_was_lost_is_not_used_again(database: Database) -> None:
    """A rollback on a connection that is gone does not raise, and the next operation gets another one."""
    async with local(database) as transaction:
        connection = await transaction.connection()
        raw = await connection.get_raw_connection()
        await write(connection, database, "a")
        await _cut(raw.driver_connection)
        await transaction.rollback()
    assert await names(database) == []


async def _cut(driver_connection: object) -> None:
    """End a connection of a driver behind SQLAlchemy's back."""
    for name in ("terminate", "_close_on_cancel", "close"):
        end = getattr(driver_connection, name, None)
        if end is not None:
            ended = end()
            if asyncio.iscoroutine(ended):
                await ended
            return


async def test_a_reader_does_not_keep_writers_out(database: Database) -> None:
    """While a transaction reads, another one can write and commit."""
    async with local(database, read_only=True) as reader:
        await (await reader.connection()).execute(select(database.tables.locks))
        async with local(database) as writer:
            await write(await writer.connection(), database, "a")
            await writer.commit()
    assert await names(database) == ["a"]


# Of the application -----------------------------------------------------------------------------------------------


async def test_scheduling_is_committed_with_the_applications_work(database: Database) -> None:
    """An enlisted transaction neither commits nor closes anything; the application's commit does."""
    async with database.engine.begin() as connection:
        enlisted = EnlistedTransaction(connection, database.dialect)
        async with enlisted as transaction:
            assert transaction.is_enlisted
            await write(await transaction.connection(), database, "a")
            await transaction.commit()
        assert await names(database) == []
        assert not connection.closed
    assert await names(database) == ["a"]


async def test_scheduling_is_taken_back_with_the_applications_work(database: Database) -> None:
    """The application's rollback takes everything back."""
    async with database.engine.connect() as connection:
        await connection.begin()
        async with EnlistedTransaction(connection, database.dialect) as transaction:
            await write(await transaction.connection(), database, "a")
        await connection.rollback()
    assert await names(database) == []


async def test_the_end_is_told_after_the_commit(database: Database) -> None:
    """Whoever is told of the commit finds what was written; it is told once, and the next transaction is another."""
    told: list[bool] = []
    async with database.engine.connect() as connection:
        await connection.begin()
        EnlistedTransaction(connection, database.dialect).when_it_ends(told.append)
        await write(connection, database, "a")
        async with connection.begin_nested() as savepoint:
            await savepoint.rollback()
        assert told == []
        await connection.commit()
        assert told == [True]
        await connection.begin()
        await connection.commit()
        assert told == [True]
    assert await names(database) == ["a"]


async def test_a_reader_woken_by_the_commit_sees_what_was_written(database: Database) -> None:
    """What is started by the end of the transaction reads the committed rows."""
    found: list[asyncio.Task[list[str]]] = []

    def look(_committed: bool) -> None:
        found.append(asyncio.get_running_loop().create_task(names(database)))

    async with database.engine.begin() as connection:
        EnlistedTransaction(connection, database.dialect).when_it_ends(look)
        await write(connection, database, "a")
    assert await found[0] == ["a"]


async def test_a_rollback_is_told_as_one(database: Database) -> None:
    """A rollback, and a connection that is closed without a commit, are told with False; a failed commit too."""
    told: list[bool] = []
    async with database.engine.connect() as connection:
        await connection.begin()
        EnlistedTransaction(connection, database.dialect).when_it_ends(told.append)
        await connection.rollback()
    async with database.engine.connect() as connection:
        await connection.begin()
        EnlistedTransaction(connection, database.dialect).when_it_ends(told.append)
        await write(connection, database, "a")
    assert told == [False, False]


async def test_a_session_can_be_enlisted(database: Database) -> None:
    """A session's transaction is that of its connection, and its end is told after its commit."""
    told: list[bool] = []
    async with AsyncSession(database.engine) as session, session.begin():
        enlisted = await EnlistedTransaction.of(session, database.dialect)
        enlisted.when_it_ends(told.append)
        async with enlisted as transaction:
            await write(await transaction.connection(), database, "a")
    assert told == [True]
    assert await names(database) == ["a"]


async def test_without_a_transaction_there_is_nothing_to_enlist(database: Database) -> None:
    """A connection or session that has not begun one, or is closed, is refused with the remedy."""
    async with database.engine.connect() as connection:
        with pytest.raises(JobPersistenceError, match="begin one first"):
            EnlistedTransaction(connection, database.dialect)
    with pytest.raises(JobPersistenceError, match="begin one first"):
        EnlistedTransaction(connection, database.dialect)
    async with AsyncSession(database.engine) as session:
        with pytest.raises(JobPersistenceError, match="begin one first"):
            await EnlistedTransaction.of(session, database.dialect)


async def test_a_transaction_that_is_over_is_not_used(database: Database) -> None:
    """After the commit, and in the transaction that follows, the enlisted one is over."""
    async with database.engine.connect() as connection:
        await connection.begin()
        enlisted = EnlistedTransaction(connection, database.dialect)
        assert enlisted.is_active
        await connection.commit()
        await connection.begin()
        assert not enlisted.is_active
        with pytest.raises(JobPersistenceError, match="enlist the one that is in progress"):
            async with enlisted as transaction:
                await transaction.connection()
    assert not enlisted.is_active


async def test_one_operation_at_a_time(database: Database) -> None:
    """A second operation on the same enlisted connection is refused, and the next one after it is not."""
    async with database.engine.begin() as connection:
        enlisted = EnlistedTransaction(connection, database.dialect)
        async with enlisted:
            with pytest.raises(JobPersistenceError, match="await one scheduler call after the other"):
                async with enlisted:
                    pytest.fail("the connection is busy")
        async with enlisted as transaction:
            await write(await transaction.connection(), database, "a")
    assert await names(database) == ["a"]


async def test_a_connection_to_another_kind_of_database_is_refused(database: Database) -> None:
    """A connection of another driver can not take part, and the message names both."""
    other = create_engine("sqlite://" if database.dialect.name != "SQLite" else "postgresql://127.0.0.1/x")
    try:
        async with database.engine.begin() as connection:
            with pytest.raises(JobPersistenceError, match=r"speaks .*, the store .*: enlist a connection"):
                EnlistedTransaction(connection, type(database.dialect)(other.dialect))
    finally:
        await other.dispose()


@pytest.mark.parametrize("database", [SQLITE], indirect=True)
async def test_a_database_in_memory_has_one_connection(database: Database) -> None:
    """A database in memory is the same one for each transaction, and is used by one at a time."""
    engine = create_engine("sqlite://")
    try:
        async with engine.begin() as connection:
            await connection.execute(CreateTable(database.tables.locks))
        async with LocalTransaction(engine, database.dialect) as transaction:
            await write(await transaction.connection(), database, "a")
            await transaction.commit()
        async with LocalTransaction(engine, database.dialect, read_only=True) as transaction:
            found = await (await transaction.connection()).execute(select(database.tables.locks.c.lock_name))
            assert found.scalars().all() == ["a"]
            assert engine.pool.size() == 1  # type: ignore[attr-defined]
    finally:
        await engine.dispose()
