"""Misfire instructions: what a trigger does about fire times that were missed (spec 02 section 1)."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["MisfireInstruction", "SimpleMisfireInstruction"]


class MisfireInstruction(IntEnum):
    """Of cron, calendar interval, daily time interval and recurrence triggers. The numbers are persisted."""

    IGNORE_MISFIRES = -1
    """Never misfire: fire every missed time, one after the other, as fast as possible."""
    SMART_POLICY = 0
    """The kind decides: these four kinds fire once now."""
    FIRE_AND_PROCEED = 1
    """Fire once, now, for all that was missed, then go on with the schedule."""
    DO_NOTHING = 2
    """Go on with the next time of the schedule."""


class SimpleMisfireInstruction(IntEnum):
    """Of simple triggers. The numbers are persisted."""

    IGNORE_MISFIRES = -1
    """Never misfire: fire every missed time, one after the other, as fast as possible."""
    SMART_POLICY = 0
    """Once: fire now. Forever: next time, remaining count. A number of times: now, existing count."""
    FIRE_NOW = 1
    """Fire now; for a repeating trigger the same as ``NOW_WITH_REMAINING_COUNT``."""
    NOW_WITH_EXISTING_COUNT = 2
    """Start over from now; missed times are made up for."""
    NOW_WITH_REMAINING_COUNT = 3
    """Start over from now; missed times count as fired."""
    NEXT_WITH_REMAINING_COUNT = 4
    """Go on with the next time of the schedule; missed times count as fired."""
    NEXT_WITH_EXISTING_COUNT = 5
    """Go on with the next time of the schedule; missed times are made up for."""
