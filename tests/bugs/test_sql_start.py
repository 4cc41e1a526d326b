"""Reported faults of a start without a database (B045), on private servers."""

from __future__ import annotations

import asyncio

import pytest

from quartzite.clock import SystemClock
from quartzite.errors import JobPersistenceError
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.query import JobQuery
from quartzite.serialization.json import JsonSerializer
from quartzite.settings import SqlStoreSettings
from quartzite.stores.sql import SqlJobStore
from quartzite.testing.signaler import RecordingSignaler
from tests.servers import PrivateMariaDb, PrivatePostgresql, PrivateServer

# A private server is made, stopped and started again.
pytestmark = pytest.mark.timeout(120)
IDENTITY = SchedulerIdentity(scheduler_name="patient")


@pytest.fixture(
    params=[
        pytest.param("postgresql", marks=pytest.mark.postgresql),
        pytest.param("mariadb", marks=pytest.mark.mariadb),
    ]
)
def server(request: pytest.FixtureRequest) -> PrivateServer:
    """A server of the test's own, which is down."""
    found = request.getfixturevalue(f"private_{request.param}")
    assert isinstance(found, PrivatePostgresql | PrivateMariaDb)
    found.kill()
    return found


def make_store(server: PrivateServer, *, waits: bool) -> SqlJobStore:
    return SqlJobStore(
        settings=SqlStoreSettings(url=server.url, create_schema=True, wait_for_database=waits),
        clock=SystemClock(),
        signaler=RecordingSignaler(),
        serializer=JsonSerializer(),
    )


async def test_a_start_without_a_database_fails_at_once(server: PrivateServer) -> None:
    """B045: by default a store whose database is down refuses to start, and says that the database did not answer."""
    store = make_store(server, waits=False)
    async with asyncio.timeout(5):
        with pytest.raises(JobPersistenceError, match="failed"):
            await store.initialize(IDENTITY)
    await store.shutdown()


async def test_a_start_may_wait_for_the_database(server: PrivateServer) -> None:
    """B045: told to wait, a store goes on trying and starts by itself when the database is up."""
    store = make_store(server, waits=True)
    starting = asyncio.create_task(store.initialize(IDENTITY))
    done, _ = await asyncio.wait({starting}, timeout=0.5)
    assert not done
    await asyncio.to_thread(server.start)
    async with asyncio.timeout(15):
        await starting
    assert not (await store.query_jobs(JobQuery())).items
    await store.shutdown()
