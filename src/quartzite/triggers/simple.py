"""SimpleTrigger: once, or again and again after equal spans of elapsed time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Self
from zoneinfo import ZoneInfo

from quartzite.calendars.base import Calendar
from quartzite.errors import InvalidValueError
from quartzite.triggers.base import Trigger
from quartzite.triggers.misfire import SimpleMisfireInstruction
from quartzite.triggers.schedule import Schedule

__all__ = ["REPEAT_FOREVER", "SimpleSchedule", "SimpleTrigger", "every", "once"]

REPEAT_FOREVER: Final = -1
"""The repeat count of a trigger without a last firing."""
_NO_TIME: Final = timedelta(0)
_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleTrigger(Trigger):
    """Fires at ``start_time + n * repeat_interval`` for n from 0 to ``repeat_count`` (spec 02 section 2).

    Spans are elapsed time: clock changes do not exist for this kind. It never fires at its end time, except when
    that is its start.

    Attributes:
        repeat_count: Firings after the first one; -1 for ever.
        repeat_interval: Between two firings, in whole milliseconds.

    Raises:
        InvalidValueError: the count is below -1, or a repeating trigger has no interval of whole milliseconds.
    """

    trigger_type: ClassVar[str] = "SIMPLE"
    misfire_instructions: ClassVar[frozenset[int]] = frozenset(SimpleMisfireInstruction)

    repeat_count: int = 0
    repeat_interval: timedelta = _NO_TIME

    def __post_init__(self) -> None:
        Trigger.__post_init__(self)
        who = f"trigger {self.key}"
        _check_count(who, self.repeat_count)
        _check_interval(who, self.repeat_interval)
        if self.repeats and not self.repeat_interval:
            raise InvalidValueError(f"{who} repeats without an interval: give one above zero, or repeat_count=0")

    @property
    def repeats(self) -> bool:
        """Whether it is meant to fire more than once."""
        return self.repeat_count != 0

    @property
    def repeats_forever(self) -> bool:
        """Whether only the end time, if there is one, ends it."""
        return self.repeat_count == REPEAT_FOREVER

    @property
    def ends_by_count(self) -> bool:
        """False: the last time is the start plus so many intervals, however often it fired."""
        return False

    @property
    def final_fire_time(self) -> datetime | None:
        """The last time of the schedule; it may be the end time itself, where the trigger does not fire."""
        if self.starts_when_scheduled:
            return None
        last = None if self.repeats_forever else self._nth(self.repeat_count)
        end = self.end_time
        if end is None or (last is not None and last < end):
            return last
        return self._nth((end - self.start_time) // self.repeat_interval) if self.repeats else self.start_time

    @property
    def schedule(self) -> SimpleSchedule:
        """The schedule of this definition."""
        return SimpleSchedule(
            repeat_count=self.repeat_count,
            repeat_interval=self.repeat_interval,
            misfire_instruction=self.misfire_instruction,
        )

    def scheduled_at(self, now: datetime) -> Self:
        """Return the trigger as it is stored when it is scheduled at ``now``.

        A repeating trigger that never fired does not make up for times before it was scheduled: its start moves
        from the past to now. A trigger that fires once keeps a start in the past, and so fires at once.
        """
        fresh = self.repeats and self.previous_fire_time is None
        if self.starts_when_scheduled or (fresh and self.start_time < now):
            return self.copy_with(start_time=now)
        return self

    def _first_fire_time(self, now: datetime) -> datetime | None:  # noqa: ARG002
        return self._start_unless_ended

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        count, start = self.repeat_count, self.start_time
        if -1 < count < times_triggered:
            return None
        if after < start:
            return self._start_unless_ended
        if count == 0:
            return None
        n = (after - start) // self.repeat_interval + 1
        following = None if -1 < count < n else self._nth(n)
        if following is None or (self.end_time is not None and following >= self.end_time):
            return None
        return following

    @property
    def _start_unless_ended(self) -> datetime | None:
        # Equal is not ended: the start is the one time that may fire at the end.
        return self.start_time if self.end_time is None or self.start_time <= self.end_time else None

    def _nth(self, n: int) -> datetime | None:
        try:
            return self.start_time + n * self.repeat_interval
        except OverflowError:  # behind the year 9999
            return None

    def _has_same_start(self, other: Trigger) -> bool:
        """Tell whether both start alike.

        Scheduling and "now" misfires move the start of a repeating trigger to a later time, so that a start that
        was given is the start of a stored trigger only until then.
        """
        if Trigger._has_same_start(self, other):
            return True
        given, stored = (other, self) if self.previous_fire_time is not None else (self, other)
        moved = self.repeats and stored.previous_fire_time is not None
        return moved and given.start_time < stored.start_time

    def _misfired(self, calendar: Calendar | None, now: datetime) -> Self:
        instruction = self._effective_misfire_instruction
        if instruction is SimpleMisfireInstruction.FIRE_NOW:
            return self.copy_with(next_fire_time=now)
        if instruction is SimpleMisfireInstruction.NOW_WITH_EXISTING_COUNT:
            return self._restarted(now, missed=0)
        if instruction is SimpleMisfireInstruction.NOW_WITH_REMAINING_COUNT:
            return self._restarted(now, missed=self._spans_until(now))
        following = self.next_included_fire_time(calendar, now)
        times = self.times_triggered
        if instruction is SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT and following is not None:
            times += self._spans_until(following)
        return self.copy_with(next_fire_time=following, times_triggered=times)

    @property
    def _effective_misfire_instruction(self) -> SimpleMisfireInstruction:
        instruction = SimpleMisfireInstruction(self.misfire_instruction)
        if instruction is SimpleMisfireInstruction.SMART_POLICY:
            if not self.repeats:
                return SimpleMisfireInstruction.FIRE_NOW
            if self.repeats_forever:
                return SimpleMisfireInstruction.NEXT_WITH_REMAINING_COUNT
            return SimpleMisfireInstruction.NOW_WITH_EXISTING_COUNT
        if instruction is SimpleMisfireInstruction.FIRE_NOW and self.repeats:
            return SimpleMisfireInstruction.NOW_WITH_REMAINING_COUNT
        return instruction

    def _restarted(self, now: datetime, *, missed: int) -> Self:
        """Start over from now with the firings that are left when the fired and the ``missed`` ones are taken off."""
        changes: dict[str, Any] = {}
        if self.repeat_count > 0:
            left = self.repeat_count - self.times_triggered - missed
            changes = {"repeat_count": max(0, left), "times_triggered": 0}
        if self.end_time is not None and self.end_time < now:
            return self.copy_with(next_fire_time=None, **changes)
        return self.copy_with(start_time=now, next_fire_time=now, **changes)

    def _spans_until(self, moment: datetime) -> int:
        """Return how many whole intervals lie between the next fire time and ``moment``."""
        missed = self.next_fire_time
        return 0 if missed is None or not self.repeats else (moment - missed) // self.repeat_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleSchedule(Schedule):
    """Makes simple triggers; without changes one that fires once.

    Attributes:
        repeat_count: Firings after the first one; -1 for ever.
        repeat_interval: Between two firings, in whole milliseconds.

    Raises:
        InvalidValueError: the count is below -1, or the interval is negative or not in whole milliseconds.
    """

    repeat_count: int = 0
    repeat_interval: timedelta = _NO_TIME

    def __post_init__(self) -> None:
        # A fluent chain may name the count before the interval: that one is missing is found when a trigger is made.
        _check_count("simple schedule", self.repeat_count)
        _check_interval("simple schedule", self.repeat_interval)

    def with_interval(self, interval: timedelta) -> Self:
        """Return the schedule with another span between two firings."""
        return replace(self, repeat_interval=interval)

    def with_repeat_count(self, count: int) -> Self:
        """Return the schedule with a number of firings after the first one (so n + 1 in all)."""
        return replace(self, repeat_count=count)

    def repeat_forever(self) -> Self:
        """Return the schedule without a last firing."""
        return replace(self, repeat_count=REPEAT_FOREVER)

    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> SimpleTrigger:  # noqa: ARG002
        """Return a trigger of this schedule."""
        return SimpleTrigger(
            **fields,
            repeat_count=self.repeat_count,
            repeat_interval=self.repeat_interval,
            misfire_instruction=self.misfire_instruction,
        )


def every(
    interval: timedelta | None = None,
    *,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
    milliseconds: float = 0,
    times: int | None = None,
) -> SimpleSchedule:
    """Return a schedule that fires every so often: ``every(minutes=5)``, ``every(timedelta(minutes=5))``.

    Args:
        interval: The span of elapsed time between two firings, in whole milliseconds.
        days: The parts of the span add up; a day is 24 hours.
        hours: See ``days``.
        minutes: See ``days``.
        seconds: See ``days``.
        milliseconds: See ``days``.
        times: How often it fires in all, None for ever.

    Raises:
        InvalidValueError: no span, one that is not positive or not in whole milliseconds, both forms at once, or
            fewer than one time.
    """
    parts = _span(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
    if interval is not None and parts:
        raise InvalidValueError(f"every({interval!r}, ...): give either a timedelta or its parts, not both")
    span = parts if interval is None else interval
    _check_interval("every(...)", span)
    if not span:
        raise InvalidValueError(f"every(...) of {span}: give a span above zero, for example every(minutes=5)")
    if times is not None and (not isinstance(times, int) or times < 1):
        raise InvalidValueError(f"every(times={times}): give how often it fires in all, at least 1, or None for ever")
    return SimpleSchedule(repeat_interval=span, repeat_count=REPEAT_FOREVER if times is None else times - 1)


def _span(**parts: float) -> timedelta:
    try:
        return timedelta(**parts)
    except (TypeError, ValueError, OverflowError) as error:  # a text, not a number, or behind the longest span
        given = ", ".join(f"{name}={part!r}" for name, part in parts.items() if part != 0)
        raise InvalidValueError(f"every({given}) is no span ({error}): give numbers, such as minutes=5") from error


def once() -> SimpleSchedule:
    """Return the schedule that fires once, at the start time."""
    return SimpleSchedule()


def _check_count(who: str, count: int) -> None:
    if not isinstance(count, int) or count < REPEAT_FOREVER:
        raise InvalidValueError(f"{who}: repeat count {count!r} must be 0 or more, or {REPEAT_FOREVER} for ever")


def _check_interval(who: str, interval: timedelta) -> None:
    if not isinstance(interval, timedelta):
        raise InvalidValueError(f"{who}: interval {interval!r} must be a timedelta")
    if interval < _NO_TIME or interval % _MILLISECOND:
        raise InvalidValueError(f"{who}: interval {interval} must be whole milliseconds, not below zero")
