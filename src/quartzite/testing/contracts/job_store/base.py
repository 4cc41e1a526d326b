"""StoreContract: what all topics of the store suite share."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import ClassVar, Final, Protocol, TypeAlias
from uuid import uuid4

import pytest
import pytest_asyncio

from quartzite.abc import JobStore
from quartzite.model.identity import SchedulerIdentity
from quartzite.testing.clock import FakeClock
from quartzite.testing.contracts.capabilities import Contract
from quartzite.testing.contracts.job_store.content import START
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.signaler import RecordingSignaler

__all__ = ["MakeDriver", "MakeStore", "StoreContract", "StoreParts"]

_numbers: Final = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreParts:
    """What the suite gives a store that it wants made.

    Attributes:
        identity: Whom the store is for. The scheduler name is one that no other test uses, so stores may share a
            database. A persistent store that is made again for the same name finds its data.
        clock: The only time that the store may know. The tests move it by jumps, which wake no background work, so
            that each step of theirs is the only one.
        signaler: Whom the store tells.
        misfire_threshold: How late a trigger may be before that is a misfire.
    """

    identity: SchedulerIdentity
    clock: FakeClock
    signaler: RecordingSignaler
    misfire_threshold: timedelta


MakeStore: TypeAlias = Callable[[StoreParts], Awaitable[JobStore]]
"""Builds a store of the parts and awaits its ``initialize(parts.identity)``."""


class MakeDriver(Protocol):
    """Makes and starts a store; all of one test have the same scheduler name and clock."""

    async def __call__(self, instance_id: str = ..., *, started: bool = ...) -> StoreDriver:
        """Return the driver of a new store for a node of this id."""


class StoreContract(Contract):
    """A topic of the store suite. A subclass overrides the fixture ``make_store``, and what it must know.

    Attributes:
        capabilities: What the store can do beyond the contract.
        misfire_threshold: Given to the store, and what the tests reckon with.
    """

    pytestmark: ClassVar = [pytest.mark.asyncio]
    misfire_threshold: ClassVar[timedelta] = timedelta(seconds=5)

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """How a store is made: to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must override the fixture make_store: see StoreContract")

    async def handle_misfires(self, driver: StoreDriver) -> None:
        """Make the store deal with everything that is misfired now.

        Acquiring does it, also where nothing can be reserved. A store that does it elsewhere overrides this.
        """
        before = -1
        while before != len(driver.signaler.misfired) + len(driver.signaler.triggers_in_error):
            before = len(driver.signaler.misfired) + len(driver.signaler.triggers_in_error)
            await driver.acquire(until=START - timedelta(days=36500))

    @pytest.fixture
    def store_parts(self) -> StoreParts:
        """What the stores of the test are made of."""
        return StoreParts(
            identity=SchedulerIdentity(scheduler_name=f"contract {next(_numbers)} {uuid4()}", instance_id="node-1"),
            clock=FakeClock(START),
            signaler=RecordingSignaler(),
            misfire_threshold=self.misfire_threshold,
        )

    @pytest_asyncio.fixture
    async def make_driver(self, make_store: MakeStore, store_parts: StoreParts) -> AsyncIterator[MakeDriver]:
        """Make stores; they are shut down when the test ends."""
        made: list[JobStore] = []

        async def make(instance_id: str = "node-1", *, started: bool = True) -> StoreDriver:
            identity = replace(store_parts.identity, instance_id=instance_id)
            parts = replace(store_parts, identity=identity, signaler=RecordingSignaler())
            store = await make_store(parts)
            made.append(store)
            if started:
                await store.scheduler_started()
            return StoreDriver(
                store=store, clock=parts.clock, signaler=parts.signaler, misfire_threshold=parts.misfire_threshold
            )

        yield make
        for store in made:
            await store.shutdown()

    @pytest_asyncio.fixture
    async def driver(self, make_driver: MakeDriver) -> StoreDriver:
        """The store of the test, started, and the verbs of a scheduler."""
        return await make_driver()
