"""Quartzite: a dependency-injection-first job scheduling toolkit."""

from quartzite.abc import Clock, Job, JobListener, JobStore, Plugin, SchedulerListener, TriggerListener
from quartzite.builder import SchedulerBuilder, add_quartz
from quartzite.calendars import Calendar, HolidayCalendar
from quartzite.container import (
    Named,
    QuartzContainer,
    SchedulerContainer,
    create,
    per_run,
    run,
    running,
    running_in_thread,
    scheduler_named,
)
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import (
    JobExecutionError,
    ObjectAlreadyExistsError,
    QuartzError,
    SchedulerConfigError,
    SchedulerError,
)
from quartzite.execution import JobContext, TriggerFiredResult
from quartzite.model.acquisition import ExecutionLimits, TriggerAcquisitionRequest
from quartzite.model.builders import JobBuilder
from quartzite.model.identity import SchedulerIdentity, SchedulerLock, SemaphoreContext
from quartzite.model.job import JobDetail, disallow_concurrent_execution, job, persist_job_data_after_execution
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import StoredTriggerState, TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.rules.states import resolve_trigger_state
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.stores.ram.store import RamJobStore
from quartzite.triggers import (
    MisfireInstruction,
    Schedule,
    SimpleMisfireInstruction,
    Trigger,
    TriggerBuilder,
    calendar_interval,
    cron,
    daily,
    every,
    once,
    recurrence,
)

__all__ = [
    "Calendar",
    "Clock",
    "DelegatingJobStore",
    "ExecutionLimits",
    "GroupMatcher",
    "HolidayCalendar",
    "Job",
    "JobBuilder",
    "JobContext",
    "JobData",
    "JobDetail",
    "JobExecutionError",
    "JobKey",
    "JobListener",
    "JobStore",
    "MisfireInstruction",
    "Named",
    "ObjectAlreadyExistsError",
    "Plugin",
    "QuartzContainer",
    "QuartzError",
    "RamJobStore",
    "Schedule",
    "Scheduler",
    "SchedulerBuilder",
    "SchedulerConfigError",
    "SchedulerContainer",
    "SchedulerError",
    "SchedulerIdentity",
    "SchedulerListener",
    "SchedulerLock",
    "SemaphoreContext",
    "SimpleMisfireInstruction",
    "StoredTriggerState",
    "Trigger",
    "TriggerAcquisitionRequest",
    "TriggerBuilder",
    "TriggerDetailsUpdate",
    "TriggerFiredResult",
    "TriggerKey",
    "TriggerListener",
    "TriggerState",
    "add_quartz",
    "calendar_interval",
    "create",
    "cron",
    "daily",
    "disallow_concurrent_execution",
    "every",
    "job",
    "once",
    "per_run",
    "persist_job_data_after_execution",
    "recurrence",
    "resolve_trigger_state",
    "run",
    "running",
    "running_in_thread",
    "scheduler_named",
]
