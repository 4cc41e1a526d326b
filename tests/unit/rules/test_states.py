"""What stored states mean to callers."""

from __future__ import annotations

import pytest

from quartzite.model.states import FiredState, StoredTriggerState, TriggerState
from quartzite.rules.states import StoredFiringState, resolve_trigger_state, stored_states_reported_as

S = StoredTriggerState
R = TriggerState


@pytest.mark.parametrize(
    ("stored", "idle", "executing"),
    [
        (S.DELETED, R.NONE, R.NONE),
        (S.ERROR, R.ERROR, R.ERROR),
        (S.PAUSED, R.PAUSED, R.PAUSED),
        (S.PAUSED_BLOCKED, R.PAUSED, R.PAUSED),
        (S.BLOCKED, R.BLOCKED, R.EXECUTING),
        (S.COMPLETE, R.COMPLETE, R.EXECUTING),
        (S.WAITING, R.NORMAL, R.EXECUTING),
        (S.ACQUIRED, R.NORMAL, R.EXECUTING),
        (S.EXECUTING, R.NORMAL, R.EXECUTING),
    ],
)
def test_reported_state(stored: S, idle: R, executing: R) -> None:
    """What is reported is the first that holds of none, error, paused, executing, blocked, complete, normal."""
    assert resolve_trigger_state(stored, executing=False) is idle
    assert resolve_trigger_state(stored, executing=True) is executing


@pytest.mark.parametrize("executing", [False, True])
def test_filter_is_the_same_rule_turned_round(executing: bool) -> None:
    """Each stored state is found by the filter for what it is reported as, and by no other."""
    for stored in S:
        found_by = [reported for reported in R if stored in stored_states_reported_as(reported, executing)]
        assert found_by == [resolve_trigger_state(stored, executing)]


def test_reported_firing_states() -> None:
    """A firing is reported as acquired until it begins, and as executing until it ends, whatever was deleted."""
    reported = {state: state.reported for state in StoredFiringState}
    assert reported.pop(StoredFiringState.ACQUIRED) is FiredState.ACQUIRED
    assert set(reported.values()) == {FiredState.EXECUTING}


def test_firing_states_read_back() -> None:
    """A stored text reads as its state; one that is not known counts as a firing in progress."""
    assert [StoredFiringState.from_stored_value(state.value) for state in StoredFiringState] == [*StoredFiringState]
    assert StoredFiringState.from_stored_value("NEW") is StoredFiringState.EXECUTING
