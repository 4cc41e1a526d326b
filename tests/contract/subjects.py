"""How the stores are made that the contract suite judges."""

from __future__ import annotations

from typing import ClassVar

import pytest

from quartzite.abc import JobStore
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.stores.ram import RamJobStore
from quartzite.testing.contracts import Capability, MakeStore, StoreContract, StoreParts
from quartzite.triggers.base import Trigger


class LoopingJobStore(DelegatingJobStore):
    """Overrides the members for one key, so that every bulk member loops over them as the contract's defaults do."""

    async def delete_job(self, key: JobKey) -> bool:
        """Delete one."""
        return await super().delete_job(key)

    async def delete_trigger(self, key: TriggerKey) -> bool:
        """Delete one."""
        return await super().delete_trigger(key)

    async def get_job(self, key: JobKey) -> JobDetail | None:
        """Return one."""
        return await super().get_job(key)

    async def get_trigger(self, key: TriggerKey) -> Trigger | None:
        """Return one."""
        return await super().get_trigger(key)

    async def pause_job(self, key: JobKey) -> None:
        """Pause one."""
        await super().pause_job(key)

    async def resume_job(self, key: JobKey) -> None:
        """Resume one."""
        await super().resume_job(key)

    async def pause_trigger(self, key: TriggerKey) -> None:
        """Pause one."""
        await super().pause_trigger(key)

    async def resume_trigger(self, key: TriggerKey) -> None:
        """Resume one."""
        await super().resume_trigger(key)

    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """Complete one."""
        await super().triggered_job_complete(trigger, job, instruction)

    async def release_acquired_trigger(self, trigger: Trigger) -> None:
        """Release one."""
        await super().release_acquired_trigger(trigger)


def _bare(parts: StoreParts) -> RamJobStore:
    return RamJobStore(
        clock=parts.clock,
        signaler=parts.signaler,
        serializer=JsonSerializer(),
        misfire_threshold=parts.misfire_threshold,
    )


async def ram_store(parts: StoreParts) -> JobStore:
    """Return a store in memory."""
    store = _bare(parts)
    await store.initialize(parts.identity)
    return store


async def decorated_store(parts: StoreParts) -> JobStore:
    """Return a store in memory behind two decorators that change nothing."""
    store = DelegatingJobStore(DelegatingJobStore(_bare(parts)))
    await store.initialize(parts.identity)
    return store


async def looping_store(parts: StoreParts) -> JobStore:
    """Return a store in memory whose bulk members loop."""
    store = LoopingJobStore(_bare(parts))
    await store.initialize(parts.identity)
    return store


class InMemory(StoreContract):
    """Runs a topic of the suite, or tests of the same kind, on the store in memory."""

    capabilities: ClassVar = frozenset({Capability.CUSTOM_TRIGGERS})

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """How the store is made."""
        return ram_store
