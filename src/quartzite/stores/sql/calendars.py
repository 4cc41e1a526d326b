"""The calendars of the SQL store."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final

from sqlalchemy import Executable, delete, func, select

from quartzite.calendars.base import Calendar
from quartzite.errors import JobPersistenceError
from quartzite.model.query import PagedQuery
from quartzite.stores.session import CalendarTable
from quartzite.stores.sql.matching import section
from quartzite.stores.sql.own_rows import SCHEDULER, OwnRows
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.unit import SqlUnit

__all__ = ["SqlCalendars"]

_logger: Final = logging.getLogger("quartzite.stores")


class SqlCalendars(CalendarTable):
    """Calendars in a table."""

    __slots__ = ("_plan", "_unit")

    def __init__(self, plan: StorePlan, unit: SqlUnit) -> None:
        self._plan = plan
        self._unit = unit

    async def read(self, names: Collection[str]) -> dict[str, Calendar]:
        """Return the calendars of these names that are there.

        A row that can not be read fails who only reads; for who writes it is as good as missing, so that the triggers
        of the other calendars go on.

        Raises:
            JobPersistenceError: a calendar can not be read.
        """
        if not names:
            return {}
        rows = self._plan.built("calendars.rows", self._names)
        statement = self._plan.built("calendars.read", self._read)
        found: dict[str, Calendar] = {}
        for name, payload in await self._unit.fetch(statement, rows, [(name,) for name in sorted(set(names))]):
            try:
                found[name] = self._plan.serializer.deserialize(payload, Calendar)
            except JobPersistenceError as error:
                if not self._unit.writes:
                    raise JobPersistenceError(f"calendar {name!r}: {error}") from error
                _logger.exception("calendar %r can not be read", name, extra={"calendar_name": name})
        return found

    async def put(self, name: str, calendar: Calendar) -> None:
        """Write a calendar, over the one of that name when there is one."""
        table = self._plan.tables.calendars
        rows = self._plan.rows("given", table, "calendar_name", "calendar")
        values = {column: rows.c[column] for column in (SCHEDULER, *rows.names)}
        given = [(name, self._plan.serializer.serialize(calendar))]
        for statement in self._plan.dialect.upsert(table, rows.rows, values):
            await self._unit.change(statement, rows, given)

    async def delete(self, name: str) -> bool:
        """Delete a calendar; tell whether it was there."""
        table = self._plan.tables.calendars
        statement = delete(table).where(self._plan.own(table), table.c.calendar_name == name)
        return bool((await self._unit.execute(statement)).rowcount)

    async def query(self, query: PagedQuery, limit: int | None) -> list[str]:
        """Return names by code point."""
        table = self._plan.tables.calendars
        found = select(table.c.calendar_name).where(self._plan.own(table))
        page = section(self._plan.dialect, found, (table.c.calendar_name,), query.skip, limit)
        return list((await self._unit.execute(page)).scalars())

    async def count(self, query: PagedQuery) -> int:  # noqa: ARG002  # there is no filter
        """Return how many there are."""
        table = self._plan.tables.calendars
        counted = select(func.count()).select_from(table).where(self._plan.own(table))
        return int((await self._unit.execute(counted)).scalar_one())

    def _names(self) -> OwnRows:
        return self._plan.rows("given", self._plan.tables.calendars, "calendar_name")

    def _read(self) -> Executable:
        table = self._plan.tables.calendars
        rows = self._plan.built("calendars.rows", self._names)
        source = table.join(rows.element, self._plan.matching(table, rows, ("calendar_name",)))
        return select(table.c.calendar_name, table.c.calendar).select_from(source)
