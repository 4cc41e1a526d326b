"""TriggerBuilder."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from quartzite.errors import InvalidValueError
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.triggers import DEFAULT_PRIORITY, NO_JOB, SimpleTrigger, TriggerBuilder, cron, every
from tests.unit.triggers.building import at


def test_the_defaults() -> None:
    """Nothing but a random name: the trigger fires once, when it is scheduled, and has no job yet."""
    trigger = TriggerBuilder.create().build()
    assert isinstance(trigger, SimpleTrigger)
    assert str(UUID(trigger.key.name)) == trigger.key.name
    assert trigger.key.group == "DEFAULT"
    assert trigger.starts_when_scheduled
    assert (trigger.job_key, trigger.priority, trigger.end_time) == (NO_JOB, DEFAULT_PRIORITY, None)
    assert (trigger.repeat_count, trigger.misfire_instruction) == (0, 0)


def test_everything() -> None:
    """Every verb sets its part, and the builder of the trigger gives all of them back."""
    builder = (
        TriggerBuilder.create()
        .with_identity("nightly", "reports")
        .for_job("close", "books")
        .with_description("closes the books")
        .with_priority(9)
        .with_calendar_name("holidays")
        .with_execution_group("heavy")
        .with_preferred_node(PreferredNode.for_node("node-1"))
        .start_at(datetime.fromisoformat("2026-01-01T01:00+01:00"))
        .end_at(at("2027-01-01T00:00"))
        .using_job_data({"a": 1, "b": 2})
        .using_job_data("b", 3)
        .with_schedule(cron("0 0 2 * * ?", misfire_instruction=2))
    )
    trigger = builder.build()
    assert (trigger.key, trigger.job_key) == (TriggerKey("nightly", "reports"), JobKey("close", "books"))
    assert (builder.key, builder.job_key) == (trigger.key, trigger.job_key)
    assert (trigger.description, trigger.priority, trigger.calendar_name) == ("closes the books", 9, "holidays")
    assert (trigger.execution_group, trigger.preferred_node.node) == ("heavy", "node-1")
    assert trigger.start_time == datetime(2026, 1, 1, tzinfo=UTC)
    assert trigger.end_time == at("2027-01-01T00:00")
    assert trigger.job_data == {"a": 1, "b": 3}
    assert trigger.misfire_instruction == 2
    assert trigger.to_builder().build() == trigger


def test_what_a_job_may_be_named_by() -> None:
    """A job's key, its name, or the job itself."""
    job = JobDetail(key=JobKey("close", "books"), job_type=JobType("jobs:close"))
    for named in (job, job.key):
        assert TriggerBuilder.create().for_job(named).build().job_key == job.key
    assert TriggerBuilder.create().for_job("close").build().job_key == JobKey("close")
    assert TriggerBuilder.create().job_key is None


def test_starting_now_takes_a_start_back() -> None:
    """The last word counts."""
    assert TriggerBuilder.create().start_at(at("2026-01-01T00:00")).start_now().build().starts_when_scheduled


def test_a_blank_execution_group_is_none() -> None:
    """A group of blanks is no group; reserved words are refused."""
    assert TriggerBuilder.create().with_execution_group("  ").build().execution_group is None
    with pytest.raises(InvalidValueError):
        TriggerBuilder.create().with_execution_group("*")


def test_what_is_refused() -> None:
    """Naive instants, texts for instants and things that are no schedule are refused by the verb."""
    builder = TriggerBuilder.create()
    with pytest.raises(InvalidValueError, match=r"start time .* has no time zone"):
        builder.start_at(datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(InvalidValueError, match="must be a datetime"):
        builder.end_at("2026-01-01")  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match=r"give every\(...\), cron\(...\)"):
        builder.with_schedule("0 0 2 * * ?")  # type: ignore[arg-type]


def test_progress_is_left_behind() -> None:
    """The builder of a trigger that fired makes the trigger as it was defined."""
    trigger = (
        TriggerBuilder.create()
        .with_identity("t")
        .start_at(at("2026-01-01T00:00"))
        .with_schedule(every(hours=1))
        .build()
    )
    fired = trigger.compute_first_fire_time(None, trigger.start_time).triggered(None)
    assert fired.to_builder().build() == trigger
