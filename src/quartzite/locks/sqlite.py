"""SqliteSemaphore: the lock handler of databases that have one writer (spec 09 section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from quartzite.locks.fair import FairLock
from quartzite.locks.ownership import OwningSemaphore
from quartzite.model.identity import SchedulerLock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["SqliteSemaphore"]


class SqliteSemaphore(OwningSemaphore):
    """One lock behind both names, for stores that can have one writer only (SQLite).

    Who holds one of the names is granted the other at once; the lock is free again when both are given back.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = FairLock()

    @property
    def requires_connection(self) -> bool:
        """No connection is needed; the store opens its own once it has the lock."""
        return False

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Wait until the lock is granted, unless the requestor holds it under its other name."""
        if not self._holds_any(requestor_id):
            await self._lock.take()

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Let the next one have the lock, when this was the last of its names."""
        if not self._holds_any(requestor_id):
            self._lock.give_up()

    def _holds_any(self, requestor_id: UUID) -> bool:
        return any(self.holds(requestor_id, lock) for lock in SchedulerLock)
