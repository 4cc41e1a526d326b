"""A value of a wrong type is refused where it is made: stored, it would stop what has nothing to do with it."""

from datetime import UTC, datetime, tzinfo
from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.testing import FakeClock
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.simple import SimpleTrigger, every
from tests.schedulers import running_scheduler

JOB = JobType("bank.jobs:Payroll")


async def _nothing(context: JobContext) -> None:
    """Do nothing."""


class NoOffset(tzinfo):
    """A zone that knows no offset, so that a time in it is naive all the same."""

    def utcoffset(self, _: datetime | None) -> None:
        """Know no offset."""

    def dst(self, _: datetime | None) -> None:
        """Know no change of the clocks."""

    def tzname(self, _: datetime | None) -> None:
        """Know no name."""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", "payroll"),
        ("job_key", "payroll"),
        ("description", 5),
        ("calendar_name", 5),
        ("job_data", {"a": 1}),
        ("priority", "5"),
        ("priority", None),
        ("priority", 1.5),
        ("priority", True),
        ("misfire_instruction", 1.0),
        ("start_time", "2026-01-01"),
        ("end_time", 5),
        ("next_fire_time", "2026-01-01"),
        ("execution_group", 5),
        ("preferred_node", "node-1"),
    ],
)
def test_trigger_refuses_a_field_of_another_type(field: str, value: object) -> None:
    """A trigger names the field, the value and what to give."""
    fields: dict[str, Any] = {"key": TriggerKey("t"), field: value}
    with pytest.raises(InvalidValueError, match=rf"{field} is .*: give "):
        SimpleTrigger(**fields)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", "payroll"),
        ("job_type", "bank.jobs:Payroll"),
        ("description", 5),
        ("job_data", {"a": 1}),
        ("durable", "no"),
        ("requests_recovery", 1),
        ("retry", 5),
        ("overlap", "skip"),
        ("concurrency_key", 5),
    ],
)
def test_job_refuses_a_field_of_another_type(field: str, value: object) -> None:
    """A job names the field, the value and what to give."""
    fields: dict[str, Any] = {"key": JobKey("j"), "job_type": JOB, field: value}
    with pytest.raises(InvalidValueError, match=rf"{field} is .*: give "):
        JobDetail(**fields)


def test_builders_refuse_wrong_types_as_errors_of_their_own() -> None:
    """An execution group or a concurrency key that is a number is an invalid value, not a missing attribute."""
    with pytest.raises(InvalidValueError, match="execution group 5"):
        TriggerBuilder.create().with_execution_group(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="concurrency_key is 5"):
        JobBuilder.create(_nothing).with_concurrency_key(5).build()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "parts", [{"seconds": float("nan")}, {"seconds": float("inf")}, {"days": 10**10}, {"minutes": "5"}]
)
def test_span_that_is_no_number_is_refused(parts: dict[str, Any]) -> None:
    """A part of a span that is no number, or too big for one, is refused, naming it."""
    with pytest.raises(InvalidValueError, match=rf"every\({next(iter(parts))}=.* give numbers"):
        every(**parts)


def test_number_of_times_that_is_no_whole_number_is_refused() -> None:
    """How often it fires is a whole number."""
    for times in ("3", 1.5):
        with pytest.raises(InvalidValueError, match="at least 1"):
            every(seconds=1, times=times)  # type: ignore[arg-type]


def test_instant_in_a_zone_without_an_offset_is_naive() -> None:
    """A datetime with a zone that knows no offset is refused: read as local time it would depend on the machine."""
    moment = datetime(2030, 1, 1, tzinfo=NoOffset())
    with pytest.raises(InvalidValueError, match="has no time zone"):
        TriggerBuilder.create().start_at(moment)
    with pytest.raises(InvalidValueError, match="has no time zone"):
        SimpleTrigger(key=TriggerKey("t"), start_time=moment)


def test_details_update_refuses_fields_of_the_schedule() -> None:
    """An update that would change key or schedule is refused where it is made."""
    with pytest.raises(InvalidValueError, match=r"'key' can not be updated.* call reschedule_job"):
        TriggerDetailsUpdate({"key": TriggerKey("other")})


async def test_refused_update_leaves_the_trigger_and_the_loop_as_they_were() -> None:
    """A priority that is a text, in an update, changes nothing; every trigger goes on firing."""
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    async with running_scheduler(clock) as scheduler:
        for name in ("a", "b"):
            await scheduler.schedule_job(JobBuilder.create(_nothing).with_identity(name), every(seconds=1))
        with pytest.raises(InvalidValueError, match="priority is 'high'"):
            await scheduler.update_trigger_details(
                TriggerKey("a"),
                TriggerDetailsUpdate().with_priority("high"),  # type: ignore[arg-type]
            )
        await clock.advance(seconds=3)
        assert [trigger.times_triggered for trigger in (await scheduler.get_triggers([TriggerKey("a")]))] == [4]
        assert scheduler.get_metadata().jobs_executed == 8
