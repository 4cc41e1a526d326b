"""TimeLimit: how long one statement of a lock handler may take."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final
from weakref import WeakKeyDictionary

from sqlalchemy import CursorResult, Executable, TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["TimeLimit"]

_MILLISECOND: Final = timedelta(milliseconds=1)
_BACKSTOP: Final = timedelta(seconds=1)
"""How much longer than the server the client waits: when the server itself is out of reach, nobody else gives up."""

_SET: Final = text(
    "WITH before AS MATERIALIZED (SELECT current_setting('statement_timeout') AS value) "
    "SELECT value, set_config('statement_timeout', :limit, true) FROM before"
)
_RESTORE: Final = text("SELECT set_config('statement_timeout', :value, true)")


class TimeLimit:
    """Executes statements that end in time, with a result or with an error.

    The server is asked to stop the statement where it can be: PostgreSQL (two more round trips, because the limit is
    taken back for the statements of others in the same transaction) and MariaDB (none). Their connection is as good
    as after any other failed statement. Elsewhere, and when the server does not answer at all, the client stops
    waiting; the connection is then invalid, and its transaction is taken back.

    Args:
        limit: How long a statement may take, more than 0; None for no limit.
    """

    def __init__(self, limit: timedelta | None) -> None:
        self._limit = limit
        self._prefixed: WeakKeyDictionary[Executable, TextClause] = WeakKeyDictionary()

    async def execute(
        self, connection: AsyncConnection, statement: Executable, parameters: Mapping[str, Any]
    ) -> CursorResult[Any]:
        """Execute one statement.

        Raises:
            sqlalchemy.exc.DBAPIError: the server refused or stopped it.
            TimeoutError: the client stopped waiting.
        """
        if self._limit is None:
            return await connection.execute(statement, parameters)
        name = connection.dialect.name
        if name == "postgresql":
            work = self._on_postgresql(connection, statement, parameters, self._limit)
        elif getattr(connection.dialect, "is_mariadb", False):
            work = connection.execute(self._on_mariadb(connection, statement, self._limit), parameters)
        else:
            async with asyncio.timeout(self._limit.total_seconds()):
                return await connection.execute(statement, parameters)
        async with asyncio.timeout((self._limit + _BACKSTOP).total_seconds()):
            return await work

    async def _on_postgresql(
        self, connection: AsyncConnection, statement: Executable, parameters: Mapping[str, Any], limit: timedelta
    ) -> CursorResult[Any]:
        milliseconds = str(math.ceil(limit / _MILLISECOND))
        before = (await connection.execute(_SET, {"limit": milliseconds})).scalar_one()
        result = await connection.execute(statement, parameters)
        # After an error there is nothing to restore: the end of the transaction, or of the savepoint, does it.
        await connection.execute(_RESTORE, {"value": before})
        return result

    def _on_mariadb(self, connection: AsyncConnection, statement: Executable, limit: timedelta) -> TextClause:
        prefixed = self._prefixed.get(statement)
        if prefixed is None:
            family: Any = type(connection.dialect)
            written = statement.compile(dialect=family(paramstyle="named"))  # type: ignore[attr-defined]
            seconds = f"{limit.total_seconds():.3f}"
            prefixed = text(f"SET STATEMENT max_statement_time = {seconds} FOR {written}")
            self._prefixed[statement] = prefixed
        return prefixed
