"""SchedulerMetadata: what a scheduler is made of and how far it got."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version

__all__ = ["SchedulerMetadata", "installed_version"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerMetadata:
    """A snapshot (spec 04 section 8).

    Attributes:
        running_since: When it was started first, aware UTC, or None.
        jobs_executed: How many times a job was started, refires included.
        firings_skipped: How many firings were left to another node.
        is_remote: Whether it runs in another process.
    """

    scheduler_name: str
    scheduler_instance_id: str
    scheduler_type: str
    is_remote: bool
    started: bool
    in_standby_mode: bool
    shutdown: bool
    running_since: datetime | None
    jobs_executed: int
    firings_skipped: int
    job_store_type: str
    job_store_supports_persistence: bool
    job_store_clustered: bool
    worker_pool_type: str
    worker_pool_size: int
    version: str


@cache
def installed_version() -> str:
    """Return the version of Quartzite, ``unknown`` when it runs without being installed."""
    try:
        return version("quartzite")
    except PackageNotFoundError:
        return "unknown"
