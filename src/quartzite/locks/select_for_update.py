"""Locks that are taken by selecting a row for update (spec 09 section 4)."""

from __future__ import annotations

from sqlalchemy import Executable, Table, select
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.locks.attempts import AttemptingSemaphore
from quartzite.locks.row import LOCK, SCHEDULER, LockStatement, insert_lock

__all__ = ["PostgreSqlSelectForUpdateSemaphore", "SelectForUpdateSemaphore", "insert_missing_lock", "select_lock"]


def select_lock(locks: Table) -> Executable:
    """Return the SELECT ... FOR UPDATE of a lock's row; SQL Server gets the hint that says the same there."""
    row = (locks.c.sched_name == SCHEDULER, locks.c.lock_name == LOCK)
    return select(locks.c.lock_name).where(*row).with_for_update().with_hint(locks, "WITH (UPDLOCK, ROWLOCK)", "mssql")


def insert_missing_lock(locks: Table) -> Executable:
    """Return an INSERT that leaves a row which is there already as it is."""
    return postgresql.insert(locks).values(sched_name=SCHEDULER, lock_name=LOCK).on_conflict_do_nothing()


class SelectForUpdateSemaphore(AttemptingSemaphore):
    """Selects the row of the lock for update, and inserts it when it is missing: writes nothing once it is there.

    Args:
        statement: Instead of the usual SELECT ... FOR UPDATE, for a database that needs another one.
        insert: Instead of the usual INSERT.
    """

    max_retry: int = 3
    """How many attempts are made; a subclass may say otherwise."""

    def __init__(self, statement: LockStatement = select_lock, insert: LockStatement = insert_lock) -> None:
        super().__init__(statement, insert)

    @property
    def attempts(self) -> int:
        """As many as :attr:`max_retry` says."""
        return self.max_retry

    async def attempt(
        self, connection: AsyncConnection, lock_name: str, select_or_update: Executable, insert: Executable
    ) -> bool:
        """Select the row; insert it when there is none. Whoever inserted a row holds it."""
        lock = {"scheduler_name": self.context.scheduler_name, "lock": lock_name}
        if (await self.execute(connection, select_or_update, **lock)).first() is not None:
            return True
        return (await self.execute(connection, insert, **lock)).rowcount == 1


class PostgreSqlSelectForUpdateSemaphore(SelectForUpdateSemaphore):
    """The same for PostgreSQL: inserting a row that somebody else has just inserted is no error there.

    The row that the other one committed is then selected, within the same attempt.
    """

    def __init__(self, statement: LockStatement = select_lock, insert: LockStatement = insert_missing_lock) -> None:
        super().__init__(statement, insert)

    async def attempt(
        self, connection: AsyncConnection, lock_name: str, select_or_update: Executable, insert: Executable
    ) -> bool:
        """Select the row; insert it when there is none, and select it again when it was there after all."""
        if await super().attempt(connection, lock_name, select_or_update, insert):
            return True
        lock = {"scheduler_name": self.context.scheduler_name, "lock": lock_name}
        return (await self.execute(connection, select_or_update, **lock)).first() is not None
