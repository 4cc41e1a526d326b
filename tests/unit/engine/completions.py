"""A store that only notes completions and releases, for tests of what commits them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta

from quartzite.abc import Clock
from quartzite.engine.signaler import SchedulerSignaler
from quartzite.execution import JobCompletion
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.ram.store import RamJobStore
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import SimpleTrigger

JOB = JobDetail(key=JobKey("job"), job_type=JobType("tests:run"))


def completion(name: str, job: JobDetail = JOB) -> JobCompletion:
    """Return the completion of a firing of a trigger of this name."""
    trigger = SimpleTrigger(key=TriggerKey(name), job_key=job.key, fire_instance_id=name)
    return JobCompletion(trigger, job, SchedulerInstruction.NO_INSTRUCTION)


class NotingStore(RamJobStore):
    """Notes what it is told; a test decides what fails.

    Attributes:
        groups: The names of the triggers of each successful bulk completion.
        singles: The names of the triggers of each successful single completion.
        released: The names of the triggers that were released.
        fail: Called with the name of a member and a trigger's name; what it returns is raised.
        gate: Bulk completions wait for it.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock=clock, signaler=SchedulerSignaler(), serializer=JsonSerializer())
        self.groups: list[list[str]] = []
        self.singles: list[str] = []
        self.released: list[str] = []
        self.fail: Callable[[str, str], Exception | None] = lambda *_: None
        self.gate = asyncio.Event()
        self.gate.set()
        self.retry_delay = timedelta(milliseconds=20)

    def get_acquire_retry_delay(self, failure_count: int) -> timedelta:
        """Return the delay that the test chose, times the failures."""
        return self.retry_delay * failure_count

    async def triggered_jobs_complete(self, completions: Sequence[JobCompletion]) -> None:
        """Note a group."""
        await self.gate.wait()
        names = [one.trigger.key.name for one in completions]
        self._check("bulk", names)
        self.groups.append(names)

    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """Note a single one."""
        self._check("single", [trigger.key.name])
        self.singles.append(trigger.key.name)

    async def release_acquired_triggers(self, triggers: Sequence[Trigger]) -> None:
        """Note releases."""
        names = [trigger.key.name for trigger in triggers]
        self._check("release all", names)
        self.released += names

    async def release_acquired_trigger(self, trigger: Trigger) -> None:
        """Note a release."""
        self._check("release", [trigger.key.name])
        self.released.append(trigger.key.name)

    def _check(self, member: str, names: Sequence[str]) -> None:
        for name in names:
            error = self.fail(member, name)
            if error is not None:
                raise error
