"""What the tests of stores share: a store whose time stands still, jobs and triggers in few words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from quartzite.abc import Clock
from quartzite.execution import JobCompletion, TriggerFiredBundle
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.selectors import ByKeys
from quartzite.model.states import SchedulerInstruction, StoredTriggerState
from quartzite.rules.transitions import Transition
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.ram import RamJobStore
from quartzite.stores.session import StoredTrigger, StoreSession
from quartzite.stores.work import Work
from quartzite.testing.signaler import RecordingSignaler
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import SimpleTrigger

T = TypeVar("T")

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def job(name: str = "job", group: str = "DEFAULT", **fields: Any) -> JobDetail:
    """Return a durable job, unless ``fields`` says otherwise."""
    return JobDetail(key=JobKey(name, group), **{"job_type": JobType("tests.jobs:run"), "durable": True, **fields})


def trigger(name: str = "t", of: JobDetail | None = None, *, group: str = "DEFAULT", **fields: Any) -> SimpleTrigger:
    """Return a trigger that fires at ``NOW`` and every minute after, unless ``fields`` says otherwise."""
    defaults = {"start_time": NOW, "repeat_count": -1, "repeat_interval": MINUTE}
    given = {**defaults, **fields}
    given.setdefault("next_fire_time", given["start_time"])
    return SimpleTrigger(key=TriggerKey(name, group), job_key=(of or job()).key, **given)


def once(name: str = "t", of: JobDetail | None = None, **fields: Any) -> SimpleTrigger:
    """Return a trigger that fires once, at ``NOW``."""
    return trigger(name, of, **{"repeat_count": 0, "repeat_interval": timedelta(0), **fields})


class StandingClock(Clock):
    """Time that stands still until a test moves it; nobody waits on it."""

    def __init__(self) -> None:
        self._now = NOW

    def now(self) -> datetime:
        """Return the instant that was set."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds since the beginning."""
        return (self._now - NOW).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Fail: a store in memory does not wait."""
        raise AssertionError(f"the store slept for {seconds} s")

    def advance(self, delta: timedelta) -> None:
        """Move on."""
        self._now += delta


@dataclass(slots=True)
class Subject:
    """A RAM store, its clock, and what it told its scheduler."""

    store: RamJobStore
    clock: StandingClock
    heard: RecordingSignaler

    async def work(self, body: Callable[[StoreSession], Awaitable[T]]) -> T:
        """Run steps on the port, as an operation would."""
        return await self.store.run(Work.CHANGE, body)

    async def stored(self, key: TriggerKey) -> StoredTrigger | None:
        """Return a trigger with its stored state, or None."""
        rows = await self.work(lambda session: session.triggers.read(ByKeys([key])))
        return rows[0] if rows else None

    async def state(self, key: TriggerKey) -> StoredTriggerState:
        """Return the stored state of a trigger, DELETED when it is not there."""
        row = await self.stored(key)
        return StoredTriggerState.DELETED if row is None else row.state

    async def force(self, key: TriggerKey, state: StoredTriggerState) -> None:
        """Put a trigger into a state, whatever it is in: what a test begins with."""
        to_state = Transition(dict.fromkeys(StoredTriggerState, state))
        await self.work(lambda session: session.triggers.move(ByKeys([key]), to_state))

    async def acquire(self, count: int = 50, **request: Any) -> list[Trigger]:
        """Acquire what is due now."""
        until = request.pop("no_later_than", self.clock.now())
        asked = TriggerAcquisitionRequest(no_later_than=until, max_count=count, **request)
        return await self.store.acquire_next_triggers(asked)

    async def fire(self, triggers: Sequence[Trigger] | None = None) -> list[TriggerFiredBundle]:
        """Fire triggers, by default all that are due; return the bundles of those that fired."""
        acquired = await self.acquire() if triggers is None else triggers
        results = await self.store.triggers_fired(acquired)
        assert len(results) == len(acquired)
        return [result.bundle for result in results if result.bundle is not None]

    async def complete(self, *bundles: TriggerFiredBundle, instruction: SchedulerInstruction | None = None) -> None:
        """End firings as their triggers say, or with another instruction."""
        await self.store.triggered_jobs_complete(
            [JobCompletion(b.trigger, b.job, instruction or b.trigger.execution_complete(None)) for b in bundles]
        )


async def new_subject(**options: Any) -> Subject:
    """Return an initialized RAM store at ``NOW``."""
    clock, heard = StandingClock(), RecordingSignaler()
    store = RamJobStore(clock=clock, signaler=heard, serializer=JsonSerializer(), **options)
    await store.initialize(SchedulerIdentity(scheduler_name="tests", instance_id="node"))
    return Subject(store, clock, heard)
