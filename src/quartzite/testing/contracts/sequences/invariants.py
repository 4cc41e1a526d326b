"""Invariants: what holds in every store after every operation, and when everything has come to rest."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from quartzite.execution import JobCompletion
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance
from quartzite.model.states import FiredState, SchedulerInstruction, TriggerState
from quartzite.testing.contracts.job_store.content import keys_of
from quartzite.testing.contracts.job_store.snapshot import Snapshot
from quartzite.testing.contracts.sequences.world import World

__all__ = ["check_invariants", "check_rest"]

_FAR: Final = timedelta(days=3650)


async def check_invariants(world: World, seen: Snapshot) -> None:
    """Check what can be seen of a store against itself and against what its scheduler knows.

    Raises:
        AssertionError: an invariant is broken; the message says which.
    """
    _all_ways_of_asking_agree(seen)
    _non_concurrent_jobs_run_alone(world)
    _firings_are_those_of_the_scheduler(world, await world.driver.firings())
    _nobody_is_blocked_by_nothing(world, seen)
    for state in TriggerState:
        expected = [header.key for header in seen.trigger_headers if header.state is state]
        assert keys_of(await world.driver.headers(state=state)) == expected, f"filter by {state!r}"


def _all_ways_of_asking_agree(seen: Snapshot) -> None:
    headers = seen.trigger_headers
    assert tuple(header.state for header in headers) == seen.trigger_states, "header and state"
    assert keys_of(headers) == keys_of(seen.triggers), "headers and triggers"
    assert keys_of(seen.job_headers) == keys_of(seen.jobs), "headers and jobs"
    assert {header.job_key for header in headers} <= set(keys_of(seen.jobs)), "a trigger without a job"
    assert [group.name for group in seen.trigger_groups] == sorted({header.key.group for header in headers})
    assert [group.name for group in seen.job_groups] == sorted({header.key.group for header in seen.job_headers})
    for header, trigger in zip(headers, seen.triggers, strict=True):
        times = (trigger.next_fire_time, trigger.previous_fire_time)
        assert (header.next_fire_time, header.previous_fire_time) == times, "header and trigger"


def _non_concurrent_jobs_run_alone(world: World) -> None:
    busy: set[JobKey] = set()
    for bundle in world.running:  # in the order in which they fired
        alone = bundle.job.concurrent_execution_disallowed
        assert not alone or bundle.job.key not in busy, f"{bundle.job.key} runs, and was not to run beside another run"
        busy.add(bundle.job.key)


def _firings_are_those_of_the_scheduler(world: World, firings: list[FireInstance]) -> None:
    held = {trigger.fire_instance_id for trigger in world.held}
    running = {bundle.fire_instance_id for bundle in world.running}
    for firing in firings:
        known = held if firing.state is FiredState.ACQUIRED else running
        assert firing.fire_instance_id in known, f"{firing} is listed, and the scheduler knows nothing of it"


def _nobody_is_blocked_by_nothing(world: World, seen: Snapshot) -> None:
    busy = {bundle.job.key for bundle in world.running}
    for header in seen.trigger_headers:
        blocked = header.state is TriggerState.BLOCKED
        assert not blocked or header.job_key in busy, f"{header.key} is BLOCKED and its job does not run"


async def check_rest(world: World) -> None:
    """End all that runs, give back all that is held, resume everything: every trigger that can fire must be free to.

    Raises:
        AssertionError: a trigger is lost, or something is left over.
    """
    await _come_to_rest(world)
    assert await world.driver.firings() == [], "firings are left, and nothing runs"
    headers = await world.driver.headers()
    for header in headers:
        has_time = header.next_fire_time is not None
        allowed = {TriggerState.NORMAL, TriggerState.COMPLETE, TriggerState.ERROR}
        assert header.state in allowed or (header.state is TriggerState.PAUSED and not has_time), header
    free = {header.key for header in headers if header.state is TriggerState.NORMAL and header.next_fire_time}
    assert await _acquirable(world) == free, "triggers that are NORMAL and those that can be acquired"


async def _come_to_rest(world: World) -> None:
    store = world.driver.store
    none = SchedulerInstruction.NO_INSTRUCTION
    await store.triggered_jobs_complete([JobCompletion(one.trigger, one.job, none) for one in world.running])
    await store.release_acquired_triggers(world.held)
    world.running, world.held = [], []
    await store.scheduler_resumed()
    await store.resume_all()
    await world.handle_misfires(world.driver)


async def _acquirable(world: World) -> set[TriggerKey]:
    """Acquire everything that will ever fire, batch by batch: one batch holds one trigger of a non-concurrent job."""
    found: set[TriggerKey] = set()
    jobs: set[JobKey] = set()
    now = world.driver.clock.now()
    while batch := await world.driver.acquire(until=now + _FAR, window=_FAR):
        assert found.isdisjoint(keys_of(batch)), "a trigger is acquired twice"
        found |= set(keys_of(batch))
        jobs |= {trigger.job_key for trigger in batch}
    return found
