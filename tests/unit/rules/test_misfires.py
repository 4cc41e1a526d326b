"""When a time is missed, and what that does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Self

import pytest

from quartzite.calendars.base import Calendar
from quartzite.errors import SchedulerError
from quartzite.model.states import StoredTriggerState
from quartzite.rules.misfires import is_misfired, plan_misfire
from quartzite.triggers.simple import SimpleTrigger
from tests.stores import MINUTE, NOW, SECOND, once, trigger

S = StoredTriggerState


@pytest.mark.parametrize(
    ("due", "instruction", "misfired"),
    [
        (-SECOND, 0, True),
        (-SECOND, 4, True),
        (-SECOND, -1, False),
        (timedelta(0), 0, False),
        (SECOND, 0, False),
    ],
)
def test_is_misfired(due: timedelta, instruction: int, misfired: bool) -> None:
    """A next fire time before the limit is missed, exactly at it is not; a trigger may not mind."""
    value = trigger(next_fire_time=NOW + due, misfire_instruction=instruction)
    assert is_misfired(value, NOW) is misfired


def test_a_trigger_that_is_over_misses_nothing() -> None:
    """Without a next fire time there is nothing to miss."""
    assert not is_misfired(once().copy_with(next_fire_time=None), NOW)


@pytest.mark.parametrize("state", [S.WAITING, S.BLOCKED])
def test_plan_of_a_trigger_that_goes_on(state: S) -> None:
    """The trigger gets a later time and the state that was asked for; what it missed is kept for the listeners."""
    missed = trigger(misfire_instruction=4)
    plan = plan_misfire(missed, None, NOW + 150 * SECOND, state)
    assert plan.missed == missed
    assert plan.trigger.next_fire_time == NOW + 3 * MINUTE
    assert (plan.state, plan.is_final) == (state, False)


def test_plan_of_a_trigger_that_ends() -> None:
    """A trigger that has no later time is complete, whatever state was asked for."""
    plan = plan_misfire(trigger(end_time=NOW + SECOND, misfire_instruction=4), None, NOW + MINUTE, S.BLOCKED)
    assert (plan.state, plan.is_final, plan.trigger.next_fire_time) == (S.COMPLETE, True, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StubbornTrigger(SimpleTrigger):
    """A kind that does nothing about a missed time."""

    trigger_type: ClassVar[str] = "STUBBORN"

    def _misfired(self, calendar: Calendar | None, now: datetime) -> Self:
        return self


def test_a_kind_that_gives_no_later_time_is_at_fault() -> None:
    """A trigger that keeps its missed time could never fire: that is an error that names it, not silence."""
    stubborn = StubbornTrigger(key=trigger().key, job_key=trigger().job_key, start_time=NOW, next_fire_time=NOW)
    with pytest.raises(SchedulerError, match=r"trigger DEFAULT.t missed .* StubbornTrigger must give one"):
        plan_misfire(stubborn, None, NOW + MINUTE, S.WAITING)
