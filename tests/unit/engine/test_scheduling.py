"""Scheduling: everything is checked before the store is touched, and everybody is told afterwards."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from quartzite.abc import JobStore
from quartzite.calendars.base import Calendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.errors import (
    InvalidValueError,
    JobNotFoundError,
    JobPersistenceError,
    NeverFiresError,
    ObjectAlreadyExistsError,
    SchedulerError,
    TypeLoadError,
    UnknownCalendarError,
)
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.states import TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.testing import FakeClock, RecordingJobStore, RecordingSchedulerListener
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.cron import CronTrigger, cron
from quartzite.triggers.simple import SimpleTrigger, every, once
from tests.schedulers import listen, make_scheduler

START = datetime(2026, 1, 1, tzinfo=UTC)


async def report(context: JobContext) -> None:
    """A job."""


def tidy() -> None:
    """Another job."""


class Subject:
    """A scheduler that was not started, with what it asked and told."""

    def __init__(self, **settings: Any) -> None:
        self.clock = FakeClock(START)
        self.scheduler = make_scheduler(self.clock, wrap_store=self._recorded, **settings)
        self.told: RecordingSchedulerListener = listen(self.scheduler)

    def _recorded(self, inner: JobStore) -> JobStore:
        self.store = RecordingJobStore(inner)
        return self.store

    @property
    def writes(self) -> list[str]:
        """The names of the calls that may have changed the store."""
        return [name for name in self.store.names if not name.startswith(("get_", "query_", "check_"))]


@pytest.fixture
def subject() -> Subject:
    """A scheduler with an empty store."""
    return Subject()


def trigger(name: str = "t", **fields: Any) -> SimpleTrigger:
    """Return a trigger without a job that fires once, when it is scheduled."""
    return SimpleTrigger(key=TriggerKey(name), **fields)


# ---------------------------------------------------------------------------------------------- forms of definitions
async def test_a_function_and_a_schedule_are_enough(subject: Subject) -> None:
    """A bare function names job and trigger, in the default group; the answer is the first fire time."""
    assert await subject.scheduler.schedule_job(report, every(minutes=5)) == START
    job = await subject.scheduler.get_job_detail(JobKey("report"))
    stored = await subject.scheduler.get_trigger(TriggerKey("report"))
    assert job is not None
    assert stored is not None
    assert (job.durable, stored.job_key) == (False, JobKey("report"))


async def test_builders_may_be_handed_over(subject: Subject) -> None:
    """Builders are built by the scheduler; a schedule without a zone takes that of the scheduler."""
    subject = Subject(time_zone="Europe/Berlin")
    first = await subject.scheduler.schedule_job(
        JobBuilder.create(report).with_identity("daily", "reports"),
        TriggerBuilder.create().with_identity("at two").with_schedule(cron("0 0 2 * * ?")),
    )
    assert first == datetime(2026, 1, 1, 1, tzinfo=UTC)
    stored = await subject.scheduler.get_trigger(TriggerKey("at two"))
    assert isinstance(stored, CronTrigger)
    assert stored.time_zone == ZoneInfo("Europe/Berlin")


async def test_a_bare_schedule_takes_the_key_of_its_job(subject: Subject) -> None:
    """The trigger of a bare schedule has name and group of the job."""
    await subject.scheduler.schedule_job(JobBuilder.create(report).with_identity("a", "g"), once())
    assert await subject.scheduler.check_exists(TriggerKey("a", "g"))


async def test_several_triggers_come_with_one_job(subject: Subject) -> None:
    """Several triggers are stored in one operation, and the earliest first fire time is the answer."""
    job = JobBuilder.create(report).with_identity("job")
    later = trigger("later", start_time=START + timedelta(hours=1))
    assert await subject.scheduler.schedule_job(job, [later, trigger("now")]) == START
    assert subject.writes == ["schedule_jobs"]


async def test_a_trigger_of_a_stored_job(subject: Subject) -> None:
    """A trigger alone, in either way of writing it, is added to the job that it names."""
    await subject.scheduler.add_job(JobBuilder.create(report).with_identity("job").store_durably())
    await subject.scheduler.schedule_job(trigger("a", job_key=JobKey("job")))
    await subject.scheduler.schedule_job(trigger=TriggerBuilder.create().with_identity("b").for_job("job"))
    assert [one.key.name for one in await subject.scheduler.get_triggers_of_job(JobKey("job"))] == ["a", "b"]


async def test_jobs_are_registered_with_the_type_loader(subject: Subject) -> None:
    """A job that is stored by its name alone is found once it was scheduled as a function."""
    await subject.scheduler.schedule_job(report, once())
    name = f"{report.__module__}:report"
    await subject.scheduler.schedule_job(JobBuilder.create(name).with_identity("by name"), once())


# --------------------------------------------------------------------------------------------------------- bad input
@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenTrigger(SimpleTrigger):
    """A kind of trigger with a fault of its own."""

    trigger_type: ClassVar[str] = "BROKEN"

    def _first_fire_time(self, now: datetime) -> datetime | None:
        raise ZeroDivisionError


BAD_INPUT: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no job": (lambda s: s.schedule_job(42, once()), InvalidValueError, "42 is no job"),
    "class without execute": (lambda s: s.schedule_job(int, once()), InvalidValueError, "no execute method"),
    "no trigger": (lambda s: s.schedule_job(report, 42), InvalidValueError, "42 is no trigger"),
    "a text": (lambda s: s.schedule_job(report, "daily"), InvalidValueError, "'daily' is no trigger"),
    "nothing": (lambda s: s.schedule_job(), InvalidValueError, "None is no trigger"),
    "a job alone": (lambda s: s.schedule_job(report), InvalidValueError, "is no trigger"),
    "a schedule alone": (lambda s: s.schedule_job(every(minutes=1)), SchedulerError, "names no job"),
    "no triggers": (lambda s: s.schedule_job(report, []), InvalidValueError, "without a trigger"),
    "trigger without job": (lambda s: s.schedule_job(trigger()), SchedulerError, "has no job"),
    "trigger of another job": (
        lambda s: s.schedule_job(report, trigger(job_key=JobKey("other"))),
        SchedulerError,
        "names job DEFAULT.other, and is scheduled with job DEFAULT.report",
    ),
    "never fires": (
        lambda s: s.schedule_job(report, cron("0 0 0 31 2 ?")),
        NeverFiresError,
        "trigger DEFAULT.report will never fire",
    ),
    "unknown calendar": (
        lambda s: s.schedule_job(report, trigger(calendar_name="bank")),
        UnknownCalendarError,
        "'bank', which is not stored",
    ),
    "broken trigger": (
        lambda s: s.schedule_job(report, BrokenTrigger(key=TriggerKey("t"))),
        SchedulerError,
        "BrokenTrigger failed to find a fire time",
    ),
    "unknown job type": (
        lambda s: s.schedule_job(JobBuilder.create("nowhere:run"), once()),
        TypeLoadError,
        "nowhere:run",
    ),
    "job twice": (
        lambda s: s.schedule_jobs(
            {JobBuilder.create(report).with_identity("x"): once(), JobBuilder.create(tidy).with_identity("x"): once()}
        ),
        InvalidValueError,
        "given twice",
    ),
    "naive start": (
        lambda s: s.schedule_job(report, TriggerBuilder.create().start_at(datetime(2026, 1, 1))),  # noqa: DTZ001
        InvalidValueError,
        "time zone",
    ),
    "not durable": (lambda s: s.add_job(report), SchedulerError, "store_durably"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
async def test_bad_input_is_refused_before_the_store_is_touched(subject: Subject, name: str) -> None:
    """Each mistake gives one error that names the thing and the reason; the store is not written, nobody is told."""
    call, error, message = BAD_INPUT[name]
    with pytest.raises(error, match=message):
        await call(subject.scheduler)
    assert subject.writes == []
    assert subject.told.names == []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Never(Calendar):
    """Excludes everything."""

    calendar_type: ClassVar[str] = "NEVER"

    def _includes(self, moment: datetime) -> bool:
        return False

    def _skip(self, moment: datetime) -> datetime | None:
        return None


async def test_an_unknown_keyword_is_a_type_error(subject: Subject) -> None:
    """A misspelt argument is refused by its name."""
    with pytest.raises(TypeError, match="replce"):
        await subject.scheduler.schedule_job(report, once(), replce=True)  # type: ignore[call-overload]


async def test_a_persistent_store_refuses_jobs_that_can_not_be_found_again() -> None:
    """A closure is refused with the remedy where the data outlives the process, and nothing is stored."""

    class Persistent(DelegatingJobStore):
        @property
        def supports_persistence(self) -> bool:
            return True

    scheduler = make_scheduler(wrap_store=Persistent)
    with pytest.raises(InvalidValueError, match="@job"):
        await scheduler.schedule_job(lambda: None, once())
    assert await scheduler.get_job_group_names() == []


# ---------------------------------------------------------------------------------------------- existing definitions
async def test_taken_keys_are_refused(subject: Subject) -> None:
    """A second job or trigger of a key is refused unless it shall replace, and what is stored stays."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    with pytest.raises(ObjectAlreadyExistsError, match="report"):
        await subject.scheduler.schedule_job(tidy_named_report(), once())
    stored = await subject.scheduler.get_job_detail(JobKey("report"))
    assert stored is not None
    assert stored.job_type.full_name.endswith(":report")


def tidy_named_report() -> JobBuilder:
    """Return another job of the same key."""
    return JobBuilder.create(tidy).with_identity("report")


async def test_replacing_leaves_one_of_each(subject: Subject) -> None:
    """Scheduling the same keys again with ``replace`` gives one job and one trigger, before the start too."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    await subject.scheduler.schedule_job(tidy_named_report(), every(minutes=7), replace=True)
    assert [header.job_type_name for header in (await subject.scheduler.query_jobs()).items] == [f"{__name__}:tidy"]
    assert len((await subject.scheduler.query_triggers()).items) == 1


async def test_jobs_with_triggers_are_all_or_nothing(subject: Subject) -> None:
    """When one key of several is taken, none is stored."""
    await subject.scheduler.schedule_job(report, once())
    with pytest.raises(ObjectAlreadyExistsError):
        await subject.scheduler.schedule_jobs({tidy: once(), report: once()})
    assert not await subject.scheduler.check_exists(JobKey("tidy"))


async def test_a_mapping_overwrites_the_job_of_its_triggers(subject: Subject) -> None:
    """In a mapping a trigger fires the job it stands with, whatever it named before."""
    await subject.scheduler.schedule_jobs({report: trigger("t", job_key=JobKey("other")), tidy: [once()]})
    stored = await subject.scheduler.get_trigger(TriggerKey("t"))
    assert stored is not None
    assert stored.job_key == JobKey("report")


# --------------------------------------------------------------------------------------------------- who is told what
async def test_scheduling_tells_of_the_job_then_of_the_trigger(subject: Subject) -> None:
    """Listeners hear of the job, then of the trigger as it was stored."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    assert subject.told.names == ["job_added", "job_scheduled"]
    assert subject.told.calls[1].args[0].next_fire_time == START


async def test_a_mapping_tells_of_all_jobs_first(subject: Subject) -> None:
    """Of several jobs listeners hear before they hear of any trigger."""
    await subject.scheduler.schedule_jobs({report: [once(), trigger("t")], tidy: once()})
    assert subject.told.names == ["job_added"] * 2 + ["job_scheduled"] * 3


async def test_add_and_delete_are_told(subject: Subject) -> None:
    """Adding tells of the job; deleting tells of each of its triggers, then once of the job."""
    await subject.scheduler.add_job(JobBuilder.create(report).with_identity("job").store_durably())
    await subject.scheduler.schedule_job(trigger("a", job_key=JobKey("job")))
    await subject.scheduler.schedule_job(trigger("b", job_key=JobKey("job")))
    subject.told.calls.clear()
    assert await subject.scheduler.delete_job(JobKey("job"))
    assert [(call.name, str(call.args[0])) for call in subject.told.calls] == [
        ("job_unscheduled", "DEFAULT.a"),
        ("job_unscheduled", "DEFAULT.b"),
        ("job_deleted", "DEFAULT.job"),
    ]


async def test_deleting_what_is_not_there_is_silent(subject: Subject) -> None:
    """Deleting an unknown job or trigger answers False and tells nobody."""
    assert not await subject.scheduler.delete_job(JobKey("nobody"))
    assert not await subject.scheduler.unschedule_job(TriggerKey("nobody"))
    assert subject.told.names == []


async def test_deleting_several_tells_of_every_key(subject: Subject) -> None:
    """Listeners hear of every key that was given, also of those that were not there; the answer is whether all were."""
    await subject.scheduler.schedule_job(report, once())
    await subject.scheduler.schedule_job(tidy, once())
    subject.told.calls.clear()
    assert not await subject.scheduler.unschedule_jobs([TriggerKey("report"), TriggerKey("nobody")])
    assert not await subject.scheduler.delete_jobs([JobKey("tidy"), JobKey("nobody")])
    assert subject.told.names.count("job_unscheduled") == 2
    assert [str(call.args[0]) for call in subject.told.of("job_deleted")][-2:] == ["DEFAULT.tidy", "DEFAULT.nobody"]


async def test_unscheduling_the_last_trigger_deletes_the_job(subject: Subject) -> None:
    """A job that is not durable goes with its last trigger, and listeners hear of both."""
    await subject.scheduler.schedule_job(report, once())
    subject.told.calls.clear()
    assert await subject.scheduler.unschedule_job(TriggerKey("report"))
    assert sorted(subject.told.names) == ["job_deleted", "job_unscheduled"]
    assert not await subject.scheduler.check_exists(JobKey("report"))


async def test_clearing_is_told(subject: Subject) -> None:
    """After clearing nothing is stored, and listeners hear of it."""
    await subject.scheduler.schedule_job(report, once())
    await subject.scheduler.clear()
    assert subject.told.names[-1] == "scheduling_data_cleared"
    assert (await subject.scheduler.query_jobs()).items == []


# ----------------------------------------------------------------------------------------------------------- by hand
async def test_triggering_a_job_stores_a_trigger_that_is_due_now(subject: Subject) -> None:
    """A manual trigger fires once, now, with the data that was given."""
    await subject.scheduler.add_job(JobBuilder.create(report).with_identity("job").store_durably())
    await subject.clock.advance(seconds=5)
    await subject.scheduler.trigger_job(JobKey("job"), {"day": "monday"})
    (stored,) = await subject.scheduler.get_triggers_of_job(JobKey("job"))
    assert stored.key.name.startswith("MT_")
    assert (stored.next_fire_time, dict(stored.job_data)) == (START + timedelta(seconds=5), {"day": "monday"})
    assert subject.told.names[-1] == "job_scheduled"


async def test_triggering_an_unknown_job_is_an_error(subject: Subject) -> None:
    """A job that is not stored can not be fired by hand; the error is about the job, not about a trigger."""
    with pytest.raises(JobNotFoundError, match=r"^job DEFAULT\.nobody is not stored"):
        await subject.scheduler.trigger_job(JobKey("nobody"))


async def test_a_taken_manual_name_is_drawn_again(monkeypatch: pytest.MonkeyPatch, subject: Subject) -> None:
    """When two manual triggers draw the same number, another one is drawn."""
    numbers = iter([7, 7, 8])
    monkeypatch.setattr("quartzite.engine.scheduling.random.getrandbits", lambda _: next(numbers))
    await subject.scheduler.add_job(JobBuilder.create(report).with_identity("job").store_durably())
    await subject.scheduler.trigger_job(JobKey("job"))
    await subject.scheduler.trigger_job(JobKey("job"))
    names = [one.key.name for one in await subject.scheduler.get_triggers_of_job(JobKey("job"))]
    assert names == ["MT_7", "MT_8"]


# ------------------------------------------------------------------------------------------------------ rescheduling
async def test_rescheduling_tells_of_both(subject: Subject) -> None:
    """The new trigger takes the old one's job and place; listeners hear that the old one went and the new one came."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    subject.told.calls.clear()
    new = trigger("new", start_time=START + timedelta(hours=1))
    assert await subject.scheduler.reschedule_job(TriggerKey("report"), new) == START + timedelta(hours=1)
    stored = await subject.scheduler.get_trigger(TriggerKey("new"))
    assert stored is not None
    assert stored.job_key == JobKey("report")
    assert not await subject.scheduler.check_exists(TriggerKey("report"))
    assert [(call.name, getattr(call.args[0], "key", call.args[0]).name) for call in subject.told.calls] == [
        ("job_unscheduled", "report"),
        ("job_scheduled", "new"),
    ]


async def test_rescheduling_what_is_not_there_does_nothing(subject: Subject) -> None:
    """An unknown trigger gives None, and nothing is stored or told."""
    assert await subject.scheduler.reschedule_job(TriggerKey("nobody"), trigger("new")) is None
    assert (subject.writes, subject.told.names) == ([], [])


async def test_rescheduling_with_a_bare_schedule_keeps_the_rest(subject: Subject) -> None:
    """A schedule alone changes when, from now on, and keeps key, priority, data and description."""
    old = TriggerBuilder.create().with_identity("t").with_priority(9).using_job_data("a", 1).with_description("d")
    await subject.scheduler.schedule_job(report, old.with_schedule(every(minutes=5)))
    await subject.clock.advance(minutes=12)
    assert await subject.scheduler.reschedule_job(TriggerKey("t"), every(hours=1)) == START + timedelta(minutes=12)
    stored = await subject.scheduler.get_trigger(TriggerKey("t"))
    assert isinstance(stored, SimpleTrigger)
    assert (stored.priority, dict(stored.job_data), stored.description) == (9, {"a": 1}, "d")
    assert stored.repeat_interval == timedelta(hours=1)


async def test_a_preset_next_fire_time_is_kept(subject: Subject) -> None:
    """A new trigger that brings its next fire time keeps it."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    at = START + timedelta(minutes=42)
    new = every(minutes=5).make({"key": TriggerKey("new")}, time_zone=ZoneInfo("UTC"), named=True)
    assert await subject.scheduler.reschedule_job(TriggerKey("report"), new.copy_with(next_fire_time=at)) == at


async def test_rescheduling_does_not_make_up_for_the_past(subject: Subject) -> None:
    """A weekly trigger that has run is replaced in mid-week without an extra run."""
    await subject.scheduler.schedule_job(report, cron("0 0 9 ? * MON"))
    await subject.clock.advance_to("2026-01-07T12:00Z")  # a Wednesday
    monday = datetime(2026, 1, 12, 9, tzinfo=UTC)
    assert await subject.scheduler.reschedule_job(TriggerKey("report"), cron("0 0 9 ? * MON")) == monday
    same = TriggerBuilder.create().with_identity("report").start_at(START).with_schedule(cron("0 0 9 ? * MON"))
    assert await subject.scheduler.reschedule_job(TriggerKey("report"), same) == monday


async def test_a_new_trigger_that_never_fires_is_refused(subject: Subject) -> None:
    """A replacement without a fire time is refused, and the old trigger stays."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    await subject.scheduler.add_calendar("never", _Never())
    with pytest.raises(NeverFiresError, match="new"):
        await subject.scheduler.reschedule_job(TriggerKey("report"), trigger("new", calendar_name="never"))
    assert await subject.scheduler.check_exists(TriggerKey("report"))


# --------------------------------------------------------------------------------------------------- details, calendars
async def test_details_change_without_a_word(subject: Subject) -> None:
    """Details change what was set and nothing else: no time, no state, no event."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    subject.told.calls.clear()
    before = await subject.scheduler.get_trigger(TriggerKey("report"))
    update = TriggerDetailsUpdate().with_priority(9)
    assert await subject.scheduler.update_trigger_details(TriggerKey("report"), update)
    after = await subject.scheduler.get_trigger(TriggerKey("report"))
    assert before is not None
    assert after == before.copy_with(priority=9)
    assert subject.told.names == []
    assert not await subject.scheduler.update_trigger_details(TriggerKey("nobody"), update)


async def test_a_calendar_is_used_and_kept_while_it_is_in_use(subject: Subject) -> None:
    """A stored calendar shifts the first fire time, and can not be deleted while a trigger names it."""
    holidays = HolidayCalendar().with_excluded(START.date())
    await subject.scheduler.add_calendar("holidays", holidays)
    first = await subject.scheduler.schedule_job(
        report, TriggerBuilder.create().with_calendar_name("holidays").with_schedule(cron("0 0 2 * * ?"))
    )
    assert first == datetime(2026, 1, 2, 2, tzinfo=UTC)
    with pytest.raises(JobPersistenceError):
        await subject.scheduler.delete_calendar("holidays")
    assert await subject.scheduler.get_calendar_names() == ["holidays"]
    assert await subject.scheduler.get_calendar("holidays") == holidays


async def test_what_is_returned_does_not_change(subject: Subject) -> None:
    """A trigger that was read is a value: the stored one goes its own way."""
    await subject.scheduler.schedule_job(report, every(minutes=5))
    read = await subject.scheduler.get_trigger(TriggerKey("report"))
    await subject.scheduler.reschedule_job(TriggerKey("report"), every(hours=1))
    assert isinstance(read, SimpleTrigger)
    assert read.repeat_interval == timedelta(minutes=5)
    assert await subject.scheduler.get_trigger_state(TriggerKey("report")) is TriggerState.NORMAL
