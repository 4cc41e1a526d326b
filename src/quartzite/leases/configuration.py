"""LockConfiguration: what a lease is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from quartzite.errors import InvalidValueError

__all__ = ["MAX_LOCK_NAME_LENGTH", "LockConfiguration"]

MAX_LOCK_NAME_LENGTH: Final = 255
_MILLISECOND: Final = timedelta(milliseconds=1)
_LONGEST: Final = timedelta(days=36_500)
"""A hundred years, which every provider's clock can add to its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockConfiguration:
    """What a lease is asked for (decision 13).

    Attributes:
        name: What is locked; at most 255 characters.
        lock_at_most_for: How long the lease lasts when its holder dies; more than 0, whole milliseconds.
        lock_at_least_for: How long it is kept even when it is released earlier, so that a short job does not run
            again on a node whose clock is behind; whole milliseconds.
        tick: The scheduled fire time that is claimed, aware, or None for a lock without ticks. A record keeps the
            latest tick; only a later one is granted, whether or not the lease of the previous tick still lasts.
        exclusive: With a tick: grant it only when the lease of the previous tick was released or has ended.

    Raises:
        InvalidValueError: a value is out of its range.
    """

    name: str
    lock_at_most_for: timedelta
    lock_at_least_for: timedelta = timedelta(0)
    tick: datetime | None = None
    exclusive: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name)
        _check_duration(self.name, "lock_at_most_for", self.lock_at_most_for)
        _check_duration(self.name, "lock_at_least_for", self.lock_at_least_for)
        if self.lock_at_most_for > _LONGEST:
            raise InvalidValueError(
                f"lock {self.name!r}: lock_at_most_for is {self.lock_at_most_for}: at most {_LONGEST.days} days"
            )
        if self.lock_at_most_for <= timedelta(0):
            raise InvalidValueError(f"lock {self.name!r}: lock_at_most_for is {self.lock_at_most_for}: more than 0")
        if not timedelta(0) <= self.lock_at_least_for <= self.lock_at_most_for:
            raise InvalidValueError(
                f"lock {self.name!r}: lock_at_least_for is {self.lock_at_least_for}: "
                f"between 0 and lock_at_most_for ({self.lock_at_most_for})"
            )
        if self.tick is not None:
            if self.tick.tzinfo is None:
                raise InvalidValueError(f"lock {self.name!r}: tick {self.tick} has no time zone: give an aware one")
            object.__setattr__(self, "tick", self.tick.astimezone(UTC))
        elif self.exclusive:
            raise InvalidValueError(f"lock {self.name!r}: exclusive says something about ticks only: give a tick")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise InvalidValueError(f"lock name {name!r} must be a text that is not blank")
    if len(name) > MAX_LOCK_NAME_LENGTH:
        raise InvalidValueError(
            f"lock name {name[:20]!r}... has {len(name)} characters: at most {MAX_LOCK_NAME_LENGTH}"
        )
    if "\0" in name:
        raise InvalidValueError(f"lock name {name!r} holds a NUL character, which no database can store")


def _check_duration(name: str, what: str, duration: timedelta) -> None:
    if not isinstance(duration, timedelta):
        raise InvalidValueError(f"lock {name!r}: {what} is {duration!r}: give a timedelta")
    if duration % _MILLISECOND:
        raise InvalidValueError(f"lock {name!r}: {what} is {duration}: whole milliseconds")
