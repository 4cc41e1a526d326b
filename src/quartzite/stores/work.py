"""Work: what kind of unit of work an operation is."""

from __future__ import annotations

from enum import Enum

__all__ = ["Work"]


class Work(Enum):
    """Tells a store how to run an operation.

    It says which lock is taken, whether the operation is repeated until it succeeds, and what is asked when the
    outcome of a commit is not known (spec 07 section 4, decision 5b). A store without locks and transactions runs
    all kinds alike.
    """

    READ = "read"
    """Changes nothing: no lock."""
    INSERT = "insert"
    """Adds what must not exist: TRIGGER_ACCESS only as ``lock_on_insert`` says."""
    CHANGE = "change"
    """Anything else that a caller asks for: TRIGGER_ACCESS; retried within limits."""
    ACQUIRE = "acquire"
    """Reserves triggers; an unknown outcome is settled by looking for the fired rows of the result."""
    FIRE = "fire"
    """Fires acquired triggers; an unknown outcome is settled by looking at the fired rows of the result."""
    RELEASE = "release"
    """Gives triggers back; repeated until it succeeds or the store shuts down."""
    COMPLETE = "complete"
    """Ends firings; repeated until it succeeds or the store shuts down."""
    MISFIRE = "misfire"
    """Handles missed times: TRIGGER_ACCESS."""
    RECOVER = "recover"
    """Frees what a former life, or a node that is gone, left behind: TRIGGER_ACCESS."""
