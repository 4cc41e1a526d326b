"""How SqlJobStore is made for the contract suite, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, ClassVar

from quartzite.abc import JobStore, Serializer
from quartzite.clock import SystemClock
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.serialization.json import JsonSerializer
from quartzite.serialization.triggers import SimpleTriggerSerializer
from quartzite.settings import SqlStoreSettings
from quartzite.sql.dialects import dialect_for
from quartzite.sql.engine import create_engine
from quartzite.sql.schema import Schema
from quartzite.sql.tables import tables
from quartzite.stores.sql import SqlJobStore
from quartzite.testing.contracts import Capability, JobStoreContract, MakeStore, StoreParts
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.subjects import UnfirableTrigger, UnmisfirableTrigger
from tests.services import MARIADB, POSTGRESQL, new_mariadb_database, new_postgresql_schema

SUBJECTS = "quartzite.testing.contracts.subjects"
QUIET: dict[str, Any] = {"create_schema": False, "perform_schema_validation": False}
"""The tables were created just before: looking at them for each of some hundred stores would take most of the time."""


class UnfirableTriggerSerializer(SimpleTriggerSerializer):
    """Of :class:`UnfirableTrigger`."""

    trigger_class = UnfirableTrigger
    type_name = "UnfirableTrigger"


class UnmisfirableTriggerSerializer(SimpleTriggerSerializer):
    """Of :class:`UnmisfirableTrigger`."""

    trigger_class = UnmisfirableTrigger
    type_name = "UnmisfirableTrigger"


def serializer() -> Serializer:
    """Return a serializer that knows the kinds of triggers of the suite."""
    knowing = JsonSerializer()
    knowing.add_trigger_serializer(UnfirableTriggerSerializer())
    knowing.add_trigger_serializer(UnmisfirableTriggerSerializer())
    return knowing


class SqlJobStoreContract(JobStoreContract):
    """What the subjects on all databases share: one database for the module, an engine for each store."""

    capabilities: ClassVar = frozenset({Capability.PERSISTENCE, Capability.JOBS_BY_NAME, Capability.CUSTOM_TRIGGERS})

    async def handle_misfires(self, driver: StoreDriver) -> None:
        """Do what the background task does."""
        while (await driver.store.handle_misfires(100)).has_more:  # type: ignore[attr-defined]
            pass


def maker(settings: SqlStoreSettings) -> MakeStore:
    """Return what makes stores in a database whose tables are there already."""

    async def make(parts: StoreParts) -> JobStore:
        store = SqlJobStore(
            settings=settings.model_copy(update={"misfire_threshold": parts.misfire_threshold}),
            clock=parts.clock,
            signaler=parts.signaler,
            serializer=serializer(),
            type_loader=ImportTypeLoader(allowed_modules=[SUBJECTS]),
        )
        await store.initialize(parts.identity)
        return store

    return make


async def create_tables(settings: SqlStoreSettings) -> None:
    """Create the tables."""
    engine = create_engine(settings.url or "")
    try:
        await Schema(tables(schema=settings.schema_name), dialect_for(engine.dialect)).create(engine, SystemClock())
    finally:
        await engine.dispose()


@asynccontextmanager
async def sqlite_database(folder: Path) -> AsyncIterator[SqlStoreSettings]:
    """Create a database in a file, with its tables."""
    settings = SqlStoreSettings(url=f"sqlite:///{folder / 'store.db'}", **QUIET)
    await create_tables(settings)
    yield settings


@asynccontextmanager
async def postgresql_database(name: str) -> AsyncIterator[SqlStoreSettings]:
    """Create a schema on the test server, with its tables; it is dropped in the end."""
    async with new_postgresql_schema(POSTGRESQL.url, name) as schema:
        settings = SqlStoreSettings(url=POSTGRESQL.url, schema_name=schema, **QUIET)
        await create_tables(settings)
        yield settings


@asynccontextmanager
async def mariadb_database(name: str) -> AsyncIterator[SqlStoreSettings]:
    """Create a database on the test server, with its tables; it is dropped in the end."""
    async with new_mariadb_database(MARIADB.url, name) as url:
        settings = SqlStoreSettings(url=url, **QUIET)
        await create_tables(settings)
        yield settings
