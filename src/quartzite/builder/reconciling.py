"""Reconciling: bringing declared content into a scheduler without disturbing what is there."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from quartzite.builder.scheduling_data import NamedCalendar, SchedulingData
from quartzite.calendars.base import Calendar
from quartzite.engine.definitions import AnyJob
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import ObjectAlreadyExistsError, SchedulerConfigError
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey
from quartzite.triggers.base import Trigger

__all__ = ["reconcile"]

_LOGGER: Final = logging.getLogger("quartzite.builder")
_ATTEMPTS: Final = 5
"""How often another node may come first before that is an error."""
_ABOUT_NOW: Final = timedelta(seconds=5)


async def reconcile(data: SchedulingData, scheduler: Scheduler) -> None:
    """Bring content into a scheduler (spec 10 section 10.1).

    * What is stored with the same definition is not touched: its next fire time, progress, state and pause survive.
    * What is stored with another definition is replaced, without an extra run: a trigger that has fired before keeps
      its progress and the start of its schedule, and fires next at the first time of the new schedule from now on.
      A paused trigger stays paused.
    * The data of a job that persists its data is what its runs left, not what was declared.
    * Everything is checked before anything is written. Several nodes may do this at once.

    Raises:
        SchedulerConfigError: a trigger never fires, its job or calendar is unknown, or a job that is not durable has
            no trigger; every problem is listed.
        ObjectAlreadyExistsError: something is stored already, and the rules neither overwrite nor ignore it.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        steps = await _Survey(data, scheduler).steps()
        try:
            await steps.take(scheduler)
        except ObjectAlreadyExistsError:  # another node came first: look again
            if attempt == _ATTEMPTS:
                raise
        else:
            return


@dataclass(slots=True)
class _Steps:
    """What is to be written, found before anything is written."""

    calendars: list[NamedCalendar] = field(default_factory=list)
    new: dict[AnyJob, list[Trigger]] = field(default_factory=dict)
    changed: list[JobDetail] = field(default_factory=list)
    added: list[Trigger] = field(default_factory=list)
    rescheduled: list[Trigger] = field(default_factory=list)
    moved: list[tuple[JobDetail, Trigger]] = field(default_factory=list)

    async def take(self, scheduler: Scheduler) -> None:
        for one in self.calendars:
            await scheduler.add_calendar(
                one.name, one.calendar, replace=one.replace, update_triggers=one.update_triggers
            )
        for job in self.changed:
            await scheduler.add_job(job, replace=True, store_non_durable_while_awaiting_scheduling=True)
        if with_triggers := {job: triggers for job, triggers in self.new.items() if triggers}:
            await scheduler.schedule_jobs(with_triggers)
        for lonely in [job for job, triggers in self.new.items() if not triggers]:
            # A job that is not durable is there only for a trigger that moves to it.
            await scheduler.add_job(lonely, store_non_durable_while_awaiting_scheduling=True)
        for trigger in self.added:
            await scheduler.schedule_job(trigger)
        for job, trigger in self.moved:
            await scheduler.schedule_jobs({job: [trigger]}, replace=True)
        for trigger in self.rescheduled:
            await scheduler.reschedule_job(trigger.key, trigger)


class _Survey:
    """Compares what is declared with what is stored, and writes nothing."""

    def __init__(self, data: SchedulingData, scheduler: Scheduler) -> None:
        self._data = data
        self._scheduler = scheduler
        self._now = scheduler.clock.now()
        self._stored_jobs: dict[JobKey, JobDetail] = {}
        self._calendars: dict[str, Calendar | None] = {
            name: declared.calendar for name, declared in data.calendars.items()
        }
        self._problems: list[str] = []
        self._steps = _Steps()

    async def steps(self) -> _Steps:
        """Return what is to be written.

        Raises:
            SchedulerConfigError: listing every problem.
            ObjectAlreadyExistsError: something is stored already, and the rules do not allow for that.
        """
        triggers = self._data.triggers
        named = {trigger.job_key for trigger in triggers.values()}
        stored = {one.key: one for one in await self._scheduler.get_triggers(list(triggers))}
        jobs = await self._scheduler.get_job_details([*self._data.jobs, *named])
        self._stored_jobs = {job.key: job for job in jobs}
        for calendar in self._data.calendars.values():
            await self._look_at_calendar(calendar)
        for job in self._data.jobs.values():
            await self._look_at_job(job, has_trigger=job.key in named)
        for trigger in triggers.values():
            await self._look_at_trigger(trigger, stored.get(trigger.key))
        if self._problems:
            title = f"the content of scheduler {self._scheduler.name!r} can not be stored:"
            raise SchedulerConfigError("\n  ".join([title, *self._problems]))
        return self._steps

    async def _look_at_calendar(self, declared: NamedCalendar) -> None:
        stored = await self._scheduler.get_calendar(declared.name)
        if stored == declared.calendar:
            return
        if stored is not None and not declared.replace:
            raise ObjectAlreadyExistsError("calendar", declared.name)
        self._steps.calendars.append(declared)

    async def _look_at_job(self, job: JobDetail, *, has_trigger: bool) -> None:
        stored = self._stored_jobs.get(job.key)
        if not job.durable and not has_trigger and not await self._has_stored_trigger(stored):
            self._problems.append(f"job {job.key} would have no trigger: declare one, or make the job durable")
        elif stored is None:
            self._steps.new[job] = []
        elif self._may_replace("job", job.key) and (declared := _with_kept_data(job, stored)) != stored:
            self._steps.changed.append(declared)

    async def _has_stored_trigger(self, stored: JobDetail | None) -> bool:
        return stored is not None and bool(await self._scheduler.get_triggers_of_job(stored.key))

    async def _look_at_trigger(self, trigger: Trigger, stored: Trigger | None) -> None:
        job = self._data.jobs.get(trigger.job_key) or self._stored_jobs.get(trigger.job_key)
        if job is None:
            self._problems.append(
                f"trigger {trigger.key} names job {trigger.job_key}, which is neither declared nor stored: add it"
            )
            return
        if stored is not None and not self._may_replace("trigger", trigger.key):
            return
        if stored is not None and trigger.has_same_definition(stored):
            return
        calendar = await self._calendar(trigger.calendar_name)
        if trigger.calendar_name is not None and calendar is None:
            self._problems.append(
                f"trigger {trigger.key} names calendar {trigger.calendar_name!r}, which is neither declared nor "
                "stored: add it"
            )
        elif trigger.compute_first_fire_time(calendar, self._now).next_fire_time is None:
            self._problems.append(f"trigger {trigger.key} never fires: its schedule has no time from now on")
        else:
            self._place(trigger, stored, job, calendar)

    def _place(self, trigger: Trigger, stored: Trigger | None, job: JobDetail, calendar: Calendar | None) -> None:
        if stored is None and job in self._steps.new:
            self._steps.new[job].append(trigger)
        elif stored is None:
            self._steps.added.append(trigger)
        elif stored.job_key == trigger.job_key:
            self._steps.rescheduled.append(self._continued(trigger, stored, calendar))
        else:
            self._move(trigger, stored, job)

    def _move(self, trigger: Trigger, stored: Trigger, job: JobDetail) -> None:
        _LOGGER.warning(
            "A declared trigger is stored with another job: it moves to the declared one.",
            extra={"trigger": str(trigger.key), "job": str(job.key), "stored_job": str(stored.job_key)},
        )
        kept = self._stored_jobs.get(job.key)
        self._steps.moved.append((job if kept is None else _with_kept_data(job, kept), trigger))

    def _continued(self, trigger: Trigger, stored: Trigger, calendar: Calendar | None) -> Trigger:
        """Return the declared trigger, going on from the progress of the one that it replaces."""
        relative = self._data.rules.relative_to_replaced and _starts_about(trigger, self._now)
        if stored.previous_fire_time is None and not relative:
            return trigger
        resumed = replace(
            trigger,
            start_time=stored.start_time if relative or trigger.starts_when_scheduled else trigger.start_time,
            previous_fire_time=stored.previous_fire_time,
            times_triggered=stored.times_triggered if type(stored) is type(trigger) else 0,
        )
        after = (stored.previous_fire_time or stored.start_time) if relative else self._now
        following = resumed.next_included_fire_time(calendar, after)
        # A schedule that is used up begins again, as it would if nothing were stored any more.
        return trigger if following is None else replace(resumed, next_fire_time=following)

    def _may_replace(self, kind: str, key: object) -> bool:
        rules = self._data.rules
        if not rules.overwrite_existing and not rules.ignore_duplicates:
            raise ObjectAlreadyExistsError(kind, key)
        return rules.overwrite_existing

    async def _calendar(self, name: str | None) -> Calendar | None:
        if name is None:
            return None
        if name not in self._calendars:
            self._calendars[name] = await self._scheduler.get_calendar(name)
        return self._calendars[name]


def _with_kept_data(job: JobDetail, stored: JobDetail) -> JobDetail:
    """Return the declared job with the data that runs of the stored one left, when it persists them."""
    keeps = job.persist_job_data_after_execution and stored.persist_job_data_after_execution
    return replace(job, job_data=stored.job_data) if keeps else job


def _starts_about(trigger: Trigger, now: datetime) -> bool:
    return trigger.starts_when_scheduled or trigger.start_time - now < _ABOUT_NOW
