"""A transition as a lookup and as the UPDATE that a database makes of it."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quartzite.model.states import StoredTriggerState
from quartzite.rules import transitions
from quartzite.rules.transitions import BLOCK, UNBLOCK, Transition

STATES = st.sampled_from([*StoredTriggerState])
TABLES = [getattr(transitions, name) for name in transitions.__all__ if name.isupper()]


def updated(states: list[StoredTriggerState], transition: Transition) -> tuple[list[StoredTriggerState], int]:
    """Return what one UPDATE makes of rows in these states, and how many rows it says it changed."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT)")
        connection.executemany("INSERT INTO t (state) VALUES (?)", [(state.to_stored_value(),) for state in states])
        cases = " ".join(f"WHEN '{old.value}' THEN '{new.value}'" for old, new in transition.moves.items())
        sources = ", ".join(f"'{state.value}'" for state in transition.sources)
        statement = f"UPDATE t SET state = CASE state {cases} END WHERE state IN ({sources})"  # noqa: S608
        changed = connection.execute(statement).rowcount
        left = [StoredTriggerState(row[0]) for row in connection.execute("SELECT state FROM t ORDER BY id")]
    connection.close()
    return left, changed


@given(states=st.lists(STATES, max_size=20), transition=st.sampled_from(TABLES))
def test_statement_and_lookup_agree(states: list[StoredTriggerState], transition: Transition) -> None:
    """One UPDATE changes each row as the lookup does, and counts those that changed."""
    looked_up = [transition.apply(state) for state in states]
    changes = sum(old is not new for old, new in zip(states, looked_up, strict=True))
    assert updated(states, transition) == (looked_up, changes)


@given(moves=st.dictionaries(STATES, STATES, min_size=1), states=st.lists(STATES, max_size=20))
def test_any_table_can_be_a_statement(
    moves: dict[StoredTriggerState, StoredTriggerState], states: list[StoredTriggerState]
) -> None:
    """No finite map over the states needs more than one statement: it is applied at once, not move by move."""
    transition = Transition(moves)
    assert updated(states, transition)[0] == [transition.apply(state) for state in states]


@pytest.mark.parametrize("transition", TABLES)
def test_doing_it_twice_changes_nothing_more(transition: Transition) -> None:
    """An operation that is repeated after an unknown outcome leaves what it left the first time."""
    once = [transition.apply(state) for state in StoredTriggerState]
    assert [transition.apply(state) for state in once] == once


@given(state=STATES)
def test_unblocking_undoes_blocking(state: StoredTriggerState) -> None:
    """What was blocked and unblocked may fire or stays paused, as before; a claim is lost to it."""
    expected = StoredTriggerState.WAITING if state is StoredTriggerState.ACQUIRED else UNBLOCK.apply(state)
    assert UNBLOCK.apply(BLOCK.apply(state)) is expected
