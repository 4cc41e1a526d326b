"""Common kinds of values are written in one form, and read in the forms that other programs wrote."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from quartzite.serialization.fields import (
    Field,
    boolean,
    integer,
    read_date,
    read_fields,
    read_instant,
    read_span,
    read_time,
    text,
    write_fields,
    write_span,
    write_time,
)


@pytest.mark.parametrize(
    ("span", "written"),
    [
        (timedelta(0), "00:00:00"),
        (timedelta(seconds=5), "00:00:05"),
        (timedelta(days=2, hours=3, minutes=4, seconds=5, milliseconds=6), "2.03:04:05.0060000"),
        (timedelta(microseconds=-1), "-00:00:00.0000010"),
        (timedelta(days=-1), "-1.00:00:00"),
        (timedelta(hours=24), "1.00:00:00"),
    ],
)
def test_durations_have_the_constant_form_of_dotnet(span: timedelta, written: str) -> None:
    """A duration is written as .NET writes a TimeSpan, and read back equal."""
    assert write_span(span) == written
    assert read_span(written) == span


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("08:30", time(8, 30)),
        ("8:30", time(8, 30)),
        ("08:30:15", time(8, 30, 15)),
        ("08:30:15:500", time(8, 30, 15, 500_000)),
        ("08:30:15.5", time(8, 30, 15, 500_000)),
        ("08:30:15.1234567", time(8, 30, 15, 123_000)),
    ],
)
def test_times_of_day_are_read_in_every_form(written: str, moment: time) -> None:
    """A time of day is read with or without seconds, and with milliseconds behind a colon or a point."""
    assert read_time(written) == moment
    assert read_time(write_time(moment)) == moment


def test_an_instant_without_an_offset_is_utc() -> None:
    """What another program wrote without an offset means UTC; an offset is turned into UTC."""
    assert read_instant("2026-01-01T00:00:00") == datetime(2026, 1, 1, tzinfo=UTC)
    assert read_instant("2026-01-01T02:00:00+02:00").isoformat() == "2026-01-01T00:00:00+00:00"


def test_a_date_may_have_a_time_behind_it() -> None:
    """The date of a timestamp is read as it stands."""
    assert read_date("2026-12-25") == read_date("2026-12-25T00:00:00") == date(2026, 12, 25)


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (text, 5),
        (integer, "5"),
        (integer, True),
        (integer, 5.0),
        (boolean, 0),
        (read_span, "5"),
        (read_span, 5),
        (read_time, "25:00"),
        (read_time, "half past"),
        (read_instant, "yesterday"),
        (read_date, None),
    ],
)
def test_a_malformed_entry_is_told_by_name(read: Any, content: Any) -> None:
    """A value of another form is an error that names the entry."""
    with pytest.raises((ValueError, TypeError)):
        read(content)
    if content is not None:
        with pytest.raises(ValueError, match=r"^Entry .*: "):
            read_fields([Field("Entry", "attribute", read=read)], {"Entry": content})


def test_entries_that_are_missing_or_null() -> None:
    """A missing entry and null leave the argument to its default; None is written as null."""
    table = [Field("A", "real", read=integer), Field("B", "imag", read=integer)]
    assert read_fields(table, {"A": None}) == {}
    assert read_fields(table, {"B": 5, "C": 6}) == {"imag": 5}
    assert write_fields(table, 5j) == {"A": 0.0, "B": 5.0}
    assert write_fields([Field("T", "tzinfo", str)], time(8)) == {"T": None}
