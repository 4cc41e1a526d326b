"""The store in memory keeps the contract of job stores."""

from __future__ import annotations

from typing import ClassVar

import pytest

from quartzite.abc import JobStore
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.ram import RamJobStore
from quartzite.testing.contracts import Capability, JobStoreContract, MakeStore, StoreParts


async def ram_store(parts: StoreParts) -> JobStore:
    """Return an initialized store in memory."""
    store = RamJobStore(
        clock=parts.clock,
        signaler=parts.signaler,
        serializer=JsonSerializer(),
        misfire_threshold=parts.misfire_threshold,
    )
    await store.initialize(parts.identity)
    return store


class TestRamJobStore(JobStoreContract):
    """RamJobStore."""

    capabilities: ClassVar = frozenset({Capability.CUSTOM_TRIGGERS})

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """How the store is made."""
        return ram_store
