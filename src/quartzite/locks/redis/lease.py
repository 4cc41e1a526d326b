"""RedisLease: one lock for as long as it is held."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from secrets import token_hex

from quartzite.abc import Clock
from quartzite.errors import LockError
from quartzite.locks.keeper import LeaseKeeper
from quartzite.locks.redis.server import LockServer

__all__ = ["RedisLease"]

_logger = logging.getLogger("quartzite.locks")


class RedisLease:
    """A lock under a token of its own, which no other acquisition ever has.

    Args:
        server: Where it is.
        key: Its key.
        time_to_live: How long it lives without being renewed.
        clock: What the holder's own deadline is measured with: it begins before the server is asked, so that it is
            never later than the server's.

    Attributes:
        loop: The event loop in which it is held.
    """

    def __init__(self, server: LockServer, key: str, time_to_live: timedelta, clock: Clock) -> None:
        self.loop = asyncio.get_running_loop()
        self._server = server
        self._key = key
        self._time_to_live = time_to_live
        self._clock = clock
        self._token = token_hex(16)
        self._deadline = 0.0
        self._asked: asyncio.Future[bool] | None = None
        self._end_keeping: Callable[[], None] | None = None
        self._loss: str | None = None

    async def take(self) -> bool:
        """Take the lock unless it is taken. The server is asked to the end, also when the caller is cancelled.

        Raises:
            LockError: the server did not answer.
        """
        asked_at = self._clock.monotonic()
        self._asked = asyncio.ensure_future(self._server.take(self._key, self._token, self._time_to_live))
        taken = await asyncio.shield(self._asked)
        self._lives_from(asked_at)
        return taken

    def keep(self, keeper: LeaseKeeper) -> None:
        """Have the lock renewed at a third of its life, until it is given back or lost."""
        self._end_keeping = keeper.every(self._time_to_live.total_seconds() / 3, self._keep)

    async def verify(self) -> None:
        """Make sure that the lock is still held, and let it live a full time more.

        Raises:
            LockError: it was lost, or the server did not answer.
        """
        self._look_at_deadline()
        if self._loss is None:
            await self._renew()
        if self._loss is not None:
            raise LockError(f"lock {self._key} was lost while it was held: {self._loss}")

    async def give_back(self) -> None:
        """Give the lock back; one that can not be given back ends by itself. Never raises."""
        if self._end_keeping is not None:
            self._end_keeping()
            self._end_keeping = None
        try:
            released = await self._server.release(self._key, self._token)
        except LockError as error:
            _logger.warning(
                "a lock on Redis could not be given back; it ends by itself",
                extra={"key": self._key, "reason": str(error), "seconds": self._time_to_live.total_seconds()},
            )
        else:
            if not released:
                self._lose("it had ended when it was given back")

    async def withdraw(self) -> None:
        """Take back what :meth:`take` may have taken, if that was cancelled or got no answer; never raises."""
        try:
            if self._asked is not None and await self._asked_in_vain(self._asked):
                return
            await self._server.release(self._key, self._token)
        except LockError as error:
            _logger.debug("a lock on Redis may be left to its end", extra={"key": self._key, "reason": str(error)})

    @staticmethod
    async def _asked_in_vain(asked: Awaitable[bool]) -> bool:
        try:
            return not await asked
        except LockError:  # the answer was lost, which says nothing about the question
            return False

    async def _keep(self) -> bool:
        try:
            await self._renew()
        except LockError as error:
            _logger.warning("a lock on Redis was not renewed", extra={"key": self._key, "reason": str(error)})
            self._look_at_deadline()
        return self._loss is None and self._end_keeping is not None

    async def _renew(self) -> None:
        asked_at = self._clock.monotonic()
        if await self._server.renew(self._key, self._token, self._time_to_live):
            self._lives_from(asked_at)
        elif self._end_keeping is not None:  # a renewal that was under way when the lock was given back finds nothing
            self._lose("the server has it no more, or has given it to another one")

    def _lives_from(self, instant: float) -> None:
        self._deadline = instant + self._time_to_live.total_seconds()

    def _look_at_deadline(self) -> None:
        if self._clock.monotonic() >= self._deadline:
            self._lose(f"it was not renewed for {self._time_to_live}")

    def _lose(self, reason: str) -> None:
        if self._loss is None:
            self._loss = reason
            _logger.error("a lock on Redis was lost while it was held", extra={"key": self._key, "reason": reason})
