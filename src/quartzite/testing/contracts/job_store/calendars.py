"""Calendars: stored under a name, replaced, and kept while a trigger names them."""

from __future__ import annotations

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest

from quartzite.calendars.base import Calendar
from quartzite.calendars.holiday import HolidayCalendar
from quartzite.calendars.weekly import WeeklyCalendar
from quartzite.errors import JobPersistenceError, ObjectAlreadyExistsError
from quartzite.model.keys import JobKey
from quartzite.model.states import SchedulerInstruction, TriggerState
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.testing.contracts.job_store.base import StoreContract
from quartzite.testing.contracts.job_store.content import at
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.triggers.base import Trigger
from quartzite.triggers.simple import every

__all__ = ["CalendarsContract"]

_DAY = timedelta(days=1)
_EMPTY = HolidayCalendar()
_TUESDAY_OFF = HolidayCalendar(days_excluded=frozenset({date(2026, 1, 6)}))
_CHAIN = HolidayCalendar(
    description="Feiertage 😀",
    base=WeeklyCalendar(base=_TUESDAY_OFF, time_zone=ZoneInfo("Asia/Tokyo")),
    time_zone=ZoneInfo("Europe/Berlin"),
    days_excluded=frozenset({date(2026, 12, 25), date(2027, 1, 1)}),
)


async def _daily(driver: StoreDriver, name: str = "trigger") -> Trigger:
    """Store a trigger that names the calendar ``c``, fires daily, and has fired once."""
    trigger = await driver.add_trigger(name, schedule=every(_DAY), calendar_name="c")
    await driver.run_due()
    return trigger


class CalendarsContract(StoreContract):
    """Calendars (spec 03 section 4)."""

    @pytest.mark.parametrize("calendar", [_EMPTY, _CHAIN], ids=["empty", "chain"])
    async def test_a_calendar_comes_back_equal(self, driver: StoreDriver, calendar: Calendar) -> None:
        """A calendar comes back as it was stored, with its base chain and zones."""
        await driver.store.add_calendar("c", calendar)
        assert await driver.store.get_calendar("c") == calendar

    async def test_a_calendar_that_is_not_stored(self, driver: StoreDriver) -> None:
        """An unknown name gives None and can not be deleted; case counts."""
        await driver.store.add_calendar("c", _EMPTY)
        assert await driver.store.get_calendar("C") is None
        assert await driver.store.delete_calendar("C") is False
        assert await driver.store.get_calendar("c") == _EMPTY

    async def test_a_taken_name_is_refused(self, driver: StoreDriver) -> None:
        """Adding under a taken name raises, names it and keeps the old calendar."""
        await driver.store.add_calendar("holidays", _EMPTY)
        with pytest.raises(ObjectAlreadyExistsError, match="holidays"):
            await driver.store.add_calendar("holidays", _CHAIN, update_triggers=True)
        assert await driver.store.get_calendar("holidays") == _EMPTY

    async def test_a_calendar_is_replaced(self, driver: StoreDriver) -> None:
        """With ``replace`` the new calendar takes the place of the old one."""
        await driver.store.add_calendar("c", _EMPTY)
        await driver.store.add_calendar("c", _CHAIN, replace=True)
        assert await driver.store.get_calendar("c") == _CHAIN

    async def test_a_deleted_calendar_is_gone(self, driver: StoreDriver) -> None:
        """A calendar that no trigger names can be deleted, once."""
        await driver.store.add_calendar("c", _EMPTY)
        assert await driver.store.delete_calendar("c") is True
        assert await driver.store.get_calendar("c") is None
        assert await driver.store.delete_calendar("c") is False

    @pytest.mark.parametrize("state", [TriggerState.NORMAL, TriggerState.PAUSED, TriggerState.COMPLETE])
    async def test_a_calendar_in_use_is_kept(self, driver: StoreDriver, state: TriggerState) -> None:
        """A calendar that a trigger names, in whatever state, can not be deleted before the trigger is."""
        await driver.store.add_calendar("c", _EMPTY)
        trigger = await driver.add_trigger(schedule=every(_DAY), calendar_name="c")
        if state is TriggerState.PAUSED:
            await driver.store.pause_trigger(trigger.key)
        elif state is TriggerState.COMPLETE:
            await driver.complete(await driver.fire_one(), SchedulerInstruction.SET_TRIGGER_COMPLETE)
        assert await driver.state(trigger) is state
        with pytest.raises(JobPersistenceError):
            await driver.store.delete_calendar("c")
        assert await driver.store.get_calendar("c") == _EMPTY
        await driver.store.delete_trigger(trigger.key)
        assert await driver.store.delete_calendar("c") is True

    async def test_replacing_leaves_the_times_of_triggers(self, driver: StoreDriver) -> None:
        """Without ``update_triggers`` a trigger keeps its next time; the new calendar counts from there."""
        await driver.store.add_calendar("c", _EMPTY)
        trigger = await _daily(driver)
        await driver.store.add_calendar("c", _TUESDAY_OFF.with_excluded(date(2026, 1, 7)), replace=True)
        assert (await driver.stored(trigger)).next_fire_time == at(86400)
        driver.move_to(at(86400))
        assert (await driver.fire_one()).next_fire_time == at(3 * 86400)

    async def test_triggers_are_updated_when_that_is_asked_for(self, driver: StoreDriver) -> None:
        """With ``update_triggers`` the triggers that name the calendar look for their next time again."""
        await driver.store.add_calendar("c", _EMPTY)
        trigger = await _daily(driver)
        other = await driver.add_trigger("other", schedule=every(_DAY), when=at(86400))
        await driver.store.add_calendar("c", _TUESDAY_OFF, replace=True, update_triggers=True)
        assert (await driver.stored(trigger)).next_fire_time == at(2 * 86400)
        assert await driver.stored(other) == other

    async def test_an_update_of_a_calendar_keeps_the_states(self, driver: StoreDriver) -> None:
        """A paused trigger gets its new time and stays paused."""
        await driver.store.add_calendar("c", _EMPTY)
        trigger = await _daily(driver)
        await driver.store.pause_trigger(trigger.key)
        await driver.store.add_calendar("c", _TUESDAY_OFF, replace=True, update_triggers=True)
        assert await driver.state(trigger) is TriggerState.PAUSED
        assert (await driver.stored(trigger)).next_fire_time == at(2 * 86400)

    async def test_a_new_calendar_updates_no_trigger(self, driver: StoreDriver) -> None:
        """Adding a calendar under a new name touches no trigger that named it before."""
        trigger = await driver.add_trigger(schedule=every(_DAY), when=at(86400), calendar_name="c")
        await driver.store.add_calendar("c", _TUESDAY_OFF, update_triggers=True)
        assert await driver.stored(trigger) == trigger

    async def test_an_updated_time_is_when_the_trigger_fires(self, driver: StoreDriver) -> None:
        """The next acquisition goes by the time that the new calendar left."""
        await driver.store.add_calendar("c", _EMPTY)
        await _daily(driver)
        await driver.store.add_calendar("c", _TUESDAY_OFF, replace=True, update_triggers=True)
        driver.move_to(at(86400))
        assert await driver.acquire() == []
        driver.move_to(at(2 * 86400))
        assert (await driver.fire_one()).scheduled_fire_time == at(2 * 86400)

    async def test_a_reservation_is_void_when_its_time_is_changed(self, driver: StoreDriver) -> None:
        """A trigger that was reserved for a time which a new calendar excludes does not fire then, nor early."""
        await driver.store.add_calendar("c", _EMPTY)
        await _daily(driver)
        driver.move_to(at(86400 - 10))
        (acquired,) = await driver.acquire(until=at(86400))
        await driver.store.add_calendar("c", _TUESDAY_OFF, replace=True, update_triggers=True)
        driver.move_to(at(86400))
        assert await driver.is_refused(acquired)
        await driver.store.release_acquired_trigger(acquired)
        driver.move_to(at(2 * 86400))
        assert (await driver.fire_one()).scheduled_fire_time == at(2 * 86400)

    async def test_a_misfire_respects_the_calendar(self, driver: StoreDriver) -> None:
        """The time that a misfired trigger goes on at is one that its calendar includes."""
        await driver.store.add_calendar("c", _TUESDAY_OFF)
        trigger = await driver.add_trigger(schedule=every(_DAY), calendar_name="c")
        driver.advance(driver.too_late)
        await self.handle_misfires(driver)
        assert (await driver.stored(trigger)).next_fire_time == at(2 * 86400)

    async def test_the_calendar_of_a_trigger_can_be_set_and_cleared(self, driver: StoreDriver) -> None:
        """Setting or clearing the calendar of a trigger leaves its next time and counts from the next firing."""
        await driver.store.add_calendar("c", _TUESDAY_OFF)
        trigger = await driver.add_trigger(schedule=every(_DAY))
        await driver.store.update_trigger_details(trigger.key, TriggerDetailsUpdate().with_calendar_name("c"))
        assert await driver.stored(trigger) == trigger.copy_with(calendar_name="c")
        (bundle,) = await driver.run_due()
        assert (bundle.calendar, bundle.next_fire_time) == (_TUESDAY_OFF, at(2 * 86400))
        await driver.store.update_trigger_details(trigger.key, TriggerDetailsUpdate().with_calendar_name(None))
        assert await driver.store.delete_calendar("c") is True

    async def test_clearing_the_store_deletes_calendars(self, driver: StoreDriver) -> None:
        """Calendars go with everything else, although triggers named them."""
        await driver.store.add_calendar("c", _EMPTY)
        await _daily(driver)
        await driver.store.clear()
        assert await driver.store.get_calendar("c") is None
        assert await driver.store.get_job(JobKey("job")) is None
