"""The store in a database keeps the contract of job stores, on each database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from uuid import uuid4

import pytest

from quartzite.settings import SqlStoreSettings
from quartzite.testing.contracts import MakeStore
from tests.contract.sql_subjects import (
    SqlJobStoreContract,
    maker,
    mariadb_database,
    postgresql_database,
    sqlite_database,
)


def _kept_open(database: AbstractAsyncContextManager[SqlStoreSettings]) -> Iterator[SqlStoreSettings]:
    """Create a database for all tests of a module; each of them has an event loop of its own."""
    with asyncio.Runner() as runner:
        settings = runner.run(database.__aenter__())
        yield settings
        runner.run(database.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def sqlite_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStoreSettings]:
    """A database in a file."""
    yield from _kept_open(sqlite_database(tmp_path_factory.mktemp("sqlite")))


@pytest.fixture(scope="module")
def postgres_settings() -> Iterator[SqlStoreSettings]:
    """A schema on the test server."""
    yield from _kept_open(postgresql_database(f"contract_{uuid4().hex[:12]}"))


@pytest.fixture(scope="module")
def maria_settings() -> Iterator[SqlStoreSettings]:
    """A database on the test server."""
    yield from _kept_open(mariadb_database(f"contract_{uuid4().hex[:12]}"))


class TestSqliteJobStore(SqlJobStoreContract):
    """SqlJobStore on SQLite."""

    @pytest.fixture
    def make_store(self, sqlite_settings: SqlStoreSettings) -> MakeStore:
        """How the store is made."""
        return maker(sqlite_settings)


@pytest.mark.postgresql
class TestPostgresqlJobStore(SqlJobStoreContract):
    """SqlJobStore on PostgreSQL."""

    @pytest.fixture
    def make_store(self, postgres_settings: SqlStoreSettings) -> MakeStore:
        """How the store is made."""
        return maker(postgres_settings)


@pytest.mark.mariadb
class TestMariaDbJobStore(SqlJobStoreContract):
    """SqlJobStore on MariaDB."""

    @pytest.fixture
    def make_store(self, maria_settings: SqlStoreSettings) -> MakeStore:
        """How the store is made."""
        return maker(maria_settings)
