"""Listeners that are ready to use: one that passes everything on to several, one that runs jobs in a chain."""

from quartzite.listeners.broadcast import (
    BroadcastJobListener,
    BroadcastSchedulerListener,
    BroadcastTriggerListener,
)
from quartzite.listeners.chaining import JobChainingJobListener

__all__ = [
    "BroadcastJobListener",
    "BroadcastSchedulerListener",
    "BroadcastTriggerListener",
    "JobChainingJobListener",
]
