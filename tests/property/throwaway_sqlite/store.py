"""The throw-away store: the standard operations over a SQLite session."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

from quartzite.abc import Clock, Serializer, Signaler
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.stores.session import (
    CalendarTable,
    FiredTable,
    GroupTable,
    JobTable,
    NodeTable,
    StoreSession,
    TriggerTable,
)
from quartzite.stores.signals import Signals
from quartzite.stores.standard import Body, StandardJobStore
from quartzite.stores.work import Work
from quartzite.triggers.base import Trigger
from tests.property.throwaway_sqlite.database import connect
from tests.property.throwaway_sqlite.fired import SqliteFired
from tests.property.throwaway_sqlite.jobs import SqliteJobs
from tests.property.throwaway_sqlite.triggers import SqliteTriggers

T = TypeVar("T")


class SqliteGroups(GroupTable):
    """Paused groups in a table."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def paused(self) -> set[str]:
        return {row["grp"] for row in self._connection.execute("SELECT grp FROM paused")}


class SqliteSession(StoreSession):
    """One transaction."""

    def __init__(self, connection: sqlite3.Connection, serializer: Serializer, node: str) -> None:
        self.jobs: JobTable = of_what_is_given(SqliteJobs, connection, serializer)
        self.triggers: TriggerTable = of_what_is_given(SqliteTriggers, connection, serializer, node)
        self.fired: FiredTable = of_what_is_given(SqliteFired, connection, node)
        self.groups: GroupTable = of_what_is_given(SqliteGroups, connection)
        self.calendars: CalendarTable = of_what_is_given(CalendarTable)
        self.nodes: NodeTable = of_what_is_given(NodeTable)
        self.signals = Signals()
        self.unreadable = {}

    async def clear(self) -> None:
        raise AssertionError("no test clears the store")


def of_what_is_given(table: Any, *arguments: Any) -> Any:
    """Return a table; a method that it does not give fails the test which needs it."""
    return type(table.__name__, (table,), {name: _missing(name) for name in table.__abstractmethods__})(*arguments)


def _missing(name: str) -> Callable[..., NoReturn]:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError(f"the throw-away session has no {name}")

    return fail


class SqliteStore(StandardJobStore):
    """A store whose unit of work is a transaction.

    Attributes:
        statements: What was executed since the list was emptied.
    """

    def __init__(self, *, clock: Clock, signaler: Signaler, serializer: Serializer) -> None:
        super().__init__(clock=clock, signaler=signaler, serializer=serializer, misfire_threshold=timedelta(seconds=5))
        self._connection = connect()
        self._connection.row_factory = sqlite3.Row
        self.statements: list[str] = []
        self._connection.set_trace_callback(self.statements.append)

    @property
    def supports_persistence(self) -> bool:
        return False

    @property
    def clustered(self) -> bool:
        return False

    async def scheduler_started(self) -> None:
        """Do nothing."""

    async def shutdown(self) -> None:
        self._connection.close()

    async def run(self, work: Work, body: Body[T]) -> T:
        session = SqliteSession(self._connection, self._serializer, self.instance_id)
        self._connection.execute("BEGIN")
        try:
            result = await body(session)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        await session.signals.deliver(self._signaler)
        return result

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        while (await self.handle_misfires(100)).has_more:
            pass
        return await super().acquire_next_triggers(request)

    def executed(self) -> Collection[str]:
        """Return the statements since the last call, without those that begin and end transactions."""
        done = [text for text in self.statements if text not in ("BEGIN", "COMMIT", "ROLLBACK")]
        self.statements.clear()
        return done
