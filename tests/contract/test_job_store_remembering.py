"""The persistent half of the contract, on a store in memory whose data outlives it."""

from __future__ import annotations

from typing import ClassVar

import pytest

from quartzite.abc import JobStore
from quartzite.stores.ram.session import RamTables
from quartzite.testing.contracts import Capability, MakeStore, StoreParts
from quartzite.testing.contracts.job_store import PersistenceContract, RecoveryContract
from tests.contract.remembering import RememberingJobStore


class TestRememberingJobStore(PersistenceContract, RecoveryContract):
    """RememberingJobStore."""

    capabilities: ClassVar = frozenset({Capability.PERSISTENCE})

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """How the store is made."""
        remembered: dict[str, RamTables] = {}

        async def make(parts: StoreParts) -> JobStore:
            store = RememberingJobStore(parts, remembered)
            await store.initialize(parts.identity)
            return store

        return make
