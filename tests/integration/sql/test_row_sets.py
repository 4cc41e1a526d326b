"""Many rows travel as one parameter and join like a table, with exact values, in every database."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    MetaData,
    Table,
    and_,
    bindparam,
    func,
    literal,
    select,
    text,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.model.states import FiredState, StoredTriggerState
from quartzite.sql.dialects import SqlDialect, dialect_for
from quartzite.sql.row_set import RowSet
from quartzite.sql.types import Flag, Milliseconds, OrdinalText, Payload, StateName, UtcTicks
from tests.integration.sql.conftest import Database

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
COLUMNS: dict[str, Any] = {
    "name": OrdinalText(200),
    "at": UtcTicks(),
    "amount": BigInteger(),
    "ok": Flag(),
    "state": StateName(StoredTriggerState),
    "span": Milliseconds(),
    "data": Payload(),
    "factor": Double(),
}
ROWS: list[tuple[Any, ...]] = [
    ("a", START, 2**62 + 1, True, StoredTriggerState.WAITING, timedelta(milliseconds=1), b"\x00\xff'\\\x80", 0.1),
    ("A", START + timedelta(microseconds=1), -(2**62), False, StoredTriggerState.ERROR, timedelta(0), b"", -1e300),
    ("a ", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), 0, None, None, None, b"x" * 100_000, None),
    ("grüße 😀 \"'\\ %s :x {y}", None, None, None, None, None, b"y", 5e-324),
    ("\t\n\x01\u2028", None, -1, True, StoredTriggerState.PAUSED_BLOCKED, timedelta(days=9999), b"", 0.0),
]


@pytest.fixture
async def table(database: Database) -> Table:
    """A table with a column of each type, and rows to find in it."""
    schema = database.tables.schema
    made = Table(
        "things",
        MetaData(schema=schema),
        Column("name", COLUMNS["name"], primary_key=True),
        *(Column(name, type_) for name, type_ in COLUMNS.items() if name != "name"),
    )
    async with database.engine.begin() as connection:
        await connection.run_sync(made.metadata.create_all)
    return made


@pytest.fixture(params=["json", "parameters"])
def dialect(request: pytest.FixtureRequest, database: Database) -> SqlDialect:
    """The answers of the database, and the generic ones, which must mean the same."""
    if request.param == "json":
        return dialect_for(database.engine.dialect)
    return SqlDialect(database.engine.dialect)


async def insert_all(connection: AsyncConnection, dialect: SqlDialect, table: Table, rows: Iterable[Any] = ROWS) -> int:
    """Insert rows by a row set and return how many were."""
    given = dialect.row_set("given", COLUMNS)
    statement = dialect.insert_rows(table, given.element, {name: given.c[name] for name in COLUMNS})
    return (await connection.execute(statement, given.parameters(rows))).rowcount


async def content(connection: AsyncConnection, table: Table) -> set[tuple[Any, ...]]:
    """Return all rows, a missing payload as no bytes."""
    return {tuple(row) for row in await connection.execute(select(*(table.c[name] for name in COLUMNS)))}


async def test_a_set_is_selected_as_it_was_given(database: Database, dialect: SqlDialect) -> None:
    """Texts, ticks, numbers, truth values, states, durations, bytes and NULLs come back exactly, in any number."""
    given = dialect.row_set("given", COLUMNS)
    statement = select(*(given.c[name] for name in COLUMNS))
    async with database.engine.connect() as connection:
        for rows in ([], ROWS[:1], ROWS):
            found = await connection.execute(statement, given.parameters(rows))
            assert {tuple(row) for row in found} == set(rows)


async def test_a_set_is_inserted_as_it_was_given(database: Database, dialect: SqlDialect, table: Table) -> None:
    """INSERT ... SELECT from a set writes exact values."""
    async with database.engine.begin() as connection:
        assert await insert_all(connection, dialect, table) == len(ROWS)
        assert await content(connection, table) == set(ROWS)


async def test_a_set_joins_in_a_select(database: Database, dialect: SqlDialect, table: Table) -> None:
    """Only rows whose text is the same, character by character, are found: case and trailing spaces count."""
    wanted = dialect.row_set("wanted", {"name": COLUMNS["name"], "at": COLUMNS["at"]})
    joined = table.join(wanted.element, and_(table.c.name == wanted.c.name, table.c.at == wanted.c.at))
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table)
        pairs = [("a", START), ("A", START), ("a ", ROWS[2][1]), ("ä", None), (ROWS[3][0], None)]
        found = await connection.execute(select(table.c.name).select_from(joined), wanted.parameters(pairs))
        assert sorted(found.scalars()) == ["a", "a "]


async def test_a_set_joins_in_an_update(database: Database, dialect: SqlDialect, table: Table) -> None:
    """UPDATE takes new values from the set, for the rows that match it and the further conditions, and counts them."""
    changes = dialect.row_set("changes", {"name": COLUMNS["name"], "new_at": COLUMNS["at"], "new_data": Payload()})
    statement = dialect.update_matching(
        table,
        changes,
        ["name"],
        {"at": changes.c.new_at, "data": changes.c.new_data, "amount": bindparam("fixed"), "ok": literal(True)},
        table.c.state == StoredTriggerState.WAITING,
    )
    later = START + timedelta(days=1)
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table)
        rows = [("a", later, b"new"), ("A", later, b"new"), ("missing", later, b"new")]
        done = await connection.execute(statement, {**changes.parameters(rows), "fixed": 7})
        assert done.rowcount == 1
        expected = {("a", later, 7, True, *ROWS[0][4:6], b"new", 0.1), *ROWS[1:]}
        assert await content(connection, table) == expected


async def test_a_set_joins_in_a_delete(database: Database, dialect: SqlDialect, table: Table) -> None:
    """DELETE removes the rows that match the set and the further conditions, and counts them."""
    gone = dialect.row_set("gone", {"name": COLUMNS["name"]})
    statement = dialect.delete_matching(table, gone, ["name"], table.c.amount > 0)
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table)
        done = await connection.execute(statement, gone.parameters([("a",), ("A",), ("missing",)]))
        assert done.rowcount == 1
        assert await content(connection, table) == set(ROWS[1:])


async def test_rows_that_are_there_stay(database: Database, dialect: SqlDialect, table: Table) -> None:
    """With missing_only a row whose key is taken is left as it is, and the others are inserted."""
    given = dialect.row_set("given", COLUMNS)
    values = {name: given.c[name] for name in COLUMNS}
    statement = dialect.insert_rows(table, given.element, values, missing_only=True)
    changed = [("a", None, 5, None, None, None, b"", None)]
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table, ROWS[:2])
        await connection.execute(statement, given.parameters([*changed, *ROWS[2:]]))
        assert await content(connection, table) == set(ROWS)


async def test_rows_that_are_there_are_overwritten(database: Database, dialect: SqlDialect, table: Table) -> None:
    """An upsert inserts what is missing and gives the others their new values."""
    given = dialect.row_set("given", COLUMNS)
    statements = dialect.upsert(table, given, {name: given.c[name] for name in COLUMNS})
    changed = ("a", None, 5, None, None, None, b"new", None)
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table, ROWS[:2])
        for statement in statements:
            await connection.execute(statement, given.parameters([changed, *ROWS[2:]]))
        assert await content(connection, table) == {changed, *ROWS[1:]}


async def test_values_may_come_from_elsewhere(database: Database, dialect: SqlDialect, table: Table) -> None:
    """What is inserted may mix the set with tables, parameters and plain values."""
    given = dialect.row_set("given", {"name": COLUMNS["name"], "amount": BigInteger()})
    source = given.element.join(table, table.c.name == given.c.name)
    values = {
        "name": given.c.name + " 2",
        "at": table.c.at,
        "amount": given.c.amount,
        "ok": True,
        "state": bindparam("state", type_=COLUMNS["state"]),
    }
    statement = dialect.insert_rows(table, source, values, given.c.amount > 1)
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table, ROWS[:2])
        parameters = {**given.parameters([("a", 1), ("A", 2)]), "state": StoredTriggerState.ACQUIRED}
        assert (await connection.execute(statement, parameters)).rowcount == 1
        new = (await connection.execute(table.select().where(table.c.name == "A 2"))).one()
    assert tuple(new)[:5] == ("A 2", ROWS[1][1], 2, True, StoredTriggerState.ACQUIRED)


async def test_two_sets_in_one_statement(database: Database, dialect: SqlDialect) -> None:
    """Sets of different names stand beside each other."""
    left, right = (dialect.row_set(name, {"n": Integer()}) for name in ("first", "second"))
    statement = select(func.count()).select_from(left.element.join(right.element, left.c.n == right.c.n))
    async with database.engine.connect() as connection:
        parameters = {**left.parameters([(1,), (2,)]), **right.parameters([(2,), (3,)])}
        assert (await connection.execute(statement, parameters)).scalar_one() == 1


async def test_returning_where_the_dialect_says_so(database: Database, table: Table) -> None:
    """A joined UPDATE and DELETE return rows in the databases whose dialect says that they can."""
    dialect = database.dialect
    given = dialect.row_set("given", {"name": COLUMNS["name"]})
    update = dialect.update_matching(table, given, ["name"], {"amount": 1})
    delete = dialect.delete_matching(table, given, ["name"])
    async with database.engine.begin() as connection:
        await insert_all(connection, dialect, table)
        if dialect.update_returning:
            returned = await connection.execute(update.returning(table.c.name, table.c.at), given.parameters([("a",)]))
            assert returned.all() == [("a", START)]
        if dialect.delete_returning:
            returned = await connection.execute(delete.returning(table.c.at), given.parameters([("a",), ("A",)]))
            assert sorted(returned.scalars()) == [ROWS[0][1], ROWS[1][1]]


async def test_a_thousand_rows_use_the_index(database: Database) -> None:
    """A joined UPDATE and DELETE of a few rows look them up by the key, and do not read the whole table."""
    fired, dialect = database.tables.fired_triggers, database.dialect
    await database.create_only(fired)
    columns: dict[str, Any] = {c.key: c.type for c in fired.columns if c.key != "sched_name"}
    given = dialect.row_set("given", columns)
    insert = dialect.insert_rows(fired, given.element, {"sched_name": "s", **{n: given.c[n] for n in columns}})
    rows = [_firing(number) for number in range(3000)]
    some = dialect.row_set("some_rows", {"entry_id": fired.c.entry_id.type})
    own = fired.c.sched_name == literal("s", fired.c.sched_name.type)
    update = dialect.update_matching(fired, some, ["entry_id"], {"state": FiredState.EXECUTING}, own)
    delete = dialect.delete_matching(fired, some, ["entry_id"], own)
    async with database.engine.begin() as connection:
        assert (await connection.execute(insert, given.parameters(rows))).rowcount == 3000
        if database.engine.dialect.name != "sqlite":
            await connection.execute(text(f"ANALYZE {'TABLE ' * (dialect.name == 'MariaDB')}{fired.fullname}"))
        for statement in (update, delete):
            plan = await explain(connection, dialect, statement, some.parameters([("e5",), ("e70",)]))
            assert not reads_all(plan), plan
        if dialect.name == "PostgreSQL":
            await connection.execute(text("SET LOCAL enable_seqscan = on"))
        without_index = select(fired.c.state).where(fired.c.instance_name == "node")
        assert reads_all(await explain(connection, dialect, without_index, {}))
        assert (await connection.execute(update, some.parameters([("e5",), ("e70",), ("none",)]))).rowcount == 2
        assert (await connection.execute(delete, some.parameters([("e5",), ("e70",), ("none",)]))).rowcount == 2


def _firing(number: int) -> tuple[Any, ...]:
    key = (f"e{number}", f"t{number}", "g", "node")
    return (*key, START, START, 5, FiredState.ACQUIRED, f"j{number % 10}", "g", False, False, None)


async def explain(
    connection: AsyncConnection, dialect: SqlDialect, statement: Any, parameters: dict[str, Any]
) -> list[str]:
    """Return how the database would execute a statement, a step in each line."""
    compiled = statement.compile(dialect=dialect.sqlalchemy)
    sql = "EXPLAIN " + ("QUERY PLAN " if dialect.name == "SQLite" else "") + str(compiled)
    parameters = compiled.construct_params(parameters)
    given = compiled.positiontup and tuple(parameters[name] for name in compiled.positiontup)
    bound = {name: getattr(value, "value", value) for name, value in parameters.items()}
    raw = tuple(getattr(value, "value", value) for value in given) if given else bound
    return [" ".join(map(str, row)) for row in await connection.exec_driver_sql(sql, raw)]


def reads_all(plan: list[str]) -> bool:
    """Tell whether a plan reads the whole firing table."""
    return any(
        "SCAN QRTZ_FIRED_TRIGGERS" in step
        or "Seq Scan on qrtz_fired_triggers" in step
        or ("QRTZ_FIRED_TRIGGERS ALL" in step)
        for step in plan
    )


def test_bool_is_a_truth_value() -> None:
    """The plain Boolean of SQLAlchemy can stand in a set beside the package's own type."""
    assert RowSet("x", {"b": Boolean()}, select(literal(1)).subquery()).parameters([(True,)]) == {
        "x_rows": '[{"b":true}]'
    }
