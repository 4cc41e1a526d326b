"""Expressions put together by name instead of by position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final
from zoneinfo import ZoneInfo

from quartzite.cron.expression import CronExpression
from quartzite.cron.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    FIELDS,
    HOUR,
    MINUTE,
    MONTH,
    MONTH_NAMES,
    SECOND,
    WEEKDAY_NAMES,
    YEAR,
    DayOfWeek,
    Field,
    FieldError,
)
from quartzite.cron.items import days_of_month, days_of_week, numbers
from quartzite.errors import InvalidValueError

__all__ = ["CronExpressionBuilder"]

_DAY_FIELDS: Final = (DAY_OF_MONTH, DAY_OF_WEEK)


@dataclass(frozen=True, slots=True)
class CronExpressionBuilder:
    """Build an expression field by field: ``CronExpressionBuilder().at(9, 30).on_monday_through_friday().build()``.

    Every verb returns a new builder and checks its values at once. Each field is set once, and of the two day fields
    only one; a field that is not set is ``*``, the seconds too. Months and weekdays become names, never numbers, so
    that nobody has to know where Quartz starts to count (spec 02 section 3.1).

    Every verb raises InvalidValueError for a value outside its field and for a field that is set already.
    """

    _texts: Mapping[Field, str] = field(default_factory=lambda: MappingProxyType({}))
    _time_zone: ZoneInfo | str | None = None

    def at(self, hour: int, minute: int, second: int = 0) -> CronExpressionBuilder:
        """Fire at one time of day."""
        return self.at_hour(hour).at_minute(minute).at_second(second)

    def at_second(self, *seconds: int) -> CronExpressionBuilder:
        """Fire at these seconds, 0 to 59."""
        return self._list(SECOND, seconds)

    def every_second(
        self, step: int = 1, *, first: int | None = None, last: int | None = None
    ) -> CronExpressionBuilder:
        """Fire at every ``step``-th second, from ``first`` to ``last``, which may lie in the next minute."""
        return self._steps(SECOND, step, first, last)

    def at_minute(self, *minutes: int) -> CronExpressionBuilder:
        """Fire at these minutes, 0 to 59."""
        return self._list(MINUTE, minutes)

    def every_minute(
        self, step: int = 1, *, first: int | None = None, last: int | None = None
    ) -> CronExpressionBuilder:
        """Fire at every ``step``-th minute, from ``first`` to ``last``, which may lie in the next hour."""
        return self._steps(MINUTE, step, first, last)

    def at_hour(self, *hours: int) -> CronExpressionBuilder:
        """Fire at these hours, 0 to 23."""
        return self._list(HOUR, hours)

    def every_hour(self, step: int = 1, *, first: int | None = None, last: int | None = None) -> CronExpressionBuilder:
        """Fire at every ``step``-th hour, from ``first`` to ``last``, which may lie in the next day."""
        return self._steps(HOUR, step, first, last)

    def on_day_of_month(self, *days: int) -> CronExpressionBuilder:
        """Fire on these days of the month, 1 to 31; in a month without the day not at all."""
        return self._list(DAY_OF_MONTH, days)

    def every_day_of_month(
        self, step: int = 1, *, first: int | None = None, last: int | None = None
    ) -> CronExpressionBuilder:
        """Fire on every ``step``-th day of the month, from ``first`` to ``last``."""
        return self._steps(DAY_OF_MONTH, step, first, last)

    def on_last_day_of_month(self, *, days_before: int = 0) -> CronExpressionBuilder:
        """Fire on the last day of the month, or up to 30 days before it."""
        return self._set(DAY_OF_MONTH, f"L-{days_before}" if days_before else "L")

    def on_last_weekday_of_month(self) -> CronExpressionBuilder:
        """Fire on the last day from Monday to Friday of the month."""
        return self._set(DAY_OF_MONTH, "LW")

    def on_weekday_nearest_to(self, day: int) -> CronExpressionBuilder:
        """Fire on the day from Monday to Friday that is nearest to a day of the month, inside the month."""
        return self._set(DAY_OF_MONTH, f"{day}W")

    def in_month(self, *months: int) -> CronExpressionBuilder:
        """Fire in these months, 1 for January to 12."""
        return self._set(MONTH, ",".join(_name(MONTH, MONTH_NAMES, month) for month in months))

    def on_day_of_week(self, *days: DayOfWeek) -> CronExpressionBuilder:
        """Fire on these days of the week."""
        return self._set(DAY_OF_WEEK, ",".join(_name(DAY_OF_WEEK, WEEKDAY_NAMES, day) for day in days))

    def on_monday_through_friday(self) -> CronExpressionBuilder:
        """Fire from Monday to Friday."""
        return self._set(DAY_OF_WEEK, "MON-FRI")

    def on_saturday_and_sunday(self) -> CronExpressionBuilder:
        """Fire at weekends."""
        return self.on_day_of_week(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY)

    def on_nth_day_of_week(self, nth: int, day: DayOfWeek) -> CronExpressionBuilder:
        """Fire on the first (1) to fifth (5) such day of the month; in a month without it not at all."""
        return self._set(DAY_OF_WEEK, f"{_name(DAY_OF_WEEK, WEEKDAY_NAMES, day)}#{nth}")

    def on_last_day_of_week(self, day: DayOfWeek) -> CronExpressionBuilder:
        """Fire on the last such day of the month."""
        return self._set(DAY_OF_WEEK, f"{_name(DAY_OF_WEEK, WEEKDAY_NAMES, day)}L")

    def in_year(self, *years: int) -> CronExpressionBuilder:
        """Fire in these years, 1970 to 2199."""
        return self._list(YEAR, years)

    def in_years_between(self, first: int, last: int) -> CronExpressionBuilder:
        """Fire in the years from ``first`` to ``last``."""
        return self._set(YEAR, f"{first}-{last}")

    def in_time_zone(self, time_zone: ZoneInfo | str) -> CronExpressionBuilder:
        """Read the fields in this zone; without it in UTC."""
        return replace(self, _time_zone=time_zone)

    def build(self) -> CronExpression:
        """Return the expression.

        Raises:
            InvalidValueError: the time zone is not known.
        """
        fields = FIELDS if YEAR in self._texts else FIELDS[:-1]
        return CronExpression(" ".join(map(self._text, fields)), self._time_zone)

    def _text(self, part: Field) -> str:
        if part is DAY_OF_MONTH and DAY_OF_WEEK in self._texts:
            return "?"
        return self._texts.get(part, "?" if part is DAY_OF_WEEK else "*")

    def _list(self, part: Field, values: tuple[int, ...]) -> CronExpressionBuilder:
        return self._set(part, ",".join(map(str, values)))

    def _steps(self, part: Field, step: int, first: int | None, last: int | None) -> CronExpressionBuilder:
        start = "*" if first is None else str(first)
        if last is not None:
            start = f"{part.low if first is None else first}-{last}"
        elif first is not None and step == 1:
            start = f"{first}-{part.high}"
        return self._set(part, start if step == 1 else f"{start}/{step}")

    def _set(self, part: Field, text: str) -> CronExpressionBuilder:
        taken = [other.name for other in self._texts if other is part or {other, part} == set(_DAY_FIELDS)]
        if taken:
            raise InvalidValueError(
                f"the {part.name} can not be {text!r}, as the {taken[0]} is set: set one of them once"
            )
        try:
            _check(part, text)
        except FieldError as error:
            raise InvalidValueError(f"the {part.name} can not be {text!r}: {error.reason}") from None
        return replace(self, _texts=MappingProxyType({**self._texts, part: text}))


def _check(part: Field, text: str) -> None:
    if part is DAY_OF_MONTH:
        days_of_month(text)
    elif part is DAY_OF_WEEK:
        days_of_week(text)
    else:
        numbers(part, text)


def _name(part: Field, names: tuple[str, ...], number: int) -> str:
    """Return the name of a month or weekday; what has none stays a number, which the check refuses."""
    return names[number - 1] if part.low <= number <= part.high else str(number)
