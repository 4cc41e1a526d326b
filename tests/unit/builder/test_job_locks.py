"""The builder's verb for job locks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite import QuartzContainer, RamJobStore, SchedulerBuilder, add_quartz, create, every, running
from quartzite.abc import FiringGate
from quartzite.errors import InvalidValueError, SchedulerConfigError
from quartzite.leases import InMemoryLockProvider, JobLock, JobLocks, KeepAliveLockProvider
from quartzite.testing import FakeClock

MINUTE = timedelta(minutes=1)


@pytest.fixture
def container() -> QuartzContainer:
    """A container."""
    return QuartzContainer()


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the scheduler."""
    return FakeClock()


@pytest.fixture
def builder(container: QuartzContainer, clock: FakeClock) -> SchedulerBuilder:
    """The builder of its scheduler."""
    return add_quartz(container).use_clock(clock)


def gate_of(builder: SchedulerBuilder) -> JobLocks:
    """Return the gate of a scheduler, built."""
    gate: FiringGate | None = builder.parts.firing_gate()
    assert isinstance(gate, JobLocks)
    return gate


async def nothing() -> None:
    """Do nothing."""


def test_without_it_there_is_no_gate(builder: SchedulerBuilder) -> None:
    """A scheduler without job locks asks nobody before it fires."""
    assert builder.parts.firing_gate() is None


@pytest.mark.parametrize("kind", ["class", "instance", "factory"])
def test_a_provider_may_be_chosen_like_every_part(builder: SchedulerBuilder, clock: FakeClock, kind: str) -> None:
    """A class is built by annotation, an instance is taken as it is, a factory gets the scheduler's parts."""
    choices: dict[str, Any] = {
        "class": InMemoryLockProvider,
        "instance": InMemoryLockProvider(clock=clock),
        "factory": lambda parts: create(InMemoryLockProvider, parts),
    }
    gate = gate_of(builder.use_job_locks(choices[kind]))
    provider = gate._provider
    assert isinstance(provider, KeepAliveLockProvider)
    assert isinstance(provider._provider, InMemoryLockProvider)
    assert provider._provider._clock is clock


def test_leases_are_kept_alive_once(builder: SchedulerBuilder, clock: FakeClock) -> None:
    """A provider that keeps leases alive by itself is not wrapped again."""

    def keeping(parts: Any) -> KeepAliveLockProvider:
        inner = InMemoryLockProvider(clock=clock)
        return KeepAliveLockProvider(inner, heartbeat=parts.heartbeat(), clock=clock)

    gate = gate_of(builder.use_job_locks(keeping))
    assert isinstance(gate._provider, KeepAliveLockProvider)
    assert isinstance(gate._provider._provider, InMemoryLockProvider)


def test_keeping_alive_may_be_switched_off(builder: SchedulerBuilder) -> None:
    """Who wants leases to end by themselves can have that."""
    gate = gate_of(builder.use_job_locks(InMemoryLockProvider, keep_alive=False))
    assert isinstance(gate._provider, InMemoryLockProvider)


def test_a_second_choice_is_refused(builder: SchedulerBuilder) -> None:
    """Job locks are chosen once."""
    builder.use_job_locks(InMemoryLockProvider)
    with pytest.raises(SchedulerConfigError, match="has job locks already"):
        builder.use_job_locks(InMemoryLockProvider)


def test_what_is_no_provider_is_refused(builder: SchedulerBuilder) -> None:
    """A wrong choice is an error where it is written."""
    wrong: Any = RamJobStore
    with pytest.raises(SchedulerConfigError, match="no LockProvider"):
        builder.use_job_locks(wrong)


@pytest.mark.parametrize(
    "said",
    [
        {"default_at_most_for": timedelta(0)},
        {"default_at_most_for": MINUTE, "default_at_least_for": 2 * MINUTE},
    ],
)
def test_durations_that_do_not_go_together_are_refused(builder: SchedulerBuilder, said: dict[str, Any]) -> None:
    """A duration that no lease could have is an error where it is written."""
    with pytest.raises(InvalidValueError):
        builder.use_job_locks(InMemoryLockProvider, **said)
    assert builder.parts.firing_gate() is None


@pytest.mark.parametrize(
    "said",
    [
        {"at_most_for": timedelta(0)},
        {"at_least_for": -MINUTE},
        {"at_most_for": MINUTE, "at_least_for": 2 * MINUTE},
    ],
)
def test_the_durations_of_one_job_are_checked_too(said: dict[str, Any]) -> None:
    """So are those of a single job."""
    with pytest.raises(InvalidValueError):
        JobLock(**said)


def test_a_clustered_store_needs_none(builder: SchedulerBuilder) -> None:
    """A store that gives each firing to one node by itself is refused: leases would take recovered firings away."""

    class Clustered(RamJobStore):
        @property
        def clustered(self) -> bool:
            return True

    builder.use_job_store(Clustered).use_job_locks(InMemoryLockProvider)
    with pytest.raises(SchedulerConfigError, match="clustered store"):
        builder.parts.firing_gate()


async def test_each_life_has_locks_of_its_own(container: QuartzContainer, builder: SchedulerBuilder) -> None:
    """A container that runs again builds its gate again, and its heartbeat works again."""
    builder.use_job_locks(InMemoryLockProvider).schedule(nothing, every(hours=1))
    gates, heartbeats = [], []
    for _ in range(2):
        async with running(container):
            gates.append(builder.parts.firing_gate())
            heartbeats.append(builder.parts.heartbeat())
    assert gates[0] is not gates[1]
    assert heartbeats[0] is not heartbeats[1]
