"""ContentVerbs: the jobs, triggers, calendars, listeners and plugins that one scheduler carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Self, TypeAlias

from dependency_injector.providers import Provider

from quartzite.abc import (
    JobListener,
    Plugin,
    SchedulerListener,
    TriggerListener,
)
from quartzite.builder.core import BuilderCore
from quartzite.builder.declarations import DeclaredTrigger, JobSource, TriggerSource, declared_job, declared_trigger
from quartzite.builder.scheduling_data import ContentRules, NamedCalendar
from quartzite.calendars.base import Calendar
from quartzite.container.choose import Choice
from quartzite.model.builders import JobBuilder
from quartzite.model.job import JobDetail, JobType
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import Matcher

__all__ = ["ContentVerbs"]

JobTarget: TypeAlias = type[Any] | Callable[..., Any]


class ContentVerbs(BuilderCore):
    """The verbs that declare content."""

    # Content ----------------------------------------------------------------------------------------------------

    def schedule(
        self,
        job: JobSource,
        schedule: TriggerSource,
        *,
        key: JobKey | str | None = None,
        trigger_key: TriggerKey | str | None = None,
        data: Mapping[str, Any] | None = None,
        description: str | None = None,
        start_at: datetime | None = None,
        end_at: datetime | None = None,
        priority: int | None = None,
        calendar_name: str | None = None,
        execution_group: str | None = None,
    ) -> Self:
        """Declare a job with a trigger: ``q.schedule(send_digest, every(minutes=5))``.

        What is stored already with the same definition is not disturbed at start-up; with another definition it is
        changed without an extra run. A start time that is not given is no part of a definition.

        Args:
            job: A function, a class with an ``execute`` method, or a :class:`JobBuilder` or :class:`JobDetail`.
            schedule: ``every(...)``, ``cron(...)`` or one of their kin, or a :class:`TriggerBuilder`.
            key: Key of the job, a text for a name in the group DEFAULT; None names it after its function or class.
            trigger_key: Key of the trigger; None names it like the job.
            data: Job data.
            description: Of the job, for people.
            start_at: When the schedule begins, an aware instant; None for when it is scheduled.
            end_at: When it ends, an aware instant.
            priority: Among equal fire times the higher number fires first.
            calendar_name: The calendar whose excluded times are skipped.
            execution_group: Counted against execution limits.

        Raises:
            SchedulerConfigError: a key is taken.
            InvalidValueError: a value is refused.
        """
        detail = declared_job(job, key=key, data=data, description=description)
        trigger = declared_trigger(
            schedule,
            job_key=detail.key,
            key=trigger_key,
            start_time=start_at,
            end_time=end_at,
            priority=priority,
            calendar_name=calendar_name,
            execution_group=execution_group,
        )
        return self._declare(detail, trigger)

    def schedule_job(self, job: JobSource, trigger: TriggerSource) -> Self:
        """Declare a job with a trigger, both as builders say: the long form of :meth:`schedule`.

        ::

            q.schedule_job(
                JobBuilder.create(SendDigest).with_identity("digest", "mail").request_recovery(),
                TriggerBuilder.create().with_schedule(cron("0 0 8 * * ?")).with_priority(8),
            )
        """
        return self.schedule(job, trigger)

    def add_job(
        self,
        job: JobSource,
        *,
        key: JobKey | str | None = None,
        data: Mapping[str, Any] | None = None,
        description: str | None = None,
        durable: bool | None = None,
    ) -> Self:
        """Declare a job that has its triggers elsewhere, or none.

        Args:
            job: A function, a class with an ``execute`` method, or a :class:`JobBuilder` or :class:`JobDetail`.
            key: Its key; None names it after its function or class.
            data: Job data.
            description: For people.
            durable: Whether it stays without a trigger; None for what a builder says, and True for a class or
                function.
        """
        says_so = isinstance(job, JobBuilder | JobDetail)
        kept = True if durable is None and not says_so else durable
        return self._declare(declared_job(job, key=key, data=data, description=description, durable=kept), None)

    def add_trigger(
        self,
        schedule: TriggerSource,
        *,
        job: JobKey | str | JobTarget | None = None,
        key: TriggerKey | str | None = None,
        data: Mapping[str, Any] | None = None,
        description: str | None = None,
        start_at: datetime | None = None,
        end_at: datetime | None = None,
        priority: int | None = None,
        calendar_name: str | None = None,
        execution_group: str | None = None,
    ) -> Self:
        """Declare one more trigger of a job that is declared too, or stored already.

        Args:
            schedule: ``every(...)``, ``cron(...)`` or one of their kin, or a :class:`TriggerBuilder`.
            job: The job's key, its name in the group DEFAULT, or the function or class that it is named after.
            key: The trigger's key; None names it like the job.
            data: Values for its firings; they win over the job's.
            description: For people.
            start_at: When the schedule begins, an aware instant; None for when it is scheduled.
            end_at: When it ends, an aware instant.
            priority: Among equal fire times the higher number fires first.
            calendar_name: The calendar whose excluded times are skipped.
            execution_group: Counted against execution limits.
        """
        trigger = declared_trigger(
            schedule,
            job_key=_job_key(job),
            key=key,
            data=data,
            description=description,
            start_time=start_at,
            end_time=end_at,
            priority=priority,
            calendar_name=calendar_name,
            execution_group=execution_group,
        )
        return self._declare(None, trigger)

    def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = True, update_triggers: bool = True
    ) -> Self:
        """Declare a calendar for triggers to name.

        Args:
            name: What triggers call it.
            calendar: The calendar.
            replace: Whether it takes the place of a stored one that differs; otherwise that is an error.
            update_triggers: Whether triggers that use that one look for their next fire time again.
        """
        self._refuse_while_running(f"add_calendar({name!r})")
        self._content.add_calendar(
            NamedCalendar(name=name, calendar=calendar, replace=replace, update_triggers=update_triggers)
        )
        return self

    def use_content_rules(
        self,
        *,
        overwrite_existing: bool = True,
        ignore_duplicates: bool = False,
        relative_to_replaced: bool = False,
    ) -> Self:
        """Say what happens to declared content that the store has already; see :class:`ContentRules`."""
        self._refuse_while_running("use_content_rules")
        self._content.rules = ContentRules(
            overwrite_existing=overwrite_existing,
            ignore_duplicates=ignore_duplicates,
            relative_to_replaced=relative_to_replaced,
        )
        return self

    # Listeners and plugins --------------------------------------------------------------------------------------

    def add_job_listener(
        self, listener: Choice[JobListener] | Provider[JobListener], *matchers: Matcher[JobKey], options: object = None
    ) -> Self:
        """Let a listener hear about the runs of the jobs that any of the matchers selects; of all without one."""
        self._content.add_job_listener(self._maker(JobListener, listener, "add_job_listener", options), matchers)
        return self

    def add_trigger_listener(
        self,
        listener: Choice[TriggerListener] | Provider[TriggerListener],
        *matchers: Matcher[TriggerKey],
        options: object = None,
    ) -> Self:
        """Let a listener hear about the firings of the triggers that any matcher selects; of all without one."""
        make = self._maker(TriggerListener, listener, "add_trigger_listener", options)
        self._content.add_trigger_listener(make, matchers)
        return self

    def add_scheduler_listener(
        self, listener: Choice[SchedulerListener] | Provider[SchedulerListener], *, options: object = None
    ) -> Self:
        """Let a listener hear about the scheduler itself."""
        make = self._maker(SchedulerListener, listener, "add_scheduler_listener", options)
        self._content.add_scheduler_listener(make)
        return self

    def add_plugin(
        self, plugin: Choice[Plugin] | Provider[Plugin], *, name: str | None = None, options: object = None
    ) -> Self:
        """Extend the scheduler; plugins are initialized, started and shut down in the order of their declaration.

        Args:
            plugin: A class, an instance, a provider or a factory.
            name: Its identity; None for the name of its class or function.
            options: Given to the argument of a class that is annotated with their type.
        """
        make = self._maker(Plugin, plugin, "add_plugin", options)
        self._content.add_plugin(name or str(getattr(plugin, "__name__", type(plugin).__name__)), make)
        return self

    def _declare(self, job: JobDetail | None, trigger: DeclaredTrigger | None) -> Self:
        declared = job or trigger
        self._refuse_while_running(f"{declared.key if declared else 'content'} can not be declared")
        self._content.add_content(job, trigger)
        return self


def _job_key(job: JobKey | str | JobTarget | None) -> JobKey | None:
    if job is None or isinstance(job, JobKey):
        return job
    return JobKey(job if isinstance(job, str) else JobType.of(job).simple_name)
