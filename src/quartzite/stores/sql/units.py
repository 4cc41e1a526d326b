"""UnitsOfWork: runs operations under their lock, in a transaction, and again when that may help."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from uuid import UUID, uuid4

from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from quartzite.abc import Clock, Semaphore
from quartzite.errors import JobPersistenceError, LockError, ObjectAlreadyExistsError
from quartzite.execution import TriggerFiredResult
from quartzite.locks.local import FairLock
from quartzite.model.identity import SchedulerLock
from quartzite.settings import SqlStoreSettings
from quartzite.sql.errors import Failure, failure_of, persistence_error
from quartzite.sql.transactions import Transaction
from quartzite.stores.signals import Signals
from quartzite.stores.sql.database import Database
from quartzite.stores.sql.session import SqlSession, Statements
from quartzite.stores.sql.unit import SqlUnit
from quartzite.stores.standard import Body
from quartzite.stores.work import Work
from quartzite.triggers.base import Trigger

__all__ = ["Done", "UnitsOfWork", "locks_of"]

T = TypeVar("T")

_logger: Final = logging.getLogger("quartzite.stores")
_FIRE_CYCLE: Final = frozenset({Work.ACQUIRE, Work.FIRE, Work.RELEASE, Work.COMPLETE})
_MOST_CONFLICTS: Final = 20
"""How often an operation is done again at once because somebody else was faster, or took the same locks."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What a unit of work came to.

    Attributes:
        result: What the operation returned.
        signals: What the scheduler shall hear.
    """

    result: T
    signals: Signals


class _UnknownOutcomeError(Exception):
    """The commit failed in a way that does not say whether it happened.

    Attributes:
        done: What it came to, if it happened.
        error: What was raised.
    """

    def __init__(self, done: Done[Any], error: Exception) -> None:
        super().__init__(str(error))
        self.done = done
        self.error = error


class UnitsOfWork:
    """Runs the units of work of one store.

    Args:
        database: Where the transactions are.
        statements: The store's statements.
        settings: Retries and timeouts.
        clock: What waits are measured by.
        semaphore: The lock handler, initialized.
        locks: Which kinds of work take TRIGGER_ACCESS.
        writers: One writer at a time, where that is all the database has and the handler does not see to it.
        is_closed: Whether the store was shut down.
    """

    def __init__(
        self,
        *,
        database: Database,
        statements: Statements,
        settings: SqlStoreSettings,
        clock: Clock,
        semaphore: Semaphore,
        locks: Mapping[Work, bool],
        writers: FairLock | None,
        is_closed: Callable[[], bool],
    ) -> None:
        self._database = database
        self._statements = statements
        self._settings = settings
        self._clock = clock
        self._semaphore = semaphore
        self._locks = locks
        self._writers = writers
        # Where candidates can not be locked as they are read, acquisitions of one process would want the same ones.
        self._acquirers = None if database.dialect.for_update_of else FairLock()
        self._is_closed = is_closed

    async def run(self, work: Work, body: Body[T]) -> Done[T]:
        """Run an operation until it is done, or fails for good.

        Raises:
            JobPersistenceError: the database could not do it.
        """
        failures = conflicts = 0
        supposed: Done[T] | None = None
        while True:
            try:
                done = await self._attempt(work, body)
            except _UnknownOutcomeError as unknown:
                if await self._got_in(work, unknown.done.result):
                    return unknown.done
                supposed, error = supposed or unknown.done, unknown.error
            except ObjectAlreadyExistsError:
                if supposed is None:
                    raise
                return supposed  # it is there because the commit whose answer was lost put it there
            except IntegrityError as conflict:
                conflicts += 1
                if conflicts > _MOST_CONFLICTS:
                    raise persistence_error(f"to {work.value}", conflict) from conflict
                continue  # somebody else was faster: what is there now decides
            except (SQLAlchemyError, OSError) as raised:
                if self._is_deadlock(raised) and conflicts < _MOST_CONFLICTS:
                    conflicts += 1
                    continue  # the others have gone on already: there is nothing to wait for
                error = raised
            else:
                return supposed or done
            failures += 1
            await self._wait_after(work, error, failures)

    def _is_deadlock(self, error: Exception) -> bool:
        """Tell whether the database took the work back to let others go on, and the connection is all right."""
        failure = failure_of(error)
        return not isinstance(error, OSError) and not failure.disconnected and _is_rollback(failure)

    async def _wait_after(self, work: Work, error: Exception, failures: int) -> None:
        """Wait before the next attempt, or raise when there shall be none."""
        settings = self._settings
        if self._is_closed() or failures > settings.max_transient_retries or not self._database.is_transient(error):
            raise persistence_error(f"to {work.value}", error) from error
        _logger.info("to %s failed and is tried again: %s", work.value, error, extra={"attempt": failures})
        await self._clock.sleep(settings.transient_retry_interval.total_seconds())

    # One attempt ------------------------------------------------------------------------------------------------

    async def _attempt(self, work: Work, body: Body[T]) -> Done[T]:
        turn = self._turn_of(work)
        if turn is None:
            return await self._locked(work, body)
        await turn.take()
        try:
            return await self._locked(work, body)
        finally:
            turn.give_up()

    def _turn_of(self, work: Work) -> FairLock | None:
        if work is Work.READ:
            return None
        return self._acquirers if self._writers is None and work is Work.ACQUIRE else self._writers

    async def _locked(self, work: Work, body: Body[T]) -> Done[T]:
        requestor = uuid4()
        async with self._database.transaction(read_only=work is Work.READ) as transaction:
            held = self._locks[work] and await self._obtain(requestor, transaction)
            try:
                return await self._transact(work, body, transaction)
            finally:
                if held:
                    await self._release(requestor)

    async def _obtain(self, requestor: UUID, transaction: Transaction) -> bool:
        connection = await transaction.connection() if self._semaphore.requires_connection else None
        return await self._semaphore.obtain_lock(requestor, connection, SchedulerLock.TRIGGER_ACCESS)

    async def _release(self, requestor: UUID) -> None:
        try:
            await self._semaphore.release_lock(requestor, SchedulerLock.TRIGGER_ACCESS)
        except LockError:
            _logger.exception("giving a lock back failed")

    async def _transact(self, work: Work, body: Body[T], transaction: Transaction) -> Done[T]:
        unit = SqlUnit(transaction, writes=work is not Work.READ, command_timeout=self._settings.command_timeout)
        session = SqlSession(self._statements, unit)
        try:
            result = await body(session)
        except BaseException:
            await transaction.rollback()
            raise
        done = Done(result, session.signals)
        if work is not Work.READ:
            await self._commit(transaction, done)
        return done

    async def _commit(self, transaction: Transaction, done: Done[Any]) -> None:
        try:
            await transaction.commit()
        except (SQLAlchemyError, OSError) as error:
            await transaction.rollback()
            if isinstance(error, OSError) or failure_of(error).disconnected:
                raise _UnknownOutcomeError(done, error) from error
            raise

    # After a commit whose answer was lost -----------------------------------------------------------------------

    async def _got_in(self, work: Work, result: Any) -> bool:
        """Tell whether the work of the fire cycle was committed; other kinds may simply be done again."""
        if work is Work.ACQUIRE:
            ids = [trigger.fire_instance_id for trigger in result if isinstance(trigger, Trigger)]
        elif work is Work.FIRE:
            fired = [one.bundle for one in result if isinstance(one, TriggerFiredResult)]
            ids = [bundle.trigger.fire_instance_id for bundle in fired if bundle is not None]
        else:
            return False
        wanted = [fire_id for fire_id in ids if fire_id is not None]
        return bool(wanted) and await self._are_there(wanted, executing=work is Work.FIRE)

    async def _are_there(self, ids: list[str], *, executing: bool) -> bool:
        """Ask until there is an answer: without one, firings might be lost or run twice."""

        async def count(session: Any) -> int:
            found: int = await session.fired.in_states(ids, executing=executing)
            return found

        while True:
            try:
                return (await self._locked(Work.READ, count)).result > 0
            except (SQLAlchemyError, OSError) as error:
                if self._is_closed():
                    raise JobPersistenceError(
                        "the store was shut down before it knew what had been committed"
                    ) from error
                _logger.warning("it is not known yet what was committed: %s", error)
                await self._clock.sleep(self._settings.transient_retry_interval.total_seconds())


def _is_rollback(failure: Failure) -> bool:
    """Tell whether a failure is a deadlock or a conflict (SQLSTATE class 40; numbers 1020 and 1213 of MySQL)."""
    return (failure.sqlstate or "")[:2] == "40" or failure.code in {1020, 1213}


def locks_of(*, fire_cycle: bool, insert: bool) -> Mapping[Work, bool]:
    """Return which kinds of work take TRIGGER_ACCESS (spec 07 section 4, decision 5b)."""
    off = set() if fire_cycle else set(_FIRE_CYCLE)
    off |= {Work.READ} if insert else {Work.READ, Work.INSERT}
    return {work: work not in off for work in Work}
