"""RecurrenceTrigger: at the occurrences of a recurrence rule (RRULE)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Final, Self
from zoneinfo import ZoneInfo

from quartzite.timezones import UTC_ZONE, gap_behind, local_time, resolve, resolve_second, zone
from quartzite.triggers.base import Trigger
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.occurrences import Occurrences
from quartzite.triggers.recurrence_rule import RecurrenceRule
from quartzite.triggers.schedule import Schedule

__all__ = ["RecurrenceSchedule", "RecurrenceTrigger", "recurrence"]

_COUNTED_FIRINGS: Final = 10_000
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceTrigger(Trigger):
    """Fires at the occurrences of a rule (RFC 5545 section 3.3.10, spec 02 section 6).

    The start time, as the zone's clocks show it and cut to a whole second, is the rule's DTSTART; it fires itself
    only when the rule gives it. All steps are taken on the wall clock: an occurrence that the clocks skip fires later
    by the gap's width, the first of several in the gap only, and one that they show twice fires the first time. COUNT
    counts what the trigger fired, not what it missed. The trigger may fire at its end time.

    Attributes:
        recurrence_rule: The rule, stored in upper case without prefix and defaults.
        time_zone: Whose calendar and clocks count.

    Raises:
        RecurrenceSyntaxError: the text is no rule.
        InvalidValueError: the zone is not known.
    """

    trigger_type: ClassVar[str] = "RECUR"

    recurrence_rule: str
    time_zone: ZoneInfo = UTC_ZONE

    def __post_init__(self) -> None:
        Trigger.__post_init__(self)
        object.__setattr__(self, "recurrence_rule", RecurrenceRule.parse(self.recurrence_rule).text)
        object.__setattr__(self, "time_zone", zone(self.time_zone))

    @property
    def rule(self) -> RecurrenceRule:
        """The rule, read."""
        return RecurrenceRule.parse(self.recurrence_rule)

    @property
    def ends_by_count(self) -> bool:
        """Whether the rule has a COUNT."""
        return self.rule.count is not None

    @property
    def final_fire_time(self) -> datetime | None:
        """The last fire time, by COUNT, UNTIL or the end time; None without any of them, or behind 10,000 firings."""
        rule = self.rule
        if self.starts_when_scheduled:
            return None
        if rule.count is not None:
            return self._last_of(rule.count)
        until = None if rule.until is None else self._instant(rule.until)
        limits = [limit for limit in (until, self.end_time) if limit is not None]
        return self._last_until(min(limits)) if limits else None

    @property
    def schedule(self) -> RecurrenceSchedule:
        """The schedule of this definition."""
        return RecurrenceSchedule(
            rule=self.recurrence_rule, time_zone=self.time_zone, misfire_instruction=self.misfire_instruction
        )

    @property
    def _begin(self) -> datetime:
        return self.start_time.replace(microsecond=0)

    def _first_fire_time(self, now: datetime) -> datetime | None:
        if self.end_time is not None and self.end_time < now:
            return None
        return self._fire_time_after(self._begin - timedelta.resolution, self.times_triggered)

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        rule = self.rule
        if rule.count is not None and times_triggered >= rule.count:
            return None
        local = self._occurrence_after(max(after, self._begin - timedelta.resolution))
        if local is None or (rule.until is not None and self._is_behind(local, rule.until)):
            return None
        moment = resolve(local, self.time_zone)
        if moment <= after:
            # The search began where the clocks show the time for the second time: it answers there (decision 9).
            moment = resolve_second(local, self.time_zone)
        return None if self.end_time is not None and moment > self.end_time else moment

    def _occurrence_after(self, after: datetime) -> datetime | None:
        """Return the local time of the first occurrence that fires later than ``after``."""
        occurrences = _occurrences(self.recurrence_rule, local_time(self._begin, self.time_zone))
        gap = gap_behind(after, self.time_zone)
        if gap is not None:
            # The first time that the clocks skipped is still to come, when it moved behind ``after``.
            skipped = occurrences.after(gap.begin - timedelta.resolution)
            if skipped is not None and skipped < gap.end and resolve(skipped, self.time_zone) > after:
                return skipped
        return occurrences.after(local_time(after, self.time_zone))

    def _is_behind(self, local: datetime, until: datetime) -> bool:
        return local > until if until.tzinfo is None else resolve(local, self.time_zone) > until

    def _instant(self, until: datetime) -> datetime:
        return resolve(until, self.time_zone) if until.tzinfo is None else until

    def _last_of(self, count: int) -> datetime | None:
        """Return the time of the n-th firing, or of the last one when an end comes before; None for large numbers."""
        if count > _COUNTED_FIRINGS:
            return None
        last, following = None, self._fire_time_after(self._begin - timedelta.resolution, 0)
        for _ in range(count):
            if following is None:
                break
            last, following = following, self._fire_time_after(following, 0)
        return last

    def _last_until(self, limit: datetime) -> datetime | None:
        """Return the last fire time, nothing firing behind ``limit``: found by halving the time from the start."""
        last = self._fire_time_after(self._begin - timedelta.resolution, 0)
        while last is not None and last < limit:
            middle = last + max(_SECOND, (limit - last) // 2)
            later = self._fire_time_after(middle - timedelta.resolution, 0)
            if later is None:
                limit = middle - _SECOND
            else:
                last = later
        return last


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceSchedule(Schedule):
    """Makes recurrence triggers.

    Attributes:
        rule: The text of the rule, with or without ``RRULE:``.
        time_zone: Whose calendar and clocks count; None leaves it to the scheduler.

    Raises:
        RecurrenceSyntaxError: the text is no rule.
    """

    rule: str
    time_zone: ZoneInfo | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", RecurrenceRule.parse(self.rule).text)

    def in_time_zone(self, time_zone: ZoneInfo | str) -> Self:
        """Return the schedule by another zone's calendar and clocks.

        Raises:
            InvalidValueError: the zone is not known.
        """
        return replace(self, time_zone=zone(time_zone))

    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> RecurrenceTrigger:  # noqa: ARG002
        """Return a trigger of this schedule."""
        return RecurrenceTrigger(
            **fields,
            recurrence_rule=self.rule,
            time_zone=self.time_zone or time_zone,
            misfire_instruction=self.misfire_instruction,
        )


def recurrence(
    rule: str,
    *,
    time_zone: ZoneInfo | str | None = None,
    misfire_instruction: int = MisfireInstruction.SMART_POLICY,
) -> RecurrenceSchedule:
    """Return a schedule of an RRULE: ``recurrence("FREQ=MONTHLY;BYDAY=-1FR")``. The start time is its DTSTART.

    Args:
        rule: The text of the rule, with or without ``RRULE:``.
        time_zone: Whose calendar and clocks count, None for the scheduler's zone.
        misfire_instruction: What happens to missed times; one of :class:`MisfireInstruction`.

    Raises:
        RecurrenceSyntaxError: the text is no rule.
        InvalidValueError: the zone is not known.
    """
    return RecurrenceSchedule(
        rule=rule,
        time_zone=None if time_zone is None else zone(time_zone),
        misfire_instruction=misfire_instruction,
    )


@lru_cache(maxsize=1024)
def _occurrences(rule: str, start: datetime) -> Occurrences:
    return Occurrences(RecurrenceRule.parse(rule), start)
