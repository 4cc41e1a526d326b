"""SqlUnit: executes the statements of one unit of work."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

from sqlalchemy import CursorResult, Executable
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.sql.transactions import Transaction
from quartzite.stores.sql.own_rows import OwnRows

__all__ = ["SqlUnit"]

Rows: TypeAlias = CursorResult[*tuple[Any, ...]]
"""What a statement yields: rows of whatever was selected."""


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
        rows: OwnRows,
        values: Sequence[Sequence[Any]],
        parameters: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the rows that a statement yields for the rows of a set."""
        found: list[Any] = []
        for piece in rows.parameters(values):
            found += await self.execute(statement, piece if parameters is None else {**parameters, **piece})
        return found

    async def change(
        self,
        statement: Executable,
        rows: OwnRows,
        values: Sequence[Sequence[Any]],
        parameters: Mapping[str, Any] | None = None,
    ) -> int:
        """Return how many rows a statement changed for the rows of a set."""
        changed = 0
        for piece in rows.parameters(values):
            changed += (
                await self.execute(statement, piece if parameters is None else {**parameters, **piece})
            ).rowcount
        return changed
