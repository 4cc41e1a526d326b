"""Who is paused, and what resuming means."""

from __future__ import annotations

import pytest

from quartzite.model.keys import TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.states import StoredTriggerState
from quartzite.rules.pausing import (
    ALL_GROUPS_PAUSED,
    forgets_everything,
    groups_to_pause,
    groups_to_resume,
    is_group_paused,
    is_paused,
    replaced_trigger_state,
    resume_transition,
    stored_trigger_state,
)
from quartzite.rules.transitions import RESUME, RESUME_BLOCKED

S = StoredTriggerState
Matcher = GroupMatcher[TriggerKey]


@pytest.mark.parametrize(
    ("paused", "blocked", "state"),
    [
        (False, False, S.WAITING),
        (False, True, S.BLOCKED),
        (True, False, S.PAUSED),
        (True, True, S.PAUSED_BLOCKED),
    ],
)
def test_new_trigger(paused: bool, blocked: bool, state: S) -> None:
    """A new trigger starts as its group and its job let it."""
    assert stored_trigger_state(paused=paused, blocked=blocked) is state


@pytest.mark.parametrize("former", [S.PAUSED, S.PAUSED_BLOCKED])
def test_a_pause_outlives_a_new_definition(former: S) -> None:
    """A trigger that takes the place of a paused one is paused (an operator's pause is not undone by a deployment)."""
    assert replaced_trigger_state(former, paused=False, blocked=False) is S.PAUSED
    assert replaced_trigger_state(former, paused=False, blocked=True) is S.PAUSED_BLOCKED


@pytest.mark.parametrize("former", [S.WAITING, S.ACQUIRED, S.BLOCKED, S.COMPLETE, S.ERROR])
def test_other_states_do_not_outlive_a_new_definition(former: S) -> None:
    """In any other state a new definition starts as a new trigger does; one in error or complete goes on."""
    assert replaced_trigger_state(former, paused=False, blocked=False) is S.WAITING
    assert replaced_trigger_state(former, paused=True, blocked=True) is S.PAUSED_BLOCKED


def test_what_resuming_concerns() -> None:
    """Only paused triggers are resumed, to wait, or to wait for their job."""
    assert {state for state in S if is_paused(state)} == {S.PAUSED, S.PAUSED_BLOCKED}
    assert resume_transition(blocked=False) is RESUME
    assert resume_transition(blocked=True) is RESUME_BLOCKED


@pytest.mark.parametrize(
    ("remembered", "paused"), [(set(), False), ({"b"}, False), ({"a"}, True), ({ALL_GROUPS_PAUSED}, True)]
)
def test_paused_group(remembered: set[str], paused: bool) -> None:
    """A group is paused when it is remembered, or when all groups are."""
    assert is_group_paused("a", remembered) is paused


@pytest.mark.parametrize(
    ("matcher", "groups"),
    [
        (Matcher.group_equals("g1"), ["g1"]),
        (Matcher.group_equals("new"), ["new"]),
        (Matcher.group_starts_with("g"), ["g1", "g2"]),
        (Matcher.group_ends_with("1"), ["g1", "h1"]),
        (Matcher.group_contains("2"), ["g2"]),
        (Matcher.group_starts_with("new"), []),
        (Matcher.any_group(), ["g1", "g2", "h1"]),
    ],
)
def test_groups_to_pause(matcher: Matcher, groups: list[str]) -> None:
    """All existing groups that match are paused, and one that is named exactly even before it exists."""
    assert groups_to_pause(matcher, {"h1", "g2", "g1"}) == groups


@pytest.mark.parametrize(
    ("matcher", "groups"),
    [
        (Matcher.group_equals("g1"), ["g1"]),
        (Matcher.group_equals("empty"), ["empty"]),
        (Matcher.group_equals("unknown"), []),
        (Matcher.group_starts_with("g"), ["g1", "g2"]),
        (Matcher.any_group(), ["empty", "g1", "g2"]),
    ],
)
def test_groups_to_resume(matcher: Matcher, groups: list[str]) -> None:
    """Groups that exist or are remembered are resumed; the marker for all is no group."""
    assert groups_to_resume(matcher, {"g2", "g1"}, {"empty", "g1", ALL_GROUPS_PAUSED}) == groups


def test_what_ends_the_pause_of_groups_to_come() -> None:
    """Resuming every group does; resuming groups by a text does not, even when the text is empty."""
    assert forgets_everything(Matcher.any_group())
    assert not forgets_everything(Matcher.group_starts_with(""))
    assert not forgets_everything(Matcher.group_equals(ALL_GROUPS_PAUSED))
