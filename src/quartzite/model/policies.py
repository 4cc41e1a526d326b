"""What shall happen when a run fails, or when the next one is due before the last has ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from quartzite.errors import InvalidValueError

__all__ = ["Overlap", "RetryPolicy"]


class Overlap(Enum):
    """What a due firing does while another of the same concurrency key runs (decision 21)."""

    ALLOW = "allow"
    QUEUE = "queue"
    SKIP = "skip"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often, and after which pauses, a failed run is tried again (decision 21).

    Attributes:
        max_attempts: Runs in all, the first included; at least 2.
        delay: Pause before the second attempt, in whole milliseconds.
        factor: What the pause is multiplied by after each further attempt; at least 1.
        max_delay: The longest pause, or None for no limit.
        jitter: Part of the pause, 0 to 1, that is added at random.

    Raises:
        InvalidValueError: a number is out of its range.
    """

    max_attempts: int
    delay: timedelta = timedelta(0)
    factor: float = 1.0
    max_delay: timedelta | None = None
    jitter: float = 0.0

    def __post_init__(self) -> None:
        if self.max_attempts < 2:
            raise InvalidValueError(f"retry policy: max_attempts is {self.max_attempts}: it counts the first, so >= 2")
        if self.delay < timedelta(0) or self.delay.microseconds % 1000:
            raise InvalidValueError(f"retry policy: delay is {self.delay}: whole milliseconds, not negative")
        if self.factor < 1:
            raise InvalidValueError(f"retry policy: factor is {self.factor}: at least 1")
        if self.max_delay is not None and self.max_delay < self.delay:
            raise InvalidValueError(f"retry policy: max_delay {self.max_delay} is shorter than delay {self.delay}")
        if not 0 <= self.jitter <= 1:
            raise InvalidValueError(f"retry policy: jitter is {self.jitter}: between 0 and 1")
