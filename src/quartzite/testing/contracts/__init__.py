"""The suites that every replaceable part must pass: run them on yours.

::

    class TestMyStore(JobStoreContract):
        @pytest.fixture
        def make_store(self) -> MakeStore:
            async def make(parts: StoreParts) -> JobStore:
                store = MyStore(clock=parts.clock, signaler=parts.signaler)
                await store.initialize(parts.identity)
                return store

            return make

They need pytest and pytest-asyncio.
"""

import pytest

# Before the modules are imported, so that a failing assert shows its values.
pytest.register_assert_rewrite(
    "quartzite.testing.contracts.job_store",
    "quartzite.testing.contracts.lock_provider",
    "quartzite.testing.contracts.semaphore",
)

from quartzite.testing.contracts.capabilities import Capability, Contract, requires  # noqa: E402
from quartzite.testing.contracts.job_store import (  # noqa: E402
    JobStoreContract,
    MakeDriver,
    MakeStore,
    StoreContract,
    StoreDriver,
    StoreParts,
)
from quartzite.testing.contracts.lock_provider import LetPass, LockProviderContract, MakeProvider  # noqa: E402
from quartzite.testing.contracts.semaphore import Connect, MakeSemaphore, SemaphoreContract  # noqa: E402

__all__ = [
    "Capability",
    "Connect",
    "Contract",
    "JobStoreContract",
    "LetPass",
    "LockProviderContract",
    "MakeDriver",
    "MakeProvider",
    "MakeSemaphore",
    "MakeStore",
    "SemaphoreContract",
    "StoreContract",
    "StoreDriver",
    "StoreParts",
    "requires",
]
