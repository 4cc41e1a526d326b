"""LockProviderContract: what every lock provider must pass (decision 13)."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any, ClassVar, Final, TypeAlias
from uuid import uuid4

import pytest

from quartzite.clock import SystemClock
from quartzite.leases import Lease, LockConfiguration, LockProvider
from quartzite.testing.contracts.capabilities import Contract

__all__ = ["LetPass", "LockProviderContract", "MakeProvider"]

MakeProvider: TypeAlias = Callable[[str], Awaitable[LockProvider]]
"""Makes a provider of the node that is named, over the records that all providers of one test share."""
LetPass: TypeAlias = Callable[[timedelta], Awaitable[None]]
"""Lets time pass on the clock that the provider goes by."""

LONG: Final = timedelta(minutes=5)
"""Longer than any test takes."""
NODES: Final = 8
FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)
_numbers: Final = itertools.count(1)


def tick(number: int) -> datetime:
    """Return the n-th scheduled fire time."""
    return FIRST + timedelta(seconds=number)


class LockProviderContract(Contract):
    """What every lock provider must pass. A subclass overrides the fixture ``make_provider``.

    A provider that goes by a clock of the test overrides ``let_pass``, too; otherwise the suite waits in real time.

    Attributes:
        short: An at-most time whose end the suite waits for.
    """

    pytestmark: ClassVar = [pytest.mark.asyncio]
    short: ClassVar[timedelta] = timedelta(milliseconds=200)

    @pytest.fixture
    def make_provider(self) -> MakeProvider:
        """How a provider is made: to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must override the fixture make_provider")

    @pytest.fixture
    def let_pass(self) -> LetPass:
        """How time passes: in reality, with a little on top for what the provider rounds."""

        async def wait(span: timedelta) -> None:
            await SystemClock().sleep(span.total_seconds() + 0.02)

        return wait

    @pytest.fixture
    def name(self) -> str:
        """A lock that no other test uses."""
        return f"contract {next(_numbers)} {uuid4()}"

    # Granting -------------------------------------------------------------------------------------------------

    async def test_a_free_lock_is_granted_and_then_refused(self, make_provider: MakeProvider, name: str) -> None:
        """Who asks first gets the lease; whoever asks then gets None at once, its holder too."""
        first, second = await make_provider("one"), await make_provider("two")
        lease = await first.lock(lasting(name))
        assert (lease is not None, await second.lock(lasting(name)), await first.lock(lasting(name))) == (
            True,
            None,
            None,
        )

    async def test_a_lease_says_what_it_is(self, make_provider: MakeProvider, name: str) -> None:
        """A lease names its lock, its holder and what was asked for."""
        provider = await make_provider("one")
        asked = lasting(name)
        lease = await taken(provider, asked)
        assert (lease.name, lease.holder, lease.configuration, lease.lost.is_set) == (name, "one", asked, False)

    async def test_names_are_independent(self, make_provider: MakeProvider, name: str) -> None:
        """Names that differ by a letter's case, an accent or a space are different locks."""
        provider = await make_provider("one")
        names = [name, name.upper(), f"{name} ", f"{name}é", f"{name}e", f"{name}\u0301"]
        leases = [await provider.lock(lasting(other)) for other in names]
        assert all(leases)

    async def test_the_longest_name_can_be_locked(self, make_provider: MakeProvider, name: str) -> None:
        """A name of 255 characters is not cut: another one that begins alike is another lock."""
        provider = await make_provider("one")
        long = name.ljust(254, "ü")
        assert await provider.lock(lasting(f"{long}a"))
        assert await provider.lock(lasting(f"{long}b"))
        assert await provider.lock(lasting(f"{long}a")) is None

    # Releasing ------------------------------------------------------------------------------------------------

    async def test_a_released_lock_is_free(self, make_provider: MakeProvider, name: str) -> None:
        """A released lock is granted again at once."""
        first, second = await make_provider("one"), await make_provider("two")
        lease = await taken(first, lasting(name))
        assert await lease.unlock()
        assert await second.lock(lasting(name))

    async def test_a_lease_is_kept_for_its_at_least_time(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """A lease that is released early stays taken until its at-least time is over."""
        first, second = await make_provider("one"), await make_provider("two")
        lease = await taken(first, lasting(name, at_least=LONG))
        assert await lease.unlock()
        assert await second.lock(lasting(name)) is None
        brief = await taken(first, lasting(f"{name} brief", at_least=self.short))
        assert await brief.unlock()
        await let_pass(self.short)
        assert await second.lock(lasting(f"{name} brief"))

    async def test_a_lease_ends_by_itself(self, make_provider: MakeProvider, name: str, let_pass: LetPass) -> None:
        """A lease that nobody releases ends after its at-most time."""
        first, second = await make_provider("one"), await make_provider("two")
        await taken(first, lasting(name, at_most=self.short))
        await let_pass(self.short)
        assert await second.lock(lasting(name))

    async def test_a_former_holder_changes_nothing(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """What a former holder releases or extends has no effect on the present one, and it learns so."""
        first, second, third = [await make_provider(node) for node in ("one", "two", "three")]
        former = await taken(first, lasting(name, at_most=self.short))
        await let_pass(self.short)
        await taken(second, lasting(name))
        before = await second.holder(name)
        assert (await former.unlock(), await former.extend(LONG)) == (False, False)
        assert await second.holder(name) == before
        assert await third.lock(lasting(name)) is None

    async def test_the_same_node_is_a_former_holder_too(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """A lease is told from a later one of the same node."""
        provider = await make_provider("one")
        former = await taken(provider, lasting(name, at_most=self.short))
        await let_pass(self.short)
        await taken(provider, lasting(name))
        assert not await former.unlock()
        assert await provider.lock(lasting(name)) is None

    # Extending ------------------------------------------------------------------------------------------------

    async def test_an_extended_lease_lasts_longer(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """An extension counts from now; the lease outlasts what was asked for first."""
        first, second = await make_provider("one"), await make_provider("two")
        lease = await taken(first, lasting(name, at_most=3 * self.short))
        deadline = lease.deadline
        assert await lease.extend(LONG)
        assert lease.deadline > deadline
        await let_pass(3 * self.short)
        assert await second.lock(lasting(name)) is None
        assert await lease.unlock()
        assert await second.lock(lasting(name))

    async def test_an_extension_sets_the_at_least_time(self, make_provider: MakeProvider, name: str) -> None:
        """The at-least time of an extension holds instead of the first one."""
        first, second = await make_provider("one"), await make_provider("two")
        lease = await taken(first, lasting(name))
        assert await lease.extend(LONG, LONG)
        assert await lease.unlock()
        assert await second.lock(lasting(name)) is None

    async def test_a_lease_that_has_ended_can_not_be_extended(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """After its end, or its release, a lease is not extended, even if nobody has taken the lock since."""
        first, second = await make_provider("one"), await make_provider("two")
        ended = await taken(first, lasting(name, at_most=self.short))
        released = await taken(first, lasting(f"{name} released"))
        await released.unlock()
        await let_pass(self.short)
        assert (await ended.extend(LONG), await released.extend(LONG)) == (False, False)
        assert await second.lock(lasting(name))

    # Telling --------------------------------------------------------------------------------------------------

    async def test_the_holder_is_known(self, make_provider: MakeProvider, name: str) -> None:
        """Everybody can ask who has a lock, since when and until when; nobody ever had an unknown one."""
        first, second = await make_provider("one"), await make_provider("two")
        assert await second.holder(name) is None
        lease = await taken(first, lasting(name, tick=tick(1)))
        info = await second.holder(name)
        assert info is not None
        assert (info.holder, info.tick, info.token, info.locked_at) == ("one", tick(1), lease.token, lease.locked_at)
        assert info.locked_until == lease.locked_at + LONG

    async def test_the_record_outlives_the_lease(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """Who had the lock last, and its latest tick, are known after the lease has ended."""
        provider = await make_provider("one")
        await taken(provider, lasting(name, at_most=self.short, tick=tick(7)))
        await let_pass(2 * self.short)
        info = await provider.holder(name)
        assert info is not None
        assert (info.holder, info.tick) == ("one", tick(7))

    async def test_tokens_grow(self, make_provider: MakeProvider, name: str) -> None:
        """Each lease of a name has a greater token than all before, whichever node takes it."""
        providers = [await make_provider(f"node {number}") for number in range(3)]
        tokens = []
        for number in range(30):
            lease = await taken(providers[number % 3], lasting(name))
            tokens.append(lease.token)
            await lease.unlock()
        assert tokens == sorted(set(tokens))

    # Ticks ----------------------------------------------------------------------------------------------------

    async def test_a_tick_is_granted_once(self, make_provider: MakeProvider, name: str) -> None:
        """A tick that was claimed is refused to everybody, after its release too; so is every earlier one."""
        first, second = await make_provider("one"), await make_provider("two")
        lease = await taken(first, lasting(name, tick=tick(5)))
        assert await second.lock(lasting(name, tick=tick(5))) is None
        await lease.unlock()
        refused = [await second.lock(lasting(name, tick=tick(number))) for number in (5, 4, 1)]
        assert refused == [None, None, None]

    async def test_a_tick_stays_claimed_when_its_lease_has_ended(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """A node that was frozen can not run an old tick again, however long ago its lease ended."""
        first, second = await make_provider("one"), await make_provider("two")
        await taken(first, lasting(name, at_most=self.short, tick=tick(5)))
        await let_pass(2 * self.short)
        assert await second.lock(lasting(name, tick=tick(5))) is None

    async def test_a_later_tick_waits_for_nothing(self, make_provider: MakeProvider, name: str) -> None:
        """A later tick is granted while the lease of the one before lasts, and within its at-least time."""
        first, second = await make_provider("one"), await make_provider("two")
        running = await taken(first, lasting(name, at_least=LONG, tick=tick(1)))
        later = await taken(second, lasting(name, at_least=LONG, tick=tick(2)))
        assert later.token > running.token
        assert await later.unlock()
        assert await first.lock(lasting(name, tick=tick(3)))

    async def test_ticks_differ_by_a_microsecond(self, make_provider: MakeProvider, name: str) -> None:
        """Ticks are compared exactly."""
        provider = await make_provider("one")
        await taken(provider, lasting(name, tick=tick(1)))
        assert await provider.lock(lasting(name, tick=tick(1) - timedelta.resolution)) is None
        assert await provider.lock(lasting(name, tick=tick(1) + timedelta.resolution))

    async def test_an_exclusive_tick_waits_for_the_release(self, make_provider: MakeProvider, name: str) -> None:
        """A job that must not overlap gets its next tick when the run before is over, and not by its at-least time."""
        first, second = await make_provider("one"), await make_provider("two")
        running = await taken(first, lasting(name, at_least=LONG, tick=tick(1), exclusive=True))
        assert await second.lock(lasting(name, tick=tick(2), exclusive=True)) is None
        await running.unlock()
        assert await second.lock(lasting(name, tick=tick(3), exclusive=True))

    async def test_an_exclusive_tick_is_freed_by_the_end_of_the_lease(
        self, make_provider: MakeProvider, name: str, let_pass: LetPass
    ) -> None:
        """The node that runs a tick may die: a later one is granted after its at-most time."""
        first, second = await make_provider("one"), await make_provider("two")
        await taken(first, lasting(name, at_most=self.short, tick=tick(1), exclusive=True))
        await let_pass(self.short)
        assert await second.lock(lasting(name, tick=tick(2), exclusive=True))

    # Contention -----------------------------------------------------------------------------------------------

    async def test_never_two_holders(self, make_provider: MakeProvider, name: str) -> None:
        """However many nodes ask at once, one at most has the lock, and all of them get it in the end."""
        providers = [await make_provider(f"node {number}") for number in range(NODES)]
        inside: set[str] = set()
        most = 0

        async def contend(provider: LockProvider, own: str) -> None:
            nonlocal most
            turns = 0
            while turns < 3:
                lease = await provider.lock(lasting(name))
                if lease is None:
                    await asyncio.sleep(0)
                    continue
                inside.add(own)
                most = max(most, len(inside))
                await asyncio.sleep(0)
                inside.discard(own)
                turns += 1
                await lease.unlock()

        await asyncio.gather(*(contend(provider, f"{number}") for number, provider in enumerate(providers)))
        assert (most, inside) == (1, set())

    async def test_each_tick_has_one_holder(self, make_provider: MakeProvider, name: str) -> None:
        """Of several nodes that claim the same ticks each is granted to exactly one."""
        providers = [await make_provider(f"node {number}") for number in range(NODES)]
        granted: list[int] = []
        for number in range(10):
            asked = lasting(name, tick=tick(number))
            leases = await asyncio.gather(*(provider.lock(asked) for provider in providers))
            granted.append(sum(lease is not None for lease in leases))
        assert granted == [1] * 10

    # Other event loops ----------------------------------------------------------------------------------------

    async def test_a_twin_keeps_a_lease_from_another_event_loop(self, make_provider: MakeProvider, name: str) -> None:
        """A twin extends and releases the leases of its provider, on an event loop in another thread."""
        provider, other = await make_provider("one"), await make_provider("two")
        lease = await taken(provider, lasting(name))

        async def extend_and_release() -> tuple[bool, bool]:
            twin = provider.twin()
            try:
                return await twin.prolong(lease, LONG, timedelta(0)), await twin.release(lease)
            finally:
                await twin.close()

        assert in_another_thread(extend_and_release) == (True, True)
        assert await other.lock(lasting(name))

    async def test_a_closed_provider_may_be_closed_again(self, make_provider: MakeProvider) -> None:
        """Closing twice does no harm."""
        provider = await make_provider("one")
        await provider.close()
        await provider.close()


def lasting(
    name: str,
    *,
    at_most: timedelta = LONG,
    at_least: timedelta = timedelta(0),
    tick: datetime | None = None,
    exclusive: bool = False,
) -> LockConfiguration:
    """Return what a lock is asked for."""
    return LockConfiguration(
        name=name, lock_at_most_for=at_most, lock_at_least_for=at_least, tick=tick, exclusive=exclusive
    )


async def taken(provider: LockProvider, asked: LockConfiguration) -> Lease:
    """Take a lock that must be free."""
    lease = await provider.lock(asked)
    assert lease is not None, f"{asked} was refused; it is held by {await provider.holder(asked.name)}"
    return lease


def in_another_thread(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run work on an event loop of its own in another thread, and return its result."""
    results: list[Any] = []

    async def run() -> Any:
        return await work()

    thread = Thread(target=lambda: results.append(asyncio.run(run())))
    thread.start()
    thread.join()
    assert results, "the work failed in its thread"
    return results[0]
