"""Storing jobs with triggers: all or nothing, and data that can be stored."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest

from quartzite.errors import InvalidValueError, ObjectAlreadyExistsError
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import TriggerState
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import a_job, a_trigger, at
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import every

__all__ = ["SchedulingContract"]


class _Color(Enum):
    RED = "red"


_UNSTORABLE = object()
_VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "one": 1,
    "one as a float": 1.0,
    "a third": 1 / 3,
    "a large number": 2**80,
    "text": 'Grüße "😀"\n',
    "empty": ["", [], {}],
    "nested": {"a": [1, {"b": [None, True, 2.5]}], "": "empty key"},
    "instant": datetime(2026, 3, 29, 1, 30, 0, 1, tzinfo=UTC),
    "instant elsewhere": datetime(2026, 3, 29, 1, 30, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    "date": date(2024, 2, 29),
    "span": timedelta(days=-1, microseconds=1),
    "money": Decimal("1234567890.10"),
    "uuid": UUID("12345678-1234-5678-1234-567812345678"),
    "bytes": b"\x00\xff",
    "enum": _Color.RED,
    "set": {1, 2},
    "tuple": (1, 2),
    "number as a key": {1: "one"},
    "object": _UNSTORABLE,
}


class SchedulingContract(StoreContract):
    """``schedule_job`` and ``schedule_jobs`` (spec 06 section 1), job data (conventions "Values")."""

    async def test_a_job_and_its_trigger_are_stored_together(self, driver: StoreDriver) -> None:
        """Scheduling stores both."""
        job, trigger = a_job(durable=False), a_trigger()
        await driver.store.schedule_job(job, trigger)
        snapshot = await driver.snapshot()
        assert (snapshot.jobs, snapshot.triggers) == ((job,), (trigger,))
        assert await driver.state(trigger) is TriggerState.NORMAL

    @pytest.mark.parametrize(
        ("job", "trigger"),
        [(a_job("taken"), a_trigger("new", job="taken")), (a_job("new"), a_trigger("taken", job="new"))],
        ids=["job", "trigger"],
    )
    async def test_scheduling_a_taken_key_stores_neither(
        self, driver: StoreDriver, job: JobDetail, trigger: Trigger
    ) -> None:
        """When the key of the job or of the trigger is taken, nothing of both is stored."""
        await driver.add_trigger("taken", job=await driver.add_job("taken"))
        before = await driver.snapshot()
        with pytest.raises(ObjectAlreadyExistsError, match="taken"):
            await driver.store.schedule_job(job, trigger)
        assert await driver.snapshot() == before

    async def test_many_jobs_are_stored_with_their_triggers(self, driver: StoreDriver) -> None:
        """A whole schedule is stored in one call, jobs without triggers included."""
        one, two, none = a_job("one"), a_job("two"), a_job("none")
        triggers = [a_trigger("1", job=one), a_trigger("2a", job=two), a_trigger("2b", job=two)]
        await driver.store.schedule_jobs({one: triggers[:1], two: triggers[1:], none: []})
        snapshot = await driver.snapshot()
        assert (snapshot.jobs, snapshot.triggers) == ((none, one, two), tuple(triggers))

    @pytest.mark.parametrize("taken", ["job", "trigger"])
    async def test_one_taken_key_keeps_all_of_it_out(self, driver: StoreDriver, taken: str) -> None:
        """When the last of many keys is taken, nothing of the whole call is stored."""
        await driver.add_trigger("taken", job=await driver.add_job("taken"))
        before = await driver.snapshot()
        last = a_job("taken" if taken == "job" else "z")
        triggers = [a_trigger("z" if taken == "job" else "taken", job=last)]
        with pytest.raises(ObjectAlreadyExistsError, match="taken"):
            await driver.store.schedule_jobs({a_job("a"): [a_trigger("a", job="a")], last: triggers})
        assert await driver.snapshot() == before

    async def test_one_trigger_key_twice_in_a_call_is_refused(self, driver: StoreDriver) -> None:
        """Two triggers of one key in the same call collide with each other, and nothing is stored."""
        content = {a_job("a"): [a_trigger("same", job="a")], a_job("b"): [a_trigger("same", job="b")]}
        with pytest.raises(ObjectAlreadyExistsError, match="same"):
            await driver.store.schedule_jobs(content)
        assert (await driver.snapshot()).jobs == ()

    async def test_one_job_key_twice_in_a_call_is_refused(self, driver: StoreDriver) -> None:
        """Two jobs of one key in the same call collide with each other, replacing or not, and nothing is stored."""
        content: dict[JobDetail, list[Trigger]] = {a_job("same", description="1"): [], a_job("same"): []}
        for replace in (False, True):
            with pytest.raises(ObjectAlreadyExistsError, match="same"):
                await driver.store.schedule_jobs(content, replace=replace)
        assert (await driver.snapshot()).jobs == ()

    async def test_replacing_a_schedule(self, driver: StoreDriver) -> None:
        """With ``replace`` jobs and triggers of taken keys are replaced, and triggers that are not named stay."""
        old = await driver.add_job(description="old")
        replaced, kept = await driver.add_triggers("replaced", "kept", job=old)
        new, trigger = a_job(description="new"), a_trigger("replaced", when=at(60), priority=8)
        await driver.store.schedule_jobs({new: [trigger, a_trigger("added")], a_job("more"): []}, replace=True)
        snapshot = await driver.snapshot()
        assert snapshot.jobs == (new, a_job("more"))
        assert snapshot.triggers == (a_trigger("added"), kept, trigger)
        assert replaced.key == trigger.key

    async def test_storing_a_schedule_again_makes_nothing_twice(self, driver: StoreDriver) -> None:
        """The same call twice leaves one job and one trigger, and a run of it keeps counting."""
        content = {a_job(durable=False): [a_trigger(schedule=every(seconds=60))]}
        await driver.store.schedule_jobs(content, replace=True)
        await driver.run_due()
        await driver.store.schedule_jobs(content, replace=True)
        snapshot = await driver.snapshot()
        assert (len(snapshot.jobs), len(snapshot.triggers)) == (1, 1)
        assert snapshot.triggers[0].previous_fire_time == at(0)
        with pytest.raises(ObjectAlreadyExistsError):
            await driver.store.schedule_jobs(content, replace=False)

    async def test_an_empty_schedule(self, driver: StoreDriver) -> None:
        """Nothing to store is no error."""
        await driver.store.schedule_jobs({})
        assert (await driver.snapshot()).jobs == ()

    async def test_data_comes_back_equal_or_is_refused_at_once(self, driver: StoreDriver) -> None:
        """Data of a job is refused when it is stored, naming the key, or comes back equal and of the same types."""
        for name, value in _VALUES.items():
            job = a_job(name, job_data={"fine": 1, "the key": value})
            try:
                await driver.store.add_job(job)
            except InvalidValueError as error:
                assert "the key" in str(error), name  # noqa: PT017 - both ways are right
                assert await driver.store.get_job(job.key) is None, name
            else:
                assert repr((await driver.stored_job(job)).job_data) == repr(job.job_data), name
                assert await driver.stored_job(job) == job, name

    async def test_common_values_are_not_refused(self, driver: StoreDriver) -> None:
        """What every serializer should know is stored: JSON's own values, instants, spans, decimals, UUIDs, bytes."""
        refusable = {"enum", "set", "tuple", "number as a key", "object"}
        data = {name: value for name, value in _VALUES.items() if name not in refusable}
        job = await driver.add_job(job_data=data)
        assert (await driver.stored_job(job)).job_data == data

    async def test_data_of_a_trigger_that_can_not_be_stored_is_refused(self, driver: StoreDriver) -> None:
        """The same holds for a trigger's data, and neither the trigger nor its job is stored."""
        with pytest.raises(InvalidValueError, match="the key"):
            await driver.store.schedule_job(a_job(), a_trigger(job_data={"the key": _UNSTORABLE}))
        snapshot = await driver.snapshot()
        assert (snapshot.jobs, snapshot.triggers) == ((), ())

    async def test_data_of_the_last_job_can_keep_all_out(self, driver: StoreDriver) -> None:
        """When one job of many has data that can not be stored, nothing of the call is stored."""
        bad = a_job("b", job_data={"the key": _UNSTORABLE})
        with pytest.raises(InvalidValueError, match="the key"):
            await driver.store.schedule_jobs({a_job("a"): [a_trigger(job="a")], bad: []}, replace=True)
        assert (await driver.snapshot()).jobs == ()

    async def test_a_refused_replacement_leaves_the_old_one(self, driver: StoreDriver) -> None:
        """A job or trigger that can not be stored does not damage what it should replace."""
        await driver.add_trigger(job=await driver.add_job(job_data={"a": 1}))
        before = await driver.snapshot()
        with pytest.raises(InvalidValueError):
            await driver.store.add_job(a_job(job_data={"a": _UNSTORABLE}), replace=True)
        with pytest.raises(InvalidValueError):
            await driver.store.add_trigger(a_trigger(job_data={"a": _UNSTORABLE}), replace=True)
        with pytest.raises(InvalidValueError):
            await driver.store.replace_trigger(TriggerKey("trigger"), a_trigger("n", job_data={"a": _UNSTORABLE}))
        assert await driver.snapshot() == before
        assert await driver.stored_job(JobKey("job")) == a_job(job_data={"a": 1})
