"""Faults of what is stored, and of what a row may run, that users of other schedulers reported."""

import pickle
import subprocess
import sys
from datetime import UTC, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.errors import InvalidValueError, JobPersistenceError, TypeLoadError
from quartzite.model.job import JobType
from quartzite.model.job_data import JobData
from quartzite.serialization import JsonSerializer
from quartzite.triggers import (
    Schedule,
    Trigger,
    TriggerBuilder,
    calendar_interval,
    compute_fire_times,
    cron,
    daily,
    every,
    recurrence,
)

START = datetime(2026, 3, 1, 10, tzinfo=UTC)
KINDS: dict[str, Schedule] = {
    "simple": every(hours=7),
    "cron": cron("0 30 2 * * ?", time_zone="Asia/Kolkata"),
    "calendar interval": calendar_interval(days=1, time_zone="Asia/Kolkata"),
    "daily": daily(time(8), time(17), minutes=45, time_zone="Asia/Kolkata"),
    "recurrence": recurrence("FREQ=WEEKLY;BYDAY=MO", time_zone="Asia/Kolkata"),
}
READER = """
import sys
from quartzite.serialization import JsonSerializer
from quartzite.triggers import Trigger, compute_fire_times
trigger = JsonSerializer().deserialize(sys.stdin.buffer.read(), Trigger)
print(getattr(trigger, "time_zone", None))
for moment in compute_fire_times(trigger, None, 20):
    print(moment.isoformat())
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_trigger_keeps_its_zone_where_another_one_is_the_default(kind: str) -> None:
    """B017: read in a process with TZ=America/New_York a trigger has the same zone and the same next 20 fire times."""
    trigger = TriggerBuilder.create().with_schedule(KINDS[kind]).for_job("j").start_at(START).build()
    trigger = trigger.compute_first_fire_time(None, START)
    code = [sys.executable, "-W", "error", "-c", READER]
    payload = JsonSerializer().serialize(trigger)
    answer = subprocess.run(code, input=payload, env={"TZ": "America/New_York"}, capture_output=True, check=True)
    zone, *times = answer.stdout.decode().split()
    assert zone == str(getattr(trigger, "time_zone", None))
    assert times == [moment.isoformat() for moment in compute_fire_times(trigger, None, 20)]
    assert len(times) == 20


def test_an_unknown_zone_spoils_one_row() -> None:
    """B018: a row whose zone nobody knows is refused with the value, so that this one trigger goes to ERROR."""
    trigger = TriggerBuilder.create().with_schedule(KINDS["cron"]).for_job("j").start_at(START).build()
    payload = JsonSerializer().serialize(trigger).replace(b"Asia/Kolkata", b"Mars/Olympus")
    with pytest.raises(JobPersistenceError, match="Mars/Olympus"):
        JsonSerializer().deserialize(payload, Trigger)


class Colour(Enum):
    """An enumeration of an application."""

    RED = 1


VALUES: dict[str, Any] = {
    "dict": {"a": {"b": [1, 2.5, None]}},
    "list": [1, [2]],
    "int": 2**80,
    "float": 0.1,
    "none": None,
    "bool": True,
    "datetime": datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    "decimal": Decimal("1.10"),
    "bytes": b"\x00\xff",
    "uuid": UUID(int=5),
    "enum": Colour.RED,
    "object": object(),
    "set": {1},
}


@pytest.mark.parametrize("name", VALUES)
def test_data_is_equal_after_the_round_trip_or_refused_when_it_is_scheduled(name: str) -> None:
    """B056: a value comes back equal, or is refused naming its key, before anything is stored."""
    serializer, data = JsonSerializer(), JobData({name: VALUES[name]})
    if name in {"enum", "object", "set"}:
        with pytest.raises(InvalidValueError, match=f"job data '{name}'"):
            serializer.check(data)
        return
    serializer.check(data)
    back = serializer.deserialize(serializer.serialize(data), JobData)
    assert back == data
    assert type(back[name]) is type(VALUES[name])


class Bomb:
    """An object whose pickle would run a command."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("a row ran something",)


def test_a_pickle_in_a_row_runs_nothing() -> None:
    """B057: a row that is a pickle is refused, whatever it is read as."""
    for expected in (JobData, Trigger):
        with pytest.raises(JobPersistenceError, match="a pickle, which is never read"):
            JsonSerializer().deserialize(pickle.dumps(Bomb()), expected)


@pytest.mark.parametrize("name", ["os:system", "subprocess:run", "builtins.eval", "builtins:eval", "pickle:loads"])
@pytest.mark.parametrize("allowed", [None, [], ["myapp"]])
def test_a_row_runs_no_function_that_is_no_job(name: str, allowed: list[str] | None) -> None:
    """B058: a job type that names a function of Python is refused at load, with and without a list of modules."""
    with pytest.raises(TypeLoadError):
        ImportTypeLoader(allowed_modules=allowed).load(JobType(name))


def test_the_data_of_a_job_is_never_looked_up() -> None:
    """B058: a value that looks like a registered object or a reference is data, and nothing else."""
    data = JobData(target={"$object": ["os:system", "echo"]}, queue="ldap://example.org/x")
    assert JsonSerializer().deserialize(JsonSerializer().serialize(data), JobData) == data
    with pytest.raises(JobPersistenceError, match="'os:system' is not registered"):
        JsonSerializer().deserialize(b'{"target":{"$object":["os:system","echo"]}}', JobData)
