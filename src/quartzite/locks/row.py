"""DbSemaphore: what all locks on rows of a database share (spec 09 section 3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeAlias
from uuid import UUID

from sqlalchemy import BindParameter, CursorResult, Executable, Insert, Table, bindparam
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles

from quartzite.errors import LockError
from quartzite.locks.ownership import OwningSemaphore
from quartzite.locks.time_limit import TimeLimit
from quartzite.model.identity import SchedulerLock
from quartzite.sql.tables import tables

__all__ = ["LOCK", "SCHEDULER", "DbSemaphore", "LockStatement", "insert_lock"]

LockStatement: TypeAlias = Callable[[Table], Executable]
"""Makes a statement on the table of locks (columns ``sched_name`` and ``lock_name``), once per handler.

It has the parameters ``scheduler_name`` and ``lock``."""

SCHEDULER: Final[BindParameter[str]] = bindparam("scheduler_name")
LOCK: Final[BindParameter[str]] = bindparam("lock")


class _InsertLock(Insert):
    """An INSERT that MariaDB and MySQL execute differently."""

    inherit_cache = True


@compiles(_InsertLock, "mysql", "mariadb")
def _insert_or_lock(statement: _InsertLock, compiler: Any, **options: Any) -> str:
    # An INSERT that fails there because the row exists keeps a shared lock on it. Several nodes that start at once
    # would all have one, and none could ever have more: a deadlock of everybody. This way the row is locked instead.
    column = compiler.preparer.format_column(statement.table.c["lock_name"])
    return f"{compiler.visit_insert(statement, **options)} ON DUPLICATE KEY UPDATE {column} = {column}"


def insert_lock(locks: Table) -> Executable:
    """Return the INSERT of a lock's row; on MariaDB and MySQL one that locks a row which is there already."""
    return _InsertLock(locks).values(sched_name=SCHEDULER, lock_name=LOCK)


class DbSemaphore(OwningSemaphore):
    """Locks that are rows of ``{prefix}LOCKS``: whoever has locked a row has the lock, until the transaction ends.

    A handler of your own says which statements it needs and how it issues them (:meth:`execute_sql`); who holds what,
    re-entry, the names of the tables and the time limit are settled here.

    * The lock is really given back by the commit or the rollback of the connection; releasing it only forgets the
      holder.
    * The statements are made once, for the prefix and schema that the store has told.

    Args:
        statement: Makes the statement that locks the row.
        insert: Makes the statement that inserts the row when it is missing.
    """

    def __init__(self, statement: LockStatement, insert: LockStatement = insert_lock) -> None:
        super().__init__()
        self._statement: Final = statement
        self._insert: Final = insert

    @property
    def requires_connection(self) -> bool:
        """True, and fixed: the lock is part of a transaction."""
        return True

    @abstractmethod
    async def execute_sql(
        self,
        requestor_id: UUID,
        connection: AsyncConnection,
        lock_name: str,
        select_or_update: Executable,
        insert: Executable,
    ) -> None:
        """Lock the row and return, or raise.

        Args:
            requestor_id: Who asks.
            connection: Where, with the transaction that will hold the lock.
            lock_name: Which lock.
            select_or_update: The statement that locks the row.
            insert: The one that inserts it when it is missing.

        Raises:
            LockError: the row could not be locked.
        """

    async def execute(
        self, connection: AsyncConnection, statement: Executable, **parameters: object
    ) -> CursorResult[Any]:
        """Execute one statement under the command timeout of the context.

        Raises:
            sqlalchemy.exc.DBAPIError: the database refused it, or stopped it because it took too long.
            TimeoutError: the database did not answer in time; the connection is invalid.
        """
        return await self._limit.execute(connection, statement, parameters)

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:
        """Lock the row.

        Raises:
            LockError: it could not be locked, or there is no connection.
        """
        if connection is None:
            raise LockError(
                f"lock {lock.value} is a row of the database and needs a connection: "
                "open one before obtain_lock, as requires_connection says"
            )
        statement, insert = self._statements
        await self.execute_sql(requestor_id, connection, lock.value, statement, insert)

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:
        """Leave it to the end of the transaction."""

    @cached_property
    def _statements(self) -> tuple[Executable, Executable]:
        locks = tables(self.context.table_prefix, self.context.schema).locks
        return self._statement(locks), self._insert(locks)

    @cached_property
    def _limit(self) -> TimeLimit:
        return TimeLimit(self.context.command_timeout)
