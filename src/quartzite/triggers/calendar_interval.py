"""CalendarIntervalTrigger: every so many seconds, minutes, hours, days, weeks, months or years."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, ClassVar, Final, Self
from zoneinfo import ZoneInfo

from quartzite.errors import InvalidValueError
from quartzite.timezones import UTC_ZONE, is_in_gap, local_time, resolve_end_of_gap, zone
from quartzite.triggers.base import Trigger
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.schedule import Schedule

__all__ = ["CalendarIntervalSchedule", "CalendarIntervalTrigger", "calendar_interval"]

_SHORTEST_MONTH: Final = 28
_NO_TIME: Final = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarIntervalTrigger(Trigger):
    """Fires at its start and then after every interval of calendar units (spec 02 section 4).

    Seconds, minutes and hours are elapsed time. Days, weeks, months and years are steps of the calendar: at the
    UTC offset of the start, so that the local hour moves with daylight saving, or on the zone's wall clock when
    ``preserve_hour_of_day_across_daylight_savings`` is set. On the wall clock a time that the clocks skip moves to
    the end of the gap, and one that they show twice means the first. Months are added one step at a time: what
    began on the 31st goes on on the 28th after the first February. The trigger never fires at its end time, except
    when that is its start.

    Attributes:
        repeat_interval: Units between two firings, at least 1.
        repeat_interval_unit: What the interval counts.
        time_zone: Whose calendar and clocks count.
        preserve_hour_of_day_across_daylight_savings: Whether the local time stays.
        skip_day_if_hour_does_not_exist: Whether a step whose local time the clocks skip is left out.

    Raises:
        InvalidValueError: the interval is below 1, or the zone is not known.
    """

    trigger_type: ClassVar[str] = "CAL_INT"

    repeat_interval: int = 1
    repeat_interval_unit: IntervalUnit = IntervalUnit.DAY
    time_zone: ZoneInfo = UTC_ZONE
    preserve_hour_of_day_across_daylight_savings: bool = False
    skip_day_if_hour_does_not_exist: bool = False

    def __post_init__(self) -> None:
        Trigger.__post_init__(self)
        _check_interval(f"trigger {self.key}", self.repeat_interval, self.repeat_interval_unit)
        object.__setattr__(self, "time_zone", zone(self.time_zone))

    @property
    def ends_by_count(self) -> bool:
        """False: only the end time ends it."""
        return False

    @property
    def final_fire_time(self) -> datetime | None:
        """The last step that is not behind the end time, where the trigger does not fire; None without an end."""
        if self.end_time is None or self.starts_when_scheduled or self.start_time > self.end_time:
            return None
        following = self._number_after(self.end_time)
        if following is None:
            return None
        begun = self._wall_clock(self.start_time)
        earlier = (self._step(number, begun) for number in range(following - 1, 0, -1))
        return next((moment for moment in earlier if moment is not None), self.start_time)

    @property
    def schedule(self) -> CalendarIntervalSchedule:
        """The schedule of this definition."""
        return CalendarIntervalSchedule(
            repeat_interval=self.repeat_interval,
            repeat_interval_unit=self.repeat_interval_unit,
            time_zone=self.time_zone,
            preserve_hour_of_day_across_daylight_savings=self.preserve_hour_of_day_across_daylight_savings,
            skip_day_if_hour_does_not_exist=self.skip_day_if_hour_does_not_exist,
            misfire_instruction=self.misfire_instruction,
        )

    def _first_fire_time(self, now: datetime) -> datetime | None:  # noqa: ARG002
        # Equal is not ended: the start is the one time that may fire at the end.
        return self.start_time if self.end_time is None or self.start_time <= self.end_time else None

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:  # noqa: ARG002
        if after < self.start_time:
            return self._first_fire_time(after)
        number = self._number_after(after)
        following = None if number is None else self._step(number, self._wall_clock(self.start_time))
        return None if following is None or (self.end_time is not None and following >= self.end_time) else following

    def _number_after(self, after: datetime) -> int | None:
        """Return the number of the first step later than ``after``, None behind the year 9999."""
        begun = self._wall_clock(self.start_time)
        try:
            for number in count(self._number_at(after, begun)):
                moment = self._step(number, begun)
                if moment is not None and moment > after:
                    return number
        except (OverflowError, ValueError):
            pass
        return None

    def _number_at(self, after: datetime, begun: datetime) -> int:
        """Return the number, 1 or more, of a step behind ``after``, or of one before the first that is."""
        reached, length = self._wall_clock(after), self.repeat_interval_unit.length
        if length is not None:
            return (reached - begun) // (self.repeat_interval * length) + 1
        months = (reached.year - begun.year) * 12 + reached.month - begun.month
        return max(1, months // (self.repeat_interval * self.repeat_interval_unit.months))

    def _step(self, number: int, begun: datetime) -> datetime | None:
        """Return the time of a step from 1 on, or None when it is left out.

        ``begun`` is what the clocks of the steps show at the start.

        Raises:
            OverflowError: it lies behind the year 9999.
            ValueError: likewise.
        """
        length = self.repeat_interval_unit.length
        if length is not None:
            return self._instant(begun + number * self.repeat_interval * length)
        return self._instant(_months_later(begun, self.repeat_interval * self.repeat_interval_unit.months, number))

    @property
    def _keeps_the_hour(self) -> bool:
        return self.preserve_hour_of_day_across_daylight_savings and not self.repeat_interval_unit.is_within_a_day

    def _wall_clock(self, moment: datetime) -> datetime:
        """Return what the clocks show on which the steps are taken, as a naive datetime."""
        if self._keeps_the_hour:
            return local_time(moment, self.time_zone)
        return moment.replace(tzinfo=None) + self._offset_of_start

    def _instant(self, local: datetime) -> datetime | None:
        if not self._keeps_the_hour:
            return (local - self._offset_of_start).replace(tzinfo=UTC)
        if self.skip_day_if_hour_does_not_exist and is_in_gap(local, self.time_zone):
            return None
        return resolve_end_of_gap(local, self.time_zone)

    @property
    def _offset_of_start(self) -> timedelta:
        if self.repeat_interval_unit.length is not None:
            return _NO_TIME  # equal spans do not depend on it
        return self.start_time.astimezone(self.time_zone).utcoffset() or _NO_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarIntervalSchedule(Schedule):
    """Makes calendar interval triggers; without changes one that fires every day.

    Attributes:
        repeat_interval: Units between two firings, at least 1.
        repeat_interval_unit: What the interval counts.
        time_zone: Whose calendar and clocks count; None leaves it to the scheduler.
        preserve_hour_of_day_across_daylight_savings: Whether the local time stays.
        skip_day_if_hour_does_not_exist: Whether a step whose local time the clocks skip is left out.

    Raises:
        InvalidValueError: the interval is below 1.
    """

    repeat_interval: int = 1
    repeat_interval_unit: IntervalUnit = IntervalUnit.DAY
    time_zone: ZoneInfo | None = None
    preserve_hour_of_day_across_daylight_savings: bool = False
    skip_day_if_hour_does_not_exist: bool = False

    def __post_init__(self) -> None:
        _check_interval("calendar interval schedule", self.repeat_interval, self.repeat_interval_unit)

    def with_interval(self, interval: int, unit: IntervalUnit) -> Self:
        """Return the schedule with another interval."""
        return replace(self, repeat_interval=interval, repeat_interval_unit=unit)

    def in_time_zone(self, time_zone: ZoneInfo | str) -> Self:
        """Return the schedule by another zone's calendar and clocks.

        Raises:
            InvalidValueError: the zone is not known.
        """
        return replace(self, time_zone=zone(time_zone))

    def preserve_hour_of_day(self, preserve: bool = True) -> Self:
        """Return the schedule that keeps the local time across clock changes, or not."""
        return replace(self, preserve_hour_of_day_across_daylight_savings=preserve)

    def skip_missing_hours(self, skip: bool = True) -> Self:
        """Return the schedule that leaves out a step whose local time the clocks skip, or not."""
        return replace(self, skip_day_if_hour_does_not_exist=skip)

    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> CalendarIntervalTrigger:  # noqa: ARG002
        """Return a trigger of this schedule."""
        return CalendarIntervalTrigger(
            **fields,
            repeat_interval=self.repeat_interval,
            repeat_interval_unit=self.repeat_interval_unit,
            time_zone=self.time_zone or time_zone,
            preserve_hour_of_day_across_daylight_savings=self.preserve_hour_of_day_across_daylight_savings,
            skip_day_if_hour_does_not_exist=self.skip_day_if_hour_does_not_exist,
            misfire_instruction=self.misfire_instruction,
        )


def calendar_interval(
    *,
    years: int = 0,
    months: int = 0,
    weeks: int = 0,
    days: int = 0,
    hours: int = 0,
    minutes: int = 0,
    seconds: int = 0,
    time_zone: ZoneInfo | str | None = None,
    preserve_hour_of_day_across_daylight_savings: bool = False,
    skip_day_if_hour_does_not_exist: bool = False,
    misfire_instruction: int = MisfireInstruction.SMART_POLICY,
) -> CalendarIntervalSchedule:
    """Return a schedule that fires every so many units of the calendar: ``calendar_interval(months=1)``.

    Args:
        years: Give exactly one of the units; see :class:`CalendarIntervalTrigger` for what they mean.
        months: See ``years``.
        weeks: See ``years``.
        days: See ``years``.
        hours: See ``years``.
        minutes: See ``years``.
        seconds: See ``years``.
        time_zone: Whose calendar and clocks count, None for the scheduler's zone.
        preserve_hour_of_day_across_daylight_savings: Whether the local time stays.
        skip_day_if_hour_does_not_exist: Whether a step whose local time the clocks skip is left out.
        misfire_instruction: What happens to missed times; one of :class:`MisfireInstruction`.

    Raises:
        InvalidValueError: no unit or several are given, the number is below 1, or the zone is not known.
    """
    given = {
        IntervalUnit.YEAR: years,
        IntervalUnit.MONTH: months,
        IntervalUnit.WEEK: weeks,
        IntervalUnit.DAY: days,
        IntervalUnit.HOUR: hours,
        IntervalUnit.MINUTE: minutes,
        IntervalUnit.SECOND: seconds,
    }
    units = [unit for unit, number in given.items() if number]
    if len(units) != 1:
        raise InvalidValueError("calendar_interval(...): give exactly one unit, for example months=1")
    return CalendarIntervalSchedule(
        repeat_interval=given[units[0]],
        repeat_interval_unit=units[0],
        time_zone=None if time_zone is None else zone(time_zone),
        preserve_hour_of_day_across_daylight_savings=preserve_hour_of_day_across_daylight_savings,
        skip_day_if_hour_does_not_exist=skip_day_if_hour_does_not_exist,
        misfire_instruction=misfire_instruction,
    )


def _months_later(local: datetime, months: int, steps: int) -> datetime:
    """Return ``local`` after steps of so many months, each cutting the day to what its month has."""
    first = local.year * 12 + local.month - 1
    year, month = divmod(first + steps * months, 12)
    day = local.day
    passed = range(first + months, first + steps * months + 1, months)
    for index in passed if day > _SHORTEST_MONTH else ():
        day = min(day, _length_of_month(index))
        if day == _SHORTEST_MONTH:
            break
    return local.replace(year=year, month=month + 1, day=day)


def _length_of_month(index: int) -> int:
    """Return the days of a month that is counted from the year 0."""
    year, month = divmod(index, 12)
    return monthrange(year, month + 1)[1]


def _check_interval(who: str, interval: int, unit: IntervalUnit) -> None:
    if not isinstance(interval, int) or interval < 1:
        raise InvalidValueError(f"{who}: interval {interval!r} must be a whole number from 1 on")
    if not isinstance(unit, IntervalUnit):
        raise InvalidValueError(f"{who}: {unit!r} is no unit: give IntervalUnit.DAY and its kin")
