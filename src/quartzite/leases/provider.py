"""LockProvider: where leases come from."""

from __future__ import annotations

import os
import secrets
import socket
from abc import ABC, abstractmethod
from datetime import timedelta

from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo

__all__ = ["LockProvider", "node_name"]


class LockProvider(ABC):
    """Grants leases: at most one holder of a name at a time (decision 13).

    * ``lock`` never waits: it answers at once whether the lease is granted.
    * A lease ends by itself after its at-most time, by the provider's clock and not by the holder's.
    * One lease record stands for each name and outlives the lease; with ticks only a later one is granted.
    * What a former holder does changes nothing.
    * Tokens of one name grow.
    * A provider belongs to the event loop that uses it first; ``twin`` makes one for another.
    """

    @abstractmethod
    async def lock(self, configuration: LockConfiguration) -> Lease | None:
        """Return the lease, or None when it is not granted.

        Raises:
            LockError: the provider can not be reached; nothing is held.
        """

    @abstractmethod
    async def holder(self, name: str) -> LeaseInfo | None:
        """Return who holds, or last held, a lock; None when nobody ever did.

        Raises:
            LockError: the provider can not be reached.
        """

    @abstractmethod
    async def release(self, lease: Lease) -> bool:
        """Give a lease back; False when it is somebody else's by now. Holders call :meth:`Lease.unlock`."""

    @abstractmethod
    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Let a lease last longer; False when it has ended. Holders call :meth:`Lease.extend`."""

    @abstractmethod
    def twin(self) -> LockProvider:
        """Return a provider of the same node over the same records, for another event loop.

        It has a connection of its own, so that it works when this one's are all busy. Who asks for it closes it.

        Raises:
            SchedulerConfigError: there is no way to make one, with the remedy.
        """

    async def close(self) -> None:  # noqa: B027
        """Free what the provider opened itself; used again, it opens anew."""


def node_name() -> str:
    """Return what this process calls itself as a holder: host, process and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
