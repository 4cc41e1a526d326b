"""The tables are Quartz's, column by column, and ours beside them."""

from pathlib import Path
from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.sql.schema import ddl, dialect_named
from quartzite.sql.tables import indexes, tables

# Of spec 07 section 2, in its order; a column that may be NULL ends in a question mark.
KEY = "TRIGGER_NAME TRIGGER_GROUP"
QUARTZ = {
    "JOB_DETAILS": "JOB_NAME JOB_GROUP DESCRIPTION? JOB_CLASS_NAME IS_DURABLE IS_NONCONCURRENT IS_UPDATE_DATA"
    " REQUESTS_RECOVERY JOB_DATA?",
    "TRIGGERS": f"{KEY} JOB_NAME JOB_GROUP DESCRIPTION? NEXT_FIRE_TIME? PREV_FIRE_TIME? PRIORITY? TRIGGER_STATE"
    " TRIGGER_TYPE START_TIME END_TIME? CALENDAR_NAME? MISFIRE_INSTR? MISFIRE_ORIG_FIRE_TIME? EXECUTION_GROUP?"
    " PREFERRED_NODE? PREFERRED_NODE_AUTO JOB_DATA?",
    "SIMPLE_TRIGGERS": f"{KEY} REPEAT_COUNT REPEAT_INTERVAL TIMES_TRIGGERED",
    "CRON_TRIGGERS": f"{KEY} CRON_EXPRESSION TIME_ZONE_ID?",
    "SIMPROP_TRIGGERS": f"{KEY} STR_PROP_1? STR_PROP_2? STR_PROP_3? INT_PROP_1? INT_PROP_2? LONG_PROP_1? LONG_PROP_2?"
    " DEC_PROP_1? DEC_PROP_2? BOOL_PROP_1? BOOL_PROP_2? TIME_ZONE_ID?",
    "BLOB_TRIGGERS": f"{KEY} BLOB_DATA?",
    "CALENDARS": "CALENDAR_NAME CALENDAR",
    "PAUSED_TRIGGER_GRPS": "TRIGGER_GROUP",
    "FIRED_TRIGGERS": f"ENTRY_ID {KEY} INSTANCE_NAME FIRED_TIME SCHED_TIME PRIORITY STATE JOB_NAME? JOB_GROUP?"
    " IS_NONCONCURRENT? REQUESTS_RECOVERY? EXECUTION_GROUP?",
    "SCHEDULER_STATE": "INSTANCE_NAME LAST_CHECKIN_TIME CHECKIN_INTERVAL",
    "LOCKS": "LOCK_NAME",
}
DATABASES = ["postgresql", "mariadb", "mysql", "sqlite"]


@pytest.mark.parametrize("name", QUARTZ)
def test_the_columns_are_those_of_quartz(name: str) -> None:
    """Each of the eleven tables has exactly Quartz.NET's columns, nullable where they are (decision 6)."""
    t = tables()
    table = t.metadata.tables[f"QRTZ_{name}"]
    found = [column.name + "?" * bool(column.nullable) for column in table.columns]
    assert found == ["SCHED_NAME", *QUARTZ[name].split()]
    assert next(iter(table.primary_key)).name == "SCHED_NAME"


def test_our_own_tables_stand_apart() -> None:
    """What Quartz does not have stands in tables of our own (decision 6), and there are no others."""
    names = {table.name.removeprefix("QRTZ_") for table in tables().all}
    assert names - set(QUARTZ) == {"QUARTZITE_SCHEMA", "QUARTZITE_POLICIES", "QUARTZITE_INTERRUPTS"}
    assert len(tables().all) == len(tables().metadata.tables) == 14


def test_tables_come_before_those_that_refer_to_them() -> None:
    """Creating in the order of ``all``, and dropping in the opposite one, meets no missing table."""
    seen: set[Any] = set()
    for table in tables().all:
        assert {key.column.table for key in table.foreign_keys} <= seen
        seen.add(table)


def test_prefix_and_schema_are_part_of_every_name() -> None:
    """Tables, their references and their indexes carry the prefix, and the schema where there is one."""
    t = tables("app_", "Ops")
    text = ddl(t, dialect_named("postgresql"))
    assert "QRTZ_" not in text
    assert text.count('"Ops".app_') == 14 + 5 + 6  # tables, references, the tables of indexes
    assert "IDX_app_T_NFT" in text
    assert t.triggers.fullname == "Ops.app_TRIGGERS"


@pytest.mark.parametrize("prefix", ["1A", "a-b", "a b", 'a"', "ä", "x" * 31, None])
def test_a_prefix_that_needs_quotes_is_refused(prefix: str) -> None:
    """A prefix begins an identifier that is never quoted."""
    with pytest.raises(InvalidValueError, match="table prefix"):
        tables(prefix)


def test_no_prefix_at_all_is_fine() -> None:
    """The prefix may be empty."""
    assert tables("").locks.name == "LOCKS"


@pytest.mark.parametrize("name", DATABASES)
def test_every_index_says_what_it_serves(name: str) -> None:
    """An index is there for a statement, and no database has more than it needs."""
    found = [index for table in tables().all for index in indexes(table, dialect_named(name))]
    assert all(index.info["serves"] for index in found)
    assert len(found) == 6


@pytest.mark.parametrize("name", DATABASES)
def test_taking_a_trigger_writes_to_no_index(name: str) -> None:
    """State and fired time stand in no index, so that taking, firing and marking rows stays in the heap."""
    t = tables()
    indexed = {
        column.name
        for table in (t.triggers, t.fired_triggers)
        for index in indexes(table, dialect_named(name))
        for column in index.columns
    }
    assert not indexed & {"TRIGGER_STATE", "STATE", "FIRED_TIME", "SCHED_TIME", "PREV_FIRE_TIME", "START_TIME"}


@pytest.mark.parametrize("name", DATABASES)
def test_the_ddl_is_complete_and_in_order(name: str) -> None:
    """The printed statements create every table and index, each ended by a semicolon."""
    statements = [part.strip() for part in ddl(tables(), dialect_named(name)).split(";\n") if part.strip()]
    assert [part.split("(")[0].split()[1] for part in statements].count("TABLE") == 14
    assert len(statements) == 14 + 6
    assert all(part.startswith(("CREATE TABLE IF NOT EXISTS", "CREATE INDEX IF NOT EXISTS")) for part in statements)


def test_storage_settings_are_part_of_the_ddl() -> None:
    """PostgreSQL's tables that churn leave room in their pages and are vacuumed early (decision 12)."""
    statements = ddl(tables(), dialect_named("postgresql")).split(";\n")
    (fired,) = (part for part in statements if "TABLE IF NOT EXISTS QRTZ_FIRED_TRIGGERS" in part)
    assert "WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000" in fired
    assert "WITH (" not in ddl(tables(), dialect_named("sqlite"))


def test_deleting_a_trigger_cascades_as_in_quartz() -> None:
    """The extension tables follow their trigger in PostgreSQL and SQLite; Quartz's script for MySQL has no cascade."""
    counts = {name: ddl(tables(), dialect_named(name)).count("ON DELETE CASCADE") for name in DATABASES}
    assert counts == {"postgresql": 4, "sqlite": 4, "mariadb": 0, "mysql": 0}


def test_an_unknown_dialect_is_refused() -> None:
    """Printing for a database that SQLAlchemy does not know names the ones that are tested."""
    with pytest.raises(InvalidValueError, match="give postgresql, mariadb, mysql or sqlite"):
        dialect_named("dbase")


def test_the_page_about_the_tables_names_them_all() -> None:
    """The reference lists every table and, with what it serves, every index."""
    page = (Path(__file__).parents[3] / "docs" / "reference" / "tables.md").read_text(encoding="utf-8")
    for table in tables().all:
        assert f"`{table.name.removeprefix('QRTZ_')}`" in page
        for index in table.indexes:
            assert f"`{index.name}`" in page
