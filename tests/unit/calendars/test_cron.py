"""Cron calendars."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.calendars import CronCalendar
from quartzite.cron import CronExpression
from quartzite.errors import CronSyntaxError, InvalidValueError
from quartzite.timezones import zone
from tests.unit.calendars.instants import at

BERLIN = zone("Europe/Berlin")


def calendar(text: str, time_zone: str = "UTC") -> CronCalendar:
    """Exclude what an expression matches."""
    return CronCalendar(cron_expression=CronExpression(text, time_zone))


def test_matching_seconds_are_excluded() -> None:
    """A second is excluded as a whole, when its local time matches."""
    assert not calendar("0/15 * * * * ?").is_time_included(at("2026-01-01T10:00:30"))
    assert calendar("0/25 * * * * ?").is_time_included(at("2026-01-01T10:00:30"))
    assert not calendar("* * 1-3 ? * *").is_time_included(at("2026-01-01T02:00:01.123"))
    assert calendar("0/15 * * * * ?").next_included(at("2026-01-01T10:00:30.25")) == at("2026-01-01T10:00:31")


def test_a_long_span_is_left_at_once() -> None:
    """Hours, days and months of excluded seconds are no walk."""
    assert calendar("* * 1-3 ? * *").next_included(at("2026-01-01T02:00")) == at("2026-01-01T04:00")
    assert calendar("* * * ? * SAT,SUN").next_included(at("2026-01-03T02:00")) == at("2026-01-05T00:00")
    assert calendar("* * * * 1-11 ?").next_included(at("2026-01-03T02:00")) == at("2026-12-01T00:00")


def test_every_second() -> None:
    """An expression that always matches leaves nothing."""
    assert calendar("* * * * * ?").next_included(at("2026-01-03T02:00")) is None


def test_the_zone_is_that_of_the_expression() -> None:
    """A text is read in the zone of the calendar; an expression brings its own."""
    assert calendar("* * 1 * * ?", "Europe/Berlin").time_zone is BERLIN
    text = CronCalendar(cron_expression="* * 1 * * ?", time_zone=BERLIN)  # type: ignore[arg-type]
    assert text == calendar("* * 1 * * ?", "Europe/Berlin")
    assert not text.is_time_included(at("2026-01-01T00:30"))
    with pytest.raises(InvalidValueError, match="differs from its expression's"):
        CronCalendar(cron_expression=CronExpression("* * 1 * * ?"), time_zone=BERLIN)


def test_both_passes_are_excluded() -> None:
    """What the clocks show twice is excluded twice, also for an expression that fires the first time only."""
    fixed = calendar("0 30 2 * * ?", "Europe/Berlin")
    assert not fixed.is_time_included(at("2026-10-25T02:30+02:00"))
    assert not fixed.is_time_included(at("2026-10-25T02:30+01:00"))
    assert fixed.next_included(at("2026-10-25T02:30:00.5+01:00")) == at("2026-10-25T02:30:01+01:00")


@pytest.mark.parametrize("expression", [None, 5])
def test_what_is_no_expression(expression: Any) -> None:
    """A calendar needs an expression; a text must be one."""
    with pytest.raises(InvalidValueError, match="give a text or a CronExpression"):
        CronCalendar(cron_expression=expression)
    with pytest.raises(CronSyntaxError):
        CronCalendar(cron_expression="whenever")  # type: ignore[arg-type]
