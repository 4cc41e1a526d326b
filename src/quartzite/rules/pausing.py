"""Who is paused: new triggers, groups, and what resuming means (spec 06 section 4)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, TypeVar

from quartzite.model.keys import Key
from quartzite.model.matchers import GroupMatcher, StringOperator
from quartzite.model.states import StoredTriggerState
from quartzite.rules.transitions import RESUME, RESUME_BLOCKED, Transition

__all__ = [
    "ALL_GROUPS_PAUSED",
    "forgets_everything",
    "groups_to_pause",
    "groups_to_resume",
    "is_group_paused",
    "is_paused",
    "replaced_trigger_state",
    "resume_transition",
    "stored_trigger_state",
]

_S = StoredTriggerState
K = TypeVar("K", bound=Key)

ALL_GROUPS_PAUSED: Final = "_$_ALL_GROUPS_PAUSED_$_"
"""Stands among the paused groups after ``pause_all``: groups that appear later are paused too."""
_PAUSED: Final = frozenset({_S.PAUSED, _S.PAUSED_BLOCKED})


def is_paused(state: StoredTriggerState) -> bool:
    """Tell whether resuming concerns a trigger in this state."""
    return state in _PAUSED


def is_group_paused(group: str, remembered: Collection[str]) -> bool:
    """Tell whether a trigger that is added to a group now starts paused."""
    return group in remembered or ALL_GROUPS_PAUSED in remembered


def stored_trigger_state(*, paused: bool, blocked: bool) -> StoredTriggerState:
    """Return the state of a trigger that is ready to fire but for what stands in its way.

    Args:
        paused: Whether its group is paused.
        blocked: Whether its non-concurrent job runs.
    """
    if paused:
        return _S.PAUSED_BLOCKED if blocked else _S.PAUSED
    return _S.BLOCKED if blocked else _S.WAITING


def replaced_trigger_state(former: StoredTriggerState, *, paused: bool, blocked: bool) -> StoredTriggerState:
    """Return the state of a trigger that takes the place of another: a pause outlives a new definition."""
    return stored_trigger_state(paused=paused or is_paused(former), blocked=blocked)


def resume_transition(*, blocked: bool) -> Transition:
    """Return what resuming does, depending on whether the non-concurrent job runs."""
    return RESUME_BLOCKED if blocked else RESUME


def groups_to_pause(matcher: GroupMatcher[K], existing: Collection[str]) -> list[str]:
    """Return the groups that a pause concerns, in order: those that exist, and one that is named exactly."""
    matched = {group for group in existing if matcher.matches_group(group)}
    return sorted(matched | _named(matcher))


def groups_to_resume(matcher: GroupMatcher[K], existing: Collection[str], remembered: Collection[str]) -> list[str]:
    """Return the groups that a resumption concerns, in order: those that exist or are remembered as paused."""
    known = {*existing, *remembered} - {ALL_GROUPS_PAUSED}
    return sorted(group for group in known if matcher.matches_group(group))


def forgets_everything(matcher: GroupMatcher[K]) -> bool:
    """Tell whether resuming these groups also ends the pause of groups that are yet to appear."""
    return matcher.operator is StringOperator.ANYTHING


def _named(matcher: GroupMatcher[K]) -> set[str]:
    return {matcher.value} if matcher.is_exact else set()
