"""The tables of state changes."""

from __future__ import annotations

import pytest

from quartzite.model.states import StoredTriggerState
from quartzite.rules import transitions
from quartzite.rules.transitions import COMPLETE_ALL, FAIL, Transition

S = StoredTriggerState
NAMED = {name: getattr(transitions, name) for name in transitions.__all__ if name.isupper()}


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("ACQUIRE", {S.WAITING: S.ACQUIRED}),
        ("RELEASE", {S.ACQUIRED: S.WAITING, S.BLOCKED: S.WAITING}),
        ("FREE_CLAIM", {S.ACQUIRED: S.WAITING}),
        ("BLOCK", {S.WAITING: S.BLOCKED, S.ACQUIRED: S.BLOCKED, S.PAUSED: S.PAUSED_BLOCKED}),
        ("UNBLOCK", {S.BLOCKED: S.WAITING, S.PAUSED_BLOCKED: S.PAUSED}),
        ("PAUSE", {S.WAITING: S.PAUSED, S.ACQUIRED: S.PAUSED, S.BLOCKED: S.PAUSED_BLOCKED}),
        ("RESUME", {S.PAUSED: S.WAITING, S.PAUSED_BLOCKED: S.WAITING}),
        ("RESUME_BLOCKED", {S.PAUSED: S.BLOCKED, S.PAUSED_BLOCKED: S.BLOCKED}),
        ("FREE_AT_START", {S.ACQUIRED: S.WAITING, S.BLOCKED: S.WAITING, S.PAUSED_BLOCKED: S.PAUSED}),
    ],
)
def test_table(name: str, moves: dict[S, S]) -> None:
    """The table moves these states and leaves every other one as it is."""
    transition = NAMED[name]
    assert {state: transition.apply(state) for state in S} == {state: moves.get(state, state) for state in S}
    assert transition.sources == moves.keys()


@pytest.mark.parametrize(("transition", "target"), [(COMPLETE_ALL, S.COMPLETE), (FAIL, S.ERROR)])
def test_instructions_move_every_stored_state(transition: Transition, target: S) -> None:
    """What a run says of a trigger holds in whatever state it is."""
    kept = {state for state in S if transition.apply(state) is not target}
    assert kept == {S.EXECUTING, S.DELETED}  # which no trigger is ever stored in


@pytest.mark.parametrize("name", NAMED)
def test_no_table_makes_up_a_state(name: str) -> None:
    """Nothing moves from or to the states that are never stored with a trigger, nor from a state to itself."""
    moves = NAMED[name].moves
    assert not {S.EXECUTING, S.DELETED} & {*moves, *moves.values()}
    assert all(old is not new for old, new in moves.items())
