"""Scheduling: the verbs that store, change and remove jobs and triggers."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final, overload

from quartzite.abc import JobStore, SchedulerListener
from quartzite.calendars.base import Calendar
from quartzite.engine.core import SchedulerCore
from quartzite.engine.definitions import AnyJob, AnyTrigger, built_job, built_trigger, built_triggers, with_job
from quartzite.errors import (
    InvalidValueError,
    JobNotFoundError,
    NeverFiresError,
    ObjectAlreadyExistsError,
    QuartzError,
    SchedulerError,
    UnknownCalendarError,
)
from quartzite.model.job import JobDetail
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import JobKey, TriggerKey, check_name
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.triggers.base import Trigger
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import SimpleTrigger

__all__ = ["Scheduling"]

_MANUAL: Final = "MT_"
"""How the names of manual triggers begin (spec 01 section 1)."""


class Scheduling:
    """What a scheduler can be told about jobs, triggers and calendars (spec 04 sections 3 and 6).

    * What is handed over is checked completely before the store is touched.
    * After a change the loop is woken and scheduler listeners are told.
    * A job class or function that is handed over is registered with the type loader, so that its stored name leads
      to it in this process.

    Every verb raises :class:`InvalidValueError` for a key of the wrong type, :class:`SchedulerError` when the
    scheduler has been shut down, and :class:`JobPersistenceError` when the store can not do it.
    """

    _core: SchedulerCore

    # Jobs with triggers ---------------------------------------------------------------------------------------

    @overload
    async def schedule_job(
        self, job: AnyJob, trigger: AnyTrigger | Iterable[AnyTrigger], *, replace: bool = False
    ) -> datetime: ...
    @overload
    async def schedule_job(self, job: Trigger | TriggerBuilder, /) -> datetime: ...
    @overload
    async def schedule_job(self, *, trigger: Trigger | TriggerBuilder) -> datetime: ...
    async def schedule_job(self, job: Any = None, trigger: Any = None, *, replace: bool = False) -> datetime:
        """Store a job with its trigger, or a trigger of a stored job, and return when it fires first.

        ``schedule_job(job, trigger)`` stores both, and neither may exist. ``schedule_job(trigger)`` adds a trigger to
        the stored job that it names. Several triggers, or ``replace=True``, do what :meth:`schedule_jobs` does.

        Args:
            job: A job, a builder of one, or a job class or function, which then names it.
            trigger: A trigger, a builder of one, or a schedule, which then takes the job's name; or several.
            replace: Put both in the place of stored ones of these keys.

        Returns:
            The first fire time, aware UTC; of several triggers the earliest.

        Raises:
            InvalidValueError: the job is none, or the trigger.
            SchedulerError: the trigger names another job, or none.
            NeverFiresError: the trigger has no fire time.
            UnknownCalendarError: the trigger names a calendar that is not stored.
            TypeLoadError: the job is known by name only, and the name leads nowhere.
            ObjectAlreadyExistsError: a key is taken.
            JobNotFoundError: ``schedule_job(trigger)`` names a job that is not stored.
        """
        if trigger is None or job is None:
            return await self._schedule_trigger(job if trigger is None else trigger)
        detail = built_job(job)
        triggers = built_triggers(trigger, job_key=detail.key, time_zone=self._core.time_zone)
        triggers = [with_job(one, detail.key) for one in triggers]
        if replace or len(triggers) != 1:
            return _earliest(await self._schedule_all({detail: triggers}, replace=replace))
        return await self._schedule_one(detail, triggers[0])

    async def schedule_jobs(
        self, content: Mapping[AnyJob, AnyTrigger | Iterable[AnyTrigger]], *, replace: bool = False
    ) -> None:
        """Store jobs with their triggers, all or nothing; each trigger fires the job it stands with.

        Args:
            content: One trigger or several for each job, in the forms that :meth:`schedule_job` takes.
            replace: Put them in the place of stored ones of their keys.

        Raises:
            SchedulerError: as :meth:`schedule_job`.
        """
        details: dict[JobDetail, list[Trigger]] = {}
        seen: set[JobKey] = set()
        for job, triggers in content.items():
            detail = built_job(job)
            if detail.key in seen:
                raise InvalidValueError(f"job {detail.key} is given twice: give each job once, with all its triggers")
            seen.add(detail.key)
            built = built_triggers(triggers, job_key=detail.key, time_zone=self._core.time_zone)
            details[detail] = [trigger.copy_with(job_key=detail.key) for trigger in built]
        await self._schedule_all(details, replace=replace)

    async def _schedule_one(self, job: JobDetail, trigger: Trigger) -> datetime:
        store = self._core.store
        self._check_job(store, job)
        trigger = await self._first_fire(store, trigger)
        await store.schedule_job(job, trigger)
        await self._core.tell(SchedulerListener.job_added, job)
        return await self._scheduled(trigger)

    async def _schedule_trigger(self, trigger: AnyTrigger | None) -> datetime:
        if trigger is None or not isinstance(trigger, Trigger | TriggerBuilder | Schedule):
            raise InvalidValueError(
                f"{trigger!r} is no trigger: call schedule_job(job, trigger), or schedule_job(trigger)"
            )
        store = self._core.store
        built = built_trigger(trigger, job_key=None, time_zone=self._core.time_zone)
        built = await self._first_fire(store, built)
        await store.add_trigger(built)
        return await self._scheduled(built)

    async def _schedule_all(self, content: Mapping[JobDetail, list[Trigger]], *, replace: bool) -> list[Trigger]:
        store = self._core.store
        settled: dict[JobDetail, list[Trigger]] = {}
        for job, triggers in content.items():
            self._check_job(store, job)
            if not triggers:
                raise InvalidValueError(f"job {job.key} is given without a trigger: give one, or call add_job")
            settled[job] = [await self._first_fire(store, trigger) for trigger in triggers]
        await store.schedule_jobs(settled, replace=replace)
        self._core.changed()
        stored = [trigger for triggers in settled.values() for trigger in triggers]
        for job in settled:
            await self._core.tell(SchedulerListener.job_added, job)
        for trigger in stored:
            await self._core.tell(SchedulerListener.job_scheduled, trigger)
        return stored

    async def _scheduled(self, trigger: Trigger) -> datetime:
        self._core.changed(trigger.next_fire_time)
        await self._core.tell(SchedulerListener.job_scheduled, trigger)
        return _earliest([trigger])

    def _check_job(self, store: JobStore, job: JobDetail) -> None:
        job_type = job.job_type
        if store.supports_persistence and not job_type.is_storable:
            raise InvalidValueError(
                f"job {job.key}: {job_type.full_name} can not be found by its name after a restart: define it at the "
                'top of an importable module, or name it with @job(name="...")'
            )
        if job_type.target is None:
            self._core.type_loader.load(job_type)
        else:
            self._core.type_loader.register(job_type)

    async def _first_fire(self, store: JobStore, trigger: Trigger) -> Trigger:
        """Return a trigger as it is stored: checked, its start settled, its first fire time found."""
        trigger.validate()
        calendar = await _calendar_of(store, trigger)
        try:
            settled = self._core.first_fire(trigger, calendar)
        except QuartzError:
            raise
        except Exception as error:
            raise SchedulerError(
                f"trigger {trigger.key}: {type(trigger).__name__} failed to find a fire time"
            ) from error
        if settled.next_fire_time is None:
            raise NeverFiresError(
                f"trigger {trigger.key} will never fire: its schedule has no time that its end and its calendar "
                f"allow, as seen at {self._core.clock.now()}: change one of them"
            )
        return settled

    # Jobs -----------------------------------------------------------------------------------------------------

    async def add_job(
        self, job: AnyJob, *, replace: bool = False, store_non_durable_while_awaiting_scheduling: bool = False
    ) -> None:
        """Store a job without a trigger.

        Args:
            job: A job, a builder of one, or a job class or function.
            replace: Put it in the place of a stored one of its key; the triggers of that stay.
            store_non_durable_while_awaiting_scheduling: Take a job that is not durable; it goes with its first last
                trigger.

        Raises:
            SchedulerError: the job is not durable, so that nothing would keep it.
            ObjectAlreadyExistsError: the key is taken.
        """
        detail = built_job(job)
        if not detail.durable and not store_non_durable_while_awaiting_scheduling:
            raise SchedulerError(
                f"job {detail.key} is not durable, so without a trigger it would not be kept: call store_durably(), "
                "or pass store_non_durable_while_awaiting_scheduling=True"
            )
        store = self._core.store
        self._check_job(store, detail)
        await store.add_job(detail, replace=replace)
        self._core.changed()
        await self._core.tell(SchedulerListener.job_added, detail)

    async def delete_job(self, key: JobKey) -> bool:
        """Delete a job with its triggers; tell whether it was there."""
        store = self._core.store
        triggers = await store.get_triggers_for_job(JobKey.checked(key))
        found = await store.delete_job(key)
        if found:
            self._core.changed()
            for trigger in triggers:
                await self._core.tell(SchedulerListener.job_unscheduled, trigger.key)
            await self._core.tell(SchedulerListener.job_deleted, key)
        return found

    async def delete_jobs(self, keys: Collection[JobKey]) -> bool:
        """Delete jobs with their triggers; tell whether all were there. Listeners hear of every key."""
        keys = [JobKey.checked(key) for key in keys]
        found = await self._core.store.delete_jobs(keys)
        self._core.changed()
        for key in keys:
            await self._core.tell(SchedulerListener.job_deleted, key)
        return found

    async def trigger_job(self, key: JobKey, data: Mapping[str, Any] | None = None) -> None:
        """Fire a stored job once, now.

        Args:
            key: The job.
            data: Values for this firing; they win over the job's own.

        Raises:
            JobNotFoundError: the job is not stored.
        """
        store = self._core.store
        now = self._core.clock.now()
        values = JobData(data) if data else EMPTY_JOB_DATA
        while True:
            name = TriggerKey(f"{_MANUAL}{random.getrandbits(63)}")
            trigger = SimpleTrigger(key=name, job_key=key, start_time=now, next_fire_time=now, job_data=values)
            try:
                await store.add_trigger(trigger)
            except ObjectAlreadyExistsError:
                continue  # somebody drew the same number
            except JobNotFoundError:
                raise JobNotFoundError(key) from None  # nobody knows the trigger that was made for it
            break
        await self._scheduled(trigger)

    # Triggers -------------------------------------------------------------------------------------------------

    async def unschedule_job(self, key: TriggerKey) -> bool:
        """Remove a trigger, and its job when that is not durable and has no other; tell whether it was there."""
        found = await self._core.store.delete_trigger(TriggerKey.checked(key))
        if found:
            self._core.changed()
            await self._core.tell(SchedulerListener.job_unscheduled, key)
        return found

    async def unschedule_jobs(self, keys: Collection[TriggerKey]) -> bool:
        """Remove triggers; tell whether all were there. Listeners hear of every key."""
        keys = [TriggerKey.checked(key) for key in keys]
        found = await self._core.store.delete_triggers(keys)
        self._core.changed()
        for key in keys:
            await self._core.tell(SchedulerListener.job_unscheduled, key)
        return found

    async def reschedule_job(self, key: TriggerKey, trigger: AnyTrigger) -> datetime | None:
        """Put a new trigger of the same job in the place of a stored one; return when it fires first.

        The new trigger does not make up for what the old one has missed. A bare schedule keeps the old one's key,
        data, priority, end and so on, and starts now. A next fire time that the new trigger already has is kept.

        Returns:
            The first fire time, aware UTC; None when the old trigger is not stored, and nothing has changed.

        Raises:
            NeverFiresError: the new trigger has no fire time.
            UnknownCalendarError: the new trigger names a calendar that is not stored.
            ObjectAlreadyExistsError: the new trigger has another key, which is taken.
        """
        store = self._core.store
        old = await store.get_trigger(TriggerKey.checked(key))
        if old is None:
            return None
        if isinstance(trigger, Schedule):
            trigger = old.to_builder().with_schedule(trigger).start_now()
        new = built_trigger(trigger, job_key=old.job_key, time_zone=self._core.time_zone)
        new = new.copy_with(job_key=old.job_key)
        settled = await self._first_fire(store, new)
        if new.next_fire_time is not None:
            settled = settled.copy_with(next_fire_time=new.next_fire_time)
        if not await store.replace_trigger(key, settled):
            return None
        self._core.changed(settled.next_fire_time)
        await self._core.tell(SchedulerListener.job_unscheduled, key)
        await self._core.tell(SchedulerListener.job_scheduled, settled)
        return settled.next_fire_time

    async def update_trigger_details(self, key: TriggerKey, update: TriggerDetailsUpdate) -> bool:
        """Change what does not touch the schedule; tell whether the trigger is there.

        Raises:
            JobPersistenceError: the update names a calendar that is not stored.
        """
        if not isinstance(update, TriggerDetailsUpdate):
            raise InvalidValueError(
                f"{update!r} is no update: give TriggerDetailsUpdate().with_priority(...) and its kin"
            )
        return await self._core.store.update_trigger_details(TriggerKey.checked(key), update)

    async def reset_trigger_from_error_state(self, key: TriggerKey) -> None:
        """Put a trigger that is in ERROR back to work, or to PAUSED when its group is paused; others stay."""
        await self._core.store.reset_trigger_from_error_state(TriggerKey.checked(key))
        self._core.changed()

    async def clear(self) -> None:
        """Delete all jobs, triggers and calendars of this scheduler."""
        await self._core.store.clear()
        self._core.changed()
        await self._core.tell(SchedulerListener.scheduling_data_cleared)

    # Calendars ------------------------------------------------------------------------------------------------

    async def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = False, update_triggers: bool = False
    ) -> None:
        """Store a calendar under a name.

        Args:
            name: What triggers call it.
            calendar: What it excludes.
            replace: Put it in the place of a stored one.
            update_triggers: Look for the next fire time of its triggers again.

        Raises:
            InvalidValueError: the name is none, or the calendar.
            ObjectAlreadyExistsError: the name is taken.
        """
        check_name("calendar", "name", name)
        if not isinstance(calendar, Calendar):
            raise InvalidValueError(f"calendar {name!r}: {calendar!r} is none: give an object of a calendar class")
        await self._core.store.add_calendar(name, calendar, replace=replace, update_triggers=update_triggers)
        if update_triggers:
            self._core.changed()

    async def delete_calendar(self, name: str) -> bool:
        """Delete a calendar; tell whether it was there.

        Raises:
            JobPersistenceError: a trigger names it.
        """
        return await self._core.store.delete_calendar(name)


async def _calendar_of(store: JobStore, trigger: Trigger) -> Calendar | None:
    if trigger.calendar_name is None:
        return None
    calendar = await store.get_calendar(trigger.calendar_name)
    if calendar is None:
        raise UnknownCalendarError(trigger.calendar_name, trigger.key)
    return calendar


def _earliest(triggers: Iterable[Trigger]) -> datetime:
    return min(trigger.next_fire_time for trigger in triggers if trigger.next_fire_time is not None)
