"""Where code runs: inside a task of the engine that a shutdown must not wait for, or outside."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

__all__ = ["OwnTask", "own_task"]

OwnTask: TypeAlias = tuple[object, "asyncio.Task[Any] | None"]
"""Which scheduler's engine (its registry of executing jobs), and the task of the run; None for other engine tasks."""

own_task: Final[ContextVar[OwnTask | None]] = ContextVar("quartzite_own_task", default=None)
"""Set in every task of an engine, and inherited by the tasks and threads that a job starts."""
