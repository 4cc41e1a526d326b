"""Every trigger is read back equal, progress and time zone included."""

import json
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from quartzite.cron import CronExpression, DayOfWeek
from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.serialization import Field, JsonSerializer, SimpleTriggerSerializer, TriggerSerializer
from quartzite.serialization.fields import integer, read_span, write_span
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import CalendarIntervalTrigger
from quartzite.triggers.cron import CronTrigger
from quartzite.triggers.daily_time_interval import DailyTimeIntervalTrigger
from quartzite.triggers.interval_unit import IntervalUnit
from quartzite.triggers.misfire import MisfireInstruction, SimpleMisfireInstruction
from quartzite.triggers.recurrence import RecurrenceTrigger
from quartzite.triggers.simple import SimpleTrigger

KOLKATA = ZoneInfo("Asia/Kolkata")
KEY = TriggerKey("Überweisung", "Bank 😀")
START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
PROGRESS: dict[str, Any] = {
    "job_key": JobKey("pay", "Bank"),
    "description": "x",
    "calendar_name": "holidays",
    "job_data": JobData(amount=Decimal("1.10"), when=datetime(2026, 3, 29, 2, 30, tzinfo=KOLKATA)),
    "priority": -7,
    "start_time": START,
    "end_time": datetime(2030, 1, 1, tzinfo=UTC),
    "execution_group": "heavy",
    "preferred_node": PreferredNode.for_node("node-1"),
    "next_fire_time": START + timedelta(microseconds=1),
    "previous_fire_time": START,
    "times_triggered": 2**40,
    "misfire_origin": START - timedelta(days=1),
    "fire_instance_id": "node-1:5",
}
DEFAULTS: list[Trigger] = [
    SimpleTrigger(key=KEY),
    CronTrigger(key=KEY, cron_expression=CronExpression("0 0 12 * * ?")),
    CalendarIntervalTrigger(key=KEY),
    DailyTimeIntervalTrigger(key=KEY),
    RecurrenceTrigger(key=KEY, recurrence_rule="FREQ=DAILY"),
]
FULL: list[Trigger] = [
    SimpleTrigger(
        key=KEY,
        repeat_count=5,
        repeat_interval=timedelta(days=3, milliseconds=1),
        misfire_instruction=SimpleMisfireInstruction.NEXT_WITH_EXISTING_COUNT,
        **PROGRESS,
    ),
    CronTrigger(
        key=KEY,
        cron_expression=CronExpression("0 0/5 8-17 ? * MON-FRI 2026-2030", KOLKATA),
        misfire_instruction=MisfireInstruction.DO_NOTHING,
        **PROGRESS,
    ),
    CalendarIntervalTrigger(
        key=KEY,
        repeat_interval=3,
        repeat_interval_unit=IntervalUnit.MONTH,
        time_zone=KOLKATA,
        preserve_hour_of_day_across_daylight_savings=True,
        skip_day_if_hour_does_not_exist=True,
        misfire_instruction=MisfireInstruction.IGNORE_MISFIRES,
        **PROGRESS,
    ),
    DailyTimeIntervalTrigger(
        key=KEY,
        repeat_interval=90,
        repeat_interval_unit=IntervalUnit.SECOND,
        repeat_count=4,
        days_of_week=frozenset({DayOfWeek.SUNDAY, DayOfWeek.TUESDAY}),
        start_time_of_day=time(8, 30, 15),
        end_time_of_day=time(17),
        time_zone=KOLKATA,
        **PROGRESS,
    ),
    RecurrenceTrigger(
        key=KEY,
        recurrence_rule="FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=9,17;COUNT=500",
        time_zone=KOLKATA,
        misfire_instruction=MisfireInstruction.FIRE_AND_PROCEED,
        **{**PROGRESS, "times_triggered": 7},
    ),
]


@pytest.fixture
def serializer() -> JsonSerializer:
    """The default serializer."""
    return JsonSerializer()


def read(serializer: JsonSerializer, node: Any) -> Trigger:
    """Return the trigger of a stored JSON object."""
    return serializer.deserialize(json.dumps(node).encode(), Trigger)


@pytest.mark.parametrize("trigger", DEFAULTS + FULL, ids=lambda trigger: type(trigger).__name__)
def test_a_trigger_comes_back_equal(serializer: JsonSerializer, trigger: Trigger) -> None:
    """Each kind survives with every field, given or left to its default, and is of the same class."""
    for pin in (
        PreferredNode.NONE,
        PreferredNode.AUTO,
        PreferredNode.AUTO.claimed_by("n"),
        PreferredNode.for_node("n"),
    ):
        value = replace(trigger, preferred_node=pin)
        back = serializer.deserialize(serializer.serialize(value), Trigger)
        assert back == value
        assert type(back) is type(value)
        assert back.starts_when_scheduled == value.starts_when_scheduled


@pytest.mark.parametrize("trigger", FULL[1:], ids=lambda trigger: type(trigger).__name__)
def test_a_trigger_keeps_its_zone_in_a_process_with_another(
    serializer: JsonSerializer, trigger: Trigger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The zone is stored by its id: a process whose own zone differs computes the same next twenty fire times."""
    payload = serializer.serialize(trigger)
    monkeypatch.setenv("TZ", "America/New_York")
    back: Any = serializer.deserialize(payload, Trigger)
    assert back.time_zone.key == "Asia/Kolkata"
    assert fire_times(back, 20) == fire_times(trigger, 20)


def fire_times(trigger: Trigger, number: int) -> list[datetime | None]:
    """Return the next fire times after the start."""
    found: list[datetime | None] = [trigger.get_fire_time_after(trigger.start_time)]
    while len(found) < number and found[-1] is not None:
        found.append(trigger.get_fire_time_after(found[-1]))
    return found


def test_the_names_are_those_of_quartz(serializer: JsonSerializer) -> None:
    """A stored trigger has the keys that spec 07 section 8 lists, and those of its progress."""
    assert json.loads(serializer.serialize(replace(FULL[0], job_data=JobData(n=1)))) == {
        "TriggerType": "SimpleTrigger",
        "Key": {"Name": "Überweisung", "Group": "Bank 😀"},
        "JobKey": {"Name": "pay", "Group": "Bank"},
        "Description": "x",
        "CalendarName": "holidays",
        "MisfireInstruction": 5,
        "StartTimeUtc": "2026-03-01T12:00:00.123456+00:00",
        "EndTimeUtc": "2030-01-01T00:00:00+00:00",
        "Priority": -7,
        "ExecutionGroup": "heavy",
        "NextFireTimeUtc": "2026-03-01T12:00:00.123457+00:00",
        "PreviousFireTimeUtc": "2026-03-01T12:00:00.123456+00:00",
        "TimesTriggered": 2**40,
        "MisfireOriginalFireTimeUtc": "2026-02-28T12:00:00.123456+00:00",
        "FireInstanceId": "node-1:5",
        "JobDataMap": {"n": 1},
        "PreferredNode": "node-1",
        "PreferredNodeAuto": False,
        "RepeatCount": 5,
        "RepeatInterval": "3.00:00:00.0010000",
    }


def test_entries_of_later_versions_may_be_missing(serializer: JsonSerializer) -> None:
    """A row that has only what the first version wrote reads with the defaults of today."""
    node = {"TriggerType": "SimpleTrigger", "Key": {"Name": "a", "Group": "b"}, "JobKey": {"Name": "c", "Group": "d"}}
    assert read(serializer, node) == SimpleTrigger(key=TriggerKey("a", "b"), job_key=JobKey("c", "d"))
    later = {**node, "SomethingNew": 5, "Priority": None}
    assert read(serializer, later) == read(serializer, node)


CRON = {"TriggerType": "CronTrigger", "Key": {"Name": "a", "Group": "b"}, "CronExpressionString": "0 0 12 * * ?"}


def test_a_zone_id_of_windows_is_understood(serializer: JsonSerializer) -> None:
    """A zone id of another platform becomes the IANA one."""
    trigger: Any = read(serializer, {**CRON, "TimeZone": "China Standard Time"})
    assert trigger.time_zone.key == "Asia/Shanghai"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"TriggerType": None}, "the trigger type None has no serializer here"),
        ({"TriggerType": "subprocess:run"}, "the trigger type 'subprocess:run' has no serializer here"),
        ({"Key": None}, "key"),
        ({"Key": {"Name": "a"}}, "Key {'Name': 'a'}"),
        ({"Key": {"Name": "", "Group": "b"}}, "name is empty"),
        ({"Priority": "high"}, "Priority 'high': it must be a whole number"),
        ({"MisfireInstruction": 77}, "misfire instruction 77"),
        ({"StartTimeUtc": "soon"}, "StartTimeUtc 'soon'"),
        ({"EndTimeUtc": "0001-01-01T00:00:00", "StartTimeUtc": "2026-01-01T00:00:00"}, "lies before start time"),
        ({"TimeZone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"CronExpressionString": "0 0 25 * * ?"}, "cron expression"),
        ({"CronExpressionString": None}, "missing 1 required positional argument: 'text'"),
        ({"PreferredNode": 5}, "PreferredNode 5: it must be a text"),
        ({"PreferredNodeAuto": "yes"}, "PreferredNodeAuto 'yes': it must be true or false"),
        ({"JobDataMap": [1]}, "[1] is no job data"),
        ({"JobDataMap": {"a": {"$unheard": 1}}}, "'a': values of type '$unheard'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unreadable_trigger_says_why(serializer: JsonSerializer, change: Any, reason: str) -> None:
    """A stored object that is no trigger is one clear error with the reason, so that one row can go to ERROR."""
    with pytest.raises(JobPersistenceError) as unreadable:
        read(serializer, {**CRON, **change})
    assert reason in str(unreadable.value)


def test_the_data_of_a_trigger_is_job_data(serializer: JsonSerializer) -> None:
    """A value that job data refuses is refused in a trigger too, by check and by serialize; texts only counts too."""
    trigger = SimpleTrigger(key=KEY, job_data=JobData(bad=object()))
    for store in (serializer.check, serializer.serialize):
        with pytest.raises(InvalidValueError, match="job data 'bad'"):
            store(trigger)
    with pytest.raises(InvalidValueError, match="use_properties"):
        JsonSerializer(use_properties=True).check(SimpleTrigger(key=KEY, job_data=JobData(n=1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientTrigger(SimpleTrigger):
    """A kind of an application: a simple trigger that remembers something."""

    trigger_type: ClassVar[str] = "PATIENT"

    patience: timedelta = timedelta(0)
    tries: int = 3


class PatientTriggerSerializer(SimpleTriggerSerializer):
    """Derived from the serializer of the kind that the trigger derives from."""

    trigger_class = PatientTrigger
    type_name = "PatientTrigger"
    fields = (
        *SimpleTriggerSerializer.fields,
        Field("Patience", "patience", write_span, read_span),
        Field("Tries", "tries", read=integer),
    )


def test_a_kind_of_an_application_is_stored_with_its_own_serializer(serializer: JsonSerializer) -> None:
    """Without a serializer a kind is refused with the remedy; with one it comes back equal, progress included."""
    trigger = PatientTrigger(key=KEY, patience=timedelta(seconds=5), tries=4, **PROGRESS)
    with pytest.raises(InvalidValueError, match=r"PatientTrigger .* add it with add_trigger_serializer"):
        serializer.check(trigger)
    serializer.add_trigger_serializer(PatientTriggerSerializer())
    serializer.check(trigger)
    assert serializer.deserialize(serializer.serialize(trigger), PatientTrigger) == trigger


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (SimpleTriggerSerializer.fields, "its serializer reads it back as"),
        ((*PatientTriggerSerializer.fields, Field("Key", "tries")), "is no|can not be stored"),
    ],
)
def test_a_serializer_that_is_wrong_is_found_when_the_trigger_is_added(
    serializer: JsonSerializer, table: tuple[Field, ...], reason: str
) -> None:
    """A trigger that would not come back equal is refused by check, not at its next firing."""
    wrong = type("Wrong", (PatientTriggerSerializer,), {"fields": table})
    serializer.add_trigger_serializer(wrong())
    with pytest.raises(InvalidValueError, match=reason):
        serializer.check(PatientTrigger(key=KEY, tries=4))


def test_every_shipped_serializer_can_be_derived_from() -> None:
    """Each trigger class and its serializer are open, so that both halves of a kind can be derived (spec 02)."""
    for trigger in DEFAULTS:
        cls = type(trigger)
        shipped = JsonSerializer()._triggers.of(trigger)
        derived_class: Any = dataclass(frozen=True, slots=True, kw_only=True)(
            type("Derived", (cls,), {"__module__": __name__})
        )
        derived: Any = type("DerivedSerializer", (type(shipped),), {"trigger_class": derived_class, "type_name": "D"})
        serializer = JsonSerializer()
        serializer.add_trigger_serializer(derived())
        names = [field.name for field in fields(trigger)]
        value = derived_class(**{name: getattr(trigger, name) for name in names})
        assert serializer.deserialize(serializer.serialize(value), derived_class) == value


def test_a_kind_without_fields_of_its_own_needs_two_lines(serializer: JsonSerializer) -> None:
    """The base serializer writes what every trigger has."""

    class Bare(TriggerSerializer):
        trigger_class = SimpleTrigger
        type_name = "Bare"

    trigger = SimpleTrigger(key=KEY, **PROGRESS)
    node = Bare().serialize(trigger, dict)
    assert Bare().deserialize(node, JobData) == trigger
