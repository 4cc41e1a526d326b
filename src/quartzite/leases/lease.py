"""Lease: what the holder of a lock has in hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from quartzite.execution import CancellationToken
from quartzite.leases.configuration import LockConfiguration

if TYPE_CHECKING:
    from quartzite.leases.provider import LockProvider

__all__ = ["Lease", "LeaseInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseInfo:
    """Who holds, or held, a lock. Times are aware UTC, of the provider's clock.

    Attributes:
        holder: The node that took the lease.
        locked_at: When it took it.
        locked_until: Until when nobody else gets it (ticks apart).
        tick: The latest tick that was claimed, or None.
        token: The fencing token of the lease.
    """

    holder: str
    locked_at: datetime
    locked_until: datetime
    tick: datetime | None
    token: int


class Lease:
    """A lock that is held, until it is released or its time is over.

    Attributes:
        configuration: What was asked for.
        holder: The node that holds it.
        token: Fencing token: grows with every lease of the name. A resource that remembers the greatest token it has
            seen can refuse the work of a former holder.
        locked_at: When it was taken, aware UTC, of the provider's clock.
        at_least_until: Nobody else gets it earlier, of the provider's clock.
        deadline: Until when it surely lasts, in monotonic seconds of the holder: counted from before it was asked
            for, so never later than the provider's own end.
        lost: Set, with the reason, when the lease can not be kept.
    """

    __slots__ = ("_provider", "at_least_until", "configuration", "deadline", "holder", "locked_at", "lost", "token")

    def __init__(
        self,
        provider: LockProvider,
        configuration: LockConfiguration,
        *,
        holder: str,
        token: int,
        locked_at: datetime,
        deadline: float,
    ) -> None:
        self._provider = provider
        self.configuration = configuration
        self.holder = holder
        self.token = token
        self.locked_at = locked_at
        self.at_least_until = locked_at + configuration.lock_at_least_for
        self.deadline = deadline
        self.lost = CancellationToken()

    @property
    def name(self) -> str:
        """What is locked."""
        return self.configuration.name

    async def unlock(self) -> bool:
        """Give the lease back; it stays taken until its at-least time.

        False, and nothing has changed, when it had ended and somebody else has it.

        Raises:
            LockError: the provider can not be reached.
        """
        return await self._provider.release(self)

    async def extend(self, at_most_for: timedelta, at_least_for: timedelta = timedelta(0)) -> bool:
        """Let the lease last ``at_most_for`` from now, and at least ``at_least_for``.

        False, and nothing has changed, when it had ended.

        Raises:
            LockError: the provider can not be reached.
            InvalidValueError: the durations do not go together.
        """
        return await self._provider.prolong(self, at_most_for, at_least_for)

    def __repr__(self) -> str:
        return f"Lease({self.name!r}, holder={self.holder!r}, token={self.token})"
