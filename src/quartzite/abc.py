"""Every part that can be replaced, and what an implementation promises.

The contracts stand in the docstrings, as bullets. Parts get what they need through their constructor, matched by
annotation when the container builds them (spec 10; conventions "Container").
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from uuid import UUID

from quartzite.calendars.base import Calendar
from quartzite.errors import JobExecutionError
from quartzite.execution import (
    JobCompletion,
    JobContext,
    SkippedFiring,
    TriggerFiredBundle,
    TriggerFiredResult,
)
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.cluster import ClusterNode
from quartzite.model.identity import SchedulerIdentity, SchedulerLock, SemaphoreContext
from quartzite.model.job import JobDetail, JobType
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
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.triggers.base import Trigger

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from quartzite.engine.scheduler import Scheduler

__all__ = [
    "Beat",
    "BeatWork",
    "Clock",
    "FiringGate",
    "FiringPass",
    "Heartbeat",
    "InstanceIdGenerator",
    "Job",
    "JobFactory",
    "JobListener",
    "JobScope",
    "JobStore",
    "Plugin",
    "SchedulerListener",
    "Semaphore",
    "Serializer",
    "Signaler",
    "TriggerListener",
    "TypeLoader",
    "WorkerPool",
]

T = TypeVar("T")
MIN_ACQUIRE_RETRY_DELAY: Final = timedelta(milliseconds=20)
MAX_ACQUIRE_RETRY_DELAY: Final = timedelta(minutes=10)
_IDLE: Final[AbstractContextManager[None]] = nullcontext()
BeatWork: TypeAlias = "Callable[[], Awaitable[timedelta | None]]"
"""What a heartbeat calls: it may return how long to wait until the next call."""


class Job(ABC):
    """A job as a class; functions are jobs too, and any class with an ``execute`` method is.

    * An object is built for every firing, with its constructor arguments injected, and handed back afterwards;
      what it remembers does not survive.
    * ``execute`` may be plain: it then runs in a worker thread.
    """

    @abstractmethod
    def execute(self, context: JobContext) -> Any:
        """Do the work; usually ``async def``.

        Raises:
            JobExecutionError: to refire at once or to unschedule (spec 01 section 7).
        """


class Clock(ABC):
    """The only source of time. ``now`` may jump, ``monotonic`` never does.

    * ``now()`` is an aware UTC datetime, ``monotonic()`` counts seconds from an arbitrary point.
    * ``sleep(seconds)`` waits on ``monotonic``; 0 or less lets others run once.
    * ``busy(what)`` marks work in progress, so that a fake clock does not advance under it. ``sleep`` and ``wait``
      inside it, of its own task or of one that it started, take the mark off until they return.
    """

    @property
    def moves_by_itself(self) -> bool:
        """Whether time passes without anybody's doing; False for a clock that a test moves."""
        return True

    @abstractmethod
    def now(self) -> datetime:
        """Return the current instant, aware UTC."""

    @abstractmethod
    def monotonic(self) -> float:
        """Return seconds that never go back."""

    @abstractmethod
    async def sleep(self, seconds: float) -> None:
        """Wait for some seconds."""

    def busy(self, what: object = "") -> AbstractContextManager[None]:  # noqa: ARG002
        """Return a context that marks work in progress; ``what`` names it when a fake clock waits for it in vain."""
        return _IDLE

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait until ``event`` is set, some seconds at most; tell whether it is set.

        Cancelling the call leaves nothing behind.
        """
        if event.is_set():
            return True
        setter = asyncio.ensure_future(event.wait())
        sleeper = asyncio.ensure_future(self.sleep(seconds))
        try:
            await asyncio.wait((setter, sleeper), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (setter, sleeper):
                task.cancel()
            await asyncio.gather(setter, sleeper, return_exceptions=True)
        return event.is_set()


class Beat(ABC):
    """Work that a heartbeat does, until it is cancelled."""

    @abstractmethod
    def cancel(self) -> None:
        """Begin no further call, and do not wait for one that is under way; from any thread, as often as one likes."""


class Heartbeat(ABC):
    """Work that goes on however busy jobs and the event loop are (decision 18), such as the renewal of leases.

    * It has a daemon thread with an event loop of its own, made at first use. Under a clock that a test moves it works
      inline instead, on the event loop that asks first.
    * Calls of one beat never overlap. An error is logged and does not end the beat.
    * What its work uses (an engine, a client) must belong to its event loop: make it in the first call of the work,
      and have :meth:`at_end` close it.
    * Code that keeps the interpreter lock for long starves it too; so does a process that is stopped.
    """

    @abstractmethod
    def every(self, period: timedelta, work: BeatWork, *, name: str) -> Beat:
        """Call ``work`` after every period, the first time when one has passed; from any thread.

        Periods are counted from one due time to the next; those that passed during a late call are left out. A
        duration that ``work`` returns is waited for instead of the period, this once.

        Raises:
            InvalidValueError: the period is not above 0.
            SchedulerError: the heartbeat was closed.
        """

    @abstractmethod
    def schedule(self, delay: timedelta, work: BeatWork, *, name: str) -> Beat:
        """Call ``work`` once, after a delay; again after each duration that it returns. From any thread.

        Raises:
            SchedulerError: the heartbeat was closed.
        """

    @abstractmethod
    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Call ``work`` on the event loop of the heartbeat and return its result.

        Raises:
            SchedulerError: the heartbeat was closed.
        """

    @abstractmethod
    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have something called on the event loop of the heartbeat when it is closed, the last one given first."""

    @abstractmethod
    async def close(self) -> None:
        """End every beat, call what :meth:`at_end` was given, and end the thread; once more does nothing."""


class FiringPass(ABC):
    """Says that a firing may run on this node, for as long as it is not left or lost."""

    def when_lost(self, tell: Callable[[str], None]) -> None:  # noqa: B027
        """Have ``tell`` called with the reason when the pass is lost, at once when it is already; from any thread."""

    @abstractmethod
    async def leave(self) -> None:
        """Give the pass back: the firing has ended."""


class FiringGate(ABC):
    """Decides for each firing whether it runs on this node (decision 13).

    * ``enter`` is asked once for each firing, inside the task of its run and before its job is built, so that context
      variables which it sets reach the job.
    * Each pass is left once, after the job was closed.
    * A firing that is refused is completed in the store like one that ran; scheduler listeners hear of it.
    * When ``enter`` raises, the firing does not run here; scheduler listeners hear of the error.
    """

    def first_fire(self, trigger: Trigger, calendar: Calendar | None, now: datetime) -> Trigger:
        """Return a trigger as it is stored when it is scheduled at ``now``, with its first fire time or none."""
        return trigger.compute_first_fire_time(calendar, now)

    @abstractmethod
    async def enter(self, bundle: TriggerFiredBundle) -> FiringPass | SkippedFiring:
        """Return a pass, or what is known about who has the firing instead.

        Raises:
            Exception: it can not be known.
        """

    async def close(self) -> None:  # noqa: B027
        """Free everything; the scheduler has shut down."""


class Serializer(ABC):
    """Turns job data, triggers and calendars into bytes and back.

    * What it refuses is refused when it is stored, with :class:`InvalidValueError` naming the key; never at fire time.
    * What it accepts comes back equal.
    * Reading never runs code that a row names (decision 7).
    """

    @abstractmethod
    def serialize(self, value: object) -> bytes:
        """Return the bytes of a :class:`JobData`, :class:`Trigger` or :class:`Calendar`."""

    def check(self, value: object) -> None:
        """Refuse what :meth:`serialize` refuses; a store that keeps objects calls it for everything that is added."""
        self.serialize(value)

    @abstractmethod
    def deserialize(self, payload: bytes, expected: type[T]) -> T:
        """Return the value, which is an instance of ``expected``.

        Raises:
            JobPersistenceError: the bytes can not be read, with the reason.
        """


class TypeLoader(ABC):
    """Finds a job by its stored name (decision 7).

    * Only job classes and functions that were registered, or that stand in modules which are allowed, are returned.
    * ``load`` is cheap for a name that was loaded before.
    """

    @abstractmethod
    def load(self, job_type: JobType) -> Any:
        """Return the class or function of a job type.

        Raises:
            TypeLoadError: it can not be found or must not be used.
        """

    @abstractmethod
    def register(self, job_type: JobType) -> None:
        """Remember the target of a job type that is at hand, so that its name leads to it."""


class Signaler(ABC):
    """How a store tells its scheduler what happened.

    A store calls it after its transaction or lock, never inside. What is told before a scheduler is attached
    is dropped.
    """

    def attach(self, scheduler: Scheduler) -> None:  # noqa: B027
        """Learn whom to tell; called once, by the constructor of the scheduler."""

    @abstractmethod
    def signal_scheduling_change(self, candidate: datetime | None) -> None:
        """Wake the scheduling loop: something may fire at ``candidate``, or at a time not known (None)."""

    @abstractmethod
    async def notify_trigger_listeners_misfired(self, trigger: Trigger) -> None:
        """Tell trigger listeners that a trigger missed its next fire time."""

    @abstractmethod
    async def notify_scheduler_listeners_finalized(self, trigger: Trigger) -> None:
        """Tell scheduler listeners that a trigger will never fire again."""

    @abstractmethod
    async def notify_scheduler_listeners_job_deleted(self, key: JobKey) -> None:
        """Tell scheduler listeners that a job went with its last trigger."""

    @abstractmethod
    async def notify_scheduler_listeners_trigger_in_error(self, key: TriggerKey) -> None:
        """Tell scheduler listeners that a trigger was put into ERROR."""

    @abstractmethod
    async def notify_scheduler_listeners_triggers_in_error(self, job_key: JobKey) -> None:
        """Tell scheduler listeners that all triggers of a job were put into ERROR."""

    @abstractmethod
    async def notify_scheduler_listeners_error(self, message: str, error: Exception) -> None:
        """Tell scheduler listeners of an error."""


class Semaphore(ABC):
    """Grants the two locks of a scheduler, each to one requestor at a time (spec 09).

    * ``obtain_lock`` waits until the lock is granted. True means: you must release it.
    * The same requestor asking for the same lock again gets False and takes nothing; False means nothing else.
    * Refusal, timeout and cancellation are exceptions that leave nothing held.
    * The release by somebody who does not hold the lock warns and never raises.
    * A lock that can end while it is held (a lease) is verified by its holder before what it protects is committed.
    * All waiting is on the clock of the context.
    """

    @property
    @abstractmethod
    def requires_connection(self) -> bool:
        """Whether ``obtain_lock`` needs an open connection; False lets the store open it after the lock is held."""

    async def initialize(self, context: SemaphoreContext) -> None:  # noqa: B027
        """Learn about the scheduler; called once by the store, before schema validation."""

    @abstractmethod
    async def obtain_lock(self, requestor_id: UUID, connection: AsyncConnection | None, lock: SchedulerLock) -> bool:
        """Wait for a lock; True when this very call took it.

        Raises:
            LockError: the lock could not be obtained.
        """

    async def verify_lock(self, requestor_id: UUID, lock: SchedulerLock) -> None:  # noqa: B027
        """Make sure that a lock which the requestor holds was not lost meanwhile.

        The store calls it for each lock it holds, as the last thing before it commits; when it raises, the store takes
        the transaction back. A lock that lasts until it is released need not override it.

        Raises:
            LockError: the lock was lost, or nobody can tell; it still has to be released.
        """

    @abstractmethod
    async def release_lock(self, requestor_id: UUID, lock: SchedulerLock) -> None:
        """Give a lock back."""

    async def shutdown(self) -> None:  # noqa: B027
        """Close what the handler opened for itself; called by the store when it ends, also if it never started."""


@dataclass(frozen=True, slots=True)
class JobScope:
    """A job that is ready to run, and what must be closed after it.

    Attributes:
        job: The job object or function.
        call: Runs it, given the context.
        is_async: Whether ``call`` returns an awaitable; otherwise it runs in a worker thread.
        state: Whatever the factory needs to close the scope.
        hard_cancel: Whether an interruption cancels the task.
    """

    job: Any
    call: Callable[[JobContext], Any]
    is_async: bool
    state: Any = None
    hard_cancel: bool = False


class JobFactory(ABC):
    """Builds the job of one firing (spec 10 section 8).

    * ``create_job`` is awaited inside the task of the run, so context variables that it sets reach the job.
    * Each scope goes back through ``return_job`` exactly once, on every path.
    """

    @abstractmethod
    async def create_job(self, bundle: TriggerFiredBundle, scheduler: Scheduler) -> JobScope:
        """Return the job of a firing, built; refires use it again."""

    def check(self, job_type: JobType) -> None:  # noqa: B027
        """Find what would keep jobs of a type from being built; asked for declared jobs before anything starts.

        Raises:
            SchedulerError: naming the job, the reason and the remedy.
        """

    async def return_job(self, scope: JobScope, error: BaseException | None) -> None:  # noqa: B027
        """Close what was opened for the firing; ``error`` is how the last run ended."""


class WorkerPool(ABC):
    """Runs firings, some at a time (spec 04 section 7)."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many may run at once."""

    @abstractmethod
    async def initialize(self) -> None:
        """Get ready."""

    @abstractmethod
    async def wait_for_available(self) -> int:
        """Wait until a worker is free and return how many are; 0 when shut down."""

    @abstractmethod
    def try_run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Start work on a free worker; False when shut down or none is free. Never runs it in the caller."""

    @abstractmethod
    async def call_in_thread(self, function: Callable[[], T]) -> T:
        """Run blocking code in a worker thread and return its result; context variables reach it."""

    @abstractmethod
    async def shutdown(self, *, wait: bool = True, timeout: timedelta | None = None) -> int:
        """Take no more work; wait for what runs when asked to, at most ``timeout``. Return how many still run."""


class InstanceIdGenerator(ABC):
    """Makes the id of a node when none is configured."""

    @abstractmethod
    def generate(self) -> str:
        """Return an id that no other node has."""


class Plugin(ABC):  # noqa: B024
    """Extends a scheduler (spec 11 section 1). All members do nothing by default."""

    async def initialize(self, name: str, scheduler: Scheduler) -> None:  # noqa: B027
        """Prepare; called once after the store, before the content. An exception fails the creation."""

    async def start(self) -> None:  # noqa: B027
        """Begin; called at the first start only, after recovery, before the loop runs."""

    async def shutdown(self) -> None:  # noqa: B027
        """End; called after the running jobs have ended."""


class JobListener(ABC):  # noqa: B024
    """Hears about runs of jobs (spec 05). All members do nothing by default; ``name`` is its identity."""

    @property
    def name(self) -> str:
        """Identity in the listener manager; the class name by default."""
        return type(self).__name__

    async def job_to_be_executed(self, context: JobContext) -> None:  # noqa: B027
        """A job is about to run; an exception here keeps it from running."""

    async def job_execution_vetoed(self, context: JobContext) -> None:  # noqa: B027
        """A trigger listener vetoed the run."""

    async def job_was_executed(self, context: JobContext, error: JobExecutionError | None) -> None:  # noqa: B027
        """A run ended; the store does not know yet."""


class TriggerListener(ABC):  # noqa: B024
    """Hears about firings of triggers (spec 05). All members do nothing by default."""

    @property
    def name(self) -> str:
        """Identity in the listener manager; the class name by default."""
        return type(self).__name__

    async def trigger_fired(self, trigger: Trigger, context: JobContext) -> None:  # noqa: B027
        """A trigger fired; its job is about to run."""

    async def veto_job_execution(self, trigger: Trigger, context: JobContext) -> bool:  # noqa: ARG002
        """Return True to keep the job from running this time."""
        return False

    async def trigger_misfired(self, trigger: Trigger) -> None:  # noqa: B027
        """A trigger missed its next fire time; it is shown as it was before."""

    async def trigger_complete(  # noqa: B027
        self, trigger: Trigger, context: JobContext, instruction: SchedulerInstruction
    ) -> None:
        """The run of a firing ended."""


class SchedulerListener(ABC):  # noqa: B024
    """Hears about the scheduler itself (spec 05). All members do nothing by default.

    Two listeners of one class on one scheduler need names of their own.
    """

    @property
    def name(self) -> str:
        """Identity in the listener manager; the class name by default."""
        return type(self).__name__

    async def job_scheduled(self, trigger: Trigger) -> None:  # noqa: B027
        """A trigger was stored."""

    async def job_unscheduled(self, key: TriggerKey) -> None:  # noqa: B027
        """A trigger was removed."""

    async def trigger_finalized(self, trigger: Trigger) -> None:  # noqa: B027
        """A trigger will never fire again."""

    async def trigger_paused(self, key: TriggerKey) -> None:  # noqa: B027
        """A trigger was paused."""

    async def triggers_paused(self, group: str | None) -> None:  # noqa: B027
        """A trigger group was paused; None stands for all."""

    async def trigger_resumed(self, key: TriggerKey) -> None:  # noqa: B027
        """A trigger was resumed."""

    async def triggers_resumed(self, group: str | None) -> None:  # noqa: B027
        """A trigger group was resumed; None stands for all."""

    async def job_added(self, job: JobDetail) -> None:  # noqa: B027
        """A job was stored."""

    async def job_deleted(self, key: JobKey) -> None:  # noqa: B027
        """A job was deleted, by a call or with its last trigger."""

    async def job_paused(self, key: JobKey) -> None:  # noqa: B027
        """A job was paused."""

    async def jobs_paused(self, group: str | None) -> None:  # noqa: B027
        """A job group was paused; None stands for all."""

    async def job_resumed(self, key: JobKey) -> None:  # noqa: B027
        """A job was resumed."""

    async def jobs_resumed(self, group: str | None) -> None:  # noqa: B027
        """A job group was resumed; None stands for all."""

    async def job_interrupted(self, key: JobKey) -> None:  # noqa: B027
        """At least one run of a job was told to stop."""

    async def scheduler_error(self, message: str, error: Exception) -> None:  # noqa: B027
        """Something failed; ``error`` says what (spec 05 section 6)."""

    async def trigger_in_error(self, key: TriggerKey) -> None:  # noqa: B027
        """A trigger was put into ERROR; the cause comes through ``scheduler_error``."""

    async def triggers_in_error(self, job_key: JobKey) -> None:  # noqa: B027
        """All triggers of a job were put into ERROR; the cause comes through ``scheduler_error``."""

    async def firing_skipped(self, skipped: SkippedFiring) -> None:  # noqa: B027
        """A firing does not run here, because another node has it."""

    async def scheduler_in_standby_mode(self) -> None:  # noqa: B027
        """The scheduler went into standby."""

    async def scheduler_starting(self) -> None:  # noqa: B027
        """The scheduler is about to start."""

    async def scheduler_started(self) -> None:  # noqa: B027
        """The scheduler has started."""

    async def scheduler_shutting_down(self) -> None:  # noqa: B027
        """The scheduler is about to shut down."""

    async def scheduler_shutdown(self) -> None:  # noqa: B027
        """The scheduler has shut down."""

    async def scheduling_data_cleared(self) -> None:  # noqa: B027
        """All jobs, triggers and calendars were deleted."""


class JobStore(ABC):
    """Where scheduling data lives (spec 06).

    * Values go in and out; no store hands out anything that changes later.
    * A failed operation leaves the store as it was.
    * What happened is told through the :class:`Signaler`, after the transaction or lock, never inside.
    * Keys are unique within the scheduler; groups come and go with their members.
    * The fire cycle runs in a fixed order, once per batch: ``acquire_next_triggers``, ``triggers_fired``, and for
      each fired one the completion, or ``release_acquired_trigger`` for one that never fired.
    """

    # What the store is ----------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def supports_persistence(self) -> bool:
        """Whether the data survives the process: an answer, not a setting."""

    @property
    @abstractmethod
    def clustered(self) -> bool:
        """Whether several nodes may share the data: an answer, not a setting."""

    # Life -----------------------------------------------------------------------------------------------------

    @abstractmethod
    async def initialize(self, identity: SchedulerIdentity) -> None:
        """Get ready for the scheduler of this identity; called once, before plugins are initialized."""

    @abstractmethod
    async def scheduler_started(self) -> None:
        """Recover what a former life left, and begin background work; called once, and again only if it raised."""

    async def scheduler_paused(self) -> None:  # noqa: B027
        """Hear that the scheduler went into standby."""

    async def scheduler_resumed(self) -> None:  # noqa: B027
        """Hear that the scheduler runs again."""

    @abstractmethod
    async def shutdown(self) -> None:
        """Free everything; may be called in any state."""

    def get_acquire_retry_delay(self, failure_count: int) -> timedelta:  # noqa: ARG002
        """Return how long to wait after acquiring failed ``failure_count`` times running: 20 ms to 10 min."""
        return MIN_ACQUIRE_RETRY_DELAY

    # Jobs -----------------------------------------------------------------------------------------------------

    @abstractmethod
    async def schedule_job(self, job: JobDetail, trigger: Trigger) -> None:
        """Store a job and its trigger, neither of which may exist.

        Raises:
            ObjectAlreadyExistsError: one of the keys is taken.
        """

    @abstractmethod
    async def schedule_jobs(self, content: Mapping[JobDetail, Collection[Trigger]], *, replace: bool = False) -> None:
        """Store jobs with their triggers, all or nothing.

        Raises:
            ObjectAlreadyExistsError: a key is taken and ``replace`` is False.
        """

    @abstractmethod
    async def add_job(self, job: JobDetail, *, replace: bool = False) -> None:
        """Store a job without a trigger.

        Raises:
            ObjectAlreadyExistsError: the key is taken and ``replace`` is False.
        """

    @abstractmethod
    async def delete_job(self, key: JobKey) -> bool:
        """Delete a job with its triggers; tell whether it was there."""

    async def delete_jobs(self, keys: Collection[JobKey]) -> bool:
        """Delete jobs with their triggers; tell whether all were there."""
        return all([await self.delete_job(key) for key in dict.fromkeys(keys)])

    @abstractmethod
    async def get_job(self, key: JobKey) -> JobDetail | None:
        """Return a job, or None."""

    async def get_job_details(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Return the jobs of these keys that exist, in this order, each once."""
        found = [await self.get_job(key) for key in dict.fromkeys(keys)]
        return [job for job in found if job is not None]

    # Triggers -------------------------------------------------------------------------------------------------

    @abstractmethod
    async def add_trigger(self, trigger: Trigger, *, replace: bool = False) -> None:
        """Store a trigger of a stored job; it starts paused or blocked as spec 06 section 4 says.

        Raises:
            JobNotFoundError: the job is not stored.
            ObjectAlreadyExistsError: the key is taken and ``replace`` is False.
        """

    @abstractmethod
    async def delete_trigger(self, key: TriggerKey) -> bool:
        """Delete a trigger, and its job when that is not durable and has no other; tell whether it was there."""

    async def delete_triggers(self, keys: Collection[TriggerKey]) -> bool:
        """Delete triggers; tell whether all were there."""
        return all([await self.delete_trigger(key) for key in dict.fromkeys(keys)])

    @abstractmethod
    async def replace_trigger(self, key: TriggerKey, trigger: Trigger) -> bool:
        """Put another trigger of the same job in the place of a stored one; False when that is not there.

        Raises:
            JobPersistenceError: the new one is of another job; nothing has changed.
        """

    @abstractmethod
    async def update_trigger_details(self, key: TriggerKey, update: TriggerDetailsUpdate) -> bool:
        """Change what does not touch the schedule; tell whether the trigger is there (spec 04 section 6).

        Raises:
            JobPersistenceError: the update names a calendar that is not stored.
        """

    @abstractmethod
    async def get_trigger(self, key: TriggerKey) -> Trigger | None:
        """Return a trigger, or None."""

    async def get_triggers(self, keys: Collection[TriggerKey]) -> list[Trigger]:
        """Return the triggers of these keys that exist, in this order, each once."""
        found = [await self.get_trigger(key) for key in dict.fromkeys(keys)]
        return [trigger for trigger in found if trigger is not None]

    @abstractmethod
    async def get_triggers_for_job(self, key: JobKey) -> list[Trigger]:
        """Return the triggers of a job, in paging order."""

    @abstractmethod
    async def check_exists(self, key: JobKey | TriggerKey) -> bool:
        """Tell whether a job or a trigger is stored."""

    @abstractmethod
    async def clear(self) -> None:
        """Delete all jobs, triggers, calendars, pauses and firings of this scheduler."""

    # Calendars ------------------------------------------------------------------------------------------------

    @abstractmethod
    async def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = False, update_triggers: bool = False
    ) -> None:
        """Store a calendar under a name; see spec 03 section 4.

        Raises:
            ObjectAlreadyExistsError: the name is taken and ``replace`` is False.
        """

    @abstractmethod
    async def delete_calendar(self, name: str) -> bool:
        """Delete a calendar; tell whether it was there.

        Raises:
            JobPersistenceError: a trigger names it.
        """

    @abstractmethod
    async def get_calendar(self, name: str) -> Calendar | None:
        """Return a calendar, or None."""

    # States ---------------------------------------------------------------------------------------------------

    @abstractmethod
    async def get_trigger_state(self, key: TriggerKey) -> TriggerState:
        """Return the reported state; ``NONE`` for a trigger that is not stored."""

    @abstractmethod
    async def reset_trigger_from_error_state(self, key: TriggerKey) -> None:
        """Put a trigger that is in ERROR back to work (or to PAUSED when its group is); others stay."""

    @abstractmethod
    async def pause_trigger(self, key: TriggerKey) -> None:
        """Pause a trigger; nothing happens when it is not stored."""

    @abstractmethod
    async def resume_trigger(self, key: TriggerKey) -> None:
        """Resume a trigger; a time that was missed meanwhile is treated as a misfire at once."""

    @abstractmethod
    async def pause_job(self, key: JobKey) -> None:
        """Pause the triggers that a job has now."""

    @abstractmethod
    async def resume_job(self, key: JobKey) -> None:
        """Resume the triggers of a job."""

    @abstractmethod
    async def pause_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Pause trigger groups and remember them; return their names.

        A group that is named exactly is remembered even while it is empty: later members start paused.
        """

    @abstractmethod
    async def resume_triggers(self, matcher: GroupMatcher[TriggerKey]) -> list[str]:
        """Resume trigger groups and forget that they were paused; return their names."""

    @abstractmethod
    async def pause_jobs(self, matcher: GroupMatcher[JobKey]) -> list[str]:
        """Pause the triggers of all jobs in these job groups; return the groups."""

    @abstractmethod
    async def resume_jobs(self, matcher: GroupMatcher[JobKey]) -> list[str]:
        """Resume the triggers of all jobs in these job groups; return the groups."""

    async def pause_triggers_by_key(self, keys: Collection[TriggerKey]) -> None:
        """Pause triggers."""
        for key in keys:
            await self.pause_trigger(key)

    async def resume_triggers_by_key(self, keys: Collection[TriggerKey]) -> None:
        """Resume triggers."""
        for key in keys:
            await self.resume_trigger(key)

    async def pause_jobs_by_key(self, keys: Collection[JobKey]) -> None:
        """Pause jobs."""
        for key in keys:
            await self.pause_job(key)

    async def resume_jobs_by_key(self, keys: Collection[JobKey]) -> None:
        """Resume jobs."""
        for key in keys:
            await self.resume_job(key)

    @abstractmethod
    async def pause_all(self) -> None:
        """Pause every trigger group, those that appear later too."""

    @abstractmethod
    async def resume_all(self) -> None:
        """Resume every trigger group and forget all pauses."""

    # The fire cycle -------------------------------------------------------------------------------------------

    @abstractmethod
    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Reserve triggers for this node, in fire order, each with its fire instance id.

        * None fires later than the request allows, and there are never more than ``max_count``.
        * At most one per job that disallows concurrency.
        * Excluded job types and exhausted execution groups take up no place.
        """

    @abstractmethod
    async def triggers_fired(self, triggers: Sequence[Trigger]) -> list[TriggerFiredResult]:
        """Fire acquired triggers; the result has the same length, and item i belongs to trigger i.

        A trigger that is not acquired any more, or whose job or calendar is gone, gives ``NOT_FIRED``; one that
        can not be processed gives ``failed(exception)``.
        """

    @abstractmethod
    async def triggered_job_complete(self, trigger: Trigger, job: JobDetail, instruction: SchedulerInstruction) -> None:
        """End a firing, also when the job never ran; free the siblings of a non-concurrent job.

        Called for a firing that this store does not know any more, it changes nothing. Job data is written when
        the job persists it and ``job.job_data.changed``.
        """

    async def triggered_jobs_complete(self, completions: Sequence[JobCompletion]) -> None:
        """End several firings."""
        for done in completions:
            await self.triggered_job_complete(done.trigger, done.job, done.instruction)

    @abstractmethod
    async def release_acquired_trigger(self, trigger: Trigger) -> None:
        """Give back a trigger that was acquired and never fired."""

    async def release_acquired_triggers(self, triggers: Sequence[Trigger]) -> None:
        """Give back several."""
        for trigger in triggers:
            await self.release_acquired_trigger(trigger)

    # Queries --------------------------------------------------------------------------------------------------

    @abstractmethod
    async def query_jobs(self, query: JobQuery) -> PagedResult[JobHeader]:
        """Return one page of jobs, by group, then name, by code point."""

    @abstractmethod
    async def query_triggers(self, query: TriggerQuery) -> PagedResult[TriggerHeader]:
        """Return one page of triggers, by group, then name, by code point."""

    @abstractmethod
    async def query_job_groups(self, query: JobGroupQuery) -> PagedResult[JobGroup]:
        """Return one page of job groups, by name."""

    @abstractmethod
    async def query_trigger_groups(self, query: TriggerGroupQuery) -> PagedResult[TriggerGroup]:
        """Return one page of trigger groups, by name."""

    @abstractmethod
    async def query_calendar_names(self, query: CalendarQuery) -> PagedResult[str]:
        """Return one page of calendar names, by code point."""

    @abstractmethod
    async def query_fire_instances(self, query: FireInstanceQuery) -> PagedResult[FireInstance]:
        """Return one page of firings, by trigger group, name and fire instance id."""

    @abstractmethod
    async def query_cluster_nodes(self) -> list[ClusterNode]:
        """Return the nodes that the store knows, the current one first, the others by instance id."""
