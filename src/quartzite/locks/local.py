"""LocalSemaphore: the lock handler within one process (spec 09 section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from quartzite.locks.fair import FairLock
from quartzite.locks.ownership import OwningSemaphore
from quartzite.locks.sqlite import SqliteSemaphore as SingleLockSemaphore
from quartzite.model.identity import SchedulerLock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["FairLock", "LocalSemaphore", "SingleLockSemaphore"]


class LocalSemaphore(OwningSemaphore):
    """Two independent locks, each granted in the order in which it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._locks = {lock: FairLock() for lock in SchedulerLock}

    @property
    def requires_connection(self) -> bool:
        """No connection is needed; the store opens its own once it has the lock."""
        return False

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Wait until the lock is granted."""
        await self._locks[lock].take()

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Let the next one have the lock."""
        self._locks[lock].give_up()
