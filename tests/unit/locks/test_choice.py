"""Which lock handler a store builds for itself."""

from __future__ import annotations

import pytest
from sqlalchemy import make_url

from quartzite.abc import Semaphore
from quartzite.locks import (
    LocalSemaphore,
    PostgreSqlSelectForUpdateSemaphore,
    SelectForUpdateSemaphore,
    SqliteSemaphore,
    UpdateRowSemaphore,
)
from quartzite.locks.choice import semaphore_for
from quartzite.sql.dialects import SqlDialect, dialect_for


def of(database: str) -> SqlDialect:
    """Return the answers of a database."""
    return dialect_for(make_url(f"{database}://").get_dialect()())


REASONS = ["clustered", "use_db_locks", "enlisted"]
OF_THE_DATABASE = [
    (of("postgresql+asyncpg"), PostgreSqlSelectForUpdateSemaphore),
    (of("mariadb+asyncmy"), SelectForUpdateSemaphore),
    (of("oracle"), UpdateRowSemaphore),
]


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(("dialect", "expected"), OF_THE_DATABASE, ids=[dialect.name for dialect, _ in OF_THE_DATABASE])
def test_rows_are_locked_when_others_share_the_data(
    dialect: SqlDialect, expected: type[Semaphore], reason: str
) -> None:
    """Other nodes, transactions of the application, and whoever asks for it need locks of the database."""
    assert type(semaphore_for(dialect=dialect, **{reason: True})) is expected


@pytest.mark.parametrize("dialect", [dialect for dialect, _ in OF_THE_DATABASE], ids=lambda one: one.name)
def test_one_process_alone_locks_in_memory(dialect: SqlDialect) -> None:
    """Without any of these reasons the lock is within the process, whatever the database."""
    assert type(semaphore_for(dialect=dialect)) is LocalSemaphore


@pytest.mark.parametrize("reason", [None, *REASONS])
def test_sqlite_has_one_writer(reason: str | None) -> None:
    """SQLite gets one lock behind both names in every case."""
    given: dict[str, bool] = {reason: True} if reason else {}
    assert type(semaphore_for(dialect=of("sqlite+aiosqlite"), **given)) is SqliteSemaphore
