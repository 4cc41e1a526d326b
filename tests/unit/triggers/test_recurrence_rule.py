"""RRULE texts, read and refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from quartzite.errors import RecurrenceSyntaxError
from quartzite.triggers import RecurrenceRule
from quartzite.triggers.recurrence_rule import Frequency


def test_all_parts() -> None:
    """Every part of RFC 5545 is read; lists are sorted and without repetitions."""
    rule = RecurrenceRule.parse(
        "FREQ=YEARLY;INTERVAL=2;COUNT=9;WKST=SU;BYDAY=MO,-1FR,+20TU;BYMONTHDAY=15,-1,15;BYMONTH=12,3;BYYEARDAY=-366,1;"
        "BYWEEKNO=53;BYHOUR=23,0;BYMINUTE=59;BYSECOND=0;BYSETPOS=-1,2"
    )
    assert rule.frequency is Frequency.YEARLY
    assert (rule.interval, rule.count, rule.until, rule.week_start) == (2, 9, None, 6)
    assert rule.by_day == ((None, 0), (-1, 4), (20, 1))
    assert rule.by_month_day == (-1, 15)
    assert rule.by_month == (3, 12)
    assert (rule.by_year_day, rule.by_week_number) == ((-366, 1), (53,))
    assert (rule.by_hour, rule.by_minute, rule.by_second) == ((0, 23), (59,), (0,))
    assert rule.by_set_position == (-1, 2)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("RRULE:FREQ=DAILY", "FREQ=DAILY"),
        ("rrule:freq=daily;interval=1;wkst=mo", "FREQ=DAILY"),
        (" INTERVAL=3 ; FREQ=DAILY; ", "INTERVAL=3;FREQ=DAILY"),
        ("FREQ=DAILY;X-COLOR=RED;BYHOUR=9, 17", "FREQ=DAILY;BYHOUR=9, 17"),
    ],
)
def test_what_is_stored(text: str, stored: str) -> None:
    """Prefix, defaults and foreign parts are dropped, letters are upper case and the order stays."""
    rule = RecurrenceRule.parse(text)
    assert rule.text == stored
    assert RecurrenceRule.parse(stored) == rule


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("20260105", datetime(2026, 1, 5, 23, 59, 59)),  # noqa: DTZ001  # local
        ("20260105T120000", datetime(2026, 1, 5, 12)),  # noqa: DTZ001  # local
        ("20260105T120000Z", datetime(2026, 1, 5, 12, tzinfo=UTC)),
    ],
)
def test_until(text: str, until: datetime) -> None:
    """A date means the end of that day; only Z makes an instant."""
    found = RecurrenceRule.parse(f"FREQ=DAILY;UNTIL={text}").until
    assert found == until
    assert found is not None
    assert found.tzinfo is until.tzinfo


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no FREQ"),
        ("INTERVAL=2", "it has no FREQ"),
        ("FREQ=FORTNIGHTLY", "FREQ=FORTNIGHTLY is not understood: give one of YEARLY"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20260101", "both COUNT and UNTIL"),
        ("FREQ=DAILY;COUNT", "has no value"),
        ("FREQ=DAILY;COUNT=", "has no value"),
        ("FREQ=DAILY;BYDAYS=MO", "there is no part BYDAYS: did you mean BYDAY"),
        ("FREQ=DAILY;RSCALE=HEBREW", "there is no part RSCALE"),
        ("FREQ=DAILY;FREQ=WEEKLY", "FREQ is given twice"),
        ("FREQ=DAILY;INTERVAL=0", "from 1 on"),
        ("FREQ=DAILY;INTERVAL=X", "from 1 on"),
        ("FREQ=DAILY;COUNT=0", "from 1 on"),
        ("FREQ=DAILY;UNTIL=2026-01-01", "give 20261231"),
        ("FREQ=DAILY;UNTIL=20261301", "give 20261231"),
        ("FREQ=DAILY;UNTIL=20261231T250000", "give 20261231"),
        ("FREQ=DAILY;BYDAY=0MO", "give days as MO,WE"),
        ("FREQ=DAILY;BYDAY=54MO", "give days as MO,WE"),
        ("FREQ=DAILY;BYDAY=MON", "give days as MO,WE"),
        ("FREQ=DAILY;BYMONTHDAY=0", "from 1 to 31"),
        ("FREQ=DAILY;BYMONTHDAY=-32", "from 1 to 31"),
        ("FREQ=DAILY;BYMONTH=13", "from 1 to 12"),
        ("FREQ=DAILY;BYMONTH=-1", "from 1 to 12"),
        ("FREQ=DAILY;BYSECOND=60", "from 0 to 59"),
        ("FREQ=DAILY;BYHOUR=24", "from 0 to 23"),
        ("FREQ=DAILY;BYSETPOS=367", "from 1 to 366"),
        ("FREQ=DAILY;WKST=1", "give MO"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    """The error quotes the text and names the part, the reason and what to write."""
    with pytest.raises(RecurrenceSyntaxError, match=message) as refused:
        RecurrenceRule.parse(text)
    assert repr(text) in str(refused.value)


def test_a_rule_is_a_text() -> None:
    """Anything else is refused."""
    with pytest.raises(RecurrenceSyntaxError, match="must be a text"):
        RecurrenceRule.parse(None)  # type: ignore[arg-type]
