"""SemaphoreContract: what every lock handler must pass (spec 09)."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeAlias
from uuid import UUID, uuid4

import pytest

from quartzite.abc import Semaphore
from quartzite.model.identity import SchedulerLock, SemaphoreContext
from quartzite.testing.clock import FakeClock
from quartzite.testing.contracts.capabilities import Capability, Contract, requires

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["Connect", "MakeSemaphore", "SemaphoreContract"]

TRIGGERS: Final = SchedulerLock.TRIGGER_ACCESS
STATE: Final = SchedulerLock.STATE_ACCESS
_PATIENCE: Final = 0.05
"""Real seconds after which a call that has not returned is taken to wait."""
_numbers: Final = itertools.count(1)

MakeSemaphore: TypeAlias = Callable[[SemaphoreContext], Awaitable[Semaphore]]
"""Builds a handler and awaits its ``initialize`` with the context."""
Connect: TypeAlias = "Callable[[], AbstractAsyncContextManager[AsyncConnection | None]]"
"""Opens a connection with a transaction, which ends with the block; None for handlers that need none."""


class SemaphoreContract(Contract):
    """What every lock handler must pass. A subclass overrides the fixture ``make_semaphore``.

    A handler that requires a connection overrides ``connect`` too. The tests hold a lock as a store does: they open
    the connection first when the handler requires one, and release the lock when its transaction has ended.

    Attributes:
        capabilities: What the handler can do beyond the contract.
    """

    pytestmark: ClassVar = [pytest.mark.asyncio]

    @pytest.fixture
    def make_semaphore(self) -> MakeSemaphore:
        """How a handler is made: to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must override the fixture make_semaphore")

    @pytest.fixture
    def connect(self) -> Connect:
        """How a connection is opened: to be overridden where the handler requires one."""
        return nullcontext

    @pytest.fixture
    def context(self) -> SemaphoreContext:
        """What the handlers of the test are told; the scheduler name is one that no other test uses.

        A handler that needs more, such as the prefix of its tables, overrides this. The clock is a ``FakeClock``.
        """
        name = f"contract {next(_numbers)} {uuid4()}"
        return SemaphoreContext(scheduler_name=name, instance_id="node-1", clock=FakeClock())

    @pytest.fixture
    def make_holders(self, make_semaphore: MakeSemaphore, connect: Connect, context: SemaphoreContext) -> MakeHolders:
        """Make handlers and what the tests do with them; the scheduler name is that of the test, or another one."""

        async def make(scheduler_name: str | None = None) -> Holders:
            told = replace(context, scheduler_name=scheduler_name or context.scheduler_name)
            assert isinstance(told.clock, FakeClock), "the suite moves the clock itself"
            return Holders(await make_semaphore(told), connect, told.clock)

        return make

    async def test_a_free_lock_is_granted(self, make_holders: MakeHolders) -> None:
        """Whoever asks for a free lock gets it at once, and can get it again after the release."""
        holders = await make_holders()
        requestor = uuid4()
        for _ in range(3):
            async with holders.holding(requestor, TRIGGERS) as taken:
                assert taken is True

    async def test_asking_again_takes_nothing(self, make_holders: MakeHolders) -> None:
        """A requestor that holds the lock is answered False, and one release frees it."""
        holders = await make_holders()
        requestor = uuid4()
        async with holders.holding(requestor, TRIGGERS) as outer:
            assert outer is True
            async with holders.holding(requestor, TRIGGERS) as inner:
                assert inner is False
            waiting = holders.ask(uuid4(), TRIGGERS)
            assert await holders.waits(waiting), "the inner call released what it did not take"
        assert await holders.granted(waiting) is True

    async def test_another_one_waits(self, make_holders: MakeHolders) -> None:
        """A second requestor waits until the first one has released the lock, then gets it."""
        holders = await make_holders()
        async with holders.holding(uuid4(), TRIGGERS):
            waiting = holders.ask(uuid4(), TRIGGERS)
            assert await holders.waits(waiting)
        assert await holders.granted(waiting) is True

    async def test_all_who_wait_get_their_turn(self, make_holders: MakeHolders) -> None:
        """However many ask, each gets the lock, and no two of them at the same time."""
        holders = await make_holders()
        inside, most, turns = 0, 0, 0

        async def take_a_turn() -> None:
            nonlocal inside, most, turns
            async with holders.holding(uuid4(), TRIGGERS):
                inside, turns = inside + 1, turns + 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        tasks = [asyncio.ensure_future(take_a_turn()) for _ in range(8)]
        for task in tasks:
            await holders.finished(task)
        assert (most, turns) == (1, 8)

    @pytest.mark.parametrize("lock", SchedulerLock, ids=lambda lock: lock.value)
    async def test_either_lock_can_be_held_with_the_other(self, make_holders: MakeHolders, lock: SchedulerLock) -> None:
        """One requestor may hold both locks; each is taken by its own call and released on its own."""
        holders = await make_holders()
        requestor, other = uuid4(), next(one for one in SchedulerLock if one is not lock)
        async with holders.holding(requestor, other) as first, holders.holding(requestor, lock) as second:
            assert (first, second) == (True, True)
        async with holders.holding(uuid4(), lock) as third:
            assert third is True

    @requires(Capability.INDEPENDENT_LOCKS)
    async def test_the_two_locks_are_independent(self, make_holders: MakeHolders) -> None:
        """One requestor may hold the one lock while another holds the other."""
        holders = await make_holders()
        async with holders.holding(uuid4(), STATE) as state, holders.holding(uuid4(), TRIGGERS) as triggers:
            assert (state, triggers) == (True, True)

    async def test_a_call_that_is_cancelled_holds_nothing(self, make_holders: MakeHolders) -> None:
        """Cancelled while it waits, a call raises, never answers, and the lock goes to the next one."""
        holders = await make_holders()
        async with holders.holding(uuid4(), TRIGGERS):
            begun = asyncio.Event()
            cancelled, patient = holders.ask(uuid4(), TRIGGERS, begun), holders.ask(uuid4(), TRIGGERS)
            await begun.wait()  # what is cancelled is the call, not the connection that may be opened before it
            assert await holders.waits(cancelled)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            assert await holders.waits(patient)
        assert await holders.granted(patient) is True
        async with holders.holding(uuid4(), TRIGGERS) as taken:
            assert taken is True

    @pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])
    async def test_a_call_that_is_cancelled_on_its_way_holds_nothing(
        self, make_holders: MakeHolders, turns: int
    ) -> None:
        """Wherever a call is cancelled that would have got the lock, the lock is free afterwards."""
        holders = await make_holders()
        begun = asyncio.Event()
        asked = holders.ask(uuid4(), TRIGGERS, begun)
        await begun.wait()
        for _ in range(turns):
            await asyncio.sleep(0)
        asked.cancel()
        with suppress(asyncio.CancelledError):
            assert await asked is True
        assert await holders.granted(holders.ask(uuid4(), TRIGGERS)) is True

    async def test_a_lock_that_is_held_is_verified(self, make_holders: MakeHolders) -> None:
        """Verifying a lock that was not lost says nothing, and the lock is held as before."""
        holders = await make_holders()
        requestor = uuid4()
        async with holders.holding(requestor, TRIGGERS):
            await holders.semaphore.verify_lock(requestor, TRIGGERS)
            assert await holders.waits(waiting := holders.ask(uuid4(), TRIGGERS))
        assert await holders.granted(waiting) is True

    async def test_a_handler_can_be_shut_down_at_any_time(self, make_holders: MakeHolders) -> None:
        """Shutting down a handler that was never asked, or was shut down before, does nothing."""
        holders = await make_holders()
        await holders.semaphore.shutdown()
        await holders.semaphore.shutdown()

    async def test_the_release_by_a_stranger_warns(
        self, make_holders: MakeHolders, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Whoever releases what he does not hold is warned about, raises nothing and frees nothing."""
        holders = await make_holders()
        with caplog.at_level(logging.WARNING, logger="quartzite"):
            await holders.semaphore.release_lock(uuid4(), TRIGGERS)
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        async with holders.holding(uuid4(), TRIGGERS):
            await holders.semaphore.release_lock(uuid4(), TRIGGERS)
            waiting = holders.ask(uuid4(), TRIGGERS)
            assert await holders.waits(waiting)
        assert await holders.granted(waiting) is True

    async def test_a_lock_is_released_once(self, make_holders: MakeHolders) -> None:
        """A second release by the same requestor does not free what the next one holds."""
        holders = await make_holders()
        first = uuid4()
        async with holders.holding(first, TRIGGERS):
            pass
        async with holders.holding(uuid4(), TRIGGERS):
            await holders.semaphore.release_lock(first, TRIGGERS)
            waiting = holders.ask(uuid4(), TRIGGERS)
            assert await holders.waits(waiting)
        assert await holders.granted(waiting) is True

    @requires(Capability.SHARED_LOCKS)
    async def test_handlers_of_one_scheduler_exclude_each_other(self, make_holders: MakeHolders) -> None:
        """Two nodes of a cluster do not hold the same lock at once, also when their requestors have the same id."""
        one, two = await make_holders(), await make_holders()
        requestor = uuid4()
        async with one.holding(requestor, TRIGGERS):
            waiting = two.ask(requestor, TRIGGERS)
            assert await two.waits(waiting)
        assert await two.granted(waiting) is True

    @requires(Capability.SHARED_LOCKS)
    async def test_schedulers_of_other_names_are_apart(
        self, make_holders: MakeHolders, context: SemaphoreContext
    ) -> None:
        """Locks of another scheduler name are other locks."""
        here, there = await make_holders(), await make_holders(f"{context.scheduler_name} too")
        async with here.holding(uuid4(), TRIGGERS) as one, there.holding(uuid4(), TRIGGERS) as two:
            assert (one, two) == (True, True)


class Holders:
    """Requestors of one handler, who behave as a store does."""

    def __init__(self, semaphore: Semaphore, connect: Connect, clock: FakeClock) -> None:
        self.semaphore = semaphore
        self._connect = connect
        self._clock = clock

    @asynccontextmanager
    async def holding(
        self, requestor: UUID, lock: SchedulerLock, begun: asyncio.Event | None = None
    ) -> AsyncIterator[bool]:
        """Hold a lock within a block, which is told what the handler answered; ``begun`` is set just before asking."""
        taken = False
        try:
            async with self._connect() if self.semaphore.requires_connection else nullcontext() as connection:
                if begun is not None:
                    begun.set()
                taken = await self.semaphore.obtain_lock(requestor, connection, lock)
                yield taken
        finally:
            if taken:
                await self.semaphore.release_lock(requestor, lock)

    def ask(self, requestor: UUID, lock: SchedulerLock, begun: asyncio.Event | None = None) -> asyncio.Future[bool]:
        """Ask for a lock in a task, which gives it back at once and returns the answer."""

        async def hold() -> bool:
            async with self.holding(requestor, lock, begun) as taken:
                return bool(taken)

        return asyncio.ensure_future(hold())

    async def waits(self, asked: asyncio.Future[bool]) -> bool:
        """Tell whether a call has not been answered after a while."""
        await asyncio.wait({asked}, timeout=_PATIENCE)
        return not asked.done()

    async def granted(self, asked: asyncio.Future[bool]) -> bool:
        """Return the answer of a call that should not have to wait any more."""
        await self.finished(asked)
        return asked.result()

    async def finished(self, task: asyncio.Future[Any]) -> None:
        """Wait for a task; meanwhile the clock goes on, for a handler that asks again and again."""
        async with asyncio.timeout(10):
            while not task.done():
                await self._clock.advance(milliseconds=100)
                await asyncio.wait({task}, timeout=_PATIENCE)
        await task


class MakeHolders(Protocol):
    """Makes a handler and its requestors; all of one test have the same clock."""

    async def __call__(self, scheduler_name: str | None = ...) -> Holders:
        """Return the requestors of a new handler."""
