"""The errors of Quartzite.

::

    QuartzError
    ├── SchedulerError                     an operation could not be done; the base of the rest
    │   ├── SchedulerConfigError           settings, wiring or content are wrong; found before anything runs
    │   ├── InvalidValueError              a value was refused at the border (also a ValueError)
    │   │   ├── CronSyntaxError            a cron expression was refused
    │   │   └── RecurrenceSyntaxError      a recurrence rule was refused
    │   ├── NeverFiresError                a trigger without a first fire time was refused
    │   ├── TypeLoadError                  a stored job type name does not lead to a job
    │   ├── UnknownCalendarError           a trigger names a calendar that is not stored
    │   ├── JobPersistenceError            a job store could not do what was asked
    │   │   ├── ObjectAlreadyExistsError   the key is taken and replacing was not asked for
    │   │   ├── JobNotFoundError           the job that was named is not stored
    │   │   └── LockError                  a lock could not be obtained or was lost
    │   ├── JobExecutionError              raised by a job to tell the scheduler what to do next
    │   ├── JobExecutionProcessError       a job or a listener failed (wraps the cause)
    │   ├── JobInstantiationError          the job object could not be built
    │   └── UnableToInterruptJobError      the running job could not be told to stop

Each message names the thing, the reason and the remedy (spec 01 section 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quartzite.model.job import JobDetail
    from quartzite.model.keys import JobKey, TriggerKey

__all__ = [
    "CronSyntaxError",
    "InvalidValueError",
    "JobExecutionError",
    "JobExecutionProcessError",
    "JobInstantiationError",
    "JobNotFoundError",
    "JobPersistenceError",
    "LockError",
    "NeverFiresError",
    "ObjectAlreadyExistsError",
    "QuartzError",
    "RecurrenceSyntaxError",
    "SchedulerConfigError",
    "SchedulerError",
    "TypeLoadError",
    "UnableToInterruptJobError",
    "UnknownCalendarError",
]


class QuartzError(Exception):
    """Any error that Quartzite raises on purpose."""


class SchedulerError(QuartzError):
    """A scheduler operation could not be done."""


class SchedulerConfigError(SchedulerError):
    """Settings, wiring or declared content are wrong."""


class InvalidValueError(SchedulerError, ValueError):
    """A value was refused at the border."""


class CronSyntaxError(InvalidValueError):
    """A cron expression was refused.

    Attributes:
        text: The expression as it was given.
        reason: What is wrong, without the text.
        position: Index into ``text`` of the wrong character, or None when the whole is wrong.
        hint: What to write instead, or None.
    """

    def __init__(self, text: str, reason: str, *, position: int | None = None, hint: str | None = None) -> None:
        self.text = text
        self.reason = reason
        self.position = position
        self.hint = hint
        super().__init__(self._message())

    def _message(self) -> str:
        lines = [f"cron expression {self.text!r}: {self.reason}"]
        if self.position is not None:
            lines += [f"    {self.text}", "    " + " " * self.position + "^"]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class RecurrenceSyntaxError(InvalidValueError):
    """A recurrence rule (RFC 5545 RRULE) was refused."""


class NeverFiresError(SchedulerError):
    """A trigger was refused because it has no first fire time."""


class TypeLoadError(SchedulerError):
    """A stored job type name does not lead to a job class or a registered function."""

    def __init__(self, type_name: str, reason: str) -> None:
        self.type_name = type_name
        super().__init__(f"job type {type_name!r} can not be loaded: {reason}")


class UnknownCalendarError(SchedulerError):
    """A trigger names a calendar that the store does not have."""

    def __init__(self, calendar_name: str, user: object) -> None:
        self.calendar_name = calendar_name
        super().__init__(f"trigger {user} names the calendar {calendar_name!r}, which is not stored: add it first")


class JobPersistenceError(SchedulerError):
    """A job store could not do what was asked; its content is as it was."""


class ObjectAlreadyExistsError(JobPersistenceError):
    """A job, trigger or calendar of that key is stored already, and replacing was not asked for."""

    def __init__(self, kind: str, key: object) -> None:
        self.key = key
        super().__init__(f"{kind} {key} exists already: choose another key or pass replace=True")


class JobNotFoundError(JobPersistenceError):
    """The job that a trigger or a call names is not stored."""

    def __init__(self, job_key: JobKey, user: object = None) -> None:
        self.job_key = job_key
        if user is None:
            super().__init__(f"job {job_key} is not stored: add it first")
        else:
            super().__init__(f"{user} names job {job_key}, which is not stored: add the job first")


class LockError(JobPersistenceError):
    """A lock could not be obtained, or was lost while it was held."""


class JobExecutionError(SchedulerError):
    """Raised by a job to tell the scheduler what to do next (spec 01 section 7).

    The first flag that is set wins, in this order.

    Attributes:
        refire_immediately: Run the job again at once, with the same context, ``refire_count`` one higher.
        unschedule_firing_trigger: The trigger that fired is complete.
        unschedule_all_triggers: All triggers of the job are complete.
    """

    def __init__(
        self,
        message: str = "the job reported a failure",
        *,
        refire_immediately: bool = False,
        unschedule_firing_trigger: bool = False,
        unschedule_all_triggers: bool = False,
    ) -> None:
        super().__init__(message)
        self.refire_immediately = refire_immediately
        self.unschedule_firing_trigger = unschedule_firing_trigger
        self.unschedule_all_triggers = unschedule_all_triggers


class JobExecutionProcessError(SchedulerError):
    """A job or a listener failed while a firing was in progress; ``__cause__`` is what it raised."""

    def __init__(self, message: str, *, job: JobDetail | None = None, trigger_key: TriggerKey | None = None) -> None:
        super().__init__(message)
        self.job = job
        self.trigger_key = trigger_key


class JobInstantiationError(SchedulerError):
    """The job object of one firing could not be built; ``__cause__`` is why."""

    def __init__(self, job: JobDetail, trigger_key: TriggerKey, fire_instance_id: str, reason: str) -> None:
        super().__init__(f"job {job.key} (trigger {trigger_key}) could not be built: {reason}")
        self.job = job
        self.trigger_key = trigger_key
        self.fire_instance_id = fire_instance_id


class UnableToInterruptJobError(SchedulerError):
    """A running job could not be told to stop."""
