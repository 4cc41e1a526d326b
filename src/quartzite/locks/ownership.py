"""OwningSemaphore: who holds which lock, the part that every lock handler must get right."""

from __future__ import annotations

import logging
from abc import abstractmethod
from typing import TYPE_CHECKING
from uuid import UUID

from quartzite.abc import Semaphore
from quartzite.errors import LockError, SchedulerConfigError
from quartzite.model.identity import SchedulerLock, SemaphoreContext

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["OwningSemaphore"]

_logger = logging.getLogger("quartzite.locks")


class OwningSemaphore(Semaphore):
    """Keeps the rules of ownership; a handler of your own says how a lock is taken and given up (spec 09 section 1).

    * Ownership is noted only after :meth:`take` has returned, so a lock that was not granted is never released.
    * Asking again for a lock that one holds answers False and takes nothing.
    * The release by somebody who does not hold the lock is logged, with the place it came from, and does nothing.
    """

    def __init__(self) -> None:
        self._held: set[tuple[UUID, SchedulerLock]] = set()
        self._context: SemaphoreContext | None = None

    async def initialize(self, context: SemaphoreContext) -> None:
        """Remember the scheduler; an overriding method calls this one.

        Raises:
            SchedulerConfigError: the handler works for another scheduler, whose locks would be mixed up with these.
        """
        known = self._context
        if known is not None and known != context:
            raise SchedulerConfigError(
                f"lock handler {type(self).__name__} was initialized for scheduler {known.scheduler_name!r}, instance "
                f"{known.instance_id!r}, and is now for {context.scheduler_name!r}, instance {context.instance_id!r}: "
                "give each scheduler a handler of its own"
            )
        self._context = context

    @property
    def context(self) -> SemaphoreContext:
        """What the job store told this handler.

        Raises:
            LockError: it has told nothing yet.
        """
        if self._context is None:
            raise LockError(
                f"lock handler {type(self).__name__} does not know its scheduler: "
                "await initialize(SemaphoreContext(...)) before the first lock, as a job store does"
            )
        return self._context

    @abstractmethod
    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:
        """Wait until the lock is granted; raise, holding nothing, when it is not.

        Raises:
            LockError: the lock could not be obtained.
        """

    @abstractmethod
    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:
        """Let the next one have the lock; called once for each :meth:`take` that returned."""

    def holds(self, requestor_id: UUID, lock: SchedulerLock) -> bool:
        """Tell whether a requestor holds a lock."""
        return (requestor_id, lock) in self._held

    async def obtain_lock(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> bool:
        """Wait for a lock; True when this very call took it."""
        if self.holds(requestor_id, lock):
            return False
        await self.take(requestor_id, connection, lock)
        self._held.add((requestor_id, lock))
        return True

    async def release_lock(self, requestor_id: UUID, lock: SchedulerLock) -> None:
        """Give a lock back."""
        if not self.holds(requestor_id, lock):
            _logger.warning(
                "a lock is released by somebody who does not hold it",
                extra={"lock": lock.value, "requestor_id": str(requestor_id)},
                stack_info=True,
            )
            return
        self._held.discard((requestor_id, lock))
        await self.give_up(requestor_id, lock)
