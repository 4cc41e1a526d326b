"""Lock handlers: who may change the scheduling data.

``quartzite.locks.redis`` has the one that needs the extra ``redis``.
"""

from quartzite.locks.advisory import PostgreSqlAdvisorySemaphore
from quartzite.locks.attempts import AttemptingSemaphore
from quartzite.locks.local import LocalSemaphore
from quartzite.locks.ownership import OwningSemaphore
from quartzite.locks.row import DbSemaphore, LockStatement
from quartzite.locks.select_for_update import PostgreSqlSelectForUpdateSemaphore, SelectForUpdateSemaphore
from quartzite.locks.sqlite import SqliteSemaphore
from quartzite.locks.update_row import MemoryOptimizedUpdateRowSemaphore, UpdateRowSemaphore

__all__ = [
    "AttemptingSemaphore",
    "DbSemaphore",
    "LocalSemaphore",
    "LockStatement",
    "MemoryOptimizedUpdateRowSemaphore",
    "OwningSemaphore",
    "PostgreSqlAdvisorySemaphore",
    "PostgreSqlSelectForUpdateSemaphore",
    "SelectForUpdateSemaphore",
    "SqliteSemaphore",
    "UpdateRowSemaphore",
]
