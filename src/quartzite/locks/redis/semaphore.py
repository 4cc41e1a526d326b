"""RedisSemaphore: the two locks as keys of a Redis server (spec 09 section 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from quartzite.errors import LockError
from quartzite.locks.fair import FairLock
from quartzite.locks.keeper import LeaseKeeper, TaskKeeper
from quartzite.locks.ownership import OwningSemaphore
from quartzite.locks.redis.lease import RedisLease
from quartzite.locks.redis.options import RedisLockOptions
from quartzite.locks.redis.server import LockServer
from quartzite.model.identity import SchedulerLock

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["RedisSemaphore"]

_LONGEST_ANSWER: Final = timedelta(seconds=5)


class RedisSemaphore(OwningSemaphore):
    """Locks on a Redis server, for nodes that share a database but shall not wait for each other in it.

    Two tiers: within the process a lock goes from one to the next in the order of asking, and only the one whose turn
    it is asks the server. There the lock is the key ``<key_prefix><scheduler name>:<LOCK>`` with a random token.

    * A lock is renewed at a third of its life while it is held. One that is lost is logged, and :meth:`verify_lock`
      raises, so that the store does not commit what it protected.
    * A server that does not answer is a ``LockError``: the store tries again, as after any other failure.
    * One server, or one master that sentinels know: when a replica takes over that does not know of a lock yet, two
      may hold it. The lock is for efficiency and order; that nothing runs twice rests on the store (decision 5).

    Args:
        options: Where the server is, and how long locks live.
        keeper: What renews locks; a task of the event loop in which they were taken, by default.
    """

    def __init__(self, options: RedisLockOptions | None = None, *, keeper: LeaseKeeper | None = None) -> None:
        super().__init__()
        self._options = options or RedisLockOptions()
        self._own_keeper = keeper
        self._turns = {lock: FairLock() for lock in SchedulerLock}
        self._leases: dict[SchedulerLock, RedisLease] = {}
        self._unfinished: set[asyncio.Future[Any]] = set()

    @property
    def requires_connection(self) -> bool:
        """False: the store opens its connection once it has the lock."""
        return False

    async def take(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Wait for one's turn in this process, then for the lock on the server.

        Raises:
            LockError: the server did not answer.
        """
        await self._turns[lock].take()
        try:
            self._leases[lock] = await self._wait_for(self.key_of(lock))
        except BaseException:
            self._turns[lock].give_up()
            raise

    async def verify_lock(self, requestor_id: UUID, lock: SchedulerLock) -> None:
        """Make sure that a lock was not lost, and that it lives long enough for a commit.

        Raises:
            LockError: it was lost, the server did not answer, or the requestor does not hold it.
        """
        if not self.holds(requestor_id, lock):
            raise LockError(f"lock {self.key_of(lock)} is not held by requestor {requestor_id}")
        lease = self._leases.get(lock)
        if lease is None:
            raise LockError(f"lock {self.key_of(lock)} was given back when its handler was shut down")
        with self.context.clock.busy("verifying a lock"):
            await lease.verify()

    async def give_up(self, requestor_id: UUID, lock: SchedulerLock) -> None:  # noqa: ARG002
        """Delete the key, if it is still ours, and let the next one of this process ask for it."""
        try:
            with self.context.clock.busy("giving a lock back"):
                lease = self._leases.pop(lock, None)
                if lease is not None:  # it is gone when the handler was shut down meanwhile
                    await self._to_the_end(lease.give_back())
        finally:
            self._turns[lock].give_up()

    async def shutdown(self) -> None:
        """Give back what is held in this event loop, or it would be renewed for ever, and close its connections."""
        loop = asyncio.get_running_loop()
        for lock in [lock for lock, lease in self._leases.items() if lease.loop is loop]:
            await self._leases.pop(lock).give_back()
        await self._server.close()

    def key_of(self, lock: SchedulerLock) -> str:
        """Return the key of a lock."""
        return f"{self._options.key_prefix}{self.context.scheduler_name}:{lock.value}"

    @cached_property
    def _server(self) -> LockServer:
        # An answer that takes longer than the time between two renewals would let a lock end that is held.
        third = self._options.lock_time_to_live / 3
        limit = self.context.command_timeout if self._context is not None else None
        return LockServer(self._options.address, min(limit or _LONGEST_ANSWER, _LONGEST_ANSWER, third))

    @cached_property
    def _keeper(self) -> LeaseKeeper:
        return self._own_keeper or TaskKeeper(self.context.clock)

    async def _wait_for(self, key: str) -> RedisLease:
        lease = RedisLease(self._server, key, self._options.lock_time_to_live, self.context.clock)
        try:
            if not await self._try_to_take(lease):
                await self._wait_for_release(lease, key)
        except BaseException:
            await self._to_the_end(lease.withdraw())
            raise
        lease.keep(self._keeper)
        return lease

    async def _wait_for_release(self, lease: RedisLease, key: str) -> None:
        interval = self._options.lock_retry_interval.total_seconds()
        while True:
            released = self._server.releases(key)
            released.clear()  # before asking, so that a release just after the answer is heard
            if await self._try_to_take(lease):
                return
            # Whoever dies wakes nobody, so the lock is also asked for again after a while.
            await self.context.clock.wait(released, interval)

    async def _try_to_take(self, lease: RedisLease) -> bool:
        with self.context.clock.busy("taking a lock"):
            return await lease.take()

    async def _to_the_end(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for work that goes on when the caller is cancelled."""
        task = asyncio.ensure_future(work)
        self._unfinished.add(task)  # the event loop itself would let it be collected
        task.add_done_callback(self._unfinished.discard)
        await asyncio.shield(task)
