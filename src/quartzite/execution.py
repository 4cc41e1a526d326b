"""One firing: what the store hands over, what the job sees, what is reported back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from quartzite.calendars.base import Calendar
from quartzite.model.job import JobDetail
from quartzite.model.job_data import JobData, MutableJobData
from quartzite.model.keys import RECOVERY_GROUP, JobKey, TriggerKey
from quartzite.model.states import SchedulerInstruction
from quartzite.triggers.base import Trigger

if TYPE_CHECKING:
    from quartzite.engine.scheduler import Scheduler

__all__ = [
    "ORIGINAL_TRIGGER_GROUP",
    "ORIGINAL_TRIGGER_NAME",
    "CancellationToken",
    "JobCompletion",
    "JobContext",
    "SkippedFiring",
    "TriggerFiredBundle",
    "TriggerFiredResult",
]

ORIGINAL_TRIGGER_NAME = "QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME"
ORIGINAL_TRIGGER_GROUP = "QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP"
ORIGINAL_FIRE_TIME = "QRTZ_FAILED_JOB_ORIG_TRIGGER_FIRETIME_AS_STRING"
ORIGINAL_SCHEDULED_FIRE_TIME = "QRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_AS_STRING"
"""Job data keys of recovery triggers (spec 01 section 1)."""


class CancellationToken:
    """Tells one run that it should stop; may be set and read from any thread.

    Cooperative: a job looks at :attr:`is_set` now and then, or awaits :meth:`wait` beside its work.
    """

    __slots__ = ("_reason", "_waiters")

    # One for all: it is hardly ever wanted and held for an instant, while a lock for each firing would cost.
    _lock: ClassVar[Lock] = Lock()

    def __init__(self) -> None:
        self._reason: str | None = None
        self._waiters: list[asyncio.Future[None]] | None = None

    @property
    def is_set(self) -> bool:
        """Whether the run should stop."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """Why the run should stop, None while it should not."""
        return self._reason

    def set(self, reason: str = "interrupted") -> None:
        """Ask the run to stop; the first reason stays."""
        with self._lock:
            if self._reason is not None:
                return
            self._reason = reason
            waiters, self._waiters = self._waiters, None
        for waiter in waiters or ():
            waiter.get_loop().call_soon_threadsafe(_resolve, waiter)

    async def wait(self) -> str:
        """Wait until the run should stop, and return why."""
        with self._lock:
            if self._reason is None:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters = [*(self._waiters or ()), waiter]
            else:
                return self._reason
        await waiter
        return self._reason or ""

    def raise_if_set(self) -> None:
        """Raise ``asyncio.CancelledError`` when the run should stop; it then counts as ended normally."""
        if self._reason is not None:
            raise asyncio.CancelledError(self._reason)


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerFiredBundle:
    """All that is needed to run one firing (spec 06 section 2). Times are aware UTC.

    Attributes:
        job: As stored.
        trigger: As it stands after the firing: its next fire time is the following one.
        calendar: The calendar of the trigger, or None.
        recovering: Whether this run repeats one that died with its process.
        fire_time: When the store made the firing.
        scheduled_fire_time: When it should have been made; the missed time after a misfire that fires at once.
        previous_fire_time: The trigger's previous fire time before this one.
        next_fire_time: The trigger's next one.
    """

    job: JobDetail
    trigger: Trigger
    calendar: Calendar | None
    recovering: bool
    fire_time: datetime
    scheduled_fire_time: datetime
    previous_fire_time: datetime | None
    next_fire_time: datetime | None

    @property
    def fire_instance_id(self) -> str:
        """Id of the firing."""
        return self.trigger.fire_instance_id or ""


@dataclass(frozen=True, slots=True)
class TriggerFiredResult:
    """What became of one acquired trigger: fired, not fired after all, or failed."""

    NOT_FIRED: ClassVar[TriggerFiredResult]

    bundle: TriggerFiredBundle | None = None
    exception: Exception | None = None

    @classmethod
    def fired(cls, bundle: TriggerFiredBundle) -> TriggerFiredResult:
        """Return the result of a firing that shall run."""
        return cls(bundle)

    @classmethod
    def failed(cls, exception: Exception) -> TriggerFiredResult:
        """Return the result of a trigger that could not be processed."""
        return cls(None, exception)


TriggerFiredResult.NOT_FIRED = TriggerFiredResult()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFiring:
    """A firing that this node leaves to another one. Times are aware UTC.

    Attributes:
        job_key: The job that does not run.
        trigger_key: The trigger that fired.
        scheduled_fire_time: The tick.
        holder: The node that claimed the tick or a later one, or still runs an earlier one of a job that must not
            overlap; None when its record is gone.
        claimed_tick: The latest tick that was claimed, and by the holder; None when there is none.
        held_until: Until when the holder has it at most, None when it is not known.
    """

    job_key: JobKey
    trigger_key: TriggerKey
    scheduled_fire_time: datetime
    holder: str | None
    claimed_tick: datetime | None = None
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class JobCompletion:
    """The end of one firing, for ``triggered_jobs_complete``: the arguments of ``triggered_job_complete``."""

    trigger: Trigger
    job: JobDetail
    instruction: SchedulerInstruction


class JobContext:
    """What a running job sees (spec 01 section 6). Every time is an aware UTC datetime.

    Attributes:
        scheduler: The scheduler that runs the job.
        job: The job as stored when it fired.
        trigger: The trigger that fired, already advanced to its next fire time.
        calendar: The trigger's calendar, or None.
        recovering: Whether this run repeats one that died with its process.
        fire_time: When the firing began.
        scheduled_fire_time: When it should have begun.
        previous_fire_time: The trigger's previous fire time before this one, or None.
        next_fire_time: The trigger's next one, or None.
        cancellation_token: Set when the run should stop.
        refire_count: 0 on the first run, one more for each immediate refire.
        result: Free for the job to set; listeners see it.
        job_instance: The job object, None until it is built.
    """

    __slots__ = (
        "_bundle",
        "_job_data",
        "_merged",
        "_run_time",
        "_volatile",
        "cancellation_token",
        "job_instance",
        "refire_count",
        "result",
        "scheduler",
    )

    def __init__(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> None:
        self._bundle = bundle
        self.scheduler = scheduler
        self.cancellation_token = CancellationToken()
        self.refire_count = 0
        self.result: Any = None
        self.job_instance: Any = None
        self._job_data: MutableJobData | None = None
        self._merged: JobData | None = None
        self._volatile: dict[str, Any] | None = None
        self._run_time: float | None = None

    @property
    def job(self) -> JobDetail:
        """The job as stored when it fired."""
        return self._bundle.job

    @property
    def trigger(self) -> Trigger:
        """The trigger that fired, already advanced to its next fire time."""
        return self._bundle.trigger

    @property
    def calendar(self) -> Calendar | None:
        """The trigger's calendar, or None."""
        return self._bundle.calendar

    @property
    def recovering(self) -> bool:
        """Whether this run repeats one that died with its process."""
        return self._bundle.recovering

    @property
    def recovering_trigger_key(self) -> TriggerKey | None:
        """The key of the trigger whose run is repeated, or None."""
        data = self.trigger.job_data
        if self.trigger.key.group != RECOVERY_GROUP or ORIGINAL_TRIGGER_NAME not in data:
            return None
        return TriggerKey(data[ORIGINAL_TRIGGER_NAME], data[ORIGINAL_TRIGGER_GROUP])

    @property
    def fire_time(self) -> datetime:
        """When the firing began."""
        return self._bundle.fire_time

    @property
    def scheduled_fire_time(self) -> datetime:
        """When it should have begun."""
        return self._bundle.scheduled_fire_time

    @property
    def previous_fire_time(self) -> datetime | None:
        """The trigger's previous fire time before this one, or None."""
        return self._bundle.previous_fire_time

    @property
    def next_fire_time(self) -> datetime | None:
        """The trigger's next fire time, or None."""
        return self._bundle.next_fire_time

    @property
    def fire_instance_id(self) -> str:
        """Id of this firing, unique within the cluster."""
        return self._bundle.fire_instance_id

    @property
    def job_data(self) -> MutableJobData:
        """The job's own data, a copy that may be changed.

        Changes are written back after the run when the job persists its data, and are lost otherwise.
        """
        if self._job_data is None:
            self._job_data = self.job.job_data.mutable_copy()
        return self._job_data

    @property
    def data(self) -> JobData:
        """The job's stored data overlaid by the trigger's, read-only."""
        if self._merged is None:
            self._merged = self.job.job_data.merged_with(self.trigger.job_data)
        return self._merged

    @property
    def job_run_time(self) -> timedelta | None:
        """How long the last run took, None until it ended."""
        return None if self._run_time is None else timedelta(seconds=self._run_time)

    def put(self, key: str, value: Any) -> None:
        """Keep a value for listeners and later refires of this firing."""
        if self._volatile is None:
            self._volatile = {}
        self._volatile[key] = value

    def get(self, key: str) -> Any:
        """Return a value that was put, or None."""
        return None if self._volatile is None else self._volatile.get(key)

    @property
    def values(self) -> Mapping[str, Any]:
        """All values that were put."""
        return dict(self._volatile or {})

    def job_after_run(self) -> JobDetail:
        """Return the job with the data as the run left it."""
        if self._job_data is None or not self._job_data.changed:
            return self.job
        return self.job.with_job_data(self._job_data.frozen())

    def record_run_time(self, seconds: float) -> None:
        """Note how long the last run took."""
        self._run_time = seconds
