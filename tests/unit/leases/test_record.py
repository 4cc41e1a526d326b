"""The one rule of who gets a lease."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from quartzite.leases.record import LockRecord, grants, taken_by
from tests.unit.leases.values import MINUTE, TICK, asked

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_record(**fields: object) -> LockRecord:
    """Return what is recorded of a lock that is held for another minute."""
    held = LockRecord(
        locked_at=NOW, locked_until=NOW + MINUTE, running_until=NOW + MINUTE, locked_by="one", token=7, tick=TICK
    )
    return replace(held, **fields)  # type: ignore[arg-type]


def test_what_nobody_ever_had_is_free() -> None:
    """Without a record everything is granted."""
    assert grants(None, asked(), NOW)
    assert grants(None, asked(tick=TICK, exclusive=True), NOW)


def test_a_plain_lock_is_free_from_its_end_on() -> None:
    """The end of a lease is no part of it."""
    assert not grants(a_record(), asked(), NOW + MINUTE - timedelta.resolution)
    assert grants(a_record(), asked(), NOW + MINUTE)


def test_only_a_later_tick_is_granted() -> None:
    """A tick is compared with the latest one, whatever time it is."""
    late = NOW + timedelta(days=6)
    assert not grants(a_record(), asked(tick=TICK), late)
    assert not grants(a_record(), asked(tick=TICK - MINUTE), late)
    assert grants(a_record(), asked(tick=TICK + timedelta.resolution), NOW)


def test_an_exclusive_tick_looks_at_the_run_and_not_at_the_at_least_time() -> None:
    """What was released is not in the way, though nobody gets the plain lock yet."""
    later = asked(tick=TICK + MINUTE, exclusive=True)
    assert not grants(a_record(), later, NOW)
    assert grants(a_record(running_until=NOW), later, NOW)


def test_a_record_without_a_tick_is_in_no_ticks_way() -> None:
    """A name that was locked plainly before can be claimed by tick."""
    assert grants(a_record(tick=None), asked(tick=TICK - MINUTE), NOW)


def test_a_release_keeps_the_at_least_time() -> None:
    """A release ends the run now, and the lock when its at-least time is over, if that is later."""
    at_least = NOW + MINUTE / 2
    early, late = a_record().released(NOW, at_least), a_record().released(NOW + MINUTE, at_least)
    assert (early.running_until, early.locked_until) == (NOW, at_least)
    assert late.locked_until == NOW + MINUTE


def test_tokens_grow_though_the_clock_goes_back() -> None:
    """A token is the time in microseconds, or one more than the last when the clock is behind that."""
    first = taken_by("one", None, asked(tick=TICK), NOW)
    second = taken_by("two", first, asked(), NOW - timedelta(hours=1))
    assert second.token == first.token + 1
    assert (second.tick, second.locked_by) == (TICK, "two")
