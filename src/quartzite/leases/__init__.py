"""Leases: run once across nodes, without a scheduling database (decision 13)."""

from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.current import assert_locked, current_lease, extend_lock, extend_lock_blocking
from quartzite.leases.decorator import JobLock, scheduler_lock
from quartzite.leases.executor import LockedRun, LockingExecutor
from quartzite.leases.job_locks import JobLocks
from quartzite.leases.keep_alive import KeepAliveLockProvider
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.memory import InMemoryLockProvider
from quartzite.leases.provider import LockProvider
from quartzite.leases.redis import RedisLockProvider
from quartzite.leases.sql import SqlLockProvider

__all__ = [
    "InMemoryLockProvider",
    "JobLock",
    "JobLocks",
    "KeepAliveLockProvider",
    "Lease",
    "LeaseInfo",
    "LockConfiguration",
    "LockProvider",
    "LockedRun",
    "LockingExecutor",
    "RedisLockProvider",
    "SqlLockProvider",
    "assert_locked",
    "current_lease",
    "extend_lock",
    "extend_lock_blocking",
    "scheduler_lock",
]
