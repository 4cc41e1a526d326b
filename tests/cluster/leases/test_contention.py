"""Leases between processes: never two holders, and what a killed holder leaves behind."""

from __future__ import annotations

import asyncio
import signal
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from quartzite.leases import LockConfiguration, LockProvider, SqlLockProvider
from tests.cluster.leases.processes import processes
from tests.cluster.leases.providers import Place

CONTENDER = "tests.cluster.leases.contender"
PROCESSES = 8
TURNS = 25
pytestmark = pytest.mark.timeout(120)


class Contention:
    """The tests; a subclass says where the leases are."""

    @pytest.fixture
    def place(self) -> Place:
        """Where the leases are: to be overridden."""
        raise NotImplementedError

    async def test_never_two_holders(self, place: Place, tmp_path: Path) -> None:
        """One of 8 processes at a time is inside, each gets its turns, and tokens grow from turn to turn."""
        await ready(place)
        async with processes() as start:
            arguments = ("--place", str(place), "--folder", str(tmp_path), "--turns", str(TURNS))
            contenders = [await start(CONTENDER, *arguments, "--id", f"node {n}") for n in range(PROCESSES)]
            codes = await asyncio.gather(*(contender.ended() for contender in contenders))
        tokens = [int(line) for line in (tmp_path / "tokens").read_text().split()]
        assert codes == [0] * PROCESSES
        assert len(tokens) == PROCESSES * TURNS
        assert tokens == sorted(set(tokens))

    async def test_the_lease_of_a_killed_holder_ends(self, place: Place) -> None:
        """A killed holder's lease is free after its at-most time by the server's clock: not before, and soon after."""
        at_most = timedelta(seconds=1)
        provider = await ready(place)
        async with processes() as start:
            holder = await start(CONTENDER, "--place", str(place), "--id", "dead", "--at-most", "1")
            held = await holder.hear(lambda event: "held" in event)
            holder.send(signal.SIGKILL)
            await holder.ended()
            asked = LockConfiguration(name="lock", lock_at_most_for=at_most)
            lease = None
            async with asyncio.timeout(10):
                while lease is None:
                    lease = await provider.lock(asked)
                    await asyncio.sleep(0.01)
        waited = lease.locked_at - datetime.fromisoformat(held["locked_at"])
        await provider.close()
        assert at_most <= waited <= 2 * at_most


async def ready(place: Place) -> LockProvider:
    """Return a provider whose table is there."""
    provider = place.provider("test")
    if isinstance(provider, SqlLockProvider):
        await provider.create_table()
        await provider.close()
    return provider


class TestSqlite(Contention):
    """On a SQLite file."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Place:
        """Where the leases are."""
        return Place(url=f"sqlite:///{tmp_path / 'leases.db'}")


class TestPostgresql(Contention):
    """On PostgreSQL."""

    @pytest.fixture
    def place(self, postgresql_url: str, postgresql_schema: str) -> Place:
        """Where the leases are."""
        return Place(url=postgresql_url, schema=postgresql_schema)


class TestMariaDb(Contention):
    """On MariaDB."""

    @pytest.fixture
    def place(self, mariadb_database: str) -> Place:
        """Where the leases are."""
        return Place(url=mariadb_database)


class TestRedis(Contention):
    """On Redis."""

    @pytest.fixture
    def place(self, redis_url: str, redis_prefix: str) -> Place:
        """Where the leases are."""
        return Place(url=redis_url, prefix=redis_prefix)
