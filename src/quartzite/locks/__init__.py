"""Lock handlers: who may change the scheduling data."""

from quartzite.locks.local import LocalSemaphore, SingleLockSemaphore
from quartzite.locks.ownership import OwningSemaphore

__all__ = ["LocalSemaphore", "OwningSemaphore", "SingleLockSemaphore"]
