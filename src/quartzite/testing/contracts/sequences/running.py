"""Running a sequence of operations on one store or on several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from quartzite.errors import QuartzError
from quartzite.model.identity import SchedulerIdentity
from quartzite.testing.clock import FakeClock
from quartzite.testing.contracts.job_store.base import MakeStore, StoreContract, StoreParts
from quartzite.testing.contracts.job_store.content import START
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.sequences.invariants import check_invariants, check_rest
from quartzite.testing.contracts.sequences.operations import Operation
from quartzite.testing.contracts.sequences.world import HandleMisfires, World
from quartzite.testing.signaler import RecordingSignaler

__all__ = ["run_sequence"]

_THRESHOLD: Final = timedelta(seconds=5)
_numbers: Final = itertools.count(1)


async def run_sequence(
    operations: Sequence[Operation], *makers: MakeStore, handle_misfires: HandleMisfires | None = None
) -> None:
    """Run operations on a store of each maker, and check after each one.

    Every store must keep the invariants, answer as the first one answers, tell its scheduler the same and show the
    same. At the end everything comes to rest, and no trigger may be lost.

    Args:
        operations: What is done, on every store.
        makers: How the stores are made; each gets a scheduler name and a clock of its own.
        handle_misfires: Makes a store deal with what is misfired now; by default it acquires.

    Raises:
        AssertionError: a store breaks an invariant, or differs from the first one.
    """
    worlds: list[World] = []
    try:
        for maker in makers:
            worlds.append(await _world(maker, handle_misfires or _acquire_nothing))  # noqa: PERF401  # closed below
        for number, operation in enumerate(operations):
            steps = [await _step(world, operation) for world in worlds]
            for world, step in zip(worlds, steps, strict=True):
                step.must_equal(steps[0], f"{world.name} and {worlds[0].name}, step {number}: {operation}")
        for world in worlds:
            await check_rest(world)
    finally:
        for world in worlds:
            await world.driver.store.shutdown()


@dataclass(frozen=True, slots=True)
class _Step:
    """What one operation did, as far as it can be seen."""

    answer: Any
    told: dict[str, Any]
    seen: Any

    def must_equal(self, other: _Step, where: str) -> None:
        assert self.answer == other.answer, f"answers differ: {where}\n{self.answer}\n{other.answer}"
        assert self.told == other.told, f"notifications differ: {where}\n{self.told}\n{other.told}"
        for name in self.seen.__slots__:
            mine, theirs = getattr(self.seen, name), getattr(other.seen, name)
            assert mine == theirs, f"{name} differ: {where}\n{mine}\n{theirs}"


async def _step(world: World, operation: Operation) -> _Step:
    try:
        answer = world.shown(await operation.run(world))
    except QuartzError as error:
        answer = type(error).__name__
    told = world.told()
    seen = await world.snapshot()
    await check_invariants(world, seen)
    return _Step(answer, told, seen)


async def _world(maker: MakeStore, handle_misfires: HandleMisfires) -> World:
    parts = StoreParts(
        identity=SchedulerIdentity(scheduler_name=f"sequence {next(_numbers)} {uuid4()}", instance_id="node-1"),
        clock=FakeClock(START),
        signaler=RecordingSignaler(),
        misfire_threshold=_THRESHOLD,
    )
    store = await maker(parts)
    await store.scheduler_started()
    parts.signaler.clear()  # what a start tells depends on whether there was a former life
    driver = StoreDriver(
        store=store, clock=parts.clock, signaler=parts.signaler, misfire_threshold=parts.misfire_threshold
    )
    return World(name=getattr(maker, "__name__", repr(maker)), driver=driver, handle_misfires=handle_misfires)


async def _acquire_nothing(driver: StoreDriver) -> None:
    await StoreContract().handle_misfires(driver)
