"""What becomes of the firings that a node left behind."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.model.job_data import JobData
from quartzite.model.keys import RECOVERY_GROUP, JobKey, TriggerKey
from quartzite.rules.firing import FiredRow
from quartzite.rules.membership import CheckIn
from quartzite.rules.states import StoredFiringState
from quartzite.rules.takeover import is_stale_claim, may_still_run, plan_takeover, recovery_trigger
from tests.stores import MINUTE, NOW, SECOND

F = StoredFiringState
BEGUN = [state for state in F if state is not F.ACQUIRED]


def fired(state: F = F.EXECUTING, **changes: Any) -> FiredRow:
    """Return a fired row of another node."""
    row = FiredRow(
        fire_instance_id="other-1",
        trigger_key=TriggerKey("t"),
        instance_id="other",
        state=state,
        fired_time=NOW,
        scheduled_time=NOW - SECOND,
        priority=7,
        execution_group="g",
        job_key=None if state is F.ACQUIRED else JobKey("job"),
    )
    return row._replace(**changes)


@pytest.mark.parametrize("may_run", [False, True])
def test_claims_are_given_back(may_run: bool) -> None:
    """What was reserved and never begun is free at once: its node can not begin it without its row."""
    plan = plan_takeover([fired(F.ACQUIRED)], may_run=may_run)
    assert (len(plan.claims), plan.unfinished, plan.preserved) == (1, (), ())
    assert plan.touched == {TriggerKey("t")}


@pytest.mark.parametrize("state", BEGUN)
def test_a_late_node_keeps_its_non_concurrent_jobs(state: F) -> None:
    """While the node may be late only, its non-concurrent firing stays, and keeps others from running."""
    plan = plan_takeover([fired(state, non_concurrent=True, requests_recovery=True)], may_run=True)
    assert (len(plan.preserved), plan.ended, set(plan.freed_jobs)) == (1, (), set())


@pytest.mark.parametrize("may_run", [False, True])
@pytest.mark.parametrize("state", [F.EXECUTING, F.TRIGGER_GONE])
def test_what_asks_for_recovery_runs_again(may_run: bool, state: F) -> None:
    """A firing that was begun runs again when its job asks for it, also without its trigger."""
    plan = plan_takeover([fired(state, requests_recovery=True)], may_run=may_run)
    assert (len(plan.recovered), plan.lost, len(plan.unfinished)) == (1, (), 1)


def test_what_does_not_ask_is_lost_and_reported() -> None:
    """A firing that was begun and does not run again is among those that are reported."""
    plan = plan_takeover([fired()], may_run=False)
    assert (plan.recovered, len(plan.lost), plan.unfinished) == ((), 1, plan.lost)


def test_a_deleted_job_does_not_run_again() -> None:
    """A new job of the same key has nothing to do with the firing of the old one."""
    plan = plan_takeover([fired(F.JOB_GONE, requests_recovery=True, non_concurrent=True)], may_run=False)
    assert (plan.recovered, len(plan.lost), set(plan.freed_jobs)) == ((), 1, {JobKey("job")})


def test_non_concurrent_jobs_are_freed() -> None:
    """What ends and was non-concurrent frees its job."""
    rows = [fired(non_concurrent=True), fired(job_key=JobKey("b")), fired(F.ACQUIRED)]
    assert plan_takeover(rows, may_run=False).freed_jobs == {JobKey("job")}


@pytest.mark.parametrize(("ago", "late_only"), [(23, True), (24, False), (60, False)])
def test_how_long_a_node_may_be_late_only(ago: int, late_only: bool) -> None:
    """Two intervals and the threshold after its last check-in a node's jobs count as ended (decision 20)."""
    record = CheckIn(instance_id="other", last=NOW - ago * SECOND, interval=8 * SECOND)
    assert may_still_run(record, NOW, 8 * SECOND) is late_only


def test_firings_without_a_node_are_over() -> None:
    """A node that has no record can not be late."""
    assert not may_still_run(None, NOW, MINUTE)


def test_recovery_trigger() -> None:
    """It fires once, at once, for the job and with the priority and group of the firing, under a name of its own."""
    made = recovery_trigger(fired(), JobData(a=1), start=NOW, misfire_instruction=-1)
    assert made.key == TriggerKey("recover_other-1", RECOVERY_GROUP)
    assert (made.job_key, made.priority, made.execution_group) == (JobKey("job"), 7, "g")
    assert (made.next_fire_time, made.misfire_instruction, dict(made.job_data)) == (NOW, -1, {"a": 1})
    assert made.triggered(None).next_fire_time is None


@pytest.mark.parametrize(
    ("state", "since", "threshold", "stale"),
    [
        (F.ACQUIRED, 2 * MINUTE, SECOND, False),
        (F.ACQUIRED, 2 * MINUTE + SECOND, SECOND, True),
        (F.ACQUIRED, 2 * MINUTE + SECOND, MINUTE, True),
        (F.ACQUIRED, 4 * MINUTE, 2 * MINUTE, False),
        (F.EXECUTING, 9 * MINUTE, SECOND, False),
    ],
)
def test_stale_claim(state: F, since: timedelta, threshold: timedelta, stale: bool) -> None:
    """A reserved firing is forgotten after two minutes and two misfire thresholds; a running one never is."""
    row = fired(state, fired_time=NOW - since, scheduled_time=NOW - 2 * since)
    assert is_stale_claim(row, NOW, threshold) is stale


def test_a_claim_of_a_later_time_is_not_stale() -> None:
    """A firing that was reserved long ago, for a time still to come, is not forgotten."""
    row = fired(F.ACQUIRED, fired_time=NOW - 9 * MINUTE, scheduled_time=NOW + SECOND)
    assert not is_stale_claim(row, NOW, SECOND)
