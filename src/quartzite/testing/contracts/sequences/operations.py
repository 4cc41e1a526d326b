"""Operations: each one call, or one step of a scheduler, with the answer that all stores must give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from quartzite.execution import JobCompletion, TriggerFiredBundle
from quartzite.model.job import JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher, StringOperator
from quartzite.model.states import SchedulerInstruction
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.testing.contracts.job_store.driver import changed
from quartzite.testing.contracts.sequences.specs import CALENDARS, JobSpec, TriggerSpec
from quartzite.testing.contracts.sequences.world import World
from quartzite.testing.contracts.subjects import OtherJob
from quartzite.triggers.base import Trigger

__all__ = [
    "Acquire",
    "AddCalendar",
    "AddJob",
    "AddTrigger",
    "Advance",
    "Clear",
    "Complete",
    "DeleteCalendar",
    "DeleteJobs",
    "DeleteTriggers",
    "Fire",
    "Operation",
    "PauseAll",
    "PauseGroups",
    "PauseKeys",
    "Release",
    "ReplaceTrigger",
    "Reset",
    "Schedule",
    "StandBy",
    "Turn",
    "UpdateDetails",
]


@dataclass(frozen=True, slots=True)
class Operation(ABC):
    """One step. Its answer is compared between stores, ids of firings apart."""

    @abstractmethod
    async def run(self, world: World) -> Any:
        """Carry it out and return what the store answered."""


async def _made(world: World, spec: TriggerSpec) -> Trigger:
    calendar = None if spec.calendar is None else await world.driver.store.get_calendar(spec.calendar)
    return spec.make(world.driver.clock.now(), calendar)


@dataclass(frozen=True, slots=True)
class AddJob(Operation):
    """``add_job``."""

    job: JobSpec
    replace: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        return await world.driver.store.add_job(self.job.make(), replace=self.replace)


@dataclass(frozen=True, slots=True)
class AddTrigger(Operation):
    """``add_trigger``."""

    trigger: TriggerSpec
    replace: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        trigger = await _made(world, self.trigger)
        return await world.driver.store.add_trigger(trigger, replace=self.replace)


@dataclass(frozen=True, slots=True)
class Schedule(Operation):
    """``schedule_jobs``, or ``schedule_job`` for one pair that is not replaced."""

    content: tuple[tuple[JobSpec, tuple[TriggerSpec, ...]], ...]
    replace: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        content = {job.make(): [await _made(world, one) for one in triggers] for job, triggers in self.content}
        (job, triggers), *others = content.items()
        if len(triggers) == 1 and not others and not self.replace:
            return await world.driver.store.schedule_job(job, triggers[0])
        return await world.driver.store.schedule_jobs(content, replace=self.replace)


@dataclass(frozen=True, slots=True)
class DeleteJobs(Operation):
    """``delete_job`` or ``delete_jobs``."""

    keys: tuple[JobKey, ...]

    async def run(self, world: World) -> Any:
        """Carry it out."""
        if len(self.keys) == 1:
            return await world.driver.store.delete_job(self.keys[0])
        return await world.driver.store.delete_jobs(self.keys)


@dataclass(frozen=True, slots=True)
class DeleteTriggers(Operation):
    """``delete_trigger`` or ``delete_triggers``."""

    keys: tuple[TriggerKey, ...]

    async def run(self, world: World) -> Any:
        """Carry it out."""
        if len(self.keys) == 1:
            return await world.driver.store.delete_trigger(self.keys[0])
        return await world.driver.store.delete_triggers(self.keys)


@dataclass(frozen=True, slots=True)
class ReplaceTrigger(Operation):
    """``replace_trigger``."""

    key: TriggerKey
    trigger: TriggerSpec

    async def run(self, world: World) -> Any:
        """Carry it out."""
        return await world.driver.store.replace_trigger(self.key, await _made(world, self.trigger))


@dataclass(frozen=True, slots=True)
class UpdateDetails(Operation):
    """``update_trigger_details``."""

    key: TriggerKey
    changes: Mapping[str, Any]

    async def run(self, world: World) -> Any:
        """Carry it out."""
        return await world.driver.store.update_trigger_details(self.key, TriggerDetailsUpdate(self.changes))


@dataclass(frozen=True, slots=True)
class AddCalendar(Operation):
    """``add_calendar``."""

    name: str
    calendar: int
    replace: bool
    update_triggers: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        return await world.driver.store.add_calendar(
            self.name, CALENDARS[self.calendar], replace=self.replace, update_triggers=self.update_triggers
        )


@dataclass(frozen=True, slots=True)
class DeleteCalendar(Operation):
    """``delete_calendar``."""

    name: str

    async def run(self, world: World) -> Any:
        """Carry it out."""
        return await world.driver.store.delete_calendar(self.name)


@dataclass(frozen=True, slots=True)
class PauseKeys(Operation):
    """Pausing or resuming triggers or jobs by key, one or several."""

    resume: bool
    triggers: tuple[TriggerKey, ...] = ()
    jobs: tuple[JobKey, ...] = ()

    async def run(self, world: World) -> Any:
        """Carry it out."""
        store = world.driver.store
        if len(self.triggers) == 1:
            await (store.resume_trigger if self.resume else store.pause_trigger)(self.triggers[0])
        elif self.triggers:
            await (store.resume_triggers_by_key if self.resume else store.pause_triggers_by_key)(self.triggers)
        if len(self.jobs) == 1:
            await (store.resume_job if self.resume else store.pause_job)(self.jobs[0])
        elif self.jobs:
            await (store.resume_jobs_by_key if self.resume else store.pause_jobs_by_key)(self.jobs)


@dataclass(frozen=True, slots=True)
class PauseGroups(Operation):
    """Pausing or resuming groups of triggers or of jobs."""

    resume: bool
    of_jobs: bool
    operator: StringOperator
    value: str

    async def run(self, world: World) -> Any:
        """Carry it out."""
        store = world.driver.store
        if self.of_jobs:
            of_jobs: GroupMatcher[JobKey] = GroupMatcher(self.operator, self.value)
            return sorted(await (store.resume_jobs if self.resume else store.pause_jobs)(of_jobs))
        matcher: GroupMatcher[TriggerKey] = GroupMatcher(self.operator, self.value)
        return sorted(await (store.resume_triggers if self.resume else store.pause_triggers)(matcher))


@dataclass(frozen=True, slots=True)
class PauseAll(Operation):
    """``pause_all`` or ``resume_all``."""

    resume: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        store = world.driver.store
        await (store.resume_all if self.resume else store.pause_all)()


@dataclass(frozen=True, slots=True)
class Reset(Operation):
    """``reset_trigger_from_error_state``."""

    key: TriggerKey

    async def run(self, world: World) -> Any:
        """Carry it out."""
        return await world.driver.store.reset_trigger_from_error_state(self.key)


@dataclass(frozen=True, slots=True)
class StandBy(Operation):
    """``scheduler_paused``, or ``scheduler_resumed`` when it stands by already."""

    async def run(self, world: World) -> Any:
        """Carry it out."""
        store = world.driver.store
        await (store.scheduler_resumed if world.standing_by else store.scheduler_paused)()
        world.standing_by = not world.standing_by


@dataclass(frozen=True, slots=True)
class Acquire(Operation):
    """Dealing with misfires, then ``acquire_next_triggers``."""

    max_count: int
    ahead: float
    window: float
    limits: Mapping[str | None, int | None] | None
    excludes_other_type: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        await world.handle_misfires(world.driver)
        acquired = await world.driver.acquire(
            self.max_count,
            until=world.driver.clock.now() + timedelta(seconds=self.ahead),
            window=timedelta(seconds=self.window),
            limits=self.limits,
            excluded=[JobType.of(OtherJob).full_name] if self.excludes_other_type else [],
        )
        world.held += acquired
        return [(world.number_of(trigger.fire_instance_id), trigger) for trigger in acquired]


@dataclass(frozen=True, slots=True)
class Fire(Operation):
    """Waiting, then ``triggers_fired`` for some of what is held; what is not fired is given back, as a loop does."""

    count: int
    from_the_end: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        chosen = world.held[-self.count :] if self.from_the_end else world.held[: self.count]
        world.held = [trigger for trigger in world.held if not any(trigger is one for one in chosen)]
        world.wait_until_due(chosen)
        results = await world.driver.store.triggers_fired(chosen)
        assert len(results) == len(chosen), f"{len(results)} results for {len(chosen)} triggers"
        refused = [trigger for trigger, result in zip(chosen, results, strict=True) if result.bundle is None]
        if refused:
            await world.driver.store.release_acquired_triggers(refused)
        world.running += [result.bundle for result in results if result.bundle is not None]
        return [result.bundle for result in results]


@dataclass(frozen=True, slots=True)
class Turn(Operation):
    """One turn of a scheduler's loop: everything that is due is acquired and fired."""

    async def run(self, world: World) -> Any:
        """Carry it out."""
        acquired = await Acquire(100, 0, 0, None, excludes_other_type=False).run(world)
        return [acquired, await Fire(len(acquired), from_the_end=True).run(world) if acquired else []]


@dataclass(frozen=True, slots=True)
class Release(Operation):
    """``release_acquired_triggers`` for the first of what is held."""

    count: int

    async def run(self, world: World) -> Any:
        """Carry it out."""
        chosen, world.held = world.held[: self.count], world.held[self.count :]
        await world.driver.store.release_acquired_triggers(chosen)


@dataclass(frozen=True, slots=True)
class Complete(Operation):
    """``triggered_jobs_complete`` for the first firings that run; ``twice`` sends the last of them once more.

    They come together when each has the instruction of its trigger (None), else one by one: what arrives together has
    no order among each other, so that stores may differ about instructions which contradict each other.
    """

    count: int
    instruction: SchedulerInstruction | None
    data: int | None
    twice: bool

    async def run(self, world: World) -> Any:
        """Carry it out."""
        chosen, world.running = world.running[: self.count], world.running[self.count :]
        done = [self._of(bundle) for bundle in chosen]
        store = world.driver.store
        for batch in [done] if self.instruction is None else [[one] for one in done]:
            await store.triggered_jobs_complete(batch)
        if self.twice and done:
            await store.triggered_job_complete(done[-1].trigger, done[-1].job, done[-1].instruction)

    def _of(self, bundle: TriggerFiredBundle) -> JobCompletion:
        job = bundle.job if self.data is None else changed(bundle.job, {"n": self.data})
        return JobCompletion(bundle.trigger, job, self.instruction or bundle.trigger.execution_complete(None))


@dataclass(frozen=True, slots=True)
class Advance(Operation):
    """Time passes."""

    seconds: float

    async def run(self, world: World) -> Any:
        """Carry it out."""
        world.driver.advance(self.seconds)


@dataclass(frozen=True, slots=True)
class Clear(Operation):
    """``clear``, and then the completions and releases of what was under way, which must change nothing."""

    async def run(self, world: World) -> Any:
        """Carry it out."""
        store, all_fail = world.driver.store, SchedulerInstruction.SET_ALL_JOB_TRIGGERS_ERROR
        held, running, world.held, world.running = world.held, world.running, [], []
        await store.clear()
        await store.triggered_jobs_complete([JobCompletion(one.trigger, one.job, all_fail) for one in running])
        await store.release_acquired_triggers(held)
