"""Changes of state, as finite maps over the stored states.

A store in memory looks a state up; a store in a database renders the same map as one UPDATE ... CASE. A state that a
map does not name stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from quartzite.model.states import StoredTriggerState

__all__ = [
    "ACQUIRE",
    "BLOCK",
    "COMPLETE_ALL",
    "FAIL",
    "FREE_AT_START",
    "FREE_CLAIM",
    "PAUSE",
    "RELEASE",
    "RESUME",
    "RESUME_BLOCKED",
    "UNBLOCK",
    "Transition",
]

_S = StoredTriggerState
_STORED: Final = frozenset(_S) - {_S.DELETED, _S.EXECUTING}


@dataclass(frozen=True, slots=True)
class Transition:
    """A finite map over the stored states of triggers.

    Attributes:
        moves: New state by old state.
    """

    moves: Mapping[StoredTriggerState, StoredTriggerState]

    def apply(self, state: StoredTriggerState) -> StoredTriggerState:
        """Return what becomes of a state."""
        return self.moves.get(state, state)

    @property
    def sources(self) -> frozenset[StoredTriggerState]:
        """The states that change."""
        return frozenset(self.moves)


def _all_to(target: StoredTriggerState) -> Transition:
    return Transition({state: target for state in _STORED if state is not target})


ACQUIRE: Final = Transition({_S.WAITING: _S.ACQUIRED})
"""A node reserves a trigger."""
RELEASE: Final = Transition({_S.ACQUIRED: _S.WAITING, _S.BLOCKED: _S.WAITING})
"""A reserved trigger is given back. A sibling's firing may have blocked it meanwhile; acquisition asks again."""
FREE_CLAIM: Final = Transition({_S.ACQUIRED: _S.WAITING})
"""The claim of a node that is gone is given back."""
BLOCK: Final = Transition({_S.WAITING: _S.BLOCKED, _S.ACQUIRED: _S.BLOCKED, _S.PAUSED: _S.PAUSED_BLOCKED})
"""The non-concurrent job of the trigger started to run."""
UNBLOCK: Final = Transition({_S.BLOCKED: _S.WAITING, _S.PAUSED_BLOCKED: _S.PAUSED})
"""The non-concurrent job of the trigger ended."""
PAUSE: Final = Transition({_S.WAITING: _S.PAUSED, _S.ACQUIRED: _S.PAUSED, _S.BLOCKED: _S.PAUSED_BLOCKED})
"""A trigger is paused; what is complete or in error stays so."""
RESUME: Final = Transition({_S.PAUSED: _S.WAITING, _S.PAUSED_BLOCKED: _S.WAITING})
"""A paused trigger goes on; its job does not run."""
RESUME_BLOCKED: Final = Transition({_S.PAUSED: _S.BLOCKED, _S.PAUSED_BLOCKED: _S.BLOCKED})
"""A paused trigger goes on; its non-concurrent job runs."""
COMPLETE_ALL: Final = _all_to(_S.COMPLETE)
"""A trigger is told that it is complete."""
FAIL: Final = _all_to(_S.ERROR)
"""A trigger is put into error."""
FREE_AT_START: Final = Transition({_S.ACQUIRED: _S.WAITING, _S.BLOCKED: _S.WAITING, _S.PAUSED_BLOCKED: _S.PAUSED})
"""A store that is not clustered starts: nothing that its former life began goes on."""
