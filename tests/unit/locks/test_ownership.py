"""What every handler that derives from OwningSemaphore gets."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from quartzite.errors import LockError, SchedulerConfigError
from quartzite.locks import LocalSemaphore, UpdateRowSemaphore
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from quartzite.testing import FakeClock

CONTEXT = SemaphoreContext(scheduler_name="one", instance_id="a", clock=FakeClock())


async def test_a_handler_works_for_one_scheduler() -> None:
    """A second scheduler is refused by name; what was told before still holds."""
    semaphore = LocalSemaphore()
    await semaphore.initialize(CONTEXT)
    await semaphore.initialize(CONTEXT)
    with pytest.raises(SchedulerConfigError, match=r"'one'.*'two'.*handler of its own"):
        await semaphore.initialize(replace(CONTEXT, scheduler_name="two"))
    assert semaphore.context is CONTEXT


def test_a_handler_that_was_told_nothing_says_so() -> None:
    """The message names the call that is missing."""
    with pytest.raises(LockError, match=r"await initialize\(SemaphoreContext"):
        _ = LocalSemaphore().context


async def test_a_row_lock_needs_a_connection() -> None:
    """Without a connection nothing is asked, and nothing is held."""
    semaphore, requestor = UpdateRowSemaphore(), uuid4()
    await semaphore.initialize(CONTEXT)
    assert semaphore.requires_connection is True
    with pytest.raises(LockError, match="needs a connection"):
        await semaphore.obtain_lock(requestor, None, SchedulerLock.TRIGGER_ACCESS)
    assert not semaphore.holds(requestor, SchedulerLock.TRIGGER_ACCESS)
