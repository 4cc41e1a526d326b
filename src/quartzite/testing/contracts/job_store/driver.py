"""StoreDriver: leads a store through its life and its fire cycle, as a scheduler would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from quartzite.abc import JobStore
from quartzite.execution import TriggerFiredBundle
from quartzite.model.acquisition import ExecutionLimits, TriggerAcquisitionRequest
from quartzite.model.job import JobDetail
from quartzite.model.job_data import MutableJobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance, FireInstanceQuery, TriggerHeader, TriggerQuery
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.testing.clock import FakeClock
from quartzite.testing.contracts.job_store.content import a_job, a_trigger
from quartzite.testing.contracts.job_store.snapshot import Snapshot, take_snapshot
from quartzite.testing.signaler import RecordingSignaler
from quartzite.triggers.base import Trigger

__all__ = ["StoreDriver"]

_NO_INSTRUCTION: Final = SchedulerInstruction.NO_INSTRUCTION


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreDriver:
    """A store, what it was made of, and the verbs of a scheduler.

    Attributes:
        store: The subject, started.
        clock: Its clock.
        signaler: What it tells its scheduler.
        misfire_threshold: How late a trigger may be before that is a misfire.
    """

    store: JobStore
    clock: FakeClock
    signaler: RecordingSignaler
    misfire_threshold: timedelta

    @property
    def too_late(self) -> timedelta:
        """The smallest lateness that is a misfire."""
        return self.misfire_threshold + timedelta(microseconds=1)

    # Content --------------------------------------------------------------------------------------------------

    async def add_job(self, name: str = "job", **fields: Any) -> JobDetail:
        """Store a job without a trigger and return it; the arguments are those of :func:`a_job`."""
        job = a_job(name, **fields)
        await self.store.add_job(job)
        return job

    async def add_trigger(self, name: str = "trigger", **fields: Any) -> Trigger:
        """Store a trigger, due now by default, and return it; its job is stored first when it is not there."""
        trigger = a_trigger(name, **{"when": self.clock.now(), **fields})
        if not await self.store.check_exists(trigger.job_key):
            await self.store.add_job(a_job(trigger.job_key.name, trigger.job_key.group))
        await self.store.add_trigger(trigger)
        return trigger

    async def add_triggers(self, *names: str, **fields: Any) -> list[Trigger]:
        """Store several triggers of one job that differ by name, and return them."""
        triggers = [a_trigger(name, **{"when": self.clock.now(), **fields}) for name in names]
        await self.add_to_one_job(*triggers)
        return triggers

    async def add_to_one_job(self, *triggers: Trigger) -> None:
        """Store triggers of one job: at once with their job when that is not there, else one by one."""
        for trigger in triggers:
            if await self.store.check_exists(trigger.job_key):
                await self.store.add_trigger(trigger)
            else:
                await self.store.schedule_jobs({a_job(trigger.job_key.name, trigger.job_key.group): triggers})
                break

    # The fire cycle -------------------------------------------------------------------------------------------

    async def acquire(
        self,
        max_count: int = 100,
        *,
        until: datetime | None = None,
        window: timedelta = timedelta(0),
        limits: Mapping[str | None, int | None] | None = None,
        excluded: Iterable[str] = (),
    ) -> list[Trigger]:
        """Reserve triggers that are due until some instant, now by default."""
        request = TriggerAcquisitionRequest(
            no_later_than=until or self.clock.now(),
            max_count=max_count,
            time_window=window,
            execution_limits=None if limits is None else ExecutionLimits(limits),
            excluded_job_type_names=excluded,
        )
        return await self.store.acquire_next_triggers(request)

    async def acquire_one(self) -> Trigger:
        """Reserve the only trigger that is due."""
        (trigger,) = await self.acquire()
        return trigger

    async def fire(self, *triggers: Trigger) -> list[TriggerFiredBundle]:
        """Fire acquired triggers, all of which must fire."""
        results = await self.store.triggers_fired(triggers)
        bundles = [result.bundle for result in results if result.bundle is not None]
        assert len(bundles) == len(results) == len(triggers), results
        return bundles

    async def fire_due(self, max_count: int = 100) -> list[TriggerFiredBundle]:
        """Acquire and fire what is due."""
        return await self.fire(*await self.acquire(max_count))

    async def fire_one(self) -> TriggerFiredBundle:
        """Acquire and fire the only trigger that is due."""
        (bundle,) = await self.fire_due()
        return bundle

    async def is_refused(self, trigger: Trigger) -> bool:
        """Tell whether firing an acquired trigger says that it is not fired after all."""
        (result,) = await self.store.triggers_fired([trigger])
        return result.bundle is None and result.exception is None

    async def complete(
        self,
        bundle: TriggerFiredBundle,
        instruction: SchedulerInstruction = _NO_INSTRUCTION,
        *,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """End a firing; ``data`` is what the job's data became while it ran."""
        job = bundle.job if data is None else changed(bundle.job, data)
        await self.store.triggered_job_complete(bundle.trigger, job, instruction)

    async def run_due(self) -> list[TriggerFiredBundle]:
        """Acquire, fire and complete what is due, each completion as its trigger asks."""
        bundles = await self.fire_due()
        for bundle in bundles:
            await self.complete(bundle, bundle.trigger.execution_complete(None))
        return bundles

    def advance(self, by: timedelta | float) -> None:
        """Move the time on, by a span or by seconds; who sleeps in the background does not notice."""
        self.clock.jump(by if isinstance(by, timedelta) else timedelta(seconds=by))

    def move_to(self, moment: datetime) -> None:
        """Move the time on to an instant; who sleeps in the background does not notice."""
        self.clock.set(moment)

    # What can be seen -----------------------------------------------------------------------------------------

    async def state(self, trigger: Trigger | TriggerKey) -> TriggerState:
        """Return the reported state of a trigger."""
        return await self.store.get_trigger_state(trigger.key if isinstance(trigger, Trigger) else trigger)

    async def states(self, *triggers: Trigger) -> list[TriggerState]:
        """Return the reported states of triggers."""
        return [await self.state(trigger) for trigger in triggers]

    async def stored(self, trigger: Trigger | TriggerKey) -> Trigger:
        """Return a trigger as the store has it, which must be there."""
        found = await self.store.get_trigger(trigger.key if isinstance(trigger, Trigger) else trigger)
        assert found is not None, f"{trigger} is not stored"
        return found

    async def stored_job(self, job: JobDetail | JobKey) -> JobDetail:
        """Return a job as the store has it, which must be there."""
        found = await self.store.get_job(job.key if isinstance(job, JobDetail) else job)
        assert found is not None, f"{job} is not stored"
        return found

    async def headers(self, **filters: Any) -> list[TriggerHeader]:
        """Return the headers of triggers; the filters are those of :class:`TriggerQuery`."""
        return list((await self.store.query_triggers(TriggerQuery(**filters))).items)

    async def firings(self, **filters: Any) -> list[FireInstance]:
        """Return the firings that the store knows; the filters are those of :class:`FireInstanceQuery`."""
        return list((await self.store.query_fire_instances(FireInstanceQuery(**filters))).items)

    async def snapshot(self) -> Snapshot:
        """Return everything that can be seen of the store."""
        return await take_snapshot(self.store)


def changed(job: JobDetail, data: Mapping[str, Any]) -> JobDetail:
    """Return a job as a run leaves it that changed its data to these values."""
    copy: MutableJobData = job.job_data.mutable_copy()
    copy.clear()
    copy.update(data)
    return job.with_job_data(copy.frozen())
