"""SqlUnit: executes the statements of one unit of work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

from sqlalchemy import CursorResult, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.sql.row_set import RowSet
from quartzite.sql.transactions import Transaction

__all__ = ["MOST_ROWS", "SqlUnit"]

Rows: TypeAlias = CursorResult[*tuple[Any, ...]]
"""What a statement yields: rows of whatever was selected."""
MOST_ROWS: Final = 5000
"""Rows that travel with one statement: larger sets are cut, so that no parameter grows without limit."""


class SqlUnit:
    """One transaction, and whether it writes.

    Attributes:
        writes: Whether rows that are read must stay as they are until the transaction ends.
    """

    __slots__ = ("_connection", "_timeout", "_transaction", "writes")

    def __init__(self, transaction: Transaction, *, writes: bool, command_timeout: timedelta | None = None) -> None:
        self._transaction = transaction
        self._connection: AsyncConnection | None = None
        self._timeout = None if command_timeout is None else command_timeout.total_seconds()
        self.writes = writes

    async def execute(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Rows:
        """Execute one statement.

        Raises:
            TimeoutError: it took longer than the command timeout.
        """
        connection = self._connection
        if connection is None:
            connection = self._connection = await self._transaction.connection()
        if self._timeout is None:
            return await connection.execute(statement, parameters)
        async with asyncio.timeout(self._timeout):
            return await connection.execute(statement, parameters)

    async def fetch(
        self,
        statement: Executable,
        rows: RowSet,
        values: Sequence[Sequence[Any]],
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the rows that a statement yields for the rows of a set."""
        found: list[Any] = []
        for piece in rows.batches(values, MOST_ROWS):
            found += await self.execute(statement, {**(parameters or {}), **rows.parameters(piece)})
        return found

    async def change(
        self,
        statement: Executable,
        rows: RowSet,
        values: Sequence[Sequence[Any]],
        parameters: Mapping[str, Any] | None = None,
    ) -> int:
        """Return how many rows a statement changed for the rows of a set."""
        changed = 0
        for piece in rows.batches(values, MOST_ROWS):
            changed += (await self.execute(statement, {**(parameters or {}), **rows.parameters(piece)})).rowcount
        return changed
