"""What varies by database, as answers to a store's questions."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Dialect

from quartzite.sql.dialects.base import DefaultLock, SqlDialect
from quartzite.sql.dialects.mariadb import MariaDbDialect
from quartzite.sql.dialects.postgresql import PostgreSqlDialect
from quartzite.sql.dialects.sqlite import SqliteDialect

__all__ = ["DefaultLock", "MariaDbDialect", "PostgreSqlDialect", "SqlDialect", "SqliteDialect", "dialect_for"]

_DIALECTS: Final[dict[str, type[SqlDialect]]] = {
    "postgresql": PostgreSqlDialect,
    "mariadb": MariaDbDialect,
    "mysql": MariaDbDialect,
    "sqlite": SqliteDialect,
}


def dialect_for(sqlalchemy: Dialect) -> SqlDialect:
    """Return the answers for the database of a SQLAlchemy dialect; the generic ones for those that are not known."""
    return _DIALECTS.get(sqlalchemy.name, SqlDialect)(sqlalchemy)
