"""AttemptingSemaphore: row locks that are tried for more than once."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Executable
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from quartzite.errors import LockError
from quartzite.locks.row import DbSemaphore
from quartzite.sql.errors import failure_of

__all__ = ["AttemptingSemaphore"]

_ERRORS: Final = (SQLAlchemyError, OSError, TimeoutError)
_DEADLOCK: Final = 1213
_LOCK_WAIT_TIMEOUT: Final = 1205


class AttemptingSemaphore(DbSemaphore):
    """Tries, and when that fails waits a little and tries again, a few times.

    A failure after which the transaction does not exist any more is not tried again: a lock that is held already, and
    what was written before, would be lost without anybody noticing. It goes to the store, which repeats the whole
    operation. On PostgreSQL, where every error ends the transaction, an attempt runs within a savepoint.
    """

    retry_period: timedelta = timedelta(seconds=1)
    """How long to wait between two attempts; a subclass may say otherwise."""

    @property
    @abstractmethod
    def attempts(self) -> int:
        """How many attempts are made, at least 1."""

    @abstractmethod
    async def attempt(
        self, connection: AsyncConnection, lock_name: str, select_or_update: Executable, insert: Executable
    ) -> bool:
        """Try once; False when there is no row and none could be inserted."""

    async def execute_sql(
        self,
        requestor_id: UUID,  # noqa: ARG002
        connection: AsyncConnection,
        lock_name: str,
        select_or_update: Executable,
        insert: Executable,
    ) -> None:
        """Lock the row in one of the attempts.

        Raises:
            LockError: none succeeded.
        """
        for left in reversed(range(self.attempts)):
            try:
                async with _savepoint(connection):
                    if await self.attempt(connection, lock_name, select_or_update, insert):
                        return
            except _ERRORS as error:
                if not left or await _has_lost_transaction(connection, error):
                    raise self._refusal(lock_name, failure_of(error).message) from error
            if left:
                await self.context.clock.sleep(self.retry_period.total_seconds())
        raise self._refusal(lock_name, "its row does not exist and could not be inserted")

    def _refusal(self, lock_name: str, reason: str) -> LockError:
        name = self.context.scheduler_name
        return LockError(f"row lock {lock_name} of scheduler {name!r} was not obtained: {reason}")


def _savepoint(connection: AsyncConnection) -> AbstractAsyncContextManager[Any]:
    return connection.begin_nested() if connection.dialect.name == "postgresql" else nullcontext()


async def _has_lost_transaction(connection: AsyncConnection, error: BaseException) -> bool:
    """Tell whether the transaction ended with an error, and with it everything that was done in it."""
    if connection.closed or connection.invalidated:
        return True
    failure = failure_of(error)
    if failure.disconnected or isinstance(error, TimeoutError):
        return True
    if connection.dialect.name not in {"mysql", "mariadb"}:
        return False
    if failure.code == _LOCK_WAIT_TIMEOUT:
        return bool((await connection.exec_driver_sql("SELECT @@innodb_rollback_on_timeout")).scalar_one())
    return failure.code == _DEADLOCK
