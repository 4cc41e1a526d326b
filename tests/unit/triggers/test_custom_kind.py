"""Kinds of an application's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from quartzite.calendars import WeeklyCalendar
from quartzite.model.keys import TriggerKey
from quartzite.triggers import Schedule, SimpleSchedule, SimpleTrigger, Trigger, compute_fire_times
from tests.unit.triggers.building import at, ats, fires, trigger_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignTrigger(SimpleTrigger):
    """A simple trigger that knows what it is fired for."""

    trigger_type: ClassVar[str] = "CAMPAIGN"

    campaign: str

    @property
    def schedule(self) -> CampaignSchedule:
        """The schedule of this definition."""
        return CampaignSchedule(
            repeat_count=self.repeat_count,
            repeat_interval=self.repeat_interval,
            misfire_instruction=self.misfire_instruction,
            campaign=self.campaign,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignSchedule(SimpleSchedule):
    """Makes campaign triggers."""

    campaign: str

    def make(self, fields: Mapping[str, Any], *, time_zone: ZoneInfo, named: bool) -> CampaignTrigger:
        """Return a trigger of this schedule."""
        plain = SimpleSchedule.make(self, fields, time_zone=time_zone, named=named)
        parts = {name: getattr(plain, name) for name in ("repeat_count", "repeat_interval", "misfire_instruction")}
        return CampaignTrigger(**fields, **parts, campaign=self.campaign)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoublingTrigger(Trigger):
    """A kind from scratch: 1, 2, 4, 8 ... minutes behind its start."""

    trigger_type: ClassVar[str] = "DOUBLING"

    def _fire_time_after(self, after: datetime, times_triggered: int) -> datetime | None:
        waited = timedelta(minutes=1)
        while self.start_time + waited <= after:
            waited *= 2
        following = self.start_time + waited
        return None if self.end_time is not None and following > self.end_time else following

    def _first_fire_time(self, now: datetime) -> datetime | None:
        return self._fire_time_after(self.start_time, 0)

    @property
    def final_fire_time(self) -> datetime | None:
        return None

    @property
    def schedule(self) -> Schedule:
        raise NotImplementedError


CAMPAIGN = CampaignSchedule(repeat_interval=timedelta(hours=1), repeat_count=-1, campaign="spring")


def test_a_field_of_its_own_goes_along() -> None:
    """A kind derived from a shipped one keeps its own field through copies, firings, misfires and its builder."""
    trigger = trigger_of(CAMPAIGN, start="2026-01-01T00:00")
    assert isinstance(trigger, CampaignTrigger)
    assert trigger.copy_with(priority=1).campaign == "spring"
    scheduled = trigger.compute_first_fire_time(None, trigger.start_time)
    assert scheduled.triggered(None).campaign == "spring"
    assert scheduled.update_after_misfire(None, at("2026-01-01T09:30")).campaign == "spring"
    assert trigger.to_builder().build() == trigger


def test_a_field_of_its_own_is_part_of_the_definition() -> None:
    """Another campaign makes another trigger; hash and equality are those of all kinds."""
    trigger = trigger_of(CAMPAIGN, start="2026-01-01T00:00")
    other = replace(trigger, campaign="autumn")
    assert trigger != other
    assert not trigger.has_same_definition(other)
    assert hash(trigger) == hash(other) == hash(trigger.key)
    plain = trigger_of(SimpleSchedule(repeat_interval=timedelta(hours=1), repeat_count=-1), start="2026-01-01T00:00")
    assert not trigger.has_same_definition(plain)


def test_fluent_verbs_keep_the_kind() -> None:
    """The verbs of the schedule it derives from return the derived schedule."""
    assert CAMPAIGN.with_repeat_count(3).with_interval(timedelta(minutes=1)).campaign == "spring"


def test_a_kind_from_scratch() -> None:
    """A kind needs its next time only; calendars, misfires and previews come with the base."""
    trigger = DoublingTrigger(
        key=TriggerKey("t"), start_time=at("2026-01-02T23:00"), end_time=at("2026-01-06T00:00"), misfire_instruction=2
    )
    assert hash(trigger) == hash(trigger.key)
    assert fires(trigger, 3) == ats("2026-01-02T23:01", "2026-01-02T23:02", "2026-01-02T23:04")
    assert compute_fire_times(trigger, WeeklyCalendar(), 9)[-2:] == ats("2026-01-02T23:32", "2026-01-05T19:16")
    scheduled = trigger.compute_first_fire_time(None, trigger.start_time)
    assert scheduled.update_after_misfire(None, at("2026-01-02T23:10")).next_fire_time == at("2026-01-02T23:16")
