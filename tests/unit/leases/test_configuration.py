"""What a lease is asked for is checked before anybody is asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.leases import LockConfiguration
from tests.unit.leases.values import MINUTE, TICK, asked


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"lock_at_most_for": timedelta(0)}, "more than 0"),
        ({"lock_at_most_for": -MINUTE}, "more than 0"),
        ({"lock_at_most_for": timedelta(days=40_000)}, "at most 36500 days"),
        ({"lock_at_most_for": 30}, "timedelta"),
        ({"lock_at_most_for": timedelta(microseconds=1500)}, "whole milliseconds"),
        ({"lock_at_least_for": 2 * MINUTE}, "between 0 and lock_at_most_for"),
        ({"lock_at_least_for": -MINUTE}, "between 0 and lock_at_most_for"),
        ({"lock_at_least_for": None}, "timedelta"),
        ({"tick": datetime(2026, 1, 1)}, "no time zone"),  # noqa: DTZ001 - a naive one is to be refused
        ({"exclusive": True}, "give a tick"),
    ],
)
def test_what_can_not_be_kept_is_refused(fields: dict[str, Any], reason: str) -> None:
    """A duration or tick that makes no sense is refused, naming the lock and the reason."""
    with pytest.raises(InvalidValueError, match=reason) as caught:
        asked("report", **fields)
    assert "'report'" in str(caught.value)


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "x" * 256, None])
def test_a_name_that_can_not_be_stored_is_refused(name: Any) -> None:
    """A lock needs a name that every provider can keep."""
    with pytest.raises(InvalidValueError, match="lock name"):
        asked(name)


def test_the_limits_themselves_are_accepted() -> None:
    """At-least may be as long as at-most, a name has up to 255 characters, a hundred years is not too long."""
    assert asked("x" * 255, lock_at_least_for=MINUTE).lock_at_least_for == MINUTE
    assert asked(lock_at_most_for=timedelta(days=36_500)).lock_at_most_for.days == 36_500


def test_a_tick_is_kept_in_utc() -> None:
    """A tick in another zone is the same instant in UTC."""
    tick = TICK.astimezone(timezone(timedelta(hours=2)))
    kept = LockConfiguration(name="lock", lock_at_most_for=MINUTE, tick=tick).tick
    assert (kept, kept and kept.tzinfo) == (TICK, UTC)
