"""What a dialect answers is what its database does."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.clock import SystemClock
from quartzite.model.states import StoredTriggerState
from quartzite.sql.dialects import dialect_for
from quartzite.sql.engine import create_engine
from quartzite.sql.errors import failure_of, persistence_error
from quartzite.sql.types import from_ticks
from tests.integration.sql.conftest import MARIADB_ONLY, POSTGRESQL_ONLY, SQLITE, Database

CLOCK = SystemClock()
SERVERS = [POSTGRESQL_ONLY, MARIADB_ONLY]
NAMES = ["Z", "a", "B", "a ", "ä", "é", "e", "É", "1", "10", "2", "_", "😀", "\uffff", " "]


async def add_locks(database: Database, *names: str) -> None:
    """Create the table of locks and put rows into it."""
    await database.create_only(database.tables.locks)
    async with database.engine.begin() as connection:
        table = database.tables.locks
        await connection.execute(insert(table), [{"sched_name": "s", "lock_name": name} for name in names])


async def test_texts_are_ordered_by_code_point(database: Database) -> None:
    """The order is that of Python's texts, whatever the collation of the database."""
    await add_locks(database, *NAMES)
    name = database.tables.locks.c.lock_name
    statement = select(name).order_by(database.dialect.ordinal(name))
    async with database.engine.connect() as connection:
        assert (await connection.execute(statement)).scalars().all() == sorted(NAMES)


async def test_names_that_differ_in_case_or_space_are_different(database: Database) -> None:
    """A key finds itself only."""
    await add_locks(database, *NAMES)
    name = database.tables.locks.c.lock_name
    async with database.engine.connect() as connection:
        for wanted in ("a", "a ", "A", "É"):
            found = (await connection.execute(select(name).where(name == wanted))).scalars().all()
            assert found == [wanted] * (wanted in NAMES)


async def test_the_database_tells_its_time(database: Database) -> None:
    """The database's own time, in ticks, reads as an instant in UTC, close to that of this machine."""
    statement = select(database.dialect.now_ticks(), (database.dialect.now_ticks() + 10_000_000).label("later"))
    before = CLOCK.now() - timedelta(milliseconds=1)  # SQLite cuts to milliseconds
    async with database.engine.connect() as connection:
        now, later = (await connection.execute(statement)).one()
    assert before <= now <= CLOCK.now() + timedelta(milliseconds=1)
    moment = from_ticks(later)
    assert moment is not None
    assert timedelta(milliseconds=990) < moment - now < timedelta(milliseconds=1010)


async def test_a_statement_may_compare_with_the_databases_time(database: Database) -> None:
    """Check-in and failure detection are one statement on the clock of the database."""
    await database.create_only(database.tables.scheduler_state)
    t, now = database.tables.scheduler_state, database.dialect.now_ticks()
    row = {"sched_name": "s", "instance_name": "n", "last_checkin_time": now, "checkin_interval": timedelta(seconds=5)}
    overdue = t.c.last_checkin_time + 10_000 * 5_000 < now
    async with database.engine.begin() as connection:
        await connection.execute(insert(t).values(row))
        seen = (await connection.execute(select(t.c.last_checkin_time, t.c.checkin_interval, overdue))).one()
    assert abs(seen[0] - CLOCK.now()) < timedelta(seconds=5)
    assert tuple(seen[1:]) == (timedelta(seconds=5), False)


async def test_what_is_missing_is_told_from_other_errors(database: Database) -> None:
    """A missing table and a missing column are that; a duplicate key and bad syntax are not, nor are they transient."""
    await add_locks(database, "a")
    name = database.tables.locks.fullname
    for statement, missing in (
        ("SELECT 1 FROM nowhere_at_all", True),
        ("SELECT nothing_of_the_kind FROM {}", True),
        ("INSERT INTO {} (SCHED_NAME, LOCK_NAME) VALUES ('s', 'a')", False),
        ("SELEKT 1", False),
    ):
        async with database.engine.connect() as connection:
            with pytest.raises(DBAPIError) as caught:
                await connection.execute(text(statement.format(name)))
        assert database.dialect.is_missing_object(caught.value) is missing
        assert not database.dialect.is_transient(caught.value)


async def test_an_error_keeps_the_values_of_its_statement_to_itself(database: Database) -> None:
    """The message of a failed operation has the driver's words, not the statement and what was stored with it."""
    statement = text("INSERT INTO nowhere_at_all VALUES (:secret)")
    async with database.engine.connect() as connection:
        with pytest.raises(DBAPIError) as caught:
            await connection.execute(statement, {"secret": "hunter2"})
    said = str(persistence_error("adding job a.b", caught.value))
    assert said.startswith("adding job a.b failed: ")
    assert "nowhere_at_all" in said
    assert "hunter2" not in said
    assert "\n" not in said


@pytest.mark.parametrize("database", SERVERS, indirect=True)
async def test_rows_that_others_locked_are_passed_over(database: Database) -> None:
    """With skip_locked whoever comes second takes what is left and does not wait."""
    await add_locks(database, "a", "b", "c")
    t = database.tables.locks
    plain = select(t.c.lock_name).order_by(t.c.lock_name)
    first = database.dialect.for_update(plain.where(t.c.lock_name < "c"), of=[t])
    second = database.dialect.for_update(plain, of=[t], skip_locked=True)
    async with database.engine.connect() as one, database.engine.connect() as other:
        assert (await one.execute(first)).scalars().all() == ["a", "b"]
        assert (await other.execute(second)).scalars().all() == ["c"]


@pytest.mark.parametrize("database", [POSTGRESQL_ONLY], indirect=True)
async def test_a_locked_job_can_be_referred_to(database: Database) -> None:
    """A row lock on a job does not hold up whoever adds a trigger for it."""
    t = database.tables
    await database.create_only(t.job_details, t.triggers)
    await database.run(
        "INSERT INTO {s}QRTZ_JOB_DETAILS (SCHED_NAME, JOB_NAME, JOB_GROUP, JOB_CLASS_NAME, IS_DURABLE,"
        " IS_NONCONCURRENT, IS_UPDATE_DATA, REQUESTS_RECOVERY) VALUES ('s', 'j', 'g', 'm:c', TRUE, TRUE, TRUE, TRUE)"
    )
    names = {"trigger_name": "t", "trigger_group": "g", "job_name": "j", "job_group": "g", "trigger_type": "CRON"}
    row = {"sched_name": "s", **names, "trigger_state": StoredTriggerState.WAITING, "start_time": CLOCK.now()}
    async with database.engine.connect() as holder, database.engine.connect() as other:
        await holder.execute(database.dialect.for_update(select(t.job_details.c.job_name), of=[t.job_details]))
        await other.execute(text("SET LOCAL lock_timeout = '2s'"))
        assert (await other.execute(insert(t.triggers).values(row))).rowcount == 1


async def deadlock(database: Database) -> BaseException:
    """Let two transactions want each other's row and return what one of them is told."""
    t = database.tables.locks

    async def take(connection: AsyncConnection, name: str) -> None:
        await connection.execute(
            database.dialect.for_update(select(t).where(t.c.sched_name == "s", t.c.lock_name == name))
        )

    async with database.engine.connect() as one, database.engine.connect() as other:
        await take(one, "a")
        await take(other, "b")
        answers = await asyncio.gather(take(one, "b"), take(other, "a"), return_exceptions=True)
    (error,) = (answer for answer in answers if isinstance(answer, BaseException))
    return error


@pytest.mark.parametrize("database", SERVERS, indirect=True)
async def test_a_deadlock_is_transient(database: Database) -> None:
    """Whoever loses a deadlock may try again, and its connection is still good."""
    await add_locks(database, "a", "b")
    error = await deadlock(database)
    assert database.dialect.is_transient(error)
    assert not failure_of(error).disconnected


async def ask_until_it_fails(connection: AsyncConnection) -> None:
    """Use a connection that is about to be ended; the server takes a moment to do so."""
    for _ in range(1000):
        await connection.execute(text("SELECT 1"))


@pytest.mark.parametrize("database", SERVERS, indirect=True)
async def test_a_connection_that_the_server_ended_is_transient(database: Database) -> None:
    """A session that was killed is known as a lost connection."""
    asks, kills = (
        ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})")
        if database.dialect.name == "PostgreSQL"
        else ("SELECT CONNECTION_ID()", "KILL {}")
    )
    async with database.engine.connect() as victim, database.engine.connect() as killer:
        number = (await victim.execute(text(asks))).scalar_one()
        await killer.execute(text(kills.format(number)))
        with pytest.raises(DBAPIError) as caught:
            await ask_until_it_fails(victim)
    assert database.dialect.is_transient(caught.value)
    assert failure_of(caught.value).disconnected


@pytest.mark.parametrize("url", ["postgresql://u:secret@127.0.0.1:1/x", "mariadb://u:secret@127.0.0.1:1/x"])
async def test_a_server_that_is_not_there_is_transient(url: str) -> None:
    """A refused connection may be tried again, and its message has no password."""
    engine = create_engine(url)
    try:
        with pytest.raises((DBAPIError, OSError)) as caught:
            async with engine.connect():
                pass
    finally:
        await engine.dispose()
    assert dialect_for(engine.dialect).is_transient(caught.value)
    assert "secret" not in str(persistence_error("connecting", caught.value))


@pytest.mark.parametrize("database", SERVERS, indirect=True)
async def test_a_database_that_is_not_there_is_not_transient(database: Database) -> None:
    """Trying again does not help against a wrong name."""
    engine = create_engine(database.engine.url.set(database="no_such_database"))
    try:
        with pytest.raises(DBAPIError) as caught:
            async with engine.connect():
                pass
    finally:
        await engine.dispose()
    assert not database.dialect.is_transient(caught.value)
    assert "no_such_database" in str(persistence_error("connecting", caught.value))


@pytest.mark.parametrize("database", [SQLITE], indirect=True)
async def test_a_writer_has_the_database_from_the_start(database: Database) -> None:
    """A second writer is told at once that it is busy, which is transient; a reader goes on and sees what was."""
    await add_locks(database, "a")
    dialect, t = database.dialect, database.tables.locks
    async with database.engine.connect() as writer, database.engine.connect() as other:
        await dialect.begin(writer, read_only=False)
        await writer.execute(insert(t).values(sched_name="s", lock_name="b"))
        await other.exec_driver_sql("PRAGMA busy_timeout = 0")
        with pytest.raises(DBAPIError) as caught:
            await dialect.begin(other, read_only=False)
        assert dialect.is_transient(caught.value)
        await dialect.begin(other, read_only=True)
        assert (await other.execute(select(t.c.lock_name))).scalars().all() == ["a"]
        await writer.commit()
        await other.rollback()


@pytest.mark.parametrize("database", SERVERS, indirect=True)
async def test_idle_transactions_end_with_the_death_window(database: Database) -> None:
    """The server's limit is set on each connection, rounded up to what the server counts in."""
    engine = create_engine(database.engine.url, idle_in_transaction=timedelta(seconds=7.5))
    asks, expected = (
        ("SHOW idle_in_transaction_session_timeout", "7500ms")
        if database.dialect.name == "PostgreSQL"
        else ("SELECT @@SESSION.idle_transaction_timeout", 8)
    )
    try:
        for _ in range(2):
            async with engine.connect() as connection:
                assert (await connection.execute(text(asks))).scalar_one() == expected
                await connection.rollback()
                assert (await connection.execute(text(asks))).scalar_one() == expected
    finally:
        await engine.dispose()


@pytest.mark.parametrize("database", SERVERS, indirect=True)
async def test_transactions_are_read_committed(database: Database) -> None:
    """A transaction sees what others committed meanwhile, on every server."""
    await add_locks(database, "a")
    t = database.tables.locks
    async with database.engine.connect() as reader:
        assert len((await reader.execute(select(t))).all()) == 1
        async with database.engine.begin() as writer:
            await writer.execute(insert(t).values(sched_name="s", lock_name="b"))
        assert len((await reader.execute(select(t))).all()) == 2


async def test_a_server_that_is_new_enough_is_accepted(database: Database) -> None:
    """The servers of the tests are not refused for their age."""
    async with database.engine.connect() as connection:
        database.dialect.check_server(connection.dialect)
