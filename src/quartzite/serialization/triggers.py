"""How triggers of each kind are written as JSON objects (spec 07 section 8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import time
from typing import Any, ClassVar, Final

from quartzite.cron import CronExpression
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, Key, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.serialization.fields import (
    Field,
    boolean,
    integer,
    read_fields,
    read_instant,
    read_span,
    read_week_days,
    read_zone,
    text,
    write_fields,
    write_instant,
    write_span,
    write_week_days,
    write_zone,
)
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import CalendarIntervalTrigger
from quartzite.triggers.cron import CronTrigger
from quartzite.triggers.daily_time_interval import DailyTimeIntervalTrigger
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.recurrence import RecurrenceTrigger
from quartzite.triggers.simple import SimpleTrigger

__all__ = [
    "CalendarIntervalTriggerSerializer",
    "CronTriggerSerializer",
    "DailyTimeIntervalTriggerSerializer",
    "RecurrenceTriggerSerializer",
    "SimpleTriggerSerializer",
    "TriggerSerializer",
]


def _write_key(key: Key) -> dict[str, str]:
    return {"Name": key.name, "Group": key.group}


def _key_reader(cls: type[Key]) -> Callable[[Any], Key]:
    return lambda content: cls(content["Name"], content["Group"])


class TriggerSerializer:
    """Writes one kind of trigger as a JSON object and reads it back equal, progress included.

    A kind of your own derives its serializer from the one of the trigger class it derives from, so that the shared
    fields keep one stored shape; usually three lines are enough::

        class PatientTriggerSerializer(SimpleTriggerSerializer):
            trigger_class = PatientTrigger
            type_name = "PatientTrigger"
            fields = (*SimpleTriggerSerializer.fields, Field("Patience", "patience", write_span, read_span))

    Whatever does not fit one field overrides :meth:`write` and :meth:`read`. A field that a row does not have takes
    the default of the class, so a kind may grow.

    Attributes:
        trigger_class: The class that is built; values of subclasses need a serializer of their own.
        type_name: What the row says about the kind.
        fields: The entries of the kind, beside those that every trigger has.
    """

    trigger_class: ClassVar[type[Trigger]]
    type_name: ClassVar[str]
    fields: ClassVar[tuple[Field, ...]] = ()

    @property
    def kind_class(self) -> type[Trigger]:
        """The class whose values it writes."""
        return self.trigger_class

    def write(self, trigger: Any) -> dict[str, Any]:
        """Return the entries of the kind."""
        return write_fields(self.fields, trigger)

    def read(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the constructor arguments of the kind.

        Raises:
            ValueError: an entry is malformed.
        """
        return read_fields(self.fields, node)

    def serialize(self, trigger: Trigger, write_data: Callable[[JobData], Any]) -> dict[str, Any]:
        """Return the whole object; ``write_data`` writes the job data."""
        return {
            "TriggerType": self.type_name,
            **write_fields(_FIELDS, trigger),
            "JobDataMap": write_data(trigger.job_data) if trigger.job_data else None,
            **write_fields(_PIN, trigger.preferred_node),
            **self.write(trigger),
        }

    def deserialize(self, node: Mapping[str, Any], read_data: Callable[[Any], JobData]) -> Trigger:
        """Return the trigger of an object; ``read_data`` reads the job data.

        Raises:
            ValueError: an entry is malformed or missing, or the trigger can not be built of them.
        """
        arguments = read_fields(_FIELDS, node)
        if (data := node.get("JobDataMap")) is not None:
            arguments["job_data"] = read_data(data)
        arguments["preferred_node"] = PreferredNode(**read_fields(_PIN, node))
        try:
            return self.trigger_class(**arguments, **self.read(node))
        except TypeError as error:
            raise ValueError(str(error)) from error


_PIN: Final = (
    Field("PreferredNode", "node", read=text),
    Field("PreferredNodeAuto", "is_automatic", read=boolean),
)
_FIELDS: Final = (
    Field("Key", "key", _write_key, _key_reader(TriggerKey)),
    Field("JobKey", "job_key", _write_key, _key_reader(JobKey)),
    Field("Description", "description", read=text),
    Field("CalendarName", "calendar_name", read=text),
    Field("MisfireInstruction", "misfire_instruction", int, integer),
    Field("StartTimeUtc", "start_time", write_instant, read_instant),
    Field("EndTimeUtc", "end_time", write_instant, read_instant),
    Field("Priority", "priority", int, integer),
    Field("ExecutionGroup", "execution_group", read=text),
    Field("NextFireTimeUtc", "next_fire_time", write_instant, read_instant),
    Field("PreviousFireTimeUtc", "previous_fire_time", write_instant, read_instant),
    Field("TimesTriggered", "times_triggered", int, integer),
    Field("MisfireOriginalFireTimeUtc", "misfire_origin", write_instant, read_instant),
    Field("FireInstanceId", "fire_instance_id", read=text),
)

_EXPRESSION: Final = (
    Field("CronExpressionString", "text", read=text),
    Field("TimeZone", "time_zone", read=read_zone),
)


class SimpleTriggerSerializer(TriggerSerializer):
    """Of :class:`SimpleTrigger`."""

    trigger_class = SimpleTrigger
    type_name = "SimpleTrigger"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("RepeatCount", "repeat_count", int, integer),
        Field("RepeatInterval", "repeat_interval", write_span, read_span),
    )


class CronTriggerSerializer(TriggerSerializer):
    """Of :class:`CronTrigger`: the text of the expression, its H tokens resolved, and its zone."""

    trigger_class = CronTrigger
    type_name = "CronTrigger"

    def write(self, trigger: Any) -> dict[str, Any]:
        """Return the entries of the kind."""
        expression: CronExpression = trigger.cron_expression
        return {
            **TriggerSerializer.write(self, trigger),
            "CronExpressionString": expression.text,
            "TimeZone": write_zone(expression.time_zone),
        }

    def read(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the constructor arguments of the kind.

        Raises:
            ValueError: an entry is malformed.
        """
        expression = CronExpression(**read_fields(_EXPRESSION, node))
        return {**TriggerSerializer.read(self, node), "cron_expression": expression}


def _write_unit(unit: IntervalUnit) -> str:
    return unit.value


_INTERVAL: Final = (
    Field("RepeatInterval", "repeat_interval", int, integer),
    Field("RepeatIntervalUnit", "repeat_interval_unit", _write_unit, IntervalUnit),
    Field("TimeZone", "time_zone", write_zone, read_zone),
)


class CalendarIntervalTriggerSerializer(TriggerSerializer):
    """Of :class:`CalendarIntervalTrigger`."""

    trigger_class = CalendarIntervalTrigger
    type_name = "CalendarIntervalTrigger"
    fields: ClassVar[tuple[Field, ...]] = (
        *_INTERVAL,
        Field("PreserveHourOfDayAcrossDaylightSavings", "preserve_hour_of_day_across_daylight_savings", bool, boolean),
        Field("SkipDayIfHourDoesNotExist", "skip_day_if_hour_does_not_exist", bool, boolean),
    )


def _write_time_of_day(moment: time) -> dict[str, int]:
    return {"Hour": moment.hour, "Minute": moment.minute, "Second": moment.second}


def _read_time_of_day(content: Any) -> time:
    return time(integer(content["Hour"]), integer(content["Minute"]), integer(content["Second"]))


class DailyTimeIntervalTriggerSerializer(TriggerSerializer):
    """Of :class:`DailyTimeIntervalTrigger`."""

    trigger_class = DailyTimeIntervalTrigger
    type_name = "DailyTimeIntervalTrigger"
    fields: ClassVar[tuple[Field, ...]] = (
        *_INTERVAL,
        Field("RepeatCount", "repeat_count", int, integer),
        Field("StartTimeOfDay", "start_time_of_day", _write_time_of_day, _read_time_of_day),
        Field("EndTimeOfDay", "end_time_of_day", _write_time_of_day, _read_time_of_day),
        Field("DaysOfWeek", "days_of_week", write_week_days, read_week_days),
    )


class RecurrenceTriggerSerializer(TriggerSerializer):
    """Of :class:`RecurrenceTrigger`."""

    trigger_class = RecurrenceTrigger
    type_name = "RecurrenceTrigger"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("RecurrenceRule", "recurrence_rule", read=text),
        Field("TimeZone", "time_zone", write_zone, read_zone),
    )
