"""Calendars against recorded answers of Quartz."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from quartzite.calendars import Calendar
from tests.conformance.calendars import calendar_of, chain
from tests.conformance.vectors import Record, Vectors, instant

pytestmark = pytest.mark.vectors("calendars.json")

MILLISECOND = timedelta(milliseconds=1)
EXACT_KINDS = {"annual", "weekly", "monthly", "daily"}
LATER_KINDS = {"daily", "cron"}
"""These answer about the millisecond after the one they are asked about."""


def test_calendars(vectors: Vectors) -> None:
    """What is included is as recorded; the next included instant is included, not earlier, and as recorded if safe."""
    vectors.compare(_checks(vectors), _answer, _expected)


def _checks(vectors: Vectors) -> list[Record]:
    return [
        {"calendar": record["calendar"], "dst": record.get("dst", False), **check}
        for record in vectors.records
        for check in record["checks"]
    ]


def _answer(check: Record) -> Any:
    calendar = calendar_of(check["calendar"])
    assert calendar is not None
    moment = instant(check["instant"])
    following = calendar.next_included(moment)
    sound = following is None or (following >= moment and calendar.is_time_included(following))
    return [calendar.is_time_included(moment), sound, _next_as_recorded(calendar, check)]


def _expected(check: Record) -> Any:
    return [check.get("quartznet_included", check["included"]), True, True]


def _next_as_recorded(calendar: Calendar, check: Record) -> bool:
    """Tell whether the next included instant is the recorded one, or whether the record is not asserted.

    Asserted are the annual, weekly, monthly and daily kinds, apart from clock changes, from answers that the record
    calls unreliable, and from an annual calendar with a base (Quartz asks that about midnight, whatever the instant).
    """
    links = list(chain(check["calendar"]))
    based_annual = any(link["type"] == "annual" and link["base"] is not None for link in links)
    doubtful = check["dst"] or check.get("next_unreliable", False)
    if links[0]["type"] not in EXACT_KINDS or based_annual or doubtful:
        return True
    later = any(link["type"] in LATER_KINDS for link in links)
    asked = instant(check["instant"]) + (MILLISECOND if later else timedelta(0))
    recorded = check["next_included"]
    expected = None if recorded is None else _first(calendar, asked, instant(recorded))
    return calendar.next_included(asked) == expected


def _first(calendar: Calendar, asked: datetime, recorded: datetime) -> datetime:
    """Return the recorded instant, or the millisecond before when that is included: Quartz (Java) leaves out 00:00."""
    before = recorded - MILLISECOND
    return before if before >= asked and calendar.is_time_included(before) else recorded
