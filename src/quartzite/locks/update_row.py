"""Locks that are taken by updating a row (spec 09 section 4)."""

from __future__ import annotations

from sqlalchemy import Executable, Table, update
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.locks.attempts import AttemptingSemaphore
from quartzite.locks.row import LOCK, SCHEDULER, LockStatement, insert_lock

__all__ = ["MemoryOptimizedUpdateRowSemaphore", "UpdateRowSemaphore", "update_lock"]


def update_lock(locks: Table) -> Executable:
    """Return an UPDATE that changes nothing and locks the row of a lock."""
    row = (locks.c.sched_name == SCHEDULER, locks.c.lock_name == LOCK)
    return update(locks).where(*row).values(lock_name=locks.c.lock_name)


class UpdateRowSemaphore(AttemptingSemaphore):
    """Updates the row of the lock, and inserts it when it is missing: works on every database that locks rows.

    Args:
        statement: Instead of the usual UPDATE.
        insert: Instead of the usual INSERT.
    """

    retry_count: int = 2
    """How many attempts are made; a subclass may say otherwise."""

    def __init__(self, statement: LockStatement = update_lock, insert: LockStatement = insert_lock) -> None:
        super().__init__(statement, insert)

    @property
    def attempts(self) -> int:
        """As many as :attr:`retry_count` says."""
        return self.retry_count

    async def attempt(
        self, connection: AsyncConnection, lock_name: str, select_or_update: Executable, insert: Executable
    ) -> bool:
        """Update the row; insert it when there was none to update."""
        lock = {"scheduler_name": self.context.scheduler_name, "lock": lock_name}
        if (await self.execute(connection, select_or_update, **lock)).rowcount > 0:
            return True
        return (await self.execute(connection, insert, **lock)).rowcount == 1


class MemoryOptimizedUpdateRowSemaphore(UpdateRowSemaphore):
    """For databases that refuse concurrent updates at once instead of letting the second one wait.

    SQL Server's memory-optimized tables do; they also need a hint in the statement, which is given as ``statement``.
    """

    retry_count: int = 5
