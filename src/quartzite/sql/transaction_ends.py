"""When a transaction ends: who waits for the commit of a connection that somebody else owns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy.ext.asyncio import AsyncConnection

__all__ = ["when_it_ends"]

_WAITING: Final = "quartzite.waiting_for_the_end"
"""Where those who wait are kept: in the data that the pool keeps with each connection of the driver."""


def when_it_ends(connection: AsyncConnection, callback: Callable[[bool], None]) -> None:
    """Call back once, after the connection's transaction was committed (True) or rolled back (False).

    SQLAlchemy tells of a commit before it is sent, which is too early for whoever wants to read what was written. So
    the two methods of the connection's dialect through which every commit and every rollback goes are wrapped, once
    per engine; a rollback to a savepoint is none. When the connection is lost nobody is called.
    """
    dialect: Any = connection.dialect
    if not isinstance(dialect.do_commit, _Watched):
        dialect.do_commit = _Watched(dialect.do_commit, committed=True)
        dialect.do_rollback = _Watched(dialect.do_rollback, committed=False)
    connection.info.setdefault(_WAITING, []).append(callback)


class _Watched:
    """How a dialect ends a transaction, and then tells those who wait for that."""

    def __init__(self, end: Callable[[Any], None], *, committed: bool) -> None:
        self._end = end
        self._committed = committed

    def __call__(self, connection: Any) -> None:
        waiting = connection.info.pop(_WAITING, ())
        done = False
        try:
            self._end(connection)
            done = True
        finally:
            for callback in waiting:
                callback(done and self._committed)
