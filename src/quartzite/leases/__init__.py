"""Leases: run once across nodes, without a scheduling database (decision 13)."""

from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.memory import InMemoryLockProvider
from quartzite.leases.provider import LockProvider

__all__ = ["InMemoryLockProvider", "Lease", "LeaseInfo", "LockConfiguration", "LockProvider"]
