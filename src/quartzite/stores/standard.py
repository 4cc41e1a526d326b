"""StandardJobStore: the job store contract, as units of work over the shared operations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias, TypeVar

from quartzite.abc import Clock, JobStore, Serializer, Signaler
from quartzite.calendars.base import Calendar
from quartzite.errors import InvalidValueError
from quartzite.execution import JobCompletion, TriggerFiredResult
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.cluster import ClusterNode
from quartzite.model.identity import NON_CLUSTERED, SchedulerIdentity
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import (
    CalendarQuery,
    FireInstance,
    FireInstanceQuery,
    JobGroup,
    JobGroupQuery,
    JobHeader,
    JobQuery,
    PagedResult,
    TriggerGroup,
    TriggerGroupQuery,
    TriggerHeader,
    TriggerQuery,
)
from quartzite.model.selectors import ByKeys, OfJobs, TriggerSelector
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.rules.membership import Watch
from quartzite.stores.fire_ids import FireIds
from quartzite.stores.operations import (
    acquiring,
    calendars,
    completing,
    deleting,
    firing,
    misfiring,
    pausing,
    querying,
    scheduling,
)
from quartzite.stores.session import StoreSession
from quartzite.stores.work import Work
from quartzite.triggers.base import Trigger

__all__ = ["Body", "StandardJobStore"]

T = TypeVar("T")
Body: TypeAlias = Callable[[StoreSession], Awaitable[T]]
"""One operation, to be run within a unit of work; it may be run again when the unit of work is retried."""

MIN_MISFIRE_THRESHOLD: Final = timedelta(milliseconds=1)


class StandardJobStore(JobStore):
    """Every member of the contract: check what comes in, open a unit of work, run one operation in it.

    A store derives from it, says how a unit of work is run, and what it is.

    Args:
        clock: The store's only source of time.
        signaler: Hears what happened, after each unit of work.
        serializer: Says which job data may be stored.
        misfire_threshold: How late a firing may be before it counts as missed; at least 1 ms.

    Raises:
        InvalidValueError: the misfire threshold is shorter than 1 ms.
    """

    def __init__(
        self, *, clock: Clock, signaler: Signaler, serializer: Serializer, misfire_threshold: timedelta
    ) -> None:
        self._clock = clock
        self._signaler = signaler
        self._serializer = serializer
        self._identity: SchedulerIdentity | None = None
        self._new_fire_id: Callable[[], str] = FireIds(NON_CLUSTERED)
        self._standing_by = False
        self.misfire_threshold = misfire_threshold

    @abstractmethod
    async def run(self, work: Work, body: Body[T]) -> T:
        """Run an operation within a unit of work, deliver its signals when it has ended, and return its result."""

    @property
    def misfire_threshold(self) -> timedelta:
        """How late a firing may be before it counts as missed; may be changed at any time."""
        return self._misfire_threshold

    @misfire_threshold.setter
    def misfire_threshold(self, threshold: timedelta) -> None:
        if threshold < MIN_MISFIRE_THRESHOLD:
            raise InvalidValueError(f"misfire threshold is {threshold}: at least 1 ms")
        self._misfire_threshold = threshold

    @property
    def instance_id(self) -> str:
        """The node that this store works for."""
        return NON_CLUSTERED if self._identity is None else self._identity.instance_id

    async def initialize(self, identity: SchedulerIdentity) -> None:
        """Remember who the scheduler is."""
        self._identity = identity
        self._new_fire_id = FireIds(identity.instance_id)

    async def scheduler_paused(self) -> None:
        """Remember that nothing fires: what is resumed now has missed nothing yet."""
        self._standing_by = True

    async def scheduler_resumed(self) -> None:
        """Remember that triggers fire again."""
        self._standing_by = False

    # Jobs -----------------------------------------------------------------------------------------------------

    async def schedule_job(self, job: JobDetail, trigger: Trigger) -> None:
        """Store a job and its trigger."""
        await self.schedule_jobs({job: [trigger]})

    async def schedule_jobs(self, content: Mapping[JobDetail, Collection[Trigger]], *, replace: bool = False) -> None:
        """Store jobs with their triggers, all or nothing."""
        for job, triggers in content.items():
            self._admit(job, triggers)
        await self.run(
            Work.CHANGE if replace else Work.INSERT,
            lambda session: scheduling.add_content(session, content, replace=replace),
        )

    async def add_job(self, job: JobDetail, *, replace: bool = False) -> None:
        """Store a job without a trigger."""
        await self.schedule_jobs({job: ()}, replace=replace)

    async def delete_job(self, key: JobKey) -> bool:
        """Delete a job with its triggers."""
        return await self.delete_jobs((key,))

    async def delete_jobs(self, keys: Collection[JobKey]) -> bool:
        """Delete jobs with their triggers."""
        return await self.run(Work.CHANGE, lambda session: deleting.delete_jobs(session, keys))

    async def get_job(self, key: JobKey) -> JobDetail | None:
        """Return a job, or None."""
        return next(iter(await self.get_job_details((key,))), None)

    async def get_job_details(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Return the jobs of these keys that exist, in this order, each once."""
        return await self.run(Work.READ, lambda session: querying.read_jobs(session, keys))

    # Triggers -------------------------------------------------------------------------------------------------

    async def add_trigger(self, trigger: Trigger, *, replace: bool = False) -> None:
        """Store a trigger of a stored job."""
        self._admit_trigger(trigger)
        await self.run(
            Work.CHANGE if replace else Work.INSERT,
            lambda session: scheduling.add_trigger(session, trigger, replace=replace),
        )

    async def delete_trigger(self, key: TriggerKey) -> bool:
        """Delete a trigger."""
        return await self.delete_triggers((key,))

    async def delete_triggers(self, keys: Collection[TriggerKey]) -> bool:
        """Delete triggers."""
        return await self.run(Work.CHANGE, lambda session: deleting.delete_triggers(session, keys))

    async def replace_trigger(self, key: TriggerKey, trigger: Trigger) -> bool:
        """Put another trigger of the same job in the place of a stored one."""
        self._admit_trigger(trigger)
        return await self.run(Work.CHANGE, lambda session: scheduling.replace_trigger(session, key, trigger))

    async def update_trigger_details(self, key: TriggerKey, update: TriggerDetailsUpdate) -> bool:
        """Change what does not touch the schedule."""
        if "job_data" in update.changes:
            self._serializer.check(update.changes["job_data"])
        return await self.run(Work.CHANGE, lambda session: scheduling.update_trigger_details(session, key, update))

    async def get_trigger(self, key: TriggerKey) -> Trigger | None:
        """Return a trigger, or None."""
        return next(iter(await self.get_triggers((key,))), None)

    async def get_triggers(self, keys: Collection[TriggerKey]) -> list[Trigger]:
        """Return the triggers of these keys that exist, in this order, each once."""
        return await self.run(Work.READ, lambda session: querying.read_triggers(session, keys))

    async def get_triggers_for_job(self, key: JobKey) -> list[Trigger]:
        """Return the triggers of a job."""
        return await self.run(Work.READ, lambda session: querying.read_triggers_of_job(session, key))

    async def check_exists(self, key: JobKey | TriggerKey) -> bool:
        """Tell whether a job or a trigger is stored."""
        if isinstance(key, JobKey):
            return bool(await self.run(Work.READ, lambda session: session.jobs.existing((key,))))
        return bool(await self.run(Work.READ, lambda session: session.triggers.existing((key,))))

    async def clear(self) -> None:
        """Delete everything of this scheduler."""
        await self.run(Work.CHANGE, lambda session: session.clear())

    # Calendars ------------------------------------------------------------------------------------------------

    async def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = False, update_triggers: bool = False
    ) -> None:
        """Store a calendar under a name."""
        await self.run(
            Work.CHANGE if replace or update_triggers else Work.INSERT,
            lambda session: calendars.add_calendar(
                session,
                name,
                calendar,
                replace=replace,
                update_triggers=update_triggers,
                now=self._clock.now(),
                misfire_threshold=self._misfire_threshold,
            ),
        )

    async def delete_calendar(self, name: str) -> bool:
        """Delete a calendar."""
        return await self.run(Work.CHANGE, lambda session: calendars.delete_calendar(session, name))

    async def get_calendar(self, name: str) -> Calendar | None:
        """Return a calendar, or None."""
        return (await self.run(Work.READ, lambda session: session.calendars.read((name,)))).get(name)

    # States ---------------------------------------------------------------------------------------------------

    async def get_trigger_state(self, key: TriggerKey) -> TriggerState:
        """Return the reported state."""
        return await self.run(Work.READ, lambda session: querying.trigger_state(session, key))

    async def reset_trigger_from_error_state(self, key: TriggerKey) -> None:
        """Put a trigger that is in ERROR back to work."""
        await self.run(Work.CHANGE, lambda session: pausing.reset_from_error(session, key))

    async def pause_trigger(self, key: TriggerKey) -> None:
        """Pause a trigger."""
        await self._pause(ByKeys((key,)))

    async def resume_trigger(self, key: TriggerKey) -> None:
        """Resume a trigger."""
        await self._resume(ByKeys((key,)))

    async def pause_job(self, key: JobKey) -> None:
        """Pause the triggers that a job has now."""
        await self._pause(OfJobs((key,)))

    async def resume_job(self, key: JobKey) -> None:
        """Resume the triggers of a job."""
        await self._resume(OfJobs((key,)))

    async def pause_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Pause trigger groups and remember them."""
        return await self.run(Work.CHANGE, lambda session: pausing.pause_trigger_groups(session, matcher))

    async def resume_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Resume trigger groups and forget that they were paused."""
        return await self.run(
            Work.CHANGE, lambda session: pausing.resume_trigger_groups(session, matcher, self._resumed_at())
        )

    async def pause_jobs(self, matcher: GroupMatcher[JobKey]) -> list[str]:
        """Pause the triggers of all jobs in these job groups."""
        return await self.run(Work.CHANGE, lambda session: pausing.pause_job_groups(session, matcher))

    async def resume_jobs(self, matcher: GroupMatcher[JobKey]) -> list[str]:
        """Resume the triggers of all jobs in these job groups."""
        return await self.run(
            Work.CHANGE, lambda session: pausing.resume_job_groups(session, matcher, self._resumed_at())
        )

    async def pause_triggers_by_key(self, keys: Collection[TriggerKey]) -> None:
        """Pause triggers."""
        await self._pause(ByKeys(set(keys)))

    async def resume_triggers_by_key(self, keys: Collection[TriggerKey]) -> None:
        """Resume triggers."""
        await self._resume(ByKeys(set(keys)))

    async def pause_jobs_by_key(self, keys: Collection[JobKey]) -> None:
        """Pause jobs."""
        await self._pause(OfJobs(set(keys)))

    async def resume_jobs_by_key(self, keys: Collection[JobKey]) -> None:
        """Resume jobs."""
        await self._resume(OfJobs(set(keys)))

    async def pause_all(self) -> None:
        """Pause every trigger group, those that appear later too."""
        await self.run(Work.CHANGE, pausing.pause_all)

    async def resume_all(self) -> None:
        """Resume every trigger group and forget all pauses."""
        await self.run(Work.CHANGE, lambda session: pausing.resume_all(session, self._resumed_at()))

    # The fire cycle -------------------------------------------------------------------------------------------

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Reserve triggers for this node."""
        return await self.run(
            Work.ACQUIRE,
            lambda session: acquiring.acquire_next_triggers(
                session,
                request,
                now=(now := self._clock.now()),
                misfired_before=now - self._misfire_threshold,
                instance_id=self.instance_id,
                new_fire_id=self._new_fire_id,
            ),
        )

    async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
        """Fire acquired triggers."""
        return await self.run(
            Work.FIRE,
            lambda session: firing.triggers_fired(
                session, triggers, now=self._clock.now(), instance_id=self.instance_id
            ),
        )

    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """End a firing."""
        await self.triggered_jobs_complete((JobCompletion(trigger, job, instruction),))

    async def triggered_jobs_complete(self, completions: Sequence[JobCompletion]) -> None:
        """End several firings."""
        await self.run(
            Work.COMPLETE,
            lambda session: completing.complete_jobs(
                session,
                completions,
                now=(now := self._clock.now()),
                misfired_before=now - self._misfire_threshold,
                serializer=self._serializer,
            ),
        )

    async def release_acquired_trigger(self, trigger: Trigger) -> None:
        """Give back a trigger that was acquired and never fired."""
        await self.release_acquired_triggers((trigger,))

    async def release_acquired_triggers(self, triggers: Sequence[Trigger]) -> None:
        """Give back several."""
        await self.run(Work.RELEASE, lambda session: acquiring.release_acquired_triggers(session, triggers))

    async def handle_misfires(self, limit: int) -> misfiring.MisfireOutcome:
        """Handle triggers that missed their time, ``limit`` at most, in a unit of work of its own."""
        return await self.run(
            Work.MISFIRE,
            lambda session: misfiring.handle_misfires(
                session, now=(now := self._clock.now()), before=now - self._misfire_threshold, limit=limit
            ),
        )

    # Queries --------------------------------------------------------------------------------------------------

    async def query_jobs(self, query: JobQuery) -> PagedResult[JobHeader]:
        """Return one page of jobs."""
        return await self.run(Work.READ, lambda session: querying.paged(session.jobs, query))

    async def query_triggers(self, query: TriggerQuery) -> PagedResult[TriggerHeader]:
        """Return one page of triggers."""
        return await self.run(Work.READ, lambda session: querying.paged(session.triggers, query))

    async def query_job_groups(self, query: JobGroupQuery) -> PagedResult[JobGroup]:
        """Return one page of job groups."""
        return await self.run(Work.READ, lambda session: querying.query_job_groups(session, query))

    async def query_trigger_groups(self, query: TriggerGroupQuery) -> PagedResult[TriggerGroup]:
        """Return one page of trigger groups."""
        return await self.run(Work.READ, lambda session: querying.query_trigger_groups(session, query))

    async def query_calendar_names(self, query: CalendarQuery) -> PagedResult[str]:
        """Return one page of calendar names."""
        return await self.run(Work.READ, lambda session: querying.paged(session.calendars, query))

    async def query_fire_instances(self, query: FireInstanceQuery) -> PagedResult[FireInstance]:
        """Return one page of firings."""
        return await self.run(Work.READ, lambda session: querying.paged(session.fired, query))

    async def query_cluster_nodes(self) -> list[ClusterNode]:
        """Return the nodes that the store knows."""
        return await self.run(Work.READ, lambda session: querying.cluster_nodes(session, self.watch()))

    # ----------------------------------------------------------------------------------------------------------

    def watch(self) -> Watch:
        """Return how this node looks at the others; a store with membership says when it checked in last."""
        now = self._clock.now()
        return Watch(instance_id=self.instance_id, now=now, own_last=now, threshold=timedelta(0))

    async def _pause(self, selector: TriggerSelector) -> None:
        await self.run(Work.CHANGE, lambda session: pausing.pause(session, selector))

    def _resumed_at(self) -> datetime | None:
        """Return the instant of a resumption, or None while the scheduler stands by (spec 06 section 4)."""
        return None if self._standing_by else self._clock.now()

    async def _resume(self, selector: TriggerSelector) -> None:
        await self.run(Work.CHANGE, lambda session: pausing.resume(session, selector, self._resumed_at()))

    def _admit(self, job: JobDetail, triggers: Collection[Trigger]) -> None:
        """Refuse what can not be stored, before anything is opened; a store adds its own limits."""
        self._serializer.check(job.job_data)
        for trigger in triggers:
            self._admit_trigger(trigger)

    def _admit_trigger(self, trigger: Trigger) -> None:
        trigger.validate()
        self._serializer.check(trigger.job_data)
