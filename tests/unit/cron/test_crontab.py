"""Lines of the Unix dialect in Quartz's words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quartzite.cron import CronExpression
from quartzite.cron.crontab import translate
from quartzite.errors import CronSyntaxError


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("* * * * *", "0 * * * * ?"),
        ("*/15 * * * *", "0 */15 * * * ?"),
        ("30 9 * * 1-5", "0 30 9 ? * MON-FRI"),
        ("30 9 * * mon-fri", "0 30 9 ? * MON-FRI"),
        ("0 0 * * 0", "0 0 0 ? * SUN"),
        ("0 0 * * 7", "0 0 0 ? * SUN"),
        ("0 0 * * 5-7", "0 0 0 ? * SUN,FRI,SAT"),
        ("0 0 * * */2", "0 0 0 ? * SUN,TUE,THU,SAT"),
        ("0 0 13 * 5", "0 0 0 13 * FRI"),
        ("0 0 1,15 jan-mar,12 *", "0 0 0 1,15 JAN-MAR,DEC ?"),
        ("0 0 1-31 * 1", "0 0 0 1-31 * MON"),
        ("0 0 ? * ?", "0 0 0 * * ?"),
        ("0 0 L * *", "0 0 0 L * ?"),
        ("0 0 1,L * *", "0 0 0 1,L * ?"),
        ("0 0 * * fri#3", "0 0 0 ? * FRI#3"),
        ("0 0 * * L5", "0 0 0 ? * FRIL"),
        ("0 0 28-31 2 *", "0 0 0 28-31 FEB ?"),
        (" 0\t12   * * * ", "0 0 12 * * ?"),
        ("@hourly", "0 0 * * * ?"),
        ("@daily", "0 0 0 * * ?"),
        ("@midnight", "0 0 0 * * ?"),
        ("@Weekly", "0 0 0 ? * SUN"),
        ("@monthly", "0 0 0 1 * ?"),
        ("@yearly", "0 0 0 1 JAN ?"),
        ("@annually", "0 0 0 1 JAN ?"),
    ],
)
def test_translated(line: str, text: str) -> None:
    """Days of the week become names, and an unrestricted day field the question mark of Quartz."""
    assert translate(line, None) == text


@pytest.mark.parametrize(
    ("line", "time", "interval"),
    [
        ("5 3 * * *", "0 5 3", False),
        ("0,5,10,15 3 * * *", "0 0,5,10,15 3", False),
        ("5-5 3 * * *", "0 5-5 3", True),
        ("0-2 3 * * *", "0 0-2 3", True),
        ("1-2 3 * * *", "0 1-2 3", True),
        ("10/15 3 * * *", "0 10/15 3", True),
        ("10-40/15 3 * * *", "0 10-40/15 3", True),
        ("1-50/13 3 * * *", "0 1-40/13 3", True),
        ("*/5,7 3 * * *", "0 0,5,7,10,15,20,25,30,35,40,45,50,55-55 3", True),
        ("58-2 22-3 * * *", "0 0-2,58-59 0-3,22-23", True),
        ("0 1-3 * * *", "0 0 1-3", True),
    ],
)
def test_interval_is_kept(line: str, time: str, interval: bool) -> None:
    """What steps in the line steps in the expression, and what is fixed is fixed, as clock changes tell them apart."""
    expression = CronExpression.from_crontab(line)
    assert expression.text == f"{time} * * ?"
    assert expression._fields.interval is interval


def test_text_means_the_same_when_it_is_read_again() -> None:
    """A stored expression, which is its text, is the expression."""
    expression = CronExpression.from_crontab("*/7,3 2-5,9 1,15 * fri", "Europe/Berlin")
    assert CronExpression(expression.text, "Europe/Berlin") == expression


def test_either_day_field_matches() -> None:
    """With both day fields restricted a day matches when either does."""
    expression = CronExpression.from_crontab("0 0 13 * 5")
    at = datetime(2026, 11, 10, tzinfo=UTC)
    days = []
    for _ in range(4):
        following = expression.next_after(at)
        assert following is not None
        at = following
        days.append((at.month, at.day))
    assert days == [(11, 13), (11, 20), (11, 27), (12, 4)]


def test_one_value_range_is_one_value() -> None:
    """A range from a value to itself is that value, though croniter reads it as everything."""
    assert translate("5-5 3 2-2 4-4 6-6", None) == "0 5-5 3 2 APR SAT"


def test_hash_means_the_same_in_both_dialects() -> None:
    """With the same key H falls on the same minute, hour, day, month and weekday."""
    for key in ("a", "b", "nightly", 42):
        unix = CronExpression.from_crontab("H H * * H", hash_key=key)
        quartz = CronExpression("0 H H ? * H", hash_key=key)
        start = datetime(2026, 1, 1, tzinfo=UTC)
        assert unix.next_after(start) == quartz.next_after(start)


@pytest.mark.parametrize(
    ("line", "position", "reason"),
    [
        ("60 * * * *", None, "croniter refuses it"),
        ("* * * * 8", None, "croniter refuses it"),
        ("*/0 * * * *", None, "croniter refuses it"),
        ("0 0 15W * *", 4, "'15W' is no item of the Unix dialect"),
        ("R * * * *", 0, "'R' is no item"),
        ("1, * * * *", 2, "an item of the list is empty"),
        ("0 0 * * MOON", 8, "'MOON' is no item"),
        ("é * * * *", 0, "is no item"),
        ("0 H * * *", 2, "H needs a key"),
        ("0 0 * * * *", None, "it has 6 fields, and 5 are needed"),
        ("0 0 * *", None, "it has 4 fields, and 5 are needed"),
        ("", None, "it has 0 fields"),
        ("0", None, "it has 1 field, and"),
        ("@reboot", None, "it is no alias"),
        ("0 0 * * 1#2,1#3", None, "must stand alone"),
        ("0 0 * * 1#2,3", None, "croniter refuses it"),
    ],
)
def test_refused(line: str, position: int | None, reason: str) -> None:
    """What croniter refuses, or reads in part, and what Quartz's dialect can not say is refused with the reason."""
    with pytest.raises(CronSyntaxError) as caught:
        CronExpression.from_crontab(line)
    assert (caught.value.text, caught.value.position) == (line, position)
    assert reason in caught.value.reason


def test_seconds_get_a_hint() -> None:
    """Whoever passes an expression of Quartz's dialect is told where it is read."""
    with pytest.raises(CronSyntaxError, match=r"read by CronExpression\(\.\.\.\)"):
        CronExpression.from_crontab("0 0 12 * * ?")
