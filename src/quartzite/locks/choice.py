"""Which lock handler a store builds for itself when none was supplied (spec 09 section 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from quartzite.abc import Semaphore
from quartzite.locks.local import LocalSemaphore
from quartzite.locks.select_for_update import PostgreSqlSelectForUpdateSemaphore, SelectForUpdateSemaphore
from quartzite.locks.sqlite import SqliteSemaphore
from quartzite.locks.update_row import UpdateRowSemaphore
from quartzite.sql.dialects import DefaultLock, SqlDialect

__all__ = ["semaphore_for", "semaphore_type"]

# A dialect that inserts into PostgreSQL's tables must do so without failing on a row that is there.
_OF_THE_DATABASE: Final[Mapping[tuple[DefaultLock, bool], Callable[[], Semaphore]]] = {
    (DefaultLock.SELECT_FOR_UPDATE, True): PostgreSqlSelectForUpdateSemaphore,
    (DefaultLock.SELECT_FOR_UPDATE, False): SelectForUpdateSemaphore,
    (DefaultLock.UPDATE_ROW, True): UpdateRowSemaphore,
    (DefaultLock.UPDATE_ROW, False): UpdateRowSemaphore,
    (DefaultLock.LOCAL, True): LocalSemaphore,
    (DefaultLock.LOCAL, False): LocalSemaphore,
}


def semaphore_type(
    *, dialect: SqlDialect, clustered: bool = False, use_db_locks: bool = False, enlisted: bool = False
) -> Callable[[], Semaphore]:
    """Return what builds the handler.

    Args:
        dialect: The database. One that lets one writer at a time in gets one lock within the process.
        clustered: Whether other nodes share the database: only the database can then keep them apart.
        use_db_locks: Whether rows are asked for although nobody else is there.
        enlisted: Whether operations may run in transactions of the application, accepted or ambient: a lock has to be
            held until these end, which only a lock of the database does.
    """
    if dialect.serializes_writers:
        return SqliteSemaphore
    if not (clustered or use_db_locks or enlisted):
        return LocalSemaphore
    return _OF_THE_DATABASE[dialect.default_lock, dialect.sqlalchemy.name == "postgresql"]


def semaphore_for(
    *, dialect: SqlDialect, clustered: bool = False, use_db_locks: bool = False, enlisted: bool = False
) -> Semaphore:
    """Return a new handler, to be initialized; see :func:`semaphore_type`."""
    return semaphore_type(dialect=dialect, clustered=clustered, use_db_locks=use_db_locks, enlisted=enlisted)()
