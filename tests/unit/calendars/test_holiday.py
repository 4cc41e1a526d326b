"""Holiday calendars."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from quartzite.calendars import HolidayCalendar
from quartzite.errors import InvalidValueError
from tests.unit.calendars.instants import at

SILVESTER = date(2007, 12, 31)


def test_single_dates() -> None:
    """A date is excluded in its year only."""
    calendar = HolidayCalendar().with_excluded(SILVESTER)
    assert calendar.next_included(at("2007-12-31T00:00")) == at("2008-01-01T00:00")
    assert calendar.is_time_included(at("2008-12-31T12:00"))
    assert calendar.is_day_excluded(SILVESTER)
    assert calendar.without_excluded(SILVESTER, date(2001, 1, 1)) == HolidayCalendar()


@pytest.mark.parametrize("day", [datetime(2007, 12, 31), "2007-12-31", (12, 31)])  # noqa: DTZ001
def test_what_is_no_date(day: Any) -> None:
    """A date with a time would depend on a zone; a text and a pair are no dates."""
    with pytest.raises(InvalidValueError, match="is no date"):
        HolidayCalendar().with_excluded(day)
