"""DailyCalendar: a range of the day that is excluded, or the only one that is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import ClassVar, Final

from quartzite.calendars.base import Calendar
from quartzite.errors import InvalidValueError
from quartzite.timezones import end_of_offset, local_time

__all__ = ["DailyCalendar"]

_MILLISECOND: Final = timedelta(milliseconds=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyCalendar(Calendar):
    """Excludes a range of every day, or everything outside it (spec 03 section 2).

    Both ends belong to the range, in milliseconds: the millisecond of the end is the last one in it. What the
    clocks show counts, so that a range in an hour that is shown twice is in both.

    Attributes:
        range_start: First local time of the range.
        range_end: Last local time of the range, later than the first; a range over midnight is written as the
            inverse of the hours between.
        invert_time_range: Whether the range is what is included.

    Raises:
        InvalidValueError: the end is not later than the start, or a time has a zone or parts of a millisecond.
    """

    calendar_type: ClassVar[str] = "daily"

    range_start: time
    range_end: time
    invert_time_range: bool = False

    def __post_init__(self) -> None:
        Calendar.__post_init__(self)
        for name, value in (("range_start", self.range_start), ("range_end", self.range_end)):
            if not isinstance(value, time) or value.tzinfo is not None or value.microsecond % 1000:
                raise InvalidValueError(f"{name} {value!r} must be a time of day in whole milliseconds, without a zone")
        if self.range_start >= self.range_end:
            raise InvalidValueError(
                f"the range from {self.range_start} to {self.range_end} ends before it begins: "
                "for one over midnight give the hours between and invert_time_range=True"
            )

    def _includes(self, moment: datetime) -> bool:
        shown = local_time(moment, self.time_zone).time()
        in_range = self.range_start <= shown <= self._last_microsecond
        return in_range if self.invert_time_range else not in_range

    def _skip(self, moment: datetime) -> datetime | None:
        shown = local_time(moment, self.time_zone)
        try:
            boundary = moment + (self._next_boundary(shown) - shown)
            # Behind a clock change the clocks may show an included time sooner, or none yet: it is asked again there.
            return min(boundary, end_of_offset(moment, self.time_zone))
        except OverflowError:  # behind the year 9999
            return None

    def _next_boundary(self, shown: datetime) -> datetime:
        """Return the local time, later than the excluded one that is shown, from which the rule includes again."""
        if not self.invert_time_range:
            return datetime.combine(shown.date(), self.range_end) + _MILLISECOND
        start = datetime.combine(shown.date(), self.range_start)
        return start if start > shown else start + _DAY

    @property
    def _last_microsecond(self) -> time:
        return self.range_end.replace(microsecond=self.range_end.microsecond + 999)
