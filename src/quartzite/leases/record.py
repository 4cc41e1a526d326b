"""The record of a lock, and the one rule of who gets the lease.

The SQL statement and the Redis script say the same as :func:`grants`; the contract suite holds all three to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import LeaseInfo

__all__ = ["LockRecord", "grants", "taken_by"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRecord:
    """What is kept of a lock; it outlives the lease. Times are aware UTC.

    Attributes:
        locked_at: When the lease was taken.
        locked_until: Nobody gets a lease without a tick earlier.
        running_until: The holder has not released it; its own end when it does not.
        locked_by: The holder.
        token: Its fencing token.
        tick: The latest tick that was claimed.
    """

    locked_at: datetime
    locked_until: datetime
    running_until: datetime
    locked_by: str
    token: int
    tick: datetime | None = None

    def released(self, now: datetime, at_least_until: datetime) -> LockRecord:
        """Return the record after its holder gave the lease back."""
        return replace(self, running_until=now, locked_until=max(now, at_least_until))

    def info(self) -> LeaseInfo:
        """Return what others may know."""
        return LeaseInfo(
            holder=self.locked_by,
            locked_at=self.locked_at,
            locked_until=self.locked_until,
            tick=self.tick,
            token=self.token,
        )


def grants(record: LockRecord | None, asked: LockConfiguration, now: datetime) -> bool:
    """Tell whether a lease is granted beside what is recorded."""
    if record is None:
        return True
    if asked.tick is None:
        return record.locked_until <= now
    if record.tick is not None and asked.tick <= record.tick:
        return False
    return not asked.exclusive or record.running_until <= now


def taken_by(holder: str, record: LockRecord | None, asked: LockConfiguration, now: datetime) -> LockRecord:
    """Return the record after a holder was granted the lease."""
    until = now + asked.lock_at_most_for
    return LockRecord(
        locked_at=now,
        locked_until=until,
        running_until=until,
        locked_by=holder,
        token=_next_token(record, now),
        tick=asked.tick or (record.tick if record else None),
    )


def _next_token(record: LockRecord | None, now: datetime) -> int:
    """Return the token of the next lease: greater than any before, also when the record was lost meanwhile."""
    by_time = (now - _EPOCH) // _MICROSECOND
    return by_time if record is None else max(by_time, record.token + 1)
