"""What one firing does to its trigger."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.errors import SchedulerError
from quartzite.model.preferred_node import PreferredNode
from quartzite.model.states import StoredTriggerState
from quartzite.rules.firing import FiringRow, claimed_pin, may_fire, plan_firing, state_after_firing
from tests.stores import MINUTE, NOW, SECOND, job, once, trigger

S = StoredTriggerState
ACQUIRED = trigger().copy_with(fire_instance_id="1")


def row(**changes: Any) -> FiringRow:
    """Return what is stored about the acquired trigger."""
    return FiringRow(ACQUIRED, S.ACQUIRED, job(), True)._replace(**changes)


def test_an_acquired_trigger_fires() -> None:
    """With its claim, its job and its time unchanged, a trigger fires."""
    assert may_fire(row(), ACQUIRED)


@pytest.mark.parametrize(
    "stored",
    [
        None,
        row(claimed=False),
        row(job=None),
        row(trigger=ACQUIRED.copy_with(next_fire_time=NOW + SECOND)),
        *(row(state=state) for state in S if state is not S.ACQUIRED),
    ],
)
def test_what_keeps_a_trigger_from_firing(stored: FiringRow | None) -> None:
    """It is gone, its claim or job is, its time was changed, or it is not acquired any more."""
    assert not may_fire(stored, ACQUIRED)


@pytest.mark.parametrize(
    ("alone", "next_time", "state"),
    [(False, NOW, S.WAITING), (True, NOW, S.BLOCKED), (False, None, S.COMPLETE), (True, None, S.COMPLETE)],
)
def test_state_after_firing(alone: bool, next_time: Any, state: S) -> None:
    """Without another time it is complete; with one it waits, or for its own non-concurrent job first."""
    assert state_after_firing(job(concurrent_execution_disallowed=alone), next_time) is state


def test_plan() -> None:
    """A firing advances the trigger, keeps the id of the firing, and says when it should have happened."""
    before = ACQUIRED.copy_with(previous_fire_time=NOW - MINUTE)
    plan = plan_firing(before, job(), None, "node")
    assert (plan.trigger.next_fire_time, plan.trigger.previous_fire_time) == (NOW + MINUTE, NOW)
    assert plan.trigger.fire_instance_id == "1"
    assert (plan.scheduled_time, plan.previous_time, plan.state) == (NOW, NOW - MINUTE, S.WAITING)


def test_plan_after_a_misfire() -> None:
    """A firing that makes up for a missed time was scheduled for that time, and the trigger forgets it."""
    late = ACQUIRED.copy_with(misfire_origin=NOW - MINUTE)
    plan = plan_firing(late, job(), None, "node")
    assert plan.scheduled_time == NOW - MINUTE
    assert plan.trigger.misfire_origin is None


def test_plan_of_a_trigger_that_is_over() -> None:
    """A trigger without a next fire time can not be fired."""
    with pytest.raises(SchedulerError, match="no next fire time"):
        plan_firing(once().copy_with(next_fire_time=None), job(), None, "node")


@pytest.mark.parametrize(
    ("pin", "after"),
    [
        (PreferredNode.NONE, PreferredNode.NONE),
        (PreferredNode.for_node("other"), PreferredNode.for_node("other")),
        (PreferredNode.AUTO, PreferredNode("node", is_automatic=True)),
        (PreferredNode("other", is_automatic=True), PreferredNode("node", is_automatic=True)),
        (PreferredNode("node", is_automatic=True), PreferredNode("node", is_automatic=True)),
    ],
)
def test_pin_after_firing(pin: PreferredNode, after: PreferredNode) -> None:
    """An automatic pin follows the node that fires; a chosen one stays."""
    assert claimed_pin(pin, "node") == after
    assert plan_firing(ACQUIRED.copy_with(preferred_node=pin), job(), None, "node").trigger.preferred_node == after


def test_planning_changes_nothing() -> None:
    """The stored value is as before, so that a plan can be made again."""
    plan_firing(ACQUIRED, job(), None, "node")
    assert trigger().copy_with(fire_instance_id="1") == ACQUIRED
    assert trigger().next_fire_time == NOW + timedelta(0)
