"""The local times that recurrence rules give."""

from __future__ import annotations

from datetime import datetime

import pytest

from quartzite.triggers.occurrences import Occurrences
from quartzite.triggers.recurrence_rule import RecurrenceRule

START = "2025-01-01T09:00:00"


def found(rule: str, count: int, *, start: str = START, after: str | None = None) -> list[str]:
    """Return the first occurrences of a rule behind an instant, as texts to the minute."""
    begin = datetime.fromisoformat(start)
    occurrences = Occurrences(RecurrenceRule.parse(rule), begin)
    texts: list[str] = []
    moment = datetime.min if after is None else datetime.fromisoformat(after)  # noqa: DTZ901  # local
    while len(texts) < count and (following := occurrences.after(moment)) is not None:
        texts.append(following.isoformat(timespec="seconds" if following.second else "minutes"))
        moment = following
    return texts


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY", ["2025-01-01T09:00", "2025-01-02T09:00"]),
        ("FREQ=DAILY;INTERVAL=3", ["2025-01-01T09:00", "2025-01-04T09:00"]),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR", ["2025-01-01T09:00", "2025-01-03T09:00", "2025-01-06T09:00"]),
        ("FREQ=WEEKLY", ["2025-01-01T09:00", "2025-01-08T09:00"]),
        ("FREQ=MONTHLY;BYDAY=2MO", ["2025-01-13T09:00", "2025-02-10T09:00"]),
        ("FREQ=MONTHLY;BYDAY=-1FR", ["2025-01-31T09:00", "2025-02-28T09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", ["2025-01-31T09:00", "2025-02-28T09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31", ["2025-01-31T09:00", "2025-03-31T09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15", ["2025-01-01T09:00", "2025-01-15T09:00", "2025-02-01T09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", ["2025-06-13T09:00", "2026-02-13T09:00"]),
        ("FREQ=YEARLY;BYMONTH=3;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["2025-03-31T09:00", "2026-03-31T09:00"]),
        ("FREQ=YEARLY;BYMONTH=3;BYMONTHDAY=15", ["2025-03-15T09:00", "2026-03-15T09:00"]),
        ("FREQ=YEARLY;BYDAY=20MO", ["2025-05-19T09:00", "2026-05-18T09:00"]),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", ["2025-05-12T09:00", "2026-05-11T09:00"]),
        ("FREQ=YEARLY;BYYEARDAY=1,-1", ["2025-01-01T09:00", "2025-12-31T09:00", "2026-01-01T09:00"]),
        ("FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=28", ["2025-02-28T09:00", "2029-02-28T09:00"]),
        ("FREQ=HOURLY;INTERVAL=5", ["2025-01-01T09:00", "2025-01-01T14:00", "2025-01-01T19:00", "2025-01-02T00:00"]),
        ("FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0,30", ["2025-01-01T09:00", "2025-01-01T09:30", "2025-01-01T17:00"]),
        ("FREQ=MINUTELY;INTERVAL=50;BYHOUR=9,10", ["2025-01-01T09:00", "2025-01-01T09:50", "2025-01-01T10:40"]),
        ("FREQ=SECONDLY;INTERVAL=45;BYMINUTE=1", ["2025-01-01T09:01:30", "2025-01-01T10:01:30"]),
        ("FREQ=DAILY;BYMONTH=2", ["2025-02-01T09:00", "2025-02-02T09:00"]),
    ],
)
def test_occurrences(rule: str, expected: list[str]) -> None:
    """RFC 5545's parts expand and limit; what is not given is taken from the start."""
    assert found(rule, len(expected)) == expected


def test_a_fortnight_is_counted_from_the_week_of_the_start() -> None:
    """Which weeks count depends on where a week begins."""
    assert found("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", 2, start="2025-01-06T09:00") == [
        "2025-01-06T09:00",
        "2025-01-20T09:00",
    ]
    days = "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST="
    assert found(days + "MO", 4, start="1997-08-05T09:00") == [
        "1997-08-05T09:00", "1997-08-10T09:00", "1997-08-19T09:00", "1997-08-24T09:00"]  # fmt: skip
    assert found(days + "SU", 4, start="1997-08-05T09:00") == [
        "1997-08-05T09:00", "1997-08-17T09:00", "1997-08-19T09:00", "1997-08-31T09:00"]  # fmt: skip


def test_days_with_and_without_an_ordinal_are_both_meant() -> None:
    """A list may mix every Monday with the first Tuesday."""
    assert found("FREQ=MONTHLY;BYDAY=MO,1TU", 4) == [
        "2025-01-06T09:00", "2025-01-07T09:00", "2025-01-13T09:00", "2025-01-20T09:00"]  # fmt: skip


def test_ordinals_mean_nothing_in_short_periods() -> None:
    """Within a week or a day there is no second Monday."""
    assert found("FREQ=WEEKLY;BYDAY=2MO", 2) == found("FREQ=WEEKLY;BYDAY=MO", 2)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1,-1",
            ["2025-01-01T09:00", "2025-01-31T09:00", "2025-02-03T09:00"],
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=10,20;BYHOUR=8,9;BYSETPOS=2,3", ["2025-01-10T09:00", "2025-01-20T08:00"]),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1", ["2025-01-03T09:00", "2025-01-10T09:00"]),
        ("FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1", ["2025-01-01T09:00", "2025-01-06T09:00"]),
        ("FREQ=YEARLY;BYMONTH=1;BYDAY=SU;BYSETPOS=-1", ["2025-01-26T09:00", "2026-01-25T09:00"]),
        ("FREQ=DAILY;BYHOUR=8,12,16;BYSETPOS=-1", ["2025-01-01T16:00", "2025-01-02T16:00"]),
        ("FREQ=HOURLY;BYMINUTE=0,20,40;BYSETPOS=2", ["2025-01-01T09:20", "2025-01-01T10:20"]),
        ("FREQ=DAILY;BYHOUR=8;BYSETPOS=2", []),
        ("FREQ=MONTHLY;BYMONTHDAY=1;BYSETPOS=2", []),
    ],
)
def test_positions(rule: str, expected: list[str]) -> None:
    """BYSETPOS picks from all that a period has, from its beginning or from its end."""
    assert found(rule, max(1, len(expected))) == expected


def test_a_search_far_from_the_start_is_no_walk() -> None:
    """Ten years of seconds behind the start, the next one is the next one in step."""
    rule = "FREQ=SECONDLY;INTERVAL=7"
    assert found(rule, 1, start="2015-01-01T00:00:00", after="2025-06-01T12:00:00.5") == ["2025-06-01T12:00:07"]
    assert found("FREQ=HOURLY;INTERVAL=1000", 1, after="2124-01-01T00:00:00") == ["2124-01-10T01:00"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;INTERVAL=12;BYMONTH=2",
        "FREQ=HOURLY;INTERVAL=2;BYHOUR=10",
    ],
)
def test_what_never_occurs(rule: str) -> None:
    """A rule that no time passes gives none, after a hundred years of looking."""
    assert found(rule, 1) == []


def test_the_end_of_time() -> None:
    """Behind the year 9999 there is nothing."""
    assert found("FREQ=YEARLY", 3, start="9998-05-05T09:00") == ["9998-05-05T09:00", "9999-05-05T09:00"]
