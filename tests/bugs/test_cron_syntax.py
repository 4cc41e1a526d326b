"""Faults in reading expressions and zones that users of other schedulers reported."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from quartzite.cron import CronExpression, CronExpressionBuilder, DayOfWeek
from quartzite.errors import CronSyntaxError, InvalidValueError


def utc(text: str) -> datetime:
    """Read a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        # B011: the nearest weekday, when the day is at a weekend
        ("0 0 12 15W * ?", "2026-07-15T12:00", ["08-14T12:00", "09-15T12:00", "10-15T12:00", "11-16T12:00"]),
        ("0 0 5 4W * ?", "2026-03-05", ["04-03T05:00", "05-04T05:00", "06-04T05:00", "07-03T05:00"]),
        ("0 0 12 1W * ?", "2026-01-15", ["02-02T12:00", "03-02T12:00", "04-01T12:00", "05-01T12:00"]),
        # B012: a day that the month does not have
        ("0 0 12 31W * ?", "2026-01-31T12:00", ["02-27T12:00", "03-31T12:00", "04-30T12:00", "05-29T12:00"]),
        ("0 0 12 31W * ?", "2024-01-31T12:00", ["02-29T12:00"]),
        # B013: lists, in which each W moves its own day
        (
            "0 15 10 16W,2 * ?",
            "2026-04-30",
            ["05-02T10:15", "05-15T10:15", "06-02T10:15", "06-16T10:15", "07-02T10:15"],
        ),
        ("0 15 10 L-1,L-2 * ?", "2026-04-30", ["05-29T10:15", "05-30T10:15", "06-28T10:15"]),
        ("0 15 10 2W,16W * ?", "2026-04-30", ["05-01T10:15", "05-15T10:15", "06-02T10:15", "06-16T10:15"]),
        ("0 0 8 LW-1 * ?", "2026-04-01", ["04-29T08:00", "05-28T08:00", "06-29T08:00"]),
        # B015: rare dates
        ("0 0 12 ? * 5#5", "2026-01-01", ["01-29T12:00", "04-30T12:00", "07-30T12:00", "10-29T12:00"]),
        # B016: Monday has the number 2
        ("0 35 9 ? * 2", "2026-02-03T09:35", ["02-09T09:35"]),
    ],
)
def test_reported_fire_times(text: str, after: str, expected: list[str]) -> None:
    """The fires are the reported right ones, and each satisfies the expression."""
    expression = CronExpression(text)
    at: datetime | None = utc(after)
    for fire in expected:
        assert at is not None
        at = expression.next_after(at)
        assert at == utc(f"{after[:4]}-{fire}")
        assert expression.is_satisfied_by(at)


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("0 0 0 31 2 ?", "2026-01-01", None),  # B014
        ("0 0 0 ? * 6#5", "2026-01-01", "2026-01-30"),  # B014
        ("0 0 0 29 2 ?", "2096-03-01", "2104-02-29"),  # B015
    ],
)
def test_rare_dates_are_found_at_once(text: str, after: str, expected: str | None) -> None:
    """Impossible dates are read and have no next time, rare ones are not given up; both take less than 50 ms."""
    expression = CronExpression(text)
    began = time.thread_time()
    found = expression.next_after(utc(after))
    assert time.thread_time() - began < 0.05
    assert found == (None if expected is None else utc(expected))


def test_fifth_friday_needs_a_fifth_friday() -> None:
    """A month without a fifth Friday has no fire (B014)."""
    expression, at, months = CronExpression("0 0 0 ? * 6#5"), utc("2026-01-01"), []
    while (following := expression.next_after(at)) is not None and following.year == 2026:
        at = following
        months.append(at.month)
        assert (at.weekday(), at.day > 28) == (4, True)
    assert months == [1, 5, 7, 10]


def test_words_name_the_weekday() -> None:
    """The description says Monday where the text says 2 (B016)."""
    assert CronExpression("0 35 9 ? * 2").describe() == "At 09:35:00, Monday"


def test_builder_writes_names() -> None:
    """The builder never writes a number for a weekday (B016)."""
    for day in DayOfWeek:
        text = CronExpressionBuilder().at(9, 0).on_day_of_week(day).build().text
        assert text.split()[5] == day.name[:3]


def test_unix_line_is_told_apart() -> None:
    """A line of five fields is refused, and the error names what reads it (B016)."""
    with pytest.raises(CronSyntaxError, match=r"CronExpression\.from_crontab"):
        CronExpression("35 9 * * 2")


def test_zone_of_another_platform() -> None:
    """A Windows id is mapped; an unknown id is refused when the expression is built, naming the value (B018)."""
    assert CronExpression("0 0 9 * * ?", "China Standard Time").time_zone.key == "Asia/Shanghai"
    with pytest.raises(InvalidValueError, match="'Nowhere Standard Time'"):
        CronExpression("0 0 9 * * ?", "Nowhere Standard Time")
