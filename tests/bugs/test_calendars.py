"""Faults with calendars that users of other schedulers reported."""

from __future__ import annotations

import random
import time as clock
from datetime import UTC, date, datetime, time, timedelta

from quartzite.calendars import Calendar, CronCalendar, DailyCalendar, HolidayCalendar, WeeklyCalendar
from quartzite.cron import CronExpression
from quartzite.timezones import zone
from quartzite.triggers import TriggerBuilder, compute_fire_times, cron, every

LOS_ANGELES = zone("America/Los_Angeles")
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
NIGHTS = DailyCalendar(range_start=time(6), range_end=time(22), invert_time_range=True, time_zone=LOS_ANGELES)
CHAIN = HolidayCalendar(
    days_excluded=frozenset({date(2026, 1, 1), date(2026, 7, 3), date(2026, 12, 25)}),
    time_zone=LOS_ANGELES,
    base=WeeklyCalendar(time_zone=LOS_ANGELES, base=NIGHTS),
)


def test_the_first_and_the_last_millisecond_of_a_day() -> None:
    """B020: a midnight job runs under a calendar that excludes some hours; the last millisecond is included too."""
    calendar = DailyCalendar(range_start=time(1), range_end=time(5))
    midnight = TriggerBuilder.create().with_schedule(cron("0 0 0 * * ?")).start_at(NEW_YEAR).build()
    assert compute_fire_times(midnight, calendar, 3) == [NEW_YEAR + timedelta(days=n) for n in range(3)]
    assert calendar.is_time_included(datetime(2026, 1, 1, 23, 59, 59, 999_000, tzinfo=UTC))
    assert not calendar.is_time_included(datetime(2026, 1, 1, 1, tzinfo=UTC))


def test_three_chained_calendars_answer_at_once() -> None:
    """B079: nights, weekends and holidays together answer in under 20 ms for any instant of the year, and rightly."""
    chance = random.Random(79)
    slowest = 0.0
    for _ in range(500):
        moment = NEW_YEAR + timedelta(microseconds=chance.randrange(365 * 86_400 * 10**6))
        began = clock.process_time()
        following = CHAIN.next_included(moment)
        slowest = max(slowest, clock.process_time() - began)
        assert following is not None
        assert moment <= following < moment + timedelta(days=5)
        assert CHAIN.is_time_included(following)
        assert following == moment or not CHAIN.is_time_included(following - timedelta.resolution)
    assert slowest < 0.020


def test_a_chain_that_excludes_everything_is_no_hang() -> None:
    """B079: a chain without an included instant gives None, and a trigger under it never fires."""
    days = DailyCalendar(range_start=time(6), range_end=time(22), time_zone=LOS_ANGELES, base=NIGHTS)
    everything = CronCalendar(cron_expression=CronExpression("* * * * * ?"), base=CHAIN)
    every_second = TriggerBuilder.create().with_schedule(every(seconds=1)).start_at(NEW_YEAR).build()
    chains: list[Calendar] = [days, everything]
    for calendar in chains:
        assert calendar.next_included(NEW_YEAR) is None
        assert every_second.compute_first_fire_time(calendar, NEW_YEAR).next_fire_time is None
