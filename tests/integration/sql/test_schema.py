"""The tables can be created, checked and completed in every database."""

import asyncio

import pytest
from sqlalchemy import text

from quartzite.clock import SystemClock
from quartzite.errors import SchedulerConfigError
from quartzite.sql.schema import SCHEMA_VERSION, Schema
from quartzite.sql.tables import tables
from tests.integration.sql.conftest import MARIADB_ONLY, POSTGRESQL_ONLY, Database

CLOCK = SystemClock()


async def problems(database: Database) -> str:
    """Return what validation says, nothing when all is well."""
    async with database.engine.connect() as connection:
        try:
            await database.schema.validate(connection)
        except SchedulerConfigError as error:
            return str(error)
    return ""


async def test_created_tables_are_valid(database: Database) -> None:
    """What create makes, validate accepts, and it has the version of this library."""
    await database.schema.create(database.engine, CLOCK)
    assert await problems(database) == ""
    async with database.engine.connect() as connection:
        assert await database.schema.version(connection) == SCHEMA_VERSION


async def test_creating_again_changes_nothing(database: Database) -> None:
    """Creating tables that are there keeps every row."""
    await database.schema.create(database.engine, CLOCK)
    await database.run("INSERT INTO {s}QRTZ_LOCKS (SCHED_NAME, LOCK_NAME) VALUES ('s', 'l')")
    await database.schema.create(database.engine, CLOCK)
    assert await problems(database) == ""
    async with database.engine.connect() as connection:
        rows = (await connection.execute(database.tables.locks.select())).all()
        versions = (await connection.execute(database.tables.quartzite_schema.select())).all()
    assert rows == [("s", "l")]
    assert len(versions) == 1


async def test_several_processes_may_create_at_once(database: Database) -> None:
    """Whoever comes second waits for the first and finds everything there."""
    await asyncio.gather(*(database.schema.create(database.engine, CLOCK) for _ in range(4)))
    assert await problems(database) == ""


async def test_an_empty_database_is_told_by_table(database: Database) -> None:
    """Validation of an empty database names every table and the command that creates them."""
    said = await problems(database)
    for table in database.tables.all:
        assert f"table {table.fullname} is missing" in said
    assert "quartzite db create URL" in said


async def test_what_is_missing_is_named_and_mended(database: Database) -> None:
    """A missing column or table is named; create adds it and keeps the rows that are there."""
    await database.schema.create(database.engine, CLOCK)
    await database.run(
        "INSERT INTO {s}QRTZ_JOB_DETAILS (SCHED_NAME, JOB_NAME, JOB_GROUP, JOB_CLASS_NAME, IS_DURABLE,"
        " IS_NONCONCURRENT, IS_UPDATE_DATA, REQUESTS_RECOVERY) VALUES ('s', 'j', 'g', 'm:c', {true}, {true}, {true},"
        " {true})".replace("{true}", "TRUE"),
        "INSERT INTO {s}QRTZ_TRIGGERS (SCHED_NAME, TRIGGER_NAME, TRIGGER_GROUP, JOB_NAME, JOB_GROUP, TRIGGER_STATE,"
        " TRIGGER_TYPE, START_TIME) VALUES ('s', 't', 'g', 'j', 'g', 'WAITING', 'SIMPLE', 1)",
        "ALTER TABLE {s}QRTZ_TRIGGERS DROP COLUMN MISFIRE_ORIG_FIRE_TIME",
        "ALTER TABLE {s}QRTZ_TRIGGERS DROP COLUMN PREFERRED_NODE_AUTO",
        "ALTER TABLE {s}QRTZ_FIRED_TRIGGERS DROP COLUMN EXECUTION_GROUP",
        "DROP TABLE {s}QRTZ_QUARTZITE_POLICIES",
    )
    said = await problems(database)
    triggers, fired = database.tables.triggers.fullname, database.tables.fired_triggers.fullname
    assert f"column {triggers}.MISFIRE_ORIG_FIRE_TIME is missing" in said
    assert f"column {triggers}.PREFERRED_NODE_AUTO is missing" in said
    assert f"column {fired}.EXECUTION_GROUP is missing" in said
    assert f"table {database.tables.quartzite_policies.fullname} is missing" in said
    assert said.count("is missing") == 4
    await database.schema.create(database.engine, CLOCK)
    assert await problems(database) == ""
    async with database.engine.connect() as connection:
        t = database.tables.triggers
        row = (await connection.execute(t.select())).one()
    assert row.TRIGGER_NAME == "t"
    assert row.PREFERRED_NODE_AUTO is False


async def test_a_table_of_somebody_else_is_not_touched(database: Database) -> None:
    """A table that only shares the name, and lacks what can not be guessed, is refused with the column."""
    await database.run("CREATE TABLE {s}QRTZ_LOCKS (SOMETHING INTEGER)")
    with pytest.raises(SchedulerConfigError, match=r"QRTZ_LOCKS\.SCHED_NAME is missing.* choose another prefix"):
        await database.schema.create(database.engine, CLOCK)


async def test_another_version_is_refused(database: Database) -> None:
    """Tables without a version, of an older and of a later one are told apart."""
    await database.schema.create(database.engine, CLOCK)
    await database.run("UPDATE {s}QRTZ_QUARTZITE_SCHEMA SET VERSION = 0")
    assert f"they are of version 0, and {SCHEMA_VERSION} is needed" in await problems(database)
    await database.run("UPDATE {s}QRTZ_QUARTZITE_SCHEMA SET VERSION = 99")
    assert "which is later than" in await problems(database)
    with pytest.raises(SchedulerConfigError, match="install a later Quartzite"):
        await database.schema.create(database.engine, CLOCK)
    await database.run("DELETE FROM {s}QRTZ_QUARTZITE_SCHEMA")
    assert "no version is recorded" in await problems(database)


async def test_prefixes_live_side_by_side(database: Database) -> None:
    """Two prefixes in one database know nothing of each other."""
    other = Schema(tables("other_", database.tables.schema), database.dialect)
    await database.schema.create(database.engine, CLOCK)
    await other.create(database.engine, CLOCK)
    await other.drop(database.engine)
    assert await problems(database) == ""
    await database.schema.drop(database.engine)
    assert "QRTZ_TRIGGERS is missing" in await problems(database)


@pytest.mark.parametrize("database", [POSTGRESQL_ONLY], indirect=True)
async def test_postgresql_tables_are_set_up_for_churn(database: Database) -> None:
    """The firing table gets room and early vacuums, one that was there before too, unless somebody tuned it."""
    await database.schema.create(database.engine, CLOCK)
    await database.run(
        "ALTER TABLE {s}QRTZ_FIRED_TRIGGERS RESET (fillfactor, autovacuum_vacuum_scale_factor,"
        " autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay)",
        "ALTER TABLE {s}QRTZ_TRIGGERS SET (fillfactor = 90)",
    )
    await database.schema.create(database.engine, CLOCK)
    query = (
        "SELECT relname, array_to_string(reloptions, ',') FROM pg_class WHERE relnamespace = CAST(:s AS regnamespace)"
    )
    async with database.engine.connect() as connection:
        found = await connection.execute(text(query), {"s": database.tables.schema})
        options = {row[0]: row[1] for row in found}
    assert "fillfactor=50" in options["qrtz_fired_triggers"]
    assert "autovacuum_vacuum_cost_delay=0" in options["qrtz_fired_triggers"]
    assert options["qrtz_triggers"].count("fillfactor") == 1
    assert "fillfactor=90" in options["qrtz_triggers"]


@pytest.mark.parametrize("database", [MARIADB_ONLY], indirect=True)
async def test_mariadb_collations_that_fold_case_are_told(database: Database) -> None:
    """Columns whose collation does not compare code points are named, with the statement that changes them."""
    await database.schema.create(database.engine, CLOCK)
    await database.run("ALTER TABLE QRTZ_LOCKS CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    said = await problems(database)
    assert "column QRTZ_LOCKS.SCHED_NAME is in collation utf8mb4_general_ci, utf8mb4_nopad_bin is needed" in said
    assert "ALTER TABLE QRTZ_LOCKS CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin" in said
