"""The store in memory keeps the contract of job stores, bare and decorated."""

from __future__ import annotations

from typing import ClassVar

import pytest

from quartzite.testing.contracts import Capability, JobStoreContract, MakeStore
from tests.contract.subjects import InMemory, decorated_store


class TestRamJobStore(InMemory, JobStoreContract):
    """RamJobStore."""


class TestDecoratedJobStore(JobStoreContract):
    """RamJobStore behind decorators that forward everything."""

    capabilities: ClassVar = frozenset({Capability.CUSTOM_TRIGGERS})

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """How the store is made."""
        return decorated_store
