"""The lock handlers keep the contract of semaphores."""

from __future__ import annotations

from typing import ClassVar

import pytest

from quartzite.abc import Semaphore
from quartzite.locks import LocalSemaphore
from quartzite.model.identity import SemaphoreContext
from quartzite.testing.contracts import Capability, MakeSemaphore, SemaphoreContract


class TestLocalSemaphore(SemaphoreContract):
    """LocalSemaphore."""

    capabilities: ClassVar = frozenset({Capability.INDEPENDENT_LOCKS})

    @pytest.fixture
    def make_semaphore(self) -> MakeSemaphore:
        """How the handler is made."""

        async def make(context: SemaphoreContext) -> Semaphore:
            semaphore = LocalSemaphore()
            await semaphore.initialize(context)
            return semaphore

        return make
