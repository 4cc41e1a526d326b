"""Faults of job stores that users reported: one broken thing and the others, data, keys (B019, B056, B067)."""

from __future__ import annotations

import enum
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from quartzite.errors import InvalidValueError, ObjectAlreadyExistsError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import JobQuery
from quartzite.model.states import TriggerState
from quartzite.testing.contracts import StoreContract, StoreDriver
from quartzite.testing.contracts.job_store.content import a_job, a_trigger
from quartzite.testing.contracts.subjects import UnfirableTrigger
from quartzite.triggers.simple import every
from tests.contract.subjects import InMemory


class Color(enum.Enum):
    """An enumeration that no serializer was told about."""

    RED = 1


VALUES: dict[str, Any] = {
    "dict": {"a": {"b": [1, 2, {"c": None}]}},
    "list": [1, "two", 3.5, None, True],
    "int": 2**70,
    "float": 0.1,
    "none": None,
    "bool": False,
    "datetime": datetime(2026, 3, 29, 3, 30, tzinfo=ZoneInfo("Europe/Berlin")),
    "decimal": Decimal("0.10"),
    "bytes": bytes(range(256)),
    "uuid": UUID(int=7),
    "enum": Color.RED,
}


class IsolationFaults(StoreContract):
    """What went wrong elsewhere when one thing was broken."""

    async def test_b019_one_broken_trigger_of_twenty(self, driver: StoreDriver) -> None:
        """Of 20 triggers one raises when it fires: 19 keep firing on time, it goes to ERROR, one error is told."""
        await driver.add_triggers(*(f"{number:02}" for number in range(19)), schedule=every(seconds=5))
        start = driver.clock.now()
        bad = UnfirableTrigger(key=TriggerKey("bad"), job_key=JobKey("job"), start_time=start, next_fire_time=start)
        await driver.store.add_trigger(bad)
        for turn in range(5):
            results = await driver.store.triggers_fired(await driver.acquire())
            bundles = [result.bundle for result in results if result.bundle is not None]
            assert {bundle.scheduled_fire_time for bundle in bundles} == {start + turn * timedelta(seconds=5)}
            assert len(bundles) == 19
            for bundle in bundles:
                await driver.complete(bundle)
            driver.advance(5)
        assert await driver.state(bad) is TriggerState.ERROR
        assert (driver.signaler.triggers_in_error, len(driver.signaler.errors)) == ([bad.key], 1)

    @pytest.mark.parametrize("name", VALUES)
    async def test_b056_data_comes_back_or_is_refused_at_once(self, driver: StoreDriver, name: str) -> None:
        """Data of every kind is equal when the job runs, or refused when it is scheduled, naming the key."""
        job = a_job(job_data={name: VALUES[name]})
        try:
            await driver.store.schedule_job(job, a_trigger(job_data={name: VALUES[name]}))
        except InvalidValueError as error:
            assert repr(name) in str(error)  # noqa: PT017 - both ways are right
            assert await driver.store.get_job(job.key) is None
        else:
            bundle = await driver.fire_one()
            for data in (bundle.job.job_data, bundle.trigger.job_data):
                assert (data[name], type(data[name])) == (VALUES[name], type(VALUES[name]))

    async def test_b067_replacing_makes_no_second_job(self, driver: StoreDriver) -> None:
        """Scheduling twice with ``replace`` leaves one job; without it the second is refused, naming the key."""
        for description in ("first", "second"):
            content = {a_job("report", description=description): [a_trigger(job="report")]}
            await driver.store.schedule_jobs(content, replace=True)
        page = await driver.store.query_jobs(JobQuery(include_total_count=True))
        assert [header.description for header in page.items] == ["second"]
        with pytest.raises(ObjectAlreadyExistsError, match=r"DEFAULT\.report"):
            await driver.store.schedule_jobs(content, replace=False)


class TestIsolationFaultsInMemory(InMemory, IsolationFaults):
    """RamJobStore."""
