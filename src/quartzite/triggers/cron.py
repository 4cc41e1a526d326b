"""CronTrigger: at the local times that a cron expression matches."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Final, Self
from zoneinfo import ZoneInfo

from quartzite import timezones
from quartzite.cron import CronExpression, CronExpressionBuilder, DayOfWeek, trigger_hash_key
from quartzite.errors import CronSyntaxError, InvalidValueError
from quartzite.model.keys import TriggerKey
from quartzite.triggers.base import Trigger
from quartzite.triggers.misfire import MisfireInstruction
from quartzite.triggers.schedule import Schedule

__all__ = ["CronSchedule", "CronTrigger", "cron"]

_HASH_TOKEN: Final = re.compile(r"(?:^|[\s,])H", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CronTrigger(Trigger):
    """Fires at the times that an expression matches, in the expression's zone (spec 02 section 3).

    The end time is a time like any other: the trigger may fire at it. Firings are not counted. Start times are cut
    to whole seconds, because the expression knows no smaller unit.

    Attributes:
        cron_expression: The expression, its ``H`` tokens resolved, and its zone.
    """

    trigger_type: ClassVar[str] = "CRON"
    counts_firings: ClassVar[bool] = False

    cron_expression: CronExpression

    def __post_init__(self) -> None:
        Trigger.__post_init__(self)
        if self.start_time.microsecond:
            object.__setattr__(self, "start_time", self.start_time.replace(microsecond=0))

    @property
    def cron_expression_string(self) -> str:
        """The text of the expression, as it is stored."""
        return self.cron_expression.text

    @property
    def time_zone(self) -> ZoneInfo:
        """The zone in which the expression is read."""
        return self.cron_expression.time_zone

    @property
    def final_fire_time(self) -> datetime | None:
        """The last time that is not behind the end time; None without an end time."""
        if self.end_time is None:
            return None
        last = self.cron_expression.previous_before(self.end_time + timedelta.resolution)
        return None if last is None or last < self.start_time else last

    @property
    def schedule(self) -> CronSchedule:
        """The schedule of this definition."""
        return CronSchedule(expression=self.cron_expression, misfire_instruction=self.misfire_instruction)

    def scheduled_at(self, now: datetime) -> Self:
        """Return the trigger as it is stored when it is scheduled at ``now``."""
        return self.copy_with(start_time=now.replace(microsecond=0)) if self.starts_when_scheduled else self

    def will_fire_on(self, moment: datetime, *, day_only: bool = False) -> bool:
        """Tell whether an aware instant, or the local day that holds it, has a fire time within start and end.

        Calendars are not looked at, nor whether the time has passed.
        """
        if not day_only:
            moment = moment.replace(microsecond=0)
            return self.get_fire_time_after(moment - timedelta.resolution) == moment
        midnight = timezones.local_time(moment, self.time_zone).replace(hour=0, minute=0, second=0, microsecond=0)
        first = self.get_fire_time_after(timezones.resolve(midnight, self.time_zone) - timedelta.resolution)
        return first is not None and first < timezones.resolve(midnight + timedelta(days=1), self.time_zone)

    def _first_fire_time(self, now: datetime) -> datetime | None:
        if self.end_time is not None and self.end_time < now:
            return None
        first = self._fire_time_after(self.start_time - timedelta.resolution, 0)
        # A time that passed before the trigger was scheduled was never missed.
        return self._fire_time_after(now, 0) if first is not None and first < now else first

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:  # noqa: ARG002
        if after < self.start_time:
            after = self.start_time - timedelta.resolution
        following = self.cron_expression.next_after(after)
        return None if following is None or (self.end_time is not None and following > self.end_time) else following


@dataclass(frozen=True, slots=True, kw_only=True)
class CronSchedule(Schedule):
    """Makes cron triggers.

    Attributes:
        expression: A text, in which ``H`` stands for a number made from the trigger's key, or an expression.
        time_zone: Where a text is read; None leaves it to the scheduler. An expression has a zone of its own, which
            this one replaces when it is given.

    Raises:
        CronSyntaxError: the text is no expression.
        InvalidValueError: it is neither a text nor an expression.
    """

    expression: str | CronExpression
    time_zone: ZoneInfo | None = None

    def __post_init__(self) -> None:
        if isinstance(self.expression, str):
            CronExpression.validate(self.expression, hash_key=0)  # any key proves the grammar
        elif not isinstance(self.expression, CronExpression):
            raise InvalidValueError(f"cron(...) of {self.expression!r}: give a text or a CronExpression")

    def in_time_zone(self, time_zone: ZoneInfo | str) -> Self:
        """Return the schedule read in another zone.

        Raises:
            InvalidValueError: the zone is not known.
        """
        return replace(self, time_zone=timezones.zone(time_zone))

    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> CronTrigger:
        """Return a trigger of this schedule, its ``H`` tokens resolved by the key.

        Raises:
            CronSyntaxError: there are tokens, but nobody chose the key: it would differ at every start.
        """
        return CronTrigger(
            **fields,
            cron_expression=self._resolved(fields["key"], time_zone, named=named),
            misfire_instruction=self.misfire_instruction,
        )

    def _resolved(self, key: TriggerKey, default_zone: ZoneInfo, *, named: bool) -> CronExpression:
        if isinstance(self.expression, CronExpression):
            if self.time_zone is None or self.time_zone is self.expression.time_zone:
                return self.expression
            return _expression(self.expression.text, self.time_zone)
        zone = self.time_zone or default_zone
        if not _HASH_TOKEN.search(self.expression):
            return _expression(self.expression, zone)
        if not named:
            raise CronSyntaxError(
                self.expression,
                "an H token is resolved by the trigger's key, and nobody chose one",
                hint="name the trigger with with_identity, or give CronExpression(..., hash_key=...)",
            )
        spread = CronExpression(self.expression, zone, hash_key=trigger_hash_key(key.group, key.name))
        return _expression(spread.text, zone)


def cron(
    expression: str | CronExpression,
    *,
    time_zone: ZoneInfo | str | None = None,
    misfire_instruction: int = MisfireInstruction.SMART_POLICY,
) -> CronSchedule:
    """Return a schedule that fires when a cron expression matches: ``cron("0 30 2 * * ?", time_zone="Europe/Berlin")``.

    Args:
        expression: Second, minute, hour, day of month, month, day of week and perhaps year; or an expression made
            before, for example ``CronExpression.from_crontab("30 2 * * *")``.
        time_zone: The zone in which it is read, None for that of the scheduler.
        misfire_instruction: What happens to missed times; one of :class:`MisfireInstruction`.

    Raises:
        CronSyntaxError: the text is no expression.
        InvalidValueError: the zone is not known.
    """
    zone = None if time_zone is None else timezones.zone(time_zone)
    return CronSchedule(expression=expression, time_zone=zone, misfire_instruction=misfire_instruction)


@lru_cache(maxsize=1024)
def _expression(text: str, time_zone: ZoneInfo) -> CronExpression:
    """Return a shared expression: a thousand triggers of one schedule keep one."""
    return CronExpression(text, time_zone)


# In the top package this function hides the package of the same name from ``import quartzite.cron as c``: so the
# function has the package's names too.
vars(cron).update(
    CronExpression=CronExpression,
    CronExpressionBuilder=CronExpressionBuilder,
    DayOfWeek=DayOfWeek,
    trigger_hash_key=trigger_hash_key,
)
