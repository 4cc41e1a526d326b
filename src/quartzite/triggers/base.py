"""Trigger: when a job fires next, as an immutable value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from quartzite.calendars.base import FIRST_YEAR, LAST_YEAR, Calendar
from quartzite.errors import InvalidValueError, JobExecutionError, SchedulerError
from quartzite.model.field_types import FieldTypes
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.model.states import SchedulerInstruction
from quartzite.triggers.misfire import MisfireInstruction

if TYPE_CHECKING:
    from quartzite.triggers.builder import TriggerBuilder
    from quartzite.triggers.schedule import Schedule

__all__ = ["DEFAULT_PRIORITY", "NO_JOB", "START_WHEN_SCHEDULED", "Trigger"]

DEFAULT_PRIORITY: Final = 5
NO_JOB: Final = JobKey("<no job yet>", "<no job yet>")
"""Stands in a trigger that was built without a job, until it is scheduled."""
START_WHEN_SCHEDULED: Final = datetime.min.replace(tzinfo=UTC)
"""Stands in a trigger that was built without a start time, until it is scheduled."""
SEARCH_LIMIT: Final = timedelta(days=366 * 100)
"""A search for a fire time that passes this far ends with None."""
SEARCHED_TIMES: Final = 100_000
"""So does one that finds this many times excluded: behind each of them the calendar includes, but no fire time."""
_TYPES: Final = FieldTypes(
    key=(TriggerKey,),
    job_key=(JobKey,),
    description=(str, None),
    calendar_name=(str, None),
    job_data=(JobData,),
    priority=(int,),
    misfire_instruction=(int,),
    start_time=(datetime,),
    end_time=(datetime, None),
    execution_group=(str, None),
    preferred_node=(PreferredNode,),
    next_fire_time=(datetime, None),
    previous_fire_time=(datetime, None),
    times_triggered=(int,),
    misfire_origin=(datetime, None),
    fire_instance_id=(str, None),
)
_ABOUT_NOW: Final = timedelta(milliseconds=500)
_PROGRESS: Final = frozenset(
    {"next_fire_time", "previous_fire_time", "times_triggered", "misfire_origin", "fire_instance_id"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(ABC):
    """The definition and the progress of one trigger (spec 01 section 5, spec 02 section 1).

    Progress never changes in place: :meth:`triggered` and its kin return a new value. Every instant is aware UTC,
    exact to the microsecond. A kind of your own derives from this class with the same decorator (call
    ``Trigger.__post_init__(self)`` by name: ``super()`` does not work in slotted dataclasses), sets
    ``trigger_type`` and gives the abstract members; they must be pure.

    Attributes:
        key: Unique within the scheduler.
        job_key: The job that is fired.
        description: For people.
        calendar_name: The calendar whose excluded times are skipped, or None.
        job_data: Values for this trigger's firings; they win over the job's.
        priority: Among equal fire times the higher number fires first.
        misfire_instruction: What happens to missed times; the numbers of the kind's enum.
        start_time: The schedule begins here.
        end_time: Nothing fires later, or None.
        execution_group: Counted against execution limits, or None.
        preferred_node: On which node it would like to fire.
        next_fire_time: When it fires next, None when never again.
        previous_fire_time: The scheduled time of the last firing, None before the first.
        times_triggered: Firings so far, for the kinds that count.
        misfire_origin: The missed time, after a misfire that made the trigger fire at once.
        fire_instance_id: Id of the firing, while the trigger is acquired.

    Raises:
        InvalidValueError: a field holds another type than it should, an instant is naive or in the year 1 or 9999, the
            end lies before the start, or the kind does not know the misfire instruction.
    """

    trigger_type: ClassVar[str]
    """Discriminator under which stores and serializers write this kind."""
    counts_firings: ClassVar[bool] = True
    """Whether ``times_triggered`` is kept."""
    misfire_instructions: ClassVar[frozenset[int]] = frozenset(MisfireInstruction)
    """The instructions that the kind understands."""

    key: TriggerKey
    job_key: JobKey = NO_JOB
    description: str | None = None
    calendar_name: str | None = None
    job_data: JobData = field(default_factory=lambda: EMPTY_JOB_DATA)
    priority: int = DEFAULT_PRIORITY
    misfire_instruction: int = 0
    start_time: datetime = START_WHEN_SCHEDULED
    end_time: datetime | None = None
    execution_group: str | None = None
    preferred_node: PreferredNode = PreferredNode.NONE
    next_fire_time: datetime | None = None
    previous_fire_time: datetime | None = None
    times_triggered: int = 0
    misfire_origin: datetime | None = None
    fire_instance_id: str | None = None

    def __post_init__(self) -> None:
        _TYPES.check(f"trigger {self.key}", self)
        for name in ("start_time", "end_time", "next_fire_time", "previous_fire_time", "misfire_origin"):
            value = getattr(self, name)
            # A row has up to five instants, and they are right: only a wrong one is worth a message.
            if value is not None and not (value.tzinfo is UTC and FIRST_YEAR <= value.year <= LAST_YEAR):
                object.__setattr__(self, name, _utc(f"trigger {self.key}: {name}", value))
        if self.end_time is not None and self.end_time < self.start_time:
            raise InvalidValueError(
                f"trigger {self.key}: end time {self.end_time} lies before start time {self.start_time}"
            )
        if self.misfire_instruction not in self.misfire_instructions:
            raise InvalidValueError(
                f"trigger {self.key}: misfire instruction {self.misfire_instruction!r} is none of "
                f"{sorted(map(int, self.misfire_instructions))}, which {type(self).__name__} understands"
            )

    def __init_subclass__(cls) -> None:
        # The dataclass decorator would give each kind a hash over all fields, and job data has none.
        cls.__hash__ = Trigger.__hash__  # type: ignore[method-assign]

    def __hash__(self) -> int:
        return hash(self.key)

    # What a kind must give ------------------------------------------------------------------------------------

    @abstractmethod
    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        """Return the first time of the schedule later than ``after``, within start and end, or None.

        ``times_triggered`` is how often the trigger will have fired by then. Calendars are not looked at.
        """

    @abstractmethod
    def _first_fire_time(self, now: datetime) -> datetime | None:
        """Return the first time of the schedule for a trigger that is scheduled at ``now``, or None."""

    @property
    @abstractmethod
    def final_fire_time(self) -> datetime | None:
        """The last time of the schedule, None when there is none or it is not known."""

    @property
    @abstractmethod
    def schedule(self) -> Schedule:
        """The schedule that makes a trigger of this definition (round trip)."""

    def _misfired(self, calendar: Calendar | None, now: datetime) -> Self:
        """Return the trigger as its misfire instruction (never -1) leaves it.

        This is the rule of the kinds with :class:`MisfireInstruction`: fire once now, whatever the calendar says,
        or wait for the next included time. The schedule stays where it is.
        """
        if self.misfire_instruction != MisfireInstruction.DO_NOTHING:
            return self.copy_with(next_fire_time=now)
        return self.copy_with(next_fire_time=self.next_included_fire_time(calendar, now))

    # What callers use -----------------------------------------------------------------------------------------

    @property
    def may_fire_again(self) -> bool:
        """Whether there is a next fire time."""
        return self.next_fire_time is not None

    @property
    def starts_when_scheduled(self) -> bool:
        """Whether no start time was given yet."""
        return self.start_time is START_WHEN_SCHEDULED or self.start_time == START_WHEN_SCHEDULED

    def get_fire_time_after(self, after: datetime) -> datetime | None:
        """Return the first time of the schedule later than an aware instant, in UTC, or None.

        Calendars are not looked at. A trigger without a start time answers as if it were scheduled at that instant.

        Raises:
            InvalidValueError: the instant is naive.
        """
        after = _utc("after", after)
        settled = self.scheduled_at(after) if self.starts_when_scheduled else self
        return settled._fire_time_after(after, settled.times_triggered)

    @property
    def ends_by_count(self) -> bool:
        """Whether how often it fired decides if it fires again, so that its fire times are found one by one only.

        True unless a kind knows better.
        """
        return self.counts_firings

    def next_included_fire_time(self, calendar: Calendar | None, after: datetime) -> datetime | None:
        """Return the first time of the schedule later than an aware instant that the calendar includes, or None.

        Raises:
            InvalidValueError: the instant is naive.
        """
        after, times = _utc("after", after), self.times_triggered
        return self._included(self._fire_time_after(after, times), calendar, times)

    def validate(self) -> None:
        """Check what the constructor can not.

        Raises:
            SchedulerError: there is no job.
        """
        if self.job_key == NO_JOB:
            raise SchedulerError(f"trigger {self.key} has no job: name one with for_job")

    def scheduled_at(self, now: datetime) -> Self:
        """Return the trigger as it is stored when it is scheduled at ``now``: the start time is settled."""
        if self.starts_when_scheduled:
            return self.copy_with(start_time=now)
        return self

    def compute_first_fire_time(self, calendar: Calendar | None, now: datetime) -> Self:
        """Return the trigger with its first fire time that the calendar includes, None when there is none."""
        settled = self.scheduled_at(now)
        first = settled._included(settled._first_fire_time(now), calendar, settled.times_triggered)
        return settled.copy_with(next_fire_time=first)

    def triggered(self, calendar: Calendar | None) -> Self:
        """Return the trigger after it fired at its next fire time: advanced to the following included time.

        An excluded time is skipped, never moved.

        Raises:
            SchedulerError: there is no next fire time.
        """
        fired = self.next_fire_time
        if fired is None:
            raise SchedulerError(f"trigger {self.key} has no next fire time, so it can not fire")
        times = self.times_triggered + 1 if self.counts_firings else self.times_triggered
        following = self._fire_time_after(fired, times)
        if calendar is not None:
            following = self._included(following, calendar, times)
        return self.copy_with(
            next_fire_time=following, previous_fire_time=fired, times_triggered=times, misfire_origin=None
        )

    def update_after_misfire(self, calendar: Calendar | None, now: datetime) -> Self:
        """Return the trigger as its misfire instruction leaves it (spec 02 section 1).

        When the instruction makes it fire at once, ``misfire_origin`` keeps the time that was missed.
        """
        if self.misfire_instruction == -1:
            return self
        missed, updated = self.next_fire_time, self._misfired(calendar, now)
        moved_to = updated.next_fire_time
        if moved_to is None or moved_to == missed or abs(moved_to - now) >= _ABOUT_NOW:
            return updated
        return updated.copy_with(misfire_origin=self.misfire_origin or missed)

    def update_with_new_calendar(self, calendar: Calendar | None, now: datetime, misfire_threshold: timedelta) -> Self:
        """Return the trigger with its next fire time looked for again, after its calendar was replaced.

        The time after the last firing stays when the calendar includes it, even when it has passed. Otherwise the
        next included one follows that is no misfire yet (spec 02 section 1).
        """
        following = self._fire_time_after(self.previous_fire_time or now, self.times_triggered)
        if following is not None and calendar is not None and not calendar.is_time_included(following):
            following = self.next_included_fire_time(calendar, max(following, now - misfire_threshold))
        return self.copy_with(next_fire_time=following)

    def execution_complete(self, error: JobExecutionError | None) -> SchedulerInstruction:
        """Return what the end of a run tells the store; the first that holds (spec 01 section 7)."""
        if error is not None:
            if error.refire_immediately:
                return SchedulerInstruction.RE_EXECUTE_JOB
            if error.unschedule_firing_trigger:
                return SchedulerInstruction.SET_TRIGGER_COMPLETE
            if error.unschedule_all_triggers:
                return SchedulerInstruction.SET_ALL_JOB_TRIGGERS_COMPLETE
        if self.next_fire_time is None:
            return SchedulerInstruction.DELETE_TRIGGER
        return SchedulerInstruction.NO_INSTRUCTION

    def has_same_definition(self, other: Trigger) -> bool:
        """Tell whether both are defined alike; progress, and a start time that one did not give, do not count."""
        if type(self) is not type(other):
            return False
        ignored = _PROGRESS | {"start_time"}
        same = all(getattr(self, n) == getattr(other, n) for n in _field_names(type(self)) if n not in ignored)
        return same and self._has_same_start(other)

    def _has_same_start(self, other: Trigger) -> bool:
        """Tell whether both start alike; the other one is of the same kind."""
        return self.starts_when_scheduled or other.starts_when_scheduled or self.start_time == other.start_time

    def to_builder(self) -> TriggerBuilder:
        """Return a builder that would make this trigger again, without its progress."""
        from quartzite.triggers.builder import TriggerBuilder

        return TriggerBuilder.of(self)

    def copy_with(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, unchecked: for values that are known to be right.

        ``dataclasses.replace`` does the same with all checks; this one is on the path of every firing.
        """
        copied: Self = _copier(type(self))(self, changes)
        return copied

    def _included(self, candidate: datetime | None, calendar: Calendar | None, times: int) -> datetime | None:
        """Return the first time of the schedule from ``candidate`` on that the calendar includes."""
        if calendar is None or candidate is None:
            return candidate
        limit = _search_end(candidate)
        for _ in range(SEARCHED_TIMES):
            if candidate is None or calendar.is_time_included(candidate):
                return candidate
            resumes = calendar.next_included(candidate)
            if resumes is None or resumes > limit:
                return None
            # The schedule may have a time exactly where the calendar includes again.
            candidate = self._fire_time_after(max(candidate, resumes - timedelta.resolution), times)
        return None


@cache
def _field_names(cls: type[Trigger]) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls))


@cache
def _copier(cls: type[Trigger]) -> Callable[[Trigger, Mapping[str, Any]], Any]:
    """Return a function that copies triggers of a class past its frozen surface, with changes.

    It is written out field by field, as dataclasses write their methods: a loop takes nearly twice as long.
    """
    writers = {name: _writer(cls, name) for name in _field_names(cls)}
    copies = "".join(f"    write_{name}(new, trigger.{name})\n" for name in writers)
    changes = "    for name, value in changes.items():\n        writers[name](new, value)\n"
    source = f"def copy(trigger, changes):\n    new = make(cls)\n{copies}{changes}    return new\n"
    names: dict[str, Any] = {f"write_{name}": write for name, write in writers.items()}
    names.update(make=object.__new__, cls=cls, writers=writers)
    exec(source, names)  # noqa: S102  # made of the names of fields, which are identifiers
    copy: Callable[[Trigger, Mapping[str, Any]], Any] = names["copy"]
    return copy


def _writer(cls: type[Trigger], name: str) -> Callable[[Trigger, Any], None]:
    slot = getattr(cls, name, None)
    if isinstance(slot, MemberDescriptorType):
        return slot.__set__
    return lambda trigger, value: object.__setattr__(trigger, name, value)  # a kind without slots


def _search_end(start: datetime) -> datetime:
    return start + SEARCH_LIMIT if start.year < 9800 else datetime.max.replace(tzinfo=UTC)


def _utc(what: str, moment: datetime) -> datetime:
    """Return an aware instant in UTC; near the first and the last year no zone could show it, so these are refused."""
    if not isinstance(moment, datetime):
        raise InvalidValueError(f"{what} {moment!r} must be a datetime")
    if moment.utcoffset() is None:
        raise InvalidValueError(f"{what} {moment} has no time zone: give an aware datetime")
    if moment == START_WHEN_SCHEDULED:
        return START_WHEN_SCHEDULED
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise InvalidValueError(
            f"{what} {moment} lies outside the years {FIRST_YEAR} to {LAST_YEAR}: leave it out when there is no limit"
        )
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
