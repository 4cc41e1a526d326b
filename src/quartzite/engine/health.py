"""Health: whether a scheduler does its work, and what keeps it from that."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

__all__ = ["Health", "HealthState"]


class HealthState(Enum):
    """The verdict. Degraded: work is delayed, and goes on by itself. Failed: nothing fires until somebody acts."""

    OK = "ok"
    DEGRADED = "degraded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a scheduler fares. Instants are aware UTC.

    Attributes:
        state: The verdict.
        reasons: Why, in words; for a healthy one what is worth knowing, such as standby.
        last_error: What failed last in the scheduling loop, as text, or None. It stays when the trouble is over.
        last_error_time: When it failed, or None.
        last_loop_tick: When the scheduling loop last gave a sign of life, None before the first start.
    """

    state: HealthState
    reasons: tuple[str, ...] = ()
    last_error: str | None = None
    last_error_time: datetime | None = None
    last_loop_tick: datetime | None = None
