"""The firings of one day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from quartzite.triggers.day_window import DayWindow
from tests.unit.triggers.building import at

HOUR = timedelta(hours=1)
WINDOW = DayWindow(at("2026-01-01T08:00"), at("2026-01-01T10:30"), HOUR, None)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ("2026-01-01T00:00", "2026-01-01T08:00"),
        ("2026-01-01T08:00", "2026-01-01T09:00"),
        ("2026-01-01T09:59:59.999999", "2026-01-01T10:00"),
        ("2026-01-01T10:00", None),
    ],
)
def test_the_first_firing_after_an_instant(after: str, expected: str | None) -> None:
    """The start and every interval behind it fire, as far as the end reaches."""
    assert WINDOW.first_after(at(after)) == (None if expected is None else at(expected))


def test_a_limit_of_firings() -> None:
    """No more than the repeats and the first one fire."""
    assert WINDOW._replace(repeats=1).first_after(at("2026-01-01T08:30")) == at("2026-01-01T09:00")
    assert WINDOW._replace(repeats=1).first_after(at("2026-01-01T09:00")) is None
    assert WINDOW._replace(repeats=0).last_until(at("2026-01-01T23:00")) == at("2026-01-01T08:00")


def test_the_last_firing_until_an_instant() -> None:
    """It lies neither behind the instant nor behind the end."""
    assert WINDOW.last_until(at("2026-01-01T09:59")) == at("2026-01-01T09:00")
    assert WINDOW.last_until(at("2026-01-01T23:00")) == at("2026-01-01T10:00")


def test_a_start_that_a_gap_moved_behind_the_end_fires() -> None:
    """The start fires whatever the end: local times from 02:30 to 03:00 are an hour apart when clocks skip 02:30."""
    window = DayWindow(at("2026-01-01T08:00"), at("2026-01-01T07:30"), HOUR, None)
    assert window.first_after(at("2026-01-01T07:00")) == at("2026-01-01T08:00")
    assert window.first_after(at("2026-01-01T08:00")) is None
    assert window.last_until(at("2026-01-01T12:00")) == at("2026-01-01T08:00")
