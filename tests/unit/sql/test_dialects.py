"""Statements are spelled for each database, without one."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import literal, select

from quartzite.errors import SchedulerConfigError
from quartzite.sql.dialects import (
    DefaultLock,
    MariaDbDialect,
    PostgreSqlDialect,
    SqlDialect,
    SqliteDialect,
    dialect_for,
)
from quartzite.sql.schema import dialect_named
from quartzite.sql.tables import tables

T = tables()
NAMES = ["postgresql", "mariadb", "sqlite", "oracle"]


def dialect(name: str) -> SqlDialect:
    """Return the answers of a database by its name."""
    return dialect_for(dialect_named(name))


def spelled(statement: Any, name: str) -> str:
    """Return a statement as a database reads it, in one line."""
    return " ".join(str(statement.compile(dialect=dialect_named(name))).split())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("postgresql", PostgreSqlDialect),
        ("mariadb", MariaDbDialect),
        ("mysql", MariaDbDialect),
        ("sqlite", SqliteDialect),
        ("oracle", SqlDialect),
        ("mssql", SqlDialect),
    ],
)
def test_each_database_has_its_answers(name: str, kind: type[SqlDialect]) -> None:
    """A database is known by the name of its dialect; what is not known gets the generic answers."""
    assert type(dialect(name)) is kind


def test_the_answers() -> None:
    """What a store bases its choices on, database by database."""
    questions = ("skip_locked", "update_returning", "delete_returning", "for_update_of", "supports_clustering")
    answers = {name: [getattr(dialect(name), question) for question in questions] for name in NAMES}
    assert answers == {
        "postgresql": [True, True, True, True, True],
        "mariadb": [True, False, False, False, True],
        "sqlite": [False, True, True, False, False],
        "oracle": [False, False, False, False, True],
    }
    assert [dialect(name).default_lock for name in NAMES] == [
        DefaultLock.SELECT_FOR_UPDATE,
        DefaultLock.SELECT_FOR_UPDATE,
        DefaultLock.LOCAL,
        DefaultLock.UPDATE_ROW,
    ]
    assert [dialect(name).isolation_level for name in NAMES] == ["READ COMMITTED"] * 2 + [None, "READ COMMITTED"]


JSON_SOURCES = {
    "postgresql": "json_to_recordset(CAST(%(done_rows)s::VARCHAR AS JSON)) AS"
    ' given(entry_id TEXT COLLATE "C", at BIGINT)',
    "mariadb": "JSON_TABLE(%s, '$[*]' COLUMNS (entry_id VARCHAR(140) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
    " PATH '$.entry_id', at BIGINT PATH '$.at')) AS given",
    "sqlite": "json_each(?)",
}


@pytest.mark.parametrize("name", JSON_SOURCES)
def test_a_set_is_read_from_json(name: str) -> None:
    """A row set is one FROM element over one parameter, with columns of the right types (decision 4)."""
    fired = T.fired_triggers.c
    rows = dialect(name).row_set("done", {"entry_id": fired.entry_id.type, "at": fired.fired_time.type})
    found = spelled(select(rows.c.entry_id), name)
    assert found.startswith("SELECT done.entry_id FROM (SELECT ")
    assert found.endswith(f" FROM {JSON_SOURCES[name]}) AS done")


@pytest.mark.parametrize(
    ("name", "update", "delete"),
    [
        ("postgresql", "SET STATE=%(state)s::VARCHAR FROM (SELECT", "DELETE FROM QRTZ_FIRED_TRIGGERS USING (SELECT"),
        (
            "mariadb",
            "UPDATE QRTZ_FIRED_TRIGGERS, (SELECT",
            "DELETE FROM QRTZ_FIRED_TRIGGERS USING QRTZ_FIRED_TRIGGERS,",
        ),
        ("sqlite", "SET STATE=? FROM (SELECT", "WHERE (QRTZ_FIRED_TRIGGERS.ENTRY_ID) IN (SELECT"),
        ("oracle", "WHERE EXISTS (SELECT", "WHERE EXISTS (SELECT"),
    ],
)
def test_changes_join_a_set(name: str, update: str, delete: str) -> None:
    """UPDATE and DELETE join a set in each database's way, and by a subquery where they can not join."""
    fired, answers = T.fired_triggers, dialect(name)
    rows = answers.row_set("done", {"entry_id": fired.c.entry_id.type})
    own = fired.c.sched_name == "s"
    updating = answers.update_matching(fired, rows, ["entry_id"], {"state": literal("EXECUTING")}, own)
    assert update in spelled(updating, name)
    assert delete in spelled(answers.delete_matching(fired, rows, ["entry_id"], own), name)


@pytest.mark.parametrize(
    ("name", "missing_only", "upsert"),
    [
        ("postgresql", "ON CONFLICT DO NOTHING", "ON CONFLICT (SCHED_NAME, CALENDAR_NAME) DO UPDATE SET CALENDAR"),
        (
            "sqlite",
            "WHERE 1 = 1 ON CONFLICT DO NOTHING",
            "ON CONFLICT (SCHED_NAME, CALENDAR_NAME) DO UPDATE SET CALENDAR",
        ),
        ("mariadb", "ON DUPLICATE KEY UPDATE", "ON DUPLICATE KEY UPDATE CALENDAR = VALUES(CALENDAR)"),
        ("oracle", "WHERE NOT (EXISTS (SELECT", "UPDATE QRTZ_CALENDARS SET CALENDAR=(SELECT"),
    ],
)
def test_rows_that_are_there(name: str, missing_only: str, upsert: str) -> None:
    """What happens to rows that are there already is part of the INSERT, or of the conditions before it."""
    answers, calendars = dialect(name), T.calendars
    rows = answers.row_set(
        "given", {"calendar_name": calendars.c.calendar_name.type, "data": calendars.c.calendar.type}
    )
    values = {"sched_name": "s", "calendar_name": rows.c.calendar_name, "calendar": rows.c.data}
    insert = answers.insert_rows(calendars, rows.element, values, missing_only=True)
    assert missing_only in spelled(insert, name)
    first = answers.upsert(calendars, rows, values)[0]
    assert upsert in spelled(first, name)


@pytest.mark.parametrize(
    ("name", "lock"),
    [
        ("postgresql", "FOR NO KEY UPDATE OF qrtz_triggers SKIP LOCKED"),
        ("mariadb", "FOR UPDATE SKIP LOCKED"),
        ("oracle", "FOR UPDATE"),
        ("sqlite", "FROM QRTZ_TRIGGERS"),
    ],
)
def test_row_locks(name: str, lock: str) -> None:
    """A row lock lets foreign keys be checked where it can, passes over locked rows where it can."""
    statement = select(T.triggers.c.trigger_name)
    locked = spelled(dialect(name).for_update(statement, of=[T.triggers], skip_locked=True), name)
    assert locked.lower().endswith(lock.lower())


def test_a_database_whose_time_is_not_known_says_so() -> None:
    """The generic dialect refuses to guess how a database says its time, and names the way out."""
    with pytest.raises(SchedulerConfigError, match=r"use time=ClockTime\(\)"):
        dialect("oracle").now_ticks()


@pytest.mark.parametrize(
    ("name", "server", "problem"),
    [
        ("postgresql", {"server_version_info": (11, 4)}, "PostgreSQL 11 is too old: use version 12"),
        ("postgresql", {"server_version_info": (15, 1)}, None),
        ("mariadb", {"server_version_info": (10, 5, 9), "is_mariadb": True}, "MariaDB 10.5.9 is too old"),
        ("mariadb", {"server_version_info": (10, 11, 1), "is_mariadb": True}, None),
        ("mysql", {"server_version_info": (5, 7, 1), "is_mariadb": False}, "MySQL 5.7.1 is too old"),
        ("mysql", {"server_version_info": (8, 4, 0), "is_mariadb": False}, None),
        ("sqlite", {"dbapi": SimpleNamespace(sqlite_version_info=(3, 34, 1))}, "SQLite 3.34.1 is too old"),
        ("sqlite", {"dbapi": SimpleNamespace(sqlite_version_info=(3, 40, 1))}, None),
        ("oracle", {}, None),
    ],
)
def test_a_server_that_is_too_old_is_refused(name: str, server: dict[str, Any], problem: str | None) -> None:
    """A server that lacks what the statements need is refused with its version and the oldest that will do."""
    connected: Any = SimpleNamespace(**server)
    if problem is None:
        dialect(name).check_server(connected)
    else:
        with pytest.raises(SchedulerConfigError, match=problem):
            dialect(name).check_server(connected)


def test_what_a_connection_executes_first() -> None:
    """Sessions are prepared, with the idle limit only where one is wanted."""
    window = timedelta(seconds=1, microseconds=1)
    assert "SET idle_in_transaction_session_timeout = 1001" in dialect("postgresql").session_statements(
        idle_in_transaction=window
    )
    assert not any("idle" in statement for statement in dialect("postgresql").session_statements())
    assert any(
        "idle_transaction_timeout = 2 " in s for s in dialect("mariadb").session_statements(idle_in_transaction=window)
    )
    assert any("STRICT_TRANS_TABLES" in statement for statement in dialect("mariadb").session_statements())
    assert "PRAGMA journal_mode = WAL" in dialect("sqlite").session_statements(idle_in_transaction=window)
    assert dialect("oracle").session_statements(idle_in_transaction=window) == ()
