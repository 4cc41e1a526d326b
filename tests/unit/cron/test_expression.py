"""Cron expressions as values and as searches."""

from __future__ import annotations

import copy
import pickle
import sys
import time
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError, InvalidValueError

EVERY_SECOND = CronExpression("* * * * * ?")
NEVER = CronExpression("0 0 0 31 2 ?")
BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    """Read a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def walk(expression: CronExpression, after: str, steps: int) -> list[str]:
    """Return the next fires, written in UTC."""
    fires, at = [], utc(after)
    for _ in range(steps):
        following = expression.next_after(at)
        assert following is not None
        at = following
        fires.append(at.strftime("%Y-%m-%dT%H:%M:%S"))
    return fires


# ------------------------------------------------------------------------------------------------------- value
def test_equal_by_resolved_text_and_zone() -> None:
    """Spelling does not count, the zone does, however it was given."""
    assert CronExpression(" 0 0  12 * * ? ", BERLIN) == CronExpression("0 0 12 * * ?", ZoneInfo(BERLIN))
    assert CronExpression("0 0 12 ? * mon") == CronExpression("0 0 12 ? * MON", "UTC")
    assert CronExpression("H 0 0 * * ?", hash_key=42) == CronExpression("12 0 0 * * ?")
    assert CronExpression("0 0 12 * * ?") != CronExpression("0 0 12 * * ?", BERLIN)
    assert CronExpression("0 0 12 * * ?") != CronExpression("0 0 12 ? * *")
    assert CronExpression("0 0 12 * * ?") != "0 0 12 * * ?"


def test_equal_expressions_hash_alike() -> None:
    """Equal expressions find each other in a set."""
    assert len({CronExpression("0 0 12 * * ?", BERLIN), CronExpression("0  0 12 * * ?", ZoneInfo(BERLIN))}) == 1


def test_zone_by_windows_id() -> None:
    """A Windows id becomes an IANA zone."""
    assert CronExpression("0 0 12 * * ?", "China Standard Time").time_zone.key == "Asia/Shanghai"


def test_unknown_zone_is_refused() -> None:
    """A zone that nobody knows is refused when the expression is made."""
    with pytest.raises(InvalidValueError, match="'Mars/Base'"):
        CronExpression("0 0 12 * * ?", "Mars/Base")


@pytest.mark.parametrize("value", [None, 5, b"0 0 12 * * ?"])
def test_what_is_no_text_is_refused(value: Any) -> None:
    """Anything but a text is refused in words."""
    with pytest.raises(InvalidValueError, match="is no text"):
        CronExpression(value)
    with pytest.raises(InvalidValueError, match="is no text"):
        CronExpression.from_crontab(value)


def test_immutable() -> None:
    """Nothing of an expression can be set."""
    with pytest.raises(FrozenInstanceError):
        EVERY_SECOND.text = "0 0 12 * * ?"  # type: ignore[misc]
    with pytest.raises((AttributeError, TypeError)):
        EVERY_SECOND.other = 1  # type: ignore[attr-defined]


def pickled(value: object) -> object:
    """Send a value through pickle and back."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_copies_are_equal_and_work(copied: Callable[[Any], Any]) -> None:
    """A copy is equal and fires at the same times."""
    expression = CronExpression("0 30 9 ? * MON-FRI", BERLIN)
    twin = copied(expression)
    assert twin == expression
    assert walk(twin, "2026-01-01", 3) == walk(expression, "2026-01-01", 3)


def test_small() -> None:
    """Expressions of one text share their fields, so that one more is little memory."""
    one, other = CronExpression("0 0 3 * * ?", BERLIN), CronExpression("0 0 3 * * ?", BERLIN)
    assert one.text is other.text
    assert one._fields is other._fields
    assert sys.getsizeof(one) < 150


def test_repr_shows_text_and_zone() -> None:
    """The representation can be read back."""
    expression = CronExpression("0 0 12 * * ?", BERLIN)
    assert repr(expression) == "CronExpression('0 0 12 * * ?', time_zone='Europe/Berlin')"


def test_validation() -> None:
    """A text can be checked without making an expression."""
    assert CronExpression.is_valid("0 0 12 * * ?")
    assert not CronExpression.is_valid("0 0 12 * *")
    assert not CronExpression.is_valid("H 0 12 * * ?")
    assert CronExpression.is_valid("H 0 12 * * ?", hash_key="x")
    CronExpression.validate("0 0 12 * * ?")
    with pytest.raises(CronSyntaxError, match="25"):
        CronExpression.validate("0 0 25 * * ?")


# ------------------------------------------------------------------------------------------------------ search
@pytest.mark.parametrize(
    "ask",
    [
        EVERY_SECOND.next_after,
        EVERY_SECOND.previous_before,
        EVERY_SECOND.next_invalid_after,
        EVERY_SECOND.is_satisfied_by,
    ],
)
def test_naive_instants_are_refused(ask: Callable[[datetime], object]) -> None:
    """A time without a zone is no instant."""
    with pytest.raises(InvalidValueError, match="no aware datetime"):
        ask(datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.parametrize("offset", [timedelta(hours=2), timedelta(hours=-9, minutes=-30), timedelta(0)])
def test_any_aware_instant_may_ask(offset: timedelta) -> None:
    """The zone of the instant that asks does not matter, and the answer is in UTC."""
    asked = utc("2026-05-01T11:59").astimezone(timezone(offset))
    answer = CronExpression("0 0 12 * * ?").next_after(asked)
    assert answer == utc("2026-05-01T12:00")
    assert answer.tzinfo is UTC


def test_instant_of_a_second_pass_may_ask() -> None:
    """An instant that its zone shows for the second time is the second one."""
    asked = datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo(BERLIN), fold=1)
    assert CronExpression("0 0/15 * * * ?").next_after(asked) == utc("2026-10-25T01:45")


def test_next_is_strictly_after() -> None:
    """The fire at the instant itself is not the next one."""
    noon = CronExpression("0 0 12 * * ?")
    assert noon.next_after(utc("2026-05-01T12:00")) == utc("2026-05-02T12:00")
    assert noon.next_after(utc("2026-05-01T11:59:59")) == utc("2026-05-01T12:00")
    assert noon.next_after(utc("2026-05-01T11:59:59.999999")) == utc("2026-05-01T12:00")


def test_previous_is_strictly_before() -> None:
    """The fire at the instant itself is not the previous one, but a microsecond later it is."""
    noon = CronExpression("0 0 12 * * ?")
    assert noon.previous_before(utc("2026-05-01T12:00")) == utc("2026-04-30T12:00")
    assert noon.previous_before(utc("2026-05-01T12:00:00.000001")) == utc("2026-05-01T12:00")
    assert noon.previous_before(utc("2026-05-01T12:00:01")) == utc("2026-05-01T12:00")


def test_parts_of_a_second_do_not_change_the_next() -> None:
    """All instants of one second have the same next fire."""
    minute = CronExpression("0 * * * * ?", "America/New_York")
    asked = utc("2024-11-03T05:53:59")
    assert {minute.next_after(asked + timedelta(microseconds=m)) for m in (0, 1, 500_000, 999_999)} == {
        utc("2024-11-03T05:54")
    }


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 55 15 1 * ?", "2007-12-01T23:59:59", ["2008-01-01T15:55:00"]),
        ("* * 1 * * ?", "2005-07-31T22:59:57", ["2005-08-01T01:00:00", "2005-08-01T01:00:01"]),
        ("0/5 * * * * ?", "2005-06-01T01:59:55", ["2005-06-01T02:00:00", "2005-06-01T02:00:05"]),
        ("0 15 23 * * ?", "2005-06-01T23:16:00", ["2005-06-02T23:15:00"]),
        ("59 59 23 31 12 ?", "2026-01-01", ["2026-12-31T23:59:59", "2027-12-31T23:59:59"]),
        ("0 0 0 ? * 6#5", "2026-01-01", ["2026-01-30T00:00:00", "2026-05-29T00:00:00", "2026-07-31T00:00:00"]),
        ("0 0 0 29 2 ?", "2096-03-01", ["2104-02-29T00:00:00", "2108-02-29T00:00:00"]),
        ("0 0 0 1 1 ? 2030,2199", "2026-01-01", ["2030-01-01T00:00:00"]),
        ("0 0 0 1 1 ? 2030,2199", "2100-01-01", ["2199-01-01T00:00:00"]),
        ("0 15 10 * * MON", "2026-05-01T12:00", ["2026-05-02T10:15:00", "2026-05-03T10:15:00"]),
        ("0 15 10 13 * FRI", "2026-03-06T12:00", ["2026-03-13T10:15:00", "2026-03-20T10:15:00"]),
    ],
)
def test_next_in_utc(text: str, after: str, expected: list[str]) -> None:
    """Where no clock changes the next fires follow the fields."""
    assert walk(CronExpression(text), after, len(expected)) == expected


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("0 0 0 31 2 ?", "2026-01-01"),
        ("0 0 0 30 2 ?", "2026-01-01"),
        ("0 0 0 31 4,6,9,11 ?", "2026-01-01"),
        ("0 0 0 1 1 ? 2025", "2026-01-01"),
        ("0 0 0 L-30 2,4 ?", "2026-01-01"),
        ("0 0 0 1 1 ? 2199", "2026-01-01"),  # more than a hundred years ahead
        ("* * * * * ? 2199", "2199-12-31T23:59:59"),
    ],
)
def test_no_next(text: str, after: str) -> None:
    """What can not fire, or not within a hundred years, has no next fire."""
    assert CronExpression(text).next_after(utc(after)) is None


@pytest.mark.parametrize(
    ("text", "before"),
    [("0 0 0 31 2 ?", "2026-01-01"), ("* * * * * ? 2027", "2027-01-01"), ("0 0 0 1 1 ? 1970", "2080-01-01")],
)
def test_no_previous(text: str, before: str) -> None:
    """What never fired, or not within a hundred years, has no previous fire."""
    assert CronExpression(text).previous_before(utc(before)) is None


@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia"])
@pytest.mark.parametrize(
    "text", ["0 0 0 31 2 ?", "0 0 0 29 2 ?", "0 0 0 ? * 6#5", "0 0 0 ? FEB 6#5", "0 0 0 L-30 2,4 ?", "0 0 0 1 1 ? 2199"]
)
def test_no_search_takes_long(text: str, time_zone: str) -> None:
    """Each search, forwards and backwards and cold or warm, takes less than 50 ms; most take microseconds."""
    expression = CronExpression(text, time_zone)
    took = []
    for asked in (utc("2026-01-01"), utc("2097-01-01"), utc("2199-12-31T23:59:59")):
        for ask in (expression.next_after, expression.previous_before):
            began = time.thread_time()
            ask(asked)
            took.append(time.thread_time() - began)
    assert max(took) < 0.05


def test_ends_of_the_calendar() -> None:
    """Near the first and the last year there is an answer or None, never an error."""
    last, first = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
    for time_zone in ("UTC", "America/New_York", "Pacific/Apia"):
        for text in ("* * * * * ?", "0 0 0 1 1 ?", "59 59 23 31 12 ?"):
            expression = CronExpression(text, time_zone)
            for asked in (last, first, last - timedelta(days=1), first + timedelta(days=1)):
                following, preceding = expression.next_after(asked), expression.previous_before(asked)
                assert following is None or following > asked
                assert preceding is None or preceding < asked
    assert EVERY_SECOND.next_after(last) is None
    assert EVERY_SECOND.previous_before(first) is None


# ----------------------------------------------------------------------------------------------- clock changes
@pytest.mark.parametrize(
    ("text", "time_zone", "after", "expected"),
    [
        ("0 30 2 * * ?", "America/New_York", "2024-03-10T05:00", ["2024-03-10T07:30:00", "2024-03-11T06:30:00"]),
        ("0 15 2 * * ?", "Australia/Lord_Howe", "2019-10-05T13:30", ["2019-10-05T15:45:00", "2019-10-06T15:15:00"]),
        ("0 0 0 * * ?", "America/Santiago", "2019-09-07T16:00", ["2019-09-08T04:00:00", "2019-09-09T03:00:00"]),
        ("0 0/20 2 * * ?", "America/New_York", "2024-03-10T05:00", ["2024-03-10T07:00:00", "2024-03-11T06:00:00"]),
        ("0 0 12 * * ?", "Pacific/Apia", "2011-12-29T23:00", ["2011-12-30T22:00:00", "2011-12-31T22:00:00"]),
    ],
)
def test_gap(text: str, time_zone: str, after: str, expected: list[str]) -> None:
    """What lies in a gap fires once, later by its width; of several times only the first."""
    assert walk(CronExpression(text, time_zone), after, 2) == expected


@pytest.mark.parametrize(
    ("text", "time_zone", "after", "expected"),
    [
        ("0 30 1 * * ?", "America/New_York", "2024-11-03T04:00", ["2024-11-03T05:30:00", "2024-11-04T06:30:00"]),
        ("0 0,30 2 * * ?", BERLIN, "2018-10-27T22:00", ["2018-10-28T00:00:00", "2018-10-28T00:30:00"]),
        ("0 30 23 * * ?", "America/Santiago", "2019-04-06T03:00", ["2019-04-07T02:30:00", "2019-04-08T03:30:00"]),
        ("0 0/30 2 * * ?", BERLIN, "2018-10-28T00:15", ["2018-10-28T00:30:00", "2018-10-28T01:00:00"]),
        ("0 0 1-2 * * ?", BERLIN, "2018-10-27T23:30", ["2018-10-28T00:00:00", "2018-10-28T01:00:00"]),
        # asked from inside the second pass: answered there
        ("0 30 2 * * ?", BERLIN, "2018-10-28T01:10", ["2018-10-28T01:30:00", "2018-10-29T01:30:00"]),
    ],
)
def test_overlap(text: str, time_zone: str, after: str, expected: list[str]) -> None:
    """A fixed time fires in the first pass only, an interval in both; a search inside the second one answers there."""
    assert walk(CronExpression(text, time_zone), after, 2) == expected


@pytest.mark.parametrize(
    ("text", "time_zone", "before", "expected"),
    [
        ("0 30 2 * * ?", "America/New_York", "2024-03-10T08:00", "2024-03-10T07:30"),  # moved by the gap
        ("0 30 2 * * ?", "America/New_York", "2024-03-10T07:30", "2024-03-09T07:30"),
        ("0 0/20 2 * * ?", "America/New_York", "2024-03-10T12:00", "2024-03-10T07:00"),
        ("0 30 1 * * ?", "America/New_York", "2024-11-03T12:00", "2024-11-03T05:30"),  # never in the second pass
        ("0 30 1 * * ?", "America/New_York", "2024-11-03T06:45", "2024-11-03T05:30"),
        ("0 * * * * ?", "America/New_York", "2024-11-03T05:55", "2024-11-03T05:54"),
        ("0 * * * * ?", "America/New_York", "2024-11-03T06:00", "2024-11-03T05:59"),
        ("0 0 * * * ?", "America/New_York", "2024-11-03T05:55", "2024-11-03T05:00"),
        ("0 0 * * * ?", "America/New_York", "2024-11-03T06:30", "2024-11-03T06:00"),
        ("0 0 12 * * ?", "Pacific/Apia", "2011-12-31T12:00", "2011-12-30T22:00"),
        ("0 20,40 2 * * ?", "Australia/Lord_Howe", "2024-10-05T15:45", "2024-10-04T16:10"),
        # asked inside a second pass, before the time comes there, it is the one of the first pass
        ("10 12 23 * * ?", "America/Sao_Paulo", "1997-02-16T02:02:01", "1997-02-16T01:12:10"),
        # the fire in the last second before a gap starts the next search behind it: nothing is moved
        ("* * 0-3 * * ?", "Pacific/Apia", "2015-09-26T15:00", "2015-09-26T13:59:59"),
        ("30 * 0-3 * * ?", "Pacific/Apia", "2015-09-26T15:00", "2015-09-26T14:00:30"),
    ],
)
def test_previous_around_changes(text: str, time_zone: str, before: str, expected: str) -> None:
    """The previous fire is one of the walk of next fires."""
    assert CronExpression(text, time_zone).previous_before(utc(before)) == utc(expected)


def test_moved_fire_does_not_satisfy() -> None:
    """A fire that a gap moved is no time that the expression names, unless it matches by itself."""
    assert not CronExpression("0 30 2 * * ?", "America/New_York").is_satisfied_by(utc("2024-03-10T07:30"))
    assert CronExpression("0 30 * * * ?", "America/New_York").is_satisfied_by(utc("2024-03-10T07:30"))


def test_satisfied_in_both_passes() -> None:
    """The clocks match in both passes of an overlap, whatever fires there."""
    half_past = CronExpression("0 30 2 * * ?", BERLIN)
    assert half_past.is_satisfied_by(utc("2018-10-28T00:30:00.5"))
    assert half_past.is_satisfied_by(utc("2018-10-28T01:30"))
    assert not half_past.is_satisfied_by(utc("2018-10-28T02:30"))


# --------------------------------------------------------------------------------------------- end of the run
@pytest.mark.parametrize(
    ("text", "time_zone", "at", "expected"),
    [
        ("0 0 12 * * ?", "UTC", "2026-05-01T12:00", "2026-05-01T12:00:01"),
        ("0 0 12 * * ?", "UTC", "2026-05-01T12:00:00.7", "2026-05-01T12:00:01"),
        ("0 0 12 * * ?", "UTC", "2026-05-01T11:00", "2026-05-01T11:00:00"),
        ("* * 1 * * ?", "UTC", "2026-05-01T01:30", "2026-05-01T02:00:00"),
        ("* * 0,23 * * ?", "UTC", "2026-05-01T23:30", "2026-05-02T01:00:00"),
        ("* 0,1,59 * * * ?", "UTC", "2026-05-01T23:59:30", "2026-05-02T00:02:00"),
        ("0,1,2 * * * * ?", "UTC", "2026-05-01T23:59:01", "2026-05-01T23:59:03"),
        ("* * * ? 10 * *", "Europe/Amsterdam", "2023-10-05T00:00", "2023-10-31T23:00:00"),
        ("* * * ? * MON-FRI", "UTC", "2026-05-01T00:00", "2026-05-02T00:00:00"),
        ("* * 1 * * ?", BERLIN, "2026-10-24T23:30", "2026-10-25T00:00:00"),
        ("* * 2 * * ?", BERLIN, "2026-10-25T00:30", "2026-10-25T02:00:00"),  # both passes
        ("* * * * * ? 2026", "America/New_York", "2026-02-01T00:00", "2027-01-01T05:00:00"),
    ],
)
def test_next_invalid(text: str, time_zone: str, at: str, expected: str) -> None:
    """The end of a run of seconds that fire, through days and clock changes, is the first second that does not."""
    assert CronExpression(text, time_zone).next_invalid_after(utc(at)) == utc(expected)


@pytest.mark.parametrize("time_zone", ["UTC", "America/New_York"])
def test_endless_run_has_no_end(time_zone: str) -> None:
    """What fires every second for ever has no next invalid time."""
    assert CronExpression("* * * * * ?", time_zone).next_invalid_after(utc("2026-01-01")) is None
