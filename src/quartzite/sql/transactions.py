"""Transactions: a store's own, and those of the application that it takes part in (spec 07 sections 4 and 10)."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession

from quartzite.errors import JobPersistenceError
from quartzite.sql.dialects import SqlDialect
from quartzite.sql.transaction_ends import when_it_ends

__all__ = ["EnlistedTransaction", "LocalTransaction", "Transaction"]


class Transaction(ABC):
    """One unit of work: everything between a connection and its commit.

    Use it with ``async with``; leaving without :meth:`commit` takes everything back.
    """

    @property
    @abstractmethod
    def is_enlisted(self) -> bool:
        """Whether it belongs to the application: then nothing is retried, and nothing is committed here."""

    @abstractmethod
    async def connection(self) -> AsyncConnection:
        """Return the connection, opened at the first call: a lock handler may need to come before it."""

    @abstractmethod
    async def commit(self) -> None:
        """Make the work permanent, if it is ours to decide.

        An error does not mean that nothing was committed: the answer may have been lost.
        """

    @abstractmethod
    async def rollback(self) -> None:
        """Take the work back, if it is ours to decide; never raises."""

    @abstractmethod
    async def close(self) -> None:
        """Give the connection back."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A cancelled operation still gives its connection back, or the pool would run dry.
        await asyncio.shield(asyncio.ensure_future(self.close()))


class LocalTransaction(Transaction):
    """A transaction of the store's own, on a connection of its engine.

    Args:
        engine: Where the connection comes from.
        dialect: How the transaction begins.
        read_only: Whether nothing is written.
    """

    def __init__(self, engine: AsyncEngine, dialect: SqlDialect, *, read_only: bool = False) -> None:
        self._engine = engine
        self._dialect = dialect
        self._read_only = read_only
        self._connection: AsyncConnection | None = None

    @property
    def is_enlisted(self) -> bool:
        """False."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether a connection is held."""
        return self._connection is not None

    async def connection(self) -> AsyncConnection:
        """Return the connection, opened at the first call."""
        if self._connection is None:
            connection = await self._engine.connect()
            self._connection = connection
            await self._dialect.begin(connection, read_only=self._read_only)
        return self._connection

    async def commit(self) -> None:
        """Make the work permanent; without a connection there is none."""
        if self._connection is not None:
            await self._connection.commit()

    async def rollback(self) -> None:
        """Take the work back; a connection on which that fails is not used again."""
        if self._connection is None:
            return
        try:
            await self._connection.rollback()
        except Exception:  # noqa: BLE001  # whatever it is, the connection is of no use any more
            await self._connection.invalidate()

    async def close(self) -> None:
        """Give the connection back, with whatever was not committed taken back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


class EnlistedTransaction(Transaction):
    """A transaction of the application that scheduling takes part in: it is committed, or not, by its owner.

    Args:
        connection: A connection, or a session, with a transaction in progress.
        dialect: The database of the store.

    Raises:
        JobPersistenceError: there is no transaction, or the connection leads to another kind of database.
    """

    def __init__(self, connection: AsyncConnection, dialect: SqlDialect) -> None:
        if connection.closed or not connection.in_transaction():
            raise JobPersistenceError(
                "the connection has no transaction to take part in: begin one first (async with engine.begin() ...)"
            )
        if type(connection.dialect) is not type(dialect.sqlalchemy):
            raise JobPersistenceError(
                f"the connection speaks {connection.dialect.name}+{connection.dialect.driver}, the store "
                f"{dialect.sqlalchemy.name}+{dialect.sqlalchemy.driver}: enlist a connection to the store's database"
            )
        self._connection = connection
        self._begun = connection.sync_connection.get_transaction() if connection.sync_connection else None
        self._busy = False

    @classmethod
    async def of(cls, owner: AsyncConnection | AsyncSession, dialect: SqlDialect) -> EnlistedTransaction:
        """Return the transaction of a connection or a session.

        Raises:
            JobPersistenceError: see the class.
        """
        if isinstance(owner, AsyncSession):
            if not owner.in_transaction():
                raise JobPersistenceError("the session has no transaction to take part in: begin one first")
            owner = await owner.connection()
        return cls(owner, dialect)

    @property
    def is_enlisted(self) -> bool:
        """True."""
        return True

    @property
    def is_active(self) -> bool:
        """Whether the application has neither committed nor rolled back."""
        connection = self._connection
        if connection.closed or connection.sync_connection is None:
            return False
        return self._begun is not None and connection.sync_connection.get_transaction() is self._begun

    def when_it_ends(self, callback: Callable[[bool], None]) -> None:
        """Call back once the application has committed (True) or taken everything back (False).

        The call comes after the commit, so that whoever looks then sees what was written.
        """
        when_it_ends(self._connection, callback)

    async def connection(self) -> AsyncConnection:
        """Return the application's connection.

        Raises:
            JobPersistenceError: its transaction is over.
        """
        if not self.is_active:
            raise JobPersistenceError("the enlisted transaction is over: enlist the one that is in progress")
        return self._connection

    async def commit(self) -> None:
        """Leave it to the application."""

    async def rollback(self) -> None:
        """Leave it to the application."""

    async def close(self) -> None:
        """Let the next operation use the connection."""
        self._busy = False

    async def __aenter__(self) -> Self:
        if self._busy:
            raise JobPersistenceError(
                "the enlisted connection is busy with another operation: await one scheduler call after the other"
            )
        self._busy = True
        return self
