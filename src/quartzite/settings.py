"""Settings of one scheduler: plain, typed values that say what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from difflib import get_close_matches
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from quartzite.errors import InvalidValueError, SchedulerConfigError
from quartzite.model.acquisition import ExecutionLimits
from quartzite.model.identity import DEFAULT_SCHEDULER_NAME, NON_CLUSTERED, SchedulerIdentity
from quartzite.timezones import UTC_ZONE, zone

__all__ = ["AUTO_INSTANCE_ID", "RamStoreSettings", "SchedulerSettings", "Settings", "SqlStoreSettings"]

AUTO_INSTANCE_ID: Final = "AUTO"
"""The instance id that stands for: make one."""
_NOTHING: Final = timedelta(0)
_SECOND: Final = timedelta(seconds=1)
_MILLISECOND: Final = timedelta(milliseconds=1)
_SHOWN: Final = 60


class Settings(BaseModel):
    """Base of all settings: frozen, without unknown names.

    Raises:
        SchedulerConfigError: listing every problem: the setting, its value, the reason.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, validate_default=False)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise SchedulerConfigError(_explained(type(self), error)) from error


class SchedulerSettings(Settings):
    """How one scheduler works (spec 04 section 9; decision 17 for the defaults of batch and concurrency).

    Attributes:
        name: Shared by all nodes of a cluster; at most 120 characters.
        instance_id: Id of this node; ``AUTO`` has one made.
        idle_wait_time: How far ahead triggers are acquired, and the longest wait between two looks; at least 1 s.
        max_batch_size: Most triggers acquired at once.
        batch_time_window: How much later than the first one the others of a batch may be due. Each still fires at
            its own time.
        max_concurrency: Most jobs that run at once, threads included.
        interrupt_jobs_on_shutdown: Tell running jobs to stop when a shutdown does not wait for them.
        interrupt_jobs_on_shutdown_with_wait: Tell running jobs to stop when a shutdown waits for them.
        time_zone: Zone of schedules that name none; an id is accepted.
        context: First content of ``scheduler.context``.
        execution_limits: How many firings of an execution group may run at once, None for no limit. A mapping of
            groups to limits is accepted.
        misfire_threshold: How late a firing may be before it counts as missed; None for what the store has.
    """

    name: str = DEFAULT_SCHEDULER_NAME
    instance_id: str = NON_CLUSTERED
    idle_wait_time: timedelta = Field(default=timedelta(seconds=30), ge=_SECOND)
    max_batch_size: int = Field(default=50, ge=1)
    batch_time_window: timedelta = Field(default=_NOTHING, ge=_NOTHING)
    max_concurrency: int = Field(default=50, ge=1)
    interrupt_jobs_on_shutdown: bool = False
    interrupt_jobs_on_shutdown_with_wait: bool = False
    time_zone: ZoneInfo = UTC_ZONE
    context: Mapping[str, Any] = Field(default_factory=dict)
    execution_limits: ExecutionLimits | None = None
    misfire_threshold: timedelta | None = Field(default=None, ge=_MILLISECOND)

    @field_validator("name")
    @classmethod
    def _name_can_be_stored(cls, name: str) -> str:
        SchedulerIdentity(scheduler_name=name)
        return name

    @field_validator("instance_id")
    @classmethod
    def _instance_id_can_be_stored(cls, instance_id: str) -> str:
        SchedulerIdentity(scheduler_name=DEFAULT_SCHEDULER_NAME, instance_id=instance_id)
        return instance_id

    @field_validator("time_zone", mode="before")
    @classmethod
    def _zone_has_an_id(cls, value: Any) -> ZoneInfo:
        return zone(value)

    @field_validator("execution_limits", mode="before")
    @classmethod
    def _limits_of_a_mapping(cls, value: Any) -> Any:
        return ExecutionLimits(value) if isinstance(value, Mapping) else value


class RamStoreSettings(Settings):
    """How the store in memory works.

    Attributes:
        misfire_threshold: How late a firing may be before it counts as missed; at least 1 ms (spec 06 section 8).
    """

    misfire_threshold: timedelta = Field(default=timedelta(seconds=5), ge=_MILLISECOND)


class SqlStoreSettings(Settings):
    """How the store in a database works (spec 07 section 12).

    Attributes:
        url: The database; None when an engine is given.
        table_prefix: What the names of the tables begin with.
        schema_name: Where the tables are, None for the default of the connection.
        create_schema: Whether missing tables are created when the scheduler is initialized; None does that in
            databases that are embedded in the process (SQLite) only.
        perform_schema_validation: Whether tables and columns are checked when the scheduler is initialized.
        wait_for_database: Whether a scheduler waits for a database that does not answer, rather than fail.
        misfire_threshold: How late a firing may be before it counts as missed; at least 1 ms.
        misfire_handler_frequency: How often missed times are looked for; None for the misfire threshold.
        max_misfires_to_handle_at_a_time: Late triggers handled in one transaction.
        db_retry_interval: How long to wait after the database failed.
        max_transient_retries: How often an operation is repeated after a failure that may pass.
        transient_retry_interval: How long to wait before that.
        command_timeout: How long one statement may take; None for no limit.
        acquire_triggers_within_lock: Whether acquiring, firing and completing take the lock of all triggers; None
            does so where the database can not pass over rows that are locked, or when a lock handler was supplied.
        lock_on_insert: Whether adding takes that lock.
        pool_size: Connections that are kept open.
        pool_overflow: How many more may be opened for a while.
        pool_timeout: How long to wait for a free connection.
        pool_recycle: After which age a connection is replaced; None for never.
        pool_pre_ping: Whether each connection is tried before it is used.
        connect_args: Passed to the driver.
    """

    url: str | None = Field(default=None, repr=False)  # it may hold a password
    table_prefix: str = "QRTZ_"
    schema_name: str | None = None
    create_schema: bool | None = None
    perform_schema_validation: bool = True
    wait_for_database: bool = False
    misfire_threshold: timedelta = Field(default=timedelta(seconds=60), ge=_MILLISECOND)
    misfire_handler_frequency: timedelta | None = Field(default=None, ge=_MILLISECOND)
    max_misfires_to_handle_at_a_time: int = Field(default=20, ge=1)
    db_retry_interval: timedelta = Field(default=timedelta(seconds=15), ge=_NOTHING)
    max_transient_retries: int = Field(default=3, ge=0)
    transient_retry_interval: timedelta = Field(default=_SECOND, ge=_NOTHING)
    command_timeout: timedelta | None = Field(default=None, gt=_NOTHING)
    acquire_triggers_within_lock: bool | None = None
    lock_on_insert: bool = True
    pool_size: int = Field(default=10, ge=1)
    pool_overflow: int = Field(default=10, ge=0)
    pool_timeout: timedelta = Field(default=timedelta(seconds=30), gt=_NOTHING)
    pool_recycle: timedelta | None = Field(default=None, ge=_SECOND)
    pool_pre_ping: bool = False
    connect_args: Mapping[str, Any] = Field(default_factory=dict, repr=False)


def _explained(settings: type[BaseModel], error: ValidationError) -> str:
    problems = [_problem(settings, found) for found in error.errors(include_url=False)]
    return "\n  ".join([f"{settings.__name__} can not be used:", *problems])


def _problem(settings: type[BaseModel], found: ErrorDetails) -> str:
    setting = ".".join(str(part) for part in found["loc"])
    if found["type"] == "extra_forbidden":
        near = get_close_matches(setting, settings.model_fields, n=1)
        return f"{setting}: there is no such setting" + (f"; did you mean {near[0]}?" if near else "")
    if found["type"] == "missing":
        return f"{setting}: it must be given"
    cause = found.get("ctx", {}).get("error")
    reason = str(cause) if isinstance(cause, InvalidValueError) else found["msg"]
    return f"{setting} is {_short(found['input'])}: {reason}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
