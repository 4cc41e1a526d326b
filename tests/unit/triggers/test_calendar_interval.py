"""Calendar interval triggers and calendar_interval(...)."""

from __future__ import annotations

from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.triggers import CalendarIntervalSchedule, IntervalUnit, calendar_interval
from tests.unit.triggers.building import at, ats, fires, trigger_of

SAME_HOUR: dict[str, Any] = {"preserve_hour_of_day_across_daylight_savings": True}
SKIP: dict[str, Any] = {**SAME_HOUR, "skip_day_if_hour_does_not_exist": True}


# ------------------------------------------------------------------------------------------------------ fire times
@pytest.mark.parametrize(
    ("schedule", "number", "expected"),
    [
        (calendar_interval(years=2), 3, "2009-06-01T09:30:17"),
        (calendar_interval(months=5), 6, "2007-07-01T09:30:17"),
        (calendar_interval(weeks=6), 5, "2005-11-16T09:30:17"),
        (calendar_interval(days=90), 5, "2006-05-27T09:30:17"),
        (calendar_interval(hours=100), 5, "2005-06-18T01:30:17"),
        (calendar_interval(minutes=100), 5, "2005-06-01T16:10:17"),
        (calendar_interval(seconds=100), 5, "2005-06-01T09:36:57"),
    ],
)
def test_steps_of_every_unit(schedule: CalendarIntervalSchedule, number: int, expected: str) -> None:
    """The n-th firing is n - 1 intervals behind the start."""
    assert fires(trigger_of(schedule, start="2005-06-01T09:30:17"), number)[-1] == at(expected)


@pytest.mark.parametrize(
    ("start", "schedule", "expected"),
    [
        ("2026-01-31T10:00", calendar_interval(months=1), ["01-31", "02-28", "03-28", "04-28"]),
        ("2026-01-30T10:00", calendar_interval(months=3), ["01-30", "04-30", "07-30", "10-30"]),
        ("2026-03-31T10:00", calendar_interval(months=2), ["03-31", "05-31", "07-31", "09-30"]),
    ],
)
def test_the_end_of_a_month_drifts(start: str, schedule: CalendarIntervalSchedule, expected: list[str]) -> None:
    """Months are added one step at a time: a day that a month does not have becomes its last, and stays it."""
    assert fires(trigger_of(schedule, start=start), 4) == [at(f"2026-{day}T10:00") for day in expected]


def test_a_leap_day_becomes_the_28th() -> None:
    """A year behind 29 February is 28 February, for good."""
    trigger = trigger_of(calendar_interval(years=1), start="2024-02-29T10:00")
    assert fires(trigger, 5) == [at(f"{text}T10:00") for text in (
        "2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-28")]  # fmt: skip


def test_the_time_after_an_instant_far_away_is_found_at_once() -> None:
    """A step is computed, not walked to: also after a million of them, and after the drift of a century."""
    trigger = trigger_of(calendar_interval(seconds=1), start="2000-01-01T00:00")
    assert trigger.get_fire_time_after(at("2026-01-01T10:00:00.5")) == at("2026-01-01T10:00:01")
    trigger = trigger_of(calendar_interval(months=1), start="1999-12-31T10:00")
    assert trigger.get_fire_time_after(at("2099-11-28T10:00")) == at("2099-12-28T10:00")


def test_nothing_fires_at_the_end_but_the_start() -> None:
    """The end time itself is over, unless the trigger starts there."""
    trigger = trigger_of(calendar_interval(days=1), start="2026-01-01T10:00", end="2026-01-03T10:00")
    assert fires(trigger, 9) == ats("2026-01-01T10:00", "2026-01-02T10:00")
    at_once = trigger_of(calendar_interval(days=1), start="2026-01-01T10:00", end="2026-01-01T10:00")
    assert fires(at_once, 9) == ats("2026-01-01T10:00")


@pytest.mark.parametrize(
    ("schedule", "end", "final"),
    [
        (calendar_interval(days=5), None, None),
        (calendar_interval(days=5), "2026-01-11T10:00", "2026-01-11T10:00"),
        (calendar_interval(minutes=5), "2026-01-01T10:13", "2026-01-01T10:10"),
        (calendar_interval(months=1), "2026-03-20T00:00", "2026-03-01T10:00"),
        (calendar_interval(months=1), "2026-01-02T00:00", "2026-01-01T10:00"),
    ],
)
def test_the_final_time(schedule: CalendarIntervalSchedule, end: str | None, final: str | None) -> None:
    """The last step is not behind the end; it may be the end itself, although nothing fires there."""
    trigger = trigger_of(schedule, start="2026-01-01T10:00", end=end)
    assert trigger.final_fire_time == (None if final is None else at(final))


def test_the_final_time_is_no_step_that_is_left_out() -> None:
    """A day without the hour does not count as the last."""
    trigger = trigger_of(
        calendar_interval(days=1, **SKIP),
        start="2026-03-06T02:30-05:00", end="2026-03-08T12:00-04:00", time_zone="America/New_York",
    )  # fmt: skip
    assert trigger.final_fire_time == at("2026-03-07T02:30-05:00")


def test_times_behind_the_last_year_are_none() -> None:
    """A step that no datetime can hold is no fire time, and the last one is not known."""
    for schedule in (calendar_interval(years=9000), calendar_interval(days=3_000_000)):
        trigger = trigger_of(schedule, start="2026-01-01T10:00", end="9000-01-01T00:00")
        assert trigger.get_fire_time_after(at("2026-01-01T10:00")) is None
        assert trigger.final_fire_time is None


# --------------------------------------------------------------------------------------------------- clock changes
@pytest.mark.parametrize(
    ("time_zone", "flags", "expected"),
    [
        (
            "America/New_York", {},
            ["2024-11-01T01:30-04:00", "2024-11-02T01:30-04:00", "2024-11-03T01:30-04:00",
             "2024-11-04T00:30-05:00", "2024-11-05T00:30-05:00"],
        ),
        (
            "America/New_York", SAME_HOUR,
            ["2024-11-01T01:30-04:00", "2024-11-02T01:30-04:00", "2024-11-03T01:30-04:00", "2024-11-04T01:30-05:00"],
        ),
        (
            "Australia/Sydney", SAME_HOUR,
            ["2024-04-05T02:30+11:00", "2024-04-06T02:30+11:00", "2024-04-07T02:30+11:00", "2024-04-08T02:30+10:00"],
        ),
        (
            "Australia/Sydney", {},
            ["2024-04-05T02:30+11:00", "2024-04-06T02:30+11:00", "2024-04-07T02:30+11:00", "2024-04-08T01:30+10:00"],
        ),
        (
            "America/Santiago", SAME_HOUR,
            ["2019-09-06T00:00-04:00", "2019-09-07T00:00-04:00", "2019-09-08T01:00-03:00", "2019-09-09T00:00-03:00"],
        ),
        (
            "America/Santiago", SKIP,
            ["2019-09-06T00:00-04:00", "2019-09-07T00:00-04:00", "2019-09-09T00:00-03:00"],
        ),
        (
            "Australia/Lord_Howe", SAME_HOUR,
            ["2024-10-04T02:01+10:30", "2024-10-05T02:01+10:30", "2024-10-06T02:30+11:00", "2024-10-07T02:01+11:00"],
        ),
        (
            "America/New_York", {}, ["2012-11-02T12:00-04:00", "2012-11-03T12:00-04:00", "2012-11-04T11:00-05:00"],
        ),
    ],
)  # fmt: skip
def test_days_across_clock_changes(time_zone: str, flags: dict[str, Any], expected: list[str]) -> None:
    """Days have 24 hours, or keep their hour: a skipped one moves to the end of the gap or is left out."""
    schedule = calendar_interval(days=1, **flags)
    assert fires(trigger_of(schedule, start=expected[0], time_zone=time_zone), len(expected)) == ats(*expected)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [("weeks", "2024-11-10"), ("months", "2024-12-03"), ("years", "2025-11-03")],
)
def test_longer_units_keep_the_hour_too(unit: str, expected: str) -> None:
    """Weeks, months and years behind a clock change begin at the same local time."""
    one: dict[str, Any] = {unit: 1}
    schedule = calendar_interval(**one, **SAME_HOUR)
    trigger = trigger_of(schedule, start="2024-11-03T01:30-04:00", time_zone="America/New_York")
    assert fires(trigger, 2)[1] == at(f"{expected}T01:30-05:00")


def test_a_start_in_the_second_pass_is_the_first_firing() -> None:
    """The first firing is the start itself, also when the clocks show it for the second time."""
    schedule = calendar_interval(days=1, **SAME_HOUR)
    trigger = trigger_of(schedule, start="2024-11-03T01:30-05:00", time_zone="America/New_York")
    assert fires(trigger, 2) == ats("2024-11-03T01:30-05:00", "2024-11-04T01:30-05:00")


def test_hours_are_elapsed_time() -> None:
    """Units within a day know no clock changes, flags or not: 25 firings on a day of 25 hours."""
    for flags in ({}, SAME_HOUR, SKIP):
        trigger = trigger_of(
            calendar_interval(hours=1, **flags),
            start="2024-11-03T00:00-04:00", end="2024-11-04T00:00-05:00", time_zone="America/New_York",
        )  # fmt: skip
        assert len(fires(trigger, 100)) == 25


def test_a_day_that_the_calendar_skips() -> None:
    """Where a whole day is missing, its step moves to the next one, which does not fire twice."""
    schedule = calendar_interval(days=1, **SAME_HOUR)
    trigger = trigger_of(schedule, start="2011-12-28T00:00-10:00", time_zone="Pacific/Apia")
    assert fires(trigger, 4) == ats(
        "2011-12-28T00:00-10:00", "2011-12-29T00:00-10:00", "2011-12-31T00:00+14:00", "2012-01-01T00:00+14:00"
    )


# -------------------------------------------------------------------------------------------------------- schedules
def test_the_verbs_and_the_short_form_agree() -> None:
    """The short form makes what the verbs make; a day is the default."""
    spelled_out = (
        CalendarIntervalSchedule()
        .with_interval(2, IntervalUnit.MONTH)
        .in_time_zone("W. Europe Standard Time")
        .preserve_hour_of_day()
        .skip_missing_hours()
        .with_misfire_instruction(2)
    )
    assert spelled_out == calendar_interval(months=2, time_zone="Europe/Berlin", misfire_instruction=2, **SKIP)
    assert CalendarIntervalSchedule() == calendar_interval(days=1)
    trigger = trigger_of(spelled_out, start="2026-01-01T00:00")
    assert trigger.schedule == spelled_out
    assert trigger.to_builder().build() == trigger


def test_the_zone_of_the_scheduler_is_the_default() -> None:
    """A schedule without a zone takes the one it is given when the trigger is built."""
    assert trigger_of(calendar_interval(days=1), time_zone="Asia/Tokyo").time_zone.key == "Asia/Tokyo"


@pytest.mark.parametrize("arguments", [{}, {"days": 1, "hours": 2}, {"days": -1}, {"days": 1.5}])
def test_what_calendar_interval_refuses(arguments: dict[str, Any]) -> None:
    """Exactly one unit is given, as a whole number from 1 on."""
    with pytest.raises(InvalidValueError):
        calendar_interval(**arguments)


def test_a_text_is_no_unit() -> None:
    """Units are members of the enumeration."""
    with pytest.raises(InvalidValueError, match=r"give IntervalUnit\.DAY"):
        CalendarIntervalSchedule(repeat_interval_unit="Day")  # type: ignore[arg-type]
