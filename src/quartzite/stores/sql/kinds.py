"""How triggers of each kind are written to the columns of their extension table, and read back (spec 07 section 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import time, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Final

from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import JobPersistenceError
from quartzite.timezones import zone
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import CalendarIntervalTrigger
from quartzite.triggers.cron import CronTrigger
from quartzite.triggers.daily_time_interval import DailyTimeIntervalTrigger
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.recurrence import RecurrenceTrigger
from quartzite.triggers.simple import SimpleTrigger

__all__ = ["BLOB", "COLUMNS", "TriggerKind", "kind_named", "kind_of"]

BLOB: Final = "BLOB"
"""The type of triggers of other kinds, which are serialized as a whole."""
_SIMPLE_PROPERTIES: Final = (
    "str_prop_1",
    "str_prop_2",
    "str_prop_3",
    "int_prop_1",
    "int_prop_2",
    "long_prop_1",
    "bool_prop_1",
    "bool_prop_2",
    "time_zone_id",
)
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "simple_triggers": ("repeat_count", "repeat_interval", "times_triggered"),
    "cron_triggers": ("cron_expression", "time_zone_id"),
    "simprop_triggers": _SIMPLE_PROPERTIES,
    "blob_triggers": ("blob_data",),
}
"""The columns of each extension table that are used, beside the key."""
_ZONE: Final = "UTC"


class TriggerKind:
    """One kind of trigger with columns of its own.

    Attributes:
        trigger_class: The class; a subclass of it is another kind.
        table: Which extension table it uses.
        progress: Whether firing changes something there.
    """

    trigger_class: ClassVar[type[Trigger]]
    table: ClassVar[str]
    progress: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The stored type."""
        return self.trigger_class.trigger_type

    def write(self, trigger: Any) -> tuple[Any, ...]:
        """Return the values of the columns of the table."""
        raise NotImplementedError

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        """Return the constructor arguments of the kind.

        Raises:
            ValueError: a value is malformed.
        """
        raise NotImplementedError


class _Simple(TriggerKind):
    trigger_class = SimpleTrigger
    table = "simple_triggers"

    def write(self, trigger: Any) -> tuple[Any, ...]:
        return (trigger.repeat_count, trigger.repeat_interval, trigger.times_triggered)

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        return {
            "repeat_count": values[0],
            "repeat_interval": values[1] or timedelta(0),
            "times_triggered": values[2],
        }


class _Cron(TriggerKind):
    trigger_class = CronTrigger
    table = "cron_triggers"
    progress = False

    def write(self, trigger: Any) -> tuple[Any, ...]:
        return (trigger.cron_expression.text, trigger.cron_expression.time_zone.key)

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        return {"cron_expression": _expression(values[0], values[1] or _ZONE)}


class _SimpleProperties(TriggerKind):
    table = "simprop_triggers"


class _CalendarInterval(_SimpleProperties):
    trigger_class = CalendarIntervalTrigger

    def write(self, trigger: Any) -> tuple[Any, ...]:
        return (
            trigger.repeat_interval_unit.value,
            None,
            None,
            trigger.repeat_interval,
            trigger.times_triggered,
            None,
            trigger.preserve_hour_of_day_across_daylight_savings,
            trigger.skip_day_if_hour_does_not_exist,
            trigger.time_zone.key,
        )

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        return {
            "repeat_interval_unit": IntervalUnit(values[0]),
            "repeat_interval": values[3],
            "times_triggered": values[4] or 0,
            "preserve_hour_of_day_across_daylight_savings": bool(values[6]),
            "skip_day_if_hour_does_not_exist": bool(values[7]),
            "time_zone": zone(values[8] or values[1] or _ZONE),  # rows of older programs have it in STR_PROP_2
        }


class _DailyTimeInterval(_SimpleProperties):
    trigger_class = DailyTimeIntervalTrigger

    def write(self, trigger: Any) -> tuple[Any, ...]:
        times = (trigger.start_time_of_day, trigger.end_time_of_day)
        return (
            trigger.repeat_interval_unit.value,
            ",".join(str(int(day) - 1) for day in sorted(trigger.days_of_week)),
            ",".join(f"{moment.hour},{moment.minute},{moment.second}" for moment in times),
            trigger.repeat_interval,
            trigger.times_triggered,
            trigger.repeat_count,
            None,
            None,
            trigger.time_zone.key,
        )

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        start_hour, start_minute, start_second, end_hour, end_minute, end_second = map(int, values[2].split(","))
        return {
            "repeat_interval_unit": IntervalUnit(values[0]),
            "days_of_week": frozenset(DayOfWeek(int(day) + 1) for day in values[1].split(",") if day.strip()),
            "start_time_of_day": time(start_hour, start_minute, start_second),
            "end_time_of_day": time(end_hour, end_minute, end_second),
            "repeat_interval": values[3],
            "times_triggered": values[4] or 0,
            "repeat_count": values[5],
            "time_zone": zone(values[8] or _ZONE),
        }


class _Recurrence(_SimpleProperties):
    trigger_class = RecurrenceTrigger

    def write(self, trigger: Any) -> tuple[Any, ...]:
        rule, times, zone_id = trigger.recurrence_rule, trigger.times_triggered, trigger.time_zone.key
        return (rule, None, None, times, None, None, None, None, zone_id)

    def read(self, values: Sequence[Any]) -> dict[str, Any]:
        return {
            "recurrence_rule": values[0],
            "times_triggered": values[3] or 0,
            "time_zone": zone(values[8] or _ZONE),
        }


_KINDS: Final = (_Simple(), _Cron(), _CalendarInterval(), _DailyTimeInterval(), _Recurrence())
_BY_CLASS: Final[Mapping[type[Trigger], TriggerKind]] = {kind.trigger_class: kind for kind in _KINDS}
_BY_NAME: Final[Mapping[str, TriggerKind]] = {kind.name: kind for kind in _KINDS}


def kind_of(trigger: Trigger) -> TriggerKind | None:
    """Return the kind of a trigger, None when it is serialized as a whole."""
    return _BY_CLASS.get(type(trigger))


def kind_named(name: str) -> TriggerKind:
    """Return the kind of a stored type.

    Raises:
        JobPersistenceError: there is none of that name.
    """
    kind = _BY_NAME.get(name)
    if kind is None:
        raise JobPersistenceError(f"trigger type {name!r} is not known: {', '.join([*_BY_NAME, BLOB])} are")
    return kind


@lru_cache(maxsize=4096)
def _expression(text: str, zone_id: str) -> CronExpression:
    # A value that never changes; reading the text again for each firing would cost more than the firing.
    return CronExpression(text, time_zone=zone_id)
