"""CronCalendar: the seconds that a cron expression matches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Final

from quartzite.calendars.base import Calendar
from quartzite.cron import CronExpression
from quartzite.errors import InvalidValueError
from quartzite.timezones import UTC_ZONE

__all__ = ["CronCalendar"]

_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CronCalendar(Calendar):
    """Excludes every second whose local time matches an expression (spec 03 section 2).

    Attributes:
        cron_expression: The expression, whose zone is the calendar's; a text is read in ``time_zone``.

    Raises:
        CronSyntaxError: the text is no expression.
        InvalidValueError: it is neither, or another zone than the expression's is given.
    """

    calendar_type: ClassVar[str] = "cron"

    cron_expression: CronExpression

    def __post_init__(self) -> None:
        Calendar.__post_init__(self)
        expression = self.cron_expression
        if isinstance(expression, str):
            expression = CronExpression(expression, self.time_zone)
        elif not isinstance(expression, CronExpression):
            raise InvalidValueError(f"cron expression {expression!r}: give a text or a CronExpression")
        if self.time_zone is not UTC_ZONE and self.time_zone.key != expression.time_zone.key:
            raise InvalidValueError(
                f"time zone {self.time_zone.key!r} of a cron calendar differs from its expression's, "
                f"{expression.time_zone.key!r}: leave it out, or give the expression as text"
            )
        object.__setattr__(self, "cron_expression", expression)
        object.__setattr__(self, "time_zone", expression.time_zone)

    def _includes(self, moment: datetime) -> bool:
        return not self.cron_expression.is_satisfied_by(moment)

    def _skip(self, moment: datetime) -> datetime | None:
        resumes = self.cron_expression.next_invalid_after(moment)
        # An expression of fixed times matches a second pass in which it does not fire.
        return None if resumes is None else max(resumes, moment.replace(microsecond=0) + _SECOND)
