"""Lease: what the holder of a lock has in hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Self

from quartzite.abc import Clock
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
        asked_at: Monotonic seconds of the holder, just before it asked.
        at_least_until: Nobody else gets it earlier, of the provider's clock.
        deadline: Until when it surely lasts, in monotonic seconds of the holder: counted from before it was asked
            for, so never later than the provider's own end.
        at_least_deadline: The same of its at-least time.
        lost: Set, with the reason, when the lease can not be kept; see also :meth:`when_lost`.
    """

    __slots__ = (
        "_clock",
        "_listeners",
        "_provider",
        "asked_at",
        "at_least_deadline",
        "at_least_until",
        "configuration",
        "deadline",
        "holder",
        "locked_at",
        "lost",
        "token",
    )

    # One for all: it is held for an instant.
    _guard: ClassVar[Lock] = Lock()

    def __init__(
        self,
        provider: LockProvider,
        configuration: LockConfiguration,
        *,
        clock: Clock,
        holder: str,
        token: int,
        locked_at: datetime,
        asked_at: float,
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._listeners: list[Callable[[str], None]] = []
        self.configuration = configuration
        self.holder = holder
        self.token = token
        self.locked_at = locked_at
        self.asked_at = asked_at
        self.at_least_until = locked_at + configuration.lock_at_least_for
        self.deadline = asked_at + configuration.lock_at_most_for.total_seconds()
        self.at_least_deadline = asked_at + configuration.lock_at_least_for.total_seconds()
        self.lost = CancellationToken()

    @property
    def name(self) -> str:
        """What is locked."""
        return self.configuration.name

    @property
    def has_ended(self) -> bool:
        """Whether it can not be relied upon any more: its deadline has passed on the holder's clock."""
        return self._clock.monotonic() >= self.deadline

    # The holder's side ----------------------------------------------------------------------------------------

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

    def when_lost(self, tell: Callable[[str], None]) -> None:
        """Have ``tell`` called with the reason when the lease is lost, at once when it is already.

        It is called in whichever thread finds out, and must return at once.
        """
        with self._guard:
            if self.lost.reason is None:
                self._listeners.append(tell)
                return
        tell(self.lost.reason)

    # The provider's side --------------------------------------------------------------------------------------

    def lose(self, reason: str) -> None:
        """Tell the holder that the lease can not be kept; the first reason stays."""
        with self._guard:
            listeners, self._listeners = self._listeners, []
            self.lost.set(reason)
        for tell in listeners:
            tell(reason)

    def prolonged(
        self, *, asked_at: float, at_most_for: timedelta, at_least_for: timedelta, at_least_until: datetime
    ) -> None:
        """Note that the provider let the lease last longer."""
        self.deadline = asked_at + at_most_for.total_seconds()
        self.at_least_deadline = asked_at + at_least_for.total_seconds()
        self.at_least_until = at_least_until

    def through(self, provider: LockProvider) -> Self:
        """Return the lease, given back and extended through another provider from now on."""
        self._provider = provider
        return self

    def __repr__(self) -> str:
        return f"Lease({self.name!r}, holder={self.holder!r}, token={self.token})"
