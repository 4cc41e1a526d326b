"""InMemoryLockProvider: leases within one process."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from threading import Lock

from quartzite.abc import Clock
from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.provider import LockProvider, node_name
from quartzite.leases.record import LockRecord, grants, taken_by

__all__ = ["InMemoryLockProvider"]


class InMemoryLockProvider(LockProvider):
    """Leases for the schedulers and tasks of one process: for tests, and where there is only one node.

    Several providers may share their records, as nodes share a server: ``provider.as_node("other")``.

    Args:
        clock: The provider's time.
        holder: What this node calls itself.
    """

    def __init__(self, *, clock: Clock, holder: str | None = None) -> None:
        self._clock = clock
        self._holder = holder or node_name()
        self._records: dict[str, LockRecord] = {}
        # Threads too: a heartbeat extends leases, and functions without an event loop take them.
        self._guard = Lock()

    def as_node(self, holder: str) -> InMemoryLockProvider:
        """Return a provider of another node over the same records."""
        other = InMemoryLockProvider(clock=self._clock, holder=holder)
        other._records, other._guard = self._records, self._guard
        return other

    def twin(self) -> InMemoryLockProvider:
        """Return this provider: it belongs to no event loop."""
        return self

    async def lock(self, configuration: LockConfiguration) -> Lease | None:
        """Return the lease, or None when it is not granted."""
        with self._guard:
            now, record = self._clock.now(), self._records.get(configuration.name)
            if not grants(record, configuration, now):
                return None
            taken = self._records[configuration.name] = taken_by(self._holder, record, configuration, now)
        return Lease(
            self,
            configuration,
            clock=self._clock,
            holder=self._holder,
            token=taken.token,
            locked_at=now,
            asked_at=self._clock.monotonic(),
        )

    async def holder(self, name: str) -> LeaseInfo | None:
        """Return who holds, or last held, a lock."""
        record = self._records.get(name)
        return None if record is None else record.info()

    async def release(self, lease: Lease) -> bool:
        """Give a lease back."""
        with self._guard:
            record = self._own(lease)
            if record is not None:
                self._records[lease.name] = record.released(self._clock.now(), lease.at_least_until)
        return record is not None

    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Let a lease last longer."""
        asked = replace(lease.configuration, lock_at_most_for=at_most_for, lock_at_least_for=at_least_for)
        with self._guard:
            record, now = self._own(lease), self._clock.now()
            if record is None or record.running_until <= now:
                return False
            until = now + asked.lock_at_most_for
            self._records[lease.name] = replace(record, locked_until=until, running_until=until)
        lease.prolonged(
            asked_at=self._clock.monotonic(),
            at_most_for=at_most_for,
            at_least_for=at_least_for,
            at_least_until=now + at_least_for,
        )
        return True

    def _own(self, lease: Lease) -> LockRecord | None:
        record = self._records.get(lease.name)
        return record if record is not None and record.token == lease.token else None
