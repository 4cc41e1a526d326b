"""How the stores are made that the contract suite judges."""

from __future__ import annotations

from quartzite.abc import JobStore
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.stores.ram import RamJobStore
from quartzite.testing.contracts import StoreParts


async def ram_store(parts: StoreParts) -> JobStore:
    """Return a store in memory."""
    store = RamJobStore(
        clock=parts.clock,
        signaler=parts.signaler,
        serializer=JsonSerializer(),
        misfire_threshold=parts.misfire_threshold,
    )
    await store.initialize(parts.identity)
    return store


async def decorated_store(parts: StoreParts) -> JobStore:
    """Return a store in memory behind two decorators that change nothing."""
    inner = RamJobStore(
        clock=parts.clock,
        signaler=parts.signaler,
        serializer=JsonSerializer(),
        misfire_threshold=parts.misfire_threshold,
    )
    store = DelegatingJobStore(DelegatingJobStore(inner))
    await store.initialize(parts.identity)
    return store
