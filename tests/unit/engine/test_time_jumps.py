"""TimeJumps: a wall clock that jumps, and one that comes back."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from quartzite.abc import JobStore
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.errors import JobPersistenceError
from quartzite.execution import JobContext
from quartzite.model.builders import JobBuilder
from quartzite.model.keys import TriggerKey
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.testing import FakeClock, FaultyJobStore
from quartzite.triggers.builder import TriggerBuilder
from quartzite.triggers.cron import cron
from quartzite.triggers.schedule import Schedule
from quartzite.triggers.simple import every
from tests.schedulers import make_scheduler

START = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


class Clustered(DelegatingJobStore):
    """Says that it is clustered."""

    @property
    def clustered(self) -> bool:
        """It says so."""
        return True


class Subject:
    """A running scheduler whose wall clock jumps."""

    def __init__(self, wrap: Any = lambda store: store) -> None:
        self.clock = FakeClock(START)
        self._wrap = wrap
        self.scheduler = make_scheduler(self.clock, wrap_store=self._wrapped)
        self.ran: list[tuple[str, datetime]] = []

    def _wrapped(self, inner: JobStore) -> JobStore:
        self.faults = FaultyJobStore(self._wrap(inner))
        return self.faults

    async def add(self, name: str, schedule: Schedule, calendar: str | None = None) -> None:
        """Schedule a run that is noted."""

        async def run(context: JobContext) -> None:
            self.ran.append((name, context.scheduled_fire_time))

        trigger = TriggerBuilder.create().with_identity(name).with_schedule(schedule).with_calendar_name(calendar)
        await self.scheduler.schedule_job(JobBuilder.create(run).with_identity(name), trigger)

    async def excursion(self, by: timedelta, *, seconds: float = 60) -> None:
        """Jump, stay there for a while, come back, and forget what ran before."""
        self.clock.jump(by)
        await self.clock.advance(seconds=seconds)
        self.clock.jump(-by)
        self.ran.clear()

    async def next_of(self, name: str) -> datetime | None:
        """Return the next fire time of a trigger."""
        trigger = await self.scheduler.get_trigger(TriggerKey(name))
        return None if trigger is None else trigger.next_fire_time


@pytest.fixture
async def subject() -> Subject:
    """A scheduler on a store in memory."""
    return Subject()


@pytest.mark.parametrize("by", [DAY, -DAY, timedelta(hours=3), -timedelta(minutes=5)])
async def test_a_frequent_trigger_goes_on_after_an_excursion(subject: Subject, by: timedelta) -> None:
    """Wherever the clock went for a minute: once it is right again, a trigger runs every 5 s, within one idle wait."""
    await subject.add("often", every(seconds=5))
    await subject.scheduler.start()
    await subject.clock.advance(seconds=30)
    await subject.excursion(by)
    await subject.clock.advance(seconds=35)
    subject.ran.clear()
    await subject.clock.advance(seconds=60)
    assert len(subject.ran) == 12
    await subject.scheduler.shutdown()


async def test_a_trigger_that_was_only_moved_is_put_back(subject: Subject) -> None:
    """An hourly trigger that did not even fire during the excursion fires at its next full hour, not a day later."""
    await subject.add("hourly", cron("0 0 * * * ?").with_misfire_instruction(2))
    await subject.scheduler.start()
    await subject.clock.advance(minutes=30)
    await subject.excursion(DAY)
    await subject.clock.advance(minutes=1)
    assert await subject.next_of("hourly") == START + timedelta(hours=1)
    await subject.clock.advance(minutes=30)
    assert subject.ran == [("hourly", START + timedelta(hours=1))]
    await subject.scheduler.shutdown()


async def test_a_time_that_has_fired_is_not_fired_again(subject: Subject) -> None:
    """A daily trigger that fired during the excursion for the coming night does not fire for that night again."""
    await subject.add("payroll", cron("0 0 2 * * ?"))
    await subject.scheduler.start()
    await subject.clock.advance(minutes=30)
    subject.clock.jump(DAY)
    await subject.clock.advance(seconds=60)
    assert subject.ran == [("payroll", datetime(2026, 1, 6, 2, tzinfo=UTC))]
    subject.clock.jump(-DAY)
    await subject.clock.advance(hours=24)
    assert [moment.day for _, moment in subject.ran] == [6]
    await subject.scheduler.shutdown()


async def test_going_back_repeats_nothing(subject: Subject) -> None:
    """A clock that only goes back makes triggers wait: no time is fired a second time."""
    await subject.add("hourly", cron("0 0 * * * ?"))
    await subject.scheduler.start()
    await subject.clock.advance(hours=3)
    before = list(subject.ran)
    subject.clock.jump(-timedelta(hours=2))
    await subject.clock.advance(hours=4)
    times = [moment for _, moment in subject.ran]
    assert subject.ran[: len(before)] == before
    assert len(set(times)) == len(times)
    await subject.scheduler.shutdown()


async def test_a_jump_that_lasts_is_the_new_time(subject: Subject) -> None:
    """A clock that was put right moves triggers on, and they stay there."""
    await subject.add("hourly", cron("0 0 * * * ?").with_misfire_instruction(2))
    await subject.scheduler.start()
    await subject.clock.advance(minutes=30)
    subject.clock.jump(DAY)
    await subject.clock.advance(hours=1)
    assert [moment for _, moment in subject.ran[-1:]] == [START + DAY + timedelta(hours=1)]
    await subject.scheduler.shutdown()


async def test_steps_forward_are_undone_together(subject: Subject) -> None:
    """Two jumps forward and one back to where it began count as one excursion; a part of the way back does not."""
    await subject.add("hourly", cron("0 0 * * * ?").with_misfire_instruction(2))
    await subject.scheduler.start()
    await subject.clock.advance(minutes=10)
    for by in (timedelta(hours=5), timedelta(hours=5), -timedelta(hours=2)):
        subject.clock.jump(by)
        await subject.clock.advance(minutes=1)
    assert await subject.next_of("hourly") == START + timedelta(hours=11)
    subject.clock.jump(-timedelta(hours=8))
    await subject.clock.advance(minutes=1)
    assert await subject.next_of("hourly") == START + timedelta(hours=1)
    await subject.scheduler.shutdown()


async def test_calendars_count_when_triggers_are_put_back(subject: Subject) -> None:
    """A trigger is put back to a time that its calendar includes."""
    await subject.scheduler.add_calendar("holidays", HolidayCalendar().with_excluded(date(2026, 1, 6)))
    await subject.add("twice", cron("0 0 0/12 * * ?").with_misfire_instruction(2), "holidays")
    await subject.scheduler.start()
    await subject.clock.advance(minutes=30)
    await subject.excursion(timedelta(days=10))
    await subject.clock.advance(minutes=1)
    assert await subject.next_of("twice") == datetime(2026, 1, 7, tzinfo=UTC)
    await subject.scheduler.shutdown()


async def test_a_paused_trigger_stays_paused(subject: Subject) -> None:
    """Putting back does not resume anything."""
    await subject.add("often", every(seconds=5))
    await subject.scheduler.start()
    await subject.clock.advance(seconds=30)
    await subject.scheduler.pause_all()
    await subject.excursion(DAY)
    await subject.clock.advance(minutes=5)
    assert subject.ran == []
    await subject.scheduler.shutdown()


async def test_a_clustered_store_has_its_own_time() -> None:
    """The time of a cluster is that of its database: nothing is put back there."""
    subject = Subject(Clustered)
    await subject.add("hourly", cron("0 0 * * * ?").with_misfire_instruction(2))
    await subject.scheduler.start()
    await subject.clock.advance(minutes=30)
    await subject.excursion(DAY)
    await subject.clock.advance(minutes=5)
    assert await subject.next_of("hourly") == START + DAY + timedelta(hours=1)
    await subject.scheduler.shutdown()


async def test_a_store_that_fails_is_asked_again(subject: Subject) -> None:
    """When the store is away while triggers shall be put back, it is done when it is there again."""
    await subject.add("hourly", cron("0 0 * * * ?").with_misfire_instruction(2))
    await subject.scheduler.start()
    await subject.clock.advance(minutes=30)
    await subject.excursion(DAY)
    subject.faults.fail("query_triggers", JobPersistenceError("away"), times=3)
    await subject.clock.advance(minutes=2)
    assert await subject.next_of("hourly") == START + timedelta(hours=1)
    await subject.scheduler.shutdown()


async def test_drift_is_no_jump(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """A clock that is slewed by less than a second between two looks is left alone."""
    await subject.scheduler.start()
    for _ in range(100):
        subject.clock.jump(timedelta(milliseconds=900))
        await subject.clock.advance(seconds=30)
    assert "jumped" not in caplog.text
    subject.clock.jump(timedelta(seconds=2))
    await subject.clock.advance(seconds=30)
    assert "jumped" in caplog.text
    await subject.scheduler.shutdown()
