"""Expressions put together by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from quartzite.cron import CronExpression, CronExpressionBuilder, DayOfWeek
from quartzite.errors import InvalidValueError

NEW = CronExpressionBuilder()


@pytest.mark.parametrize(
    ("builder", "text"),
    [
        (NEW, "* * * * * ?"),
        (NEW.at(9, 30), "0 30 9 * * ?"),
        (NEW.at(9, 30, 15).on_monday_through_friday(), "15 30 9 ? * MON-FRI"),
        (NEW.at(0, 0).on_saturday_and_sunday(), "0 0 0 ? * SAT,SUN"),
        (NEW.at(0, 0).on_day_of_week(DayOfWeek.SUNDAY, DayOfWeek.WEDNESDAY), "0 0 0 ? * SUN,WED"),
        (NEW.at(0, 0).on_nth_day_of_week(3, DayOfWeek.FRIDAY), "0 0 0 ? * FRI#3"),
        (NEW.at(0, 0).on_last_day_of_week(DayOfWeek.MONDAY), "0 0 0 ? * MONL"),
        (NEW.at(0, 0).on_day_of_month(1, 15), "0 0 0 1,15 * ?"),
        (NEW.at(0, 0).every_day_of_month(5, first=1), "0 0 0 1/5 * ?"),
        (NEW.at(0, 0).on_last_day_of_month(), "0 0 0 L * ?"),
        (NEW.at(0, 0).on_last_day_of_month(days_before=3), "0 0 0 L-3 * ?"),
        (NEW.at(0, 0).on_last_weekday_of_month(), "0 0 0 LW * ?"),
        (NEW.at(0, 0).on_weekday_nearest_to(15), "0 0 0 15W * ?"),
        (NEW.at(0, 0).in_month(1, 12), "0 0 0 * JAN,DEC ?"),
        (NEW.at(0, 0).in_year(2030, 2032), "0 0 0 * * ? 2030,2032"),
        (NEW.at(0, 0).in_years_between(2030, 2032), "0 0 0 * * ? 2030-2032"),
        (NEW.at_second(0, 30).at_minute(5).at_hour(1, 2), "0,30 5 1,2 * * ?"),
        (NEW.every_second(), "* * * * * ?"),
        (NEW.every_second(10), "*/10 * * * * ?"),
        (NEW.at_second(0).every_minute(15, first=5), "0 5/15 * * * ?"),
        (NEW.at_second(0).every_minute(first=5), "0 5-59 * * * ?"),
        (NEW.at_second(0).every_minute(last=10), "0 0-10 * * * ?"),
        (NEW.at_second(0).at_minute(0).every_hour(2, first=22, last=4), "0 0 22-4/2 * * ?"),
    ],
)
def test_built(builder: CronExpressionBuilder, text: str) -> None:
    """Each verb fills its field; what is not set is *, and the other day field ?."""
    assert builder.build().text == text


def test_zone() -> None:
    """The expression is read in the given zone, else in UTC."""
    assert NEW.at(9, 0).in_time_zone("Europe/Berlin").build() == CronExpression("0 0 9 * * ?", "Europe/Berlin")
    assert NEW.at(9, 0).build().time_zone.key == "UTC"


def test_builder_does_not_change() -> None:
    """A verb returns a new builder and leaves its own alone."""
    nine = NEW.at(9, 0)
    nine.on_monday_through_friday()
    assert nine.build().text == "0 0 9 * * ?"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: NEW.at(24, 0),
        lambda: NEW.at_second(60),
        lambda: NEW.at_minute(-1),
        NEW.at_hour,
        lambda: NEW.every_second(0),
        lambda: NEW.every_hour(24),
        lambda: NEW.on_day_of_month(32),
        lambda: NEW.on_weekday_nearest_to(0),
        lambda: NEW.on_last_day_of_month(days_before=31),
        lambda: NEW.on_last_day_of_month(days_before=-1),
        lambda: NEW.in_month(13),
        lambda: NEW.in_month(0),
        lambda: NEW.on_nth_day_of_week(6, DayOfWeek.FRIDAY),
        lambda: NEW.on_nth_day_of_week(0, DayOfWeek.FRIDAY),
        lambda: NEW.in_year(1969),
        lambda: NEW.in_years_between(2031, 2030),
        lambda: NEW.in_time_zone("Mars/Base").build(),
    ],
)
def test_values_are_checked_at_once(wrong: Callable[[], object]) -> None:
    """A value outside its field is refused where it is given."""
    with pytest.raises(InvalidValueError):
        wrong()


@pytest.mark.parametrize(
    "twice",
    [
        lambda: NEW.at_hour(1).every_hour(2),
        lambda: NEW.at(1, 2).at_second(3),
        lambda: NEW.in_month(1).in_month(2),
        lambda: NEW.on_day_of_month(1).on_last_day_of_month(),
        lambda: NEW.on_day_of_month(1).on_monday_through_friday(),
        lambda: NEW.on_monday_through_friday().on_day_of_month(1),
    ],
)
def test_each_field_once(twice: Callable[[], object]) -> None:
    """A field is set once, and only one of the two day fields."""
    with pytest.raises(InvalidValueError, match="is set"):
        twice()
