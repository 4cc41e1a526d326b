"""Reported faults of time zones, in the rows of each database (B017, B018)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.builders import JobBuilder
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.keys import TriggerKey
from quartzite.model.states import TriggerState
from quartzite.serialization.json import JsonSerializer
from quartzite.settings import SqlStoreSettings
from quartzite.sql.engine import create_engine
from quartzite.sql.tables import tables
from quartzite.stores.sql import SqlJobStore
from quartzite.testing import FakeClock
from quartzite.testing.contracts.subjects import QuietJob
from quartzite.testing.signaler import RecordingSignaler
from quartzite.triggers import (
    Schedule,
    TriggerBuilder,
    calendar_interval,
    compute_fire_times,
    cron,
    daily,
    every,
    recurrence,
)
from tests.contract.sql_subjects import SUBJECTS, mariadb_database, postgresql_database, sqlite_database

START = datetime(2026, 3, 1, 10, tzinfo=UTC)
KINDS: dict[str, Schedule] = {
    "simple": every(hours=7),
    "cron": cron("0 30 2 * * ?", time_zone="Asia/Kolkata"),
    "calendar_interval": calendar_interval(days=1, time_zone="Asia/Kolkata"),
    "daily": daily(time(8), time(17), minutes=45, time_zone="Asia/Kolkata"),
    "recurrence": recurrence("FREQ=WEEKLY;BYDAY=MO", time_zone="Asia/Kolkata"),
}
READER = """
import asyncio, json, sys
from tests.bugs.test_sql_time_zones import KINDS, SqlStoreSettings, TriggerKey, compute_fire_times, make_store

async def read(settings):
    store, _ = await make_store(settings)
    for kind in KINDS:
        trigger = await store.get_trigger(TriggerKey(kind))
        times = [moment.isoformat() for moment in compute_fire_times(trigger, None, 20)]
        print(json.dumps([kind, str(getattr(trigger, "time_zone", None)), times]))
    await store.shutdown()

asyncio.run(read(SqlStoreSettings(**json.loads(sys.argv[1]))))
"""


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.postgresql),
        pytest.param("mariadb", marks=pytest.mark.mariadb),
    ]
)
async def settings(request: pytest.FixtureRequest, tmp_path: Path, unique_name: str) -> AsyncIterator[SqlStoreSettings]:
    """A database with the tables."""
    if request.param == "sqlite":
        database = sqlite_database(tmp_path)
    elif request.param == "postgresql":
        database = postgresql_database(unique_name)
    else:
        database = mariadb_database(unique_name)
    async with database as found:
        yield found


async def make_store(settings: SqlStoreSettings) -> tuple[SqlJobStore, RecordingSignaler]:
    """Return a store that is ready, and what it tells."""
    signaler = RecordingSignaler()
    store = SqlJobStore(
        settings=settings,
        clock=FakeClock(START),
        signaler=signaler,
        serializer=JsonSerializer(),
        type_loader=ImportTypeLoader(allowed_modules=[SUBJECTS]),
    )
    await store.initialize(SchedulerIdentity(scheduler_name="zones"))
    return store, signaler


async def store_every_kind(settings: SqlStoreSettings) -> dict[str, tuple[str, list[str]]]:
    """Store one trigger of each kind and return zone and next 20 fire times of each."""
    store, _ = await make_store(settings)
    await store.add_job(JobBuilder.create(QuietJob).with_identity("j").store_durably().build())
    stored = {}
    for kind, schedule in KINDS.items():
        trigger = (
            TriggerBuilder.create().with_identity(kind).for_job("j").start_at(START).with_schedule(schedule).build()
        )
        trigger = trigger.compute_first_fire_time(None, START)
        await store.add_trigger(trigger)
        times = [moment.isoformat() for moment in compute_fire_times(trigger, None, 20)]
        stored[kind] = (str(getattr(trigger, "time_zone", None)), times)
    await store.shutdown()
    return stored


async def test_every_kind_keeps_its_zone_in_a_process_of_another_zone(settings: SqlStoreSettings) -> None:
    """B017: read from the database by a process with TZ=America/New_York, a trigger has its zone and fire times."""
    stored = await store_every_kind(settings)
    assert all(len(times) == 20 for _, times in stored.values())
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        READER,
        json.dumps({key: getattr(settings, key) for key in ("url", "schema_name")}),
        env={**os.environ, "TZ": "America/New_York"},
        stdout=asyncio.subprocess.PIPE,
    )
    answer, _ = await process.communicate()
    assert process.returncode == 0
    read = {kind: (zone, times) for kind, zone, times in map(json.loads, answer.decode().splitlines())}
    assert read == stored


async def test_an_unknown_zone_puts_that_one_trigger_into_error(settings: SqlStoreSettings) -> None:
    """B018: a row with a zone that nobody knows goes to ERROR, is told once, and all other triggers fire."""
    await store_every_kind(settings)
    await spoil_the_zone_of_the_cron_trigger(settings)
    store, signaler = await make_store(settings)
    await store.scheduler_started()
    request = TriggerAcquisitionRequest(
        no_later_than=START + timedelta(days=30), max_count=10, time_window=timedelta(9)
    )
    acquired = await store.acquire_next_triggers(request)
    fired = await store.triggers_fired(acquired)
    assert {trigger.key.name for trigger in acquired} == set(KINDS) - {"cron"}
    assert all(result.bundle is not None for result in fired)
    assert await store.get_trigger_state(TriggerKey("cron")) is TriggerState.ERROR
    assert signaler.triggers_in_error == [TriggerKey("cron")]
    assert any("Mars/Olympus" in str(error) for _, error in signaler.errors)
    await store.shutdown()


async def spoil_the_zone_of_the_cron_trigger(settings: SqlStoreSettings) -> None:
    """Write a zone that does not exist, as another version of the zone data might have."""
    engine = create_engine(settings.url or "")
    try:
        async with engine.begin() as connection:
            spoiled = update(tables(schema=settings.schema_name).cron_triggers).values(time_zone_id="Mars/Olympus")
            await connection.execute(spoiled)
    finally:
        await engine.dispose()
