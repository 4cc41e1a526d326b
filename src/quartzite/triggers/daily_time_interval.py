"""DailyTimeIntervalTrigger: after equal spans within a window of the day, on some days of the week."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar, Final, Self
from zoneinfo import ZoneInfo

from quartzite.cron import DayOfWeek
from quartzite.errors import InvalidValueError
from quartzite.timezones import UTC_ZONE, local_time, resolve, zone
from quartzite.triggers.base import Trigger
from quartzite.triggers.day_window import DayWindow
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import REPEAT_FOREVER

__all__ = [
    "EVERY_DAY",
    "MONDAY_THROUGH_FRIDAY",
    "SATURDAY_AND_SUNDAY",
    "DailyTimeIntervalSchedule",
    "DailyTimeIntervalTrigger",
    "daily",
]

EVERY_DAY: Final = frozenset(DayOfWeek)
SATURDAY_AND_SUNDAY: Final = frozenset({DayOfWeek.SATURDAY, DayOfWeek.SUNDAY})
MONDAY_THROUGH_FRIDAY: Final = EVERY_DAY - SATURDAY_AND_SUNDAY
_FIRST_TIME: Final = time(0, 0, 0)
_LAST_TIME: Final = time(23, 59, 59)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTimeIntervalTrigger(Trigger):
    """Fires within a window of the day, at its start and after every interval (spec 02 section 5).

    The ends of the window are local times: in a gap one moves behind it by the gap's width, and one that the clocks
    show twice means the first. Between them the interval is elapsed time. An interval of a whole day fires once in
    each window, at its start. Nothing fires behind the end time; the trigger may fire at it.

    Attributes:
        repeat_interval: Units between two firings, at least 1 and at most a day.
        repeat_interval_unit: Second, minute or hour.
        repeat_count: Firings of a day after the first one; -1 for as many as fit.
        days_of_week: The days on which it fires, or their numbers (1 is Sunday).
        start_time_of_day: First local time of the window, in whole seconds.
        end_time_of_day: Last local time of the window, in whole seconds, not before the first.
        time_zone: Whose days and clocks count.

    Raises:
        InvalidValueError: one of these does not hold, there is no day, or the zone is not known.
    """

    trigger_type: ClassVar[str] = "DAILY_I"

    repeat_interval: int = 1
    repeat_interval_unit: IntervalUnit = IntervalUnit.MINUTE
    repeat_count: int = REPEAT_FOREVER
    days_of_week: frozenset[DayOfWeek] = EVERY_DAY
    start_time_of_day: time = _FIRST_TIME
    end_time_of_day: time = _LAST_TIME
    time_zone: ZoneInfo = UTC_ZONE

    def __post_init__(self) -> None:
        Trigger.__post_init__(self)
        _check(f"trigger {self.key}", self)
        object.__setattr__(self, "days_of_week", _days(f"trigger {self.key}", self.days_of_week))
        object.__setattr__(self, "time_zone", zone(self.time_zone))

    @property
    def ends_by_count(self) -> bool:
        """False: only the end time ends it."""
        return False

    @property
    def final_fire_time(self) -> datetime | None:
        """The last time that is not behind the end time; None without an end time."""
        end = self.end_time
        if end is None or self.starts_when_scheduled:
            return None
        for day in _days_from(local_time(end, self.time_zone).date(), -_DAY):
            window = self._window(day)
            if window is not None and window.start <= end:
                last = window.last_until(end)
                return last if last >= self.start_time else None
            if window is not None and window.end < self.start_time:
                break
        return None

    @property
    def schedule(self) -> DailyTimeIntervalSchedule:
        """The schedule of this definition."""
        return DailyTimeIntervalSchedule(
            repeat_interval=self.repeat_interval,
            repeat_interval_unit=self.repeat_interval_unit,
            repeat_count=self.repeat_count,
            days_of_week=self.days_of_week,
            start_time_of_day=self.start_time_of_day,
            end_time_of_day=self.end_time_of_day,
            time_zone=self.time_zone,
            misfire_instruction=self.misfire_instruction,
        )

    def _first_fire_time(self, now: datetime) -> datetime | None:  # noqa: ARG002
        return self._fire_time_after(self.start_time - timedelta.resolution, 0)

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:  # noqa: ARG002
        after = max(after, self.start_time - timedelta.resolution)
        for day in _days_from(local_time(after, self.time_zone).date() - _DAY, _DAY):
            window = self._window(day)
            following = None if window is None else window.first_after(after)
            if following is not None:
                return None if self.end_time is not None and following > self.end_time else following
        return None

    def _window(self, day: date) -> DayWindow | None:
        """Return the window of a local day, None when the trigger does not fire on that day of the week."""
        if day.isoweekday() % 7 + 1 not in self.days_of_week:
            return None
        start = resolve(datetime.combine(day, self.start_time_of_day), self.time_zone)
        end = resolve(datetime.combine(day, self.end_time_of_day), self.time_zone)
        interval = _span(self.repeat_interval, self.repeat_interval_unit)
        repeats = None if self.repeat_count == REPEAT_FOREVER else self.repeat_count
        # On a day of 25 hours a second firing would fit, but an interval of a day means one in each.
        return DayWindow(start, end, interval, 0 if interval == _DAY else repeats)


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTimeIntervalSchedule(Schedule):
    """Makes daily time interval triggers; without changes one that fires every minute of every day.

    Attributes:
        repeat_interval: Units between two firings, at least 1 and at most a day.
        repeat_interval_unit: Second, minute or hour.
        repeat_count: Firings of a day after the first one; -1 for as many as fit.
        days_of_week: The days on which it fires, or their numbers (1 is Sunday).
        start_time_of_day: First local time of the window, in whole seconds.
        end_time_of_day: Last local time of the window, in whole seconds, not before the first.
        time_zone: Whose days and clocks count; None leaves it to the scheduler.

    Raises:
        InvalidValueError: one of these does not hold, or there is no day.
    """

    repeat_interval: int = 1
    repeat_interval_unit: IntervalUnit = IntervalUnit.MINUTE
    repeat_count: int = REPEAT_FOREVER
    days_of_week: frozenset[DayOfWeek] = EVERY_DAY
    start_time_of_day: time = _FIRST_TIME
    end_time_of_day: time = _LAST_TIME
    time_zone: ZoneInfo | None = None

    def __post_init__(self) -> None:
        _check("daily schedule", self)
        object.__setattr__(self, "days_of_week", _days("daily schedule", self.days_of_week))

    def with_interval(self, interval: int, unit: IntervalUnit) -> Self:
        """Return the schedule with another interval."""
        return replace(self, repeat_interval=interval, repeat_interval_unit=unit)

    def with_repeat_count(self, count: int) -> Self:
        """Return the schedule with a number of firings of a day after the first one (so n + 1 in all)."""
        return replace(self, repeat_count=count)

    def on_days_of_the_week(self, *days: int) -> Self:
        """Return the schedule on other days, given as ``DayOfWeek`` or as numbers from 1 (Sunday)."""
        return replace(self, days_of_week=_days("daily schedule", days))

    def on_monday_through_friday(self) -> Self:
        """Return the schedule on Monday to Friday."""
        return replace(self, days_of_week=MONDAY_THROUGH_FRIDAY)

    def on_saturday_and_sunday(self) -> Self:
        """Return the schedule on Saturday and Sunday."""
        return replace(self, days_of_week=SATURDAY_AND_SUNDAY)

    def on_every_day(self) -> Self:
        """Return the schedule on every day."""
        return replace(self, days_of_week=EVERY_DAY)

    def starting_daily_at(self, time_of_day: time) -> Self:
        """Return the schedule with another start of the window."""
        return replace(self, start_time_of_day=time_of_day)

    def ending_daily_at(self, time_of_day: time) -> Self:
        """Return the schedule with another end of the window."""
        return replace(self, end_time_of_day=time_of_day)

    def ending_daily_after_count(self, count: int) -> Self:
        """Return the schedule whose window ends with the n-th firing, by the start and interval given so far.

        Raises:
            InvalidValueError: the count is below 1, or so many firings do not fit the day.
        """
        if count < 1:
            raise InvalidValueError(f"a window that ends after {count} firings is none: give at least 1")
        last = datetime.combine(date.min, self.start_time_of_day)
        last += (count - 1) * _span(self.repeat_interval, self.repeat_interval_unit)
        if last.date() != date.min:
            raise InvalidValueError(
                f"{count} firings from {self.start_time_of_day} do not fit the day: "
                "name the start and the interval before ending_daily_after_count, or give fewer"
            )
        return replace(self, end_time_of_day=last.time())

    def in_time_zone(self, time_zone: ZoneInfo | str) -> Self:
        """Return the schedule by another zone's days and clocks.

        Raises:
            InvalidValueError: the zone is not known.
        """
        return replace(self, time_zone=zone(time_zone))

    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> DailyTimeIntervalTrigger:  # noqa: ARG002
        """Return a trigger of this schedule."""
        return DailyTimeIntervalTrigger(
            **fields,
            repeat_interval=self.repeat_interval,
            repeat_interval_unit=self.repeat_interval_unit,
            repeat_count=self.repeat_count,
            days_of_week=self.days_of_week,
            start_time_of_day=self.start_time_of_day,
            end_time_of_day=self.end_time_of_day,
            time_zone=self.time_zone or time_zone,
            misfire_instruction=self.misfire_instruction,
        )


def daily(
    starting_at: time = _FIRST_TIME,
    ending_at: time = _LAST_TIME,
    *,
    hours: int = 0,
    minutes: int = 0,
    seconds: int = 0,
    times: int | None = None,
    on: Iterable[int] = EVERY_DAY,
    time_zone: ZoneInfo | str | None = None,
    misfire_instruction: int = MisfireInstruction.SMART_POLICY,
) -> DailyTimeIntervalSchedule:
    """Return a schedule within a window of the day: ``daily(time(9), time(17), minutes=30, on=MONDAY_THROUGH_FRIDAY)``.

    Args:
        starting_at: First local time of the window, in whole seconds.
        ending_at: Last local time of the window, in whole seconds.
        hours: The interval: exactly one of the units, a day at most. With ``times=1`` it may be left out.
        minutes: See ``hours``.
        seconds: See ``hours``.
        times: How often it fires in a day at most, None for as often as fits.
        on: The days on which it fires, as ``DayOfWeek`` or as numbers from 1 (Sunday).
        time_zone: Whose days and clocks count, None for the scheduler's zone.
        misfire_instruction: What happens to missed times; one of :class:`MisfireInstruction`.

    Raises:
        InvalidValueError: the parts do not go together, or the zone is not known.
    """
    given = {IntervalUnit.HOUR: hours, IntervalUnit.MINUTE: minutes, IntervalUnit.SECOND: seconds}
    units = [unit for unit, number in given.items() if number]
    if times == 1 and not units:
        given, units = {IntervalUnit.HOUR: 24}, [IntervalUnit.HOUR]
    if len(units) != 1:
        raise InvalidValueError("daily(...): give exactly one of hours, minutes and seconds, or times=1")
    if times is not None and times < 1:
        raise InvalidValueError(f"daily(times={times}): give how often it fires in a day, at least 1, or None")
    return DailyTimeIntervalSchedule(
        repeat_interval=given[units[0]],
        repeat_interval_unit=units[0],
        repeat_count=REPEAT_FOREVER if times is None else times - 1,
        days_of_week=_days("daily(...)", on),
        start_time_of_day=starting_at,
        end_time_of_day=ending_at,
        time_zone=None if time_zone is None else zone(time_zone),
        misfire_instruction=misfire_instruction,
    )


def _days_from(day: date, step: timedelta) -> Iterator[date]:
    """Yield a day and those after it, or before it, as far as the calendar goes."""
    try:
        while True:
            yield day
            day += step
    except OverflowError:
        return


def _span(interval: int, unit: IntervalUnit) -> timedelta:
    if unit.length is None:
        raise InvalidValueError(f"{unit} has no length")
    return interval * unit.length


def _days(who: str, days: Iterable[int]) -> frozenset[DayOfWeek]:
    try:
        found = frozenset(DayOfWeek(day) for day in days)
    except ValueError as error:
        raise InvalidValueError(f"{who}: {error}: give DayOfWeek.MONDAY and its kin, or 1 (Sunday) to 7") from None
    if not found:
        raise InvalidValueError(f"{who} fires on no day of the week: give at least one")
    return found


def _check(who: str, value: DailyTimeIntervalTrigger | DailyTimeIntervalSchedule) -> None:
    interval, unit = value.repeat_interval, value.repeat_interval_unit
    if not isinstance(unit, IntervalUnit) or not unit.is_within_a_day:
        raise InvalidValueError(f"{who}: the unit is {unit!r}: give IntervalUnit.SECOND, MINUTE or HOUR")
    if not isinstance(interval, int) or interval < 1 or _span(interval, unit) > _DAY:
        raise InvalidValueError(f"{who}: interval {interval!r} {unit.value} must be at least 1 and at most a day")
    if not isinstance(value.repeat_count, int) or value.repeat_count < REPEAT_FOREVER:
        raise InvalidValueError(f"{who}: repeat count {value.repeat_count!r} must be 0 or more, or {REPEAT_FOREVER}")
    for moment in (value.start_time_of_day, value.end_time_of_day):
        if not isinstance(moment, time) or moment.tzinfo is not None or moment.microsecond:
            raise InvalidValueError(f"{who}: {moment!r} must be a time of day in whole seconds, without a zone")
    if value.end_time_of_day < value.start_time_of_day:
        raise InvalidValueError(
            f"{who}: the window ends at {value.end_time_of_day}, before it starts at {value.start_time_of_day}"
        )
