"""Values that the tests of leases share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from quartzite.errors import LockError
from quartzite.leases import InMemoryLockProvider, Lease, LeaseInfo, LockConfiguration, LockProvider

MINUTE = timedelta(minutes=1)
TICK = datetime(2026, 1, 1, tzinfo=UTC)


def asked(name: str = "lock", **fields: Any) -> LockConfiguration:
    """Return a configuration of a minute."""
    return LockConfiguration(name=name, **{"lock_at_most_for": MINUTE, **fields})


class FailingProvider(LockProvider):
    """Passes on to a provider in memory until it is told to fail, as when the network is gone.

    Attributes:
        fails: Which methods raise; a method that is called is counted whether it does or not.
        calls: The names of the methods that were called.
    """

    def __init__(self, inner: InMemoryLockProvider) -> None:
        self._inner = inner
        self.fails: set[str] = set()
        self.calls: list[str] = []
        self.closed = 0

    def _called(self, method: str) -> None:
        self.calls.append(method)
        if method in self.fails:
            raise LockError(f"{method}: the network is gone")

    async def lock(self, configuration: LockConfiguration) -> Lease | None:
        """Grant or fail."""
        self._called("lock")
        lease = await self._inner.lock(configuration)
        return None if lease is None else lease.through(self)

    async def holder(self, name: str) -> LeaseInfo | None:
        """Answer or fail."""
        self._called("holder")
        return await self._inner.holder(name)

    async def release(self, lease: Lease) -> bool:
        """Release or fail."""
        self._called("release")
        return await self._inner.release(lease)

    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Extend or fail."""
        self._called("prolong")
        return await self._inner.prolong(lease, at_most_for, at_least_for)

    def twin(self) -> LockProvider:
        """Return itself."""
        return self

    async def close(self) -> None:
        """Count."""
        self.closed += 1
