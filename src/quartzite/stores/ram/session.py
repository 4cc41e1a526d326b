"""The unit of work of the RAM store: dictionaries behind the port."""

from __future__ import annotations

from collections.abc import Collection

from quartzite.calendars.base import Calendar
from quartzite.model.query import PagedQuery
from quartzite.model.selectors import All
from quartzite.rules.membership import CheckIn
from quartzite.stores.ram.fired import RamFired
from quartzite.stores.ram.jobs import RamJobs
from quartzite.stores.ram.rows import section
from quartzite.stores.ram.triggers import RamTriggers
from quartzite.stores.session import CalendarTable, GroupTable, NodeTable, StoreSession
from quartzite.stores.signals import Signals

__all__ = ["RamSession", "RamTables"]


class RamGroups(GroupTable):
    """The paused trigger groups."""

    __slots__ = ("_paused",)

    def __init__(self) -> None:
        self._paused: set[str] = set()

    async def paused(self) -> set[str]:
        """Return them."""
        return set(self._paused)

    async def remember(self, groups: Collection[str]) -> None:
        """Add groups."""
        self._paused.update(groups)

    async def forget(self, groups: Collection[str] | None) -> None:
        """Remove groups, all when None."""
        self._paused.difference_update(set(self._paused) if groups is None else groups)


class RamCalendars(CalendarTable):
    """The calendars by name."""

    __slots__ = ("_by_name",)

    def __init__(self) -> None:
        self._by_name: dict[str, Calendar] = {}

    async def read(self, names: Collection[str]) -> dict[str, Calendar]:
        """Return the calendars of these names that are there."""
        return {name: self._by_name[name] for name in names if name in self._by_name}

    async def put(self, name: str, calendar: Calendar) -> None:
        """Write a calendar."""
        self._by_name[name] = calendar

    async def delete(self, name: str) -> bool:
        """Delete a calendar; tell whether it was there."""
        return self._by_name.pop(name, None) is not None

    async def query(self, query: PagedQuery, limit: int | None) -> list[str]:
        """Return names by code point."""
        return list(section(sorted(self._by_name), query, limit))

    async def count(self, query: PagedQuery) -> int:  # noqa: ARG002  # there is no filter
        """Return how many there are."""
        return len(self._by_name)

    def clear(self) -> None:
        """Remove all."""
        self._by_name.clear()


class NoNodes(NodeTable):
    """A store without membership keeps no records."""

    __slots__ = ()

    async def all(self) -> list[CheckIn]:
        """Return nothing."""
        return []

    async def delete(self, instance_id: str) -> None:
        """Do nothing."""

    async def release_pins(self, instance_id: str) -> None:
        """Do nothing: no other node could fire."""


class RamTables:
    """All data of one RAM store."""

    __slots__ = ("calendars", "fired", "groups", "jobs", "nodes", "triggers")

    def __init__(self) -> None:
        self.jobs = RamJobs()
        self.fired = RamFired()
        self.triggers = RamTriggers(self.jobs, self.fired)
        self.groups = RamGroups()
        self.calendars = RamCalendars()
        self.nodes = NoNodes()


class RamSession(StoreSession):
    """One unit of work: the tables, and what it has to tell.

    No method suspends, so nothing comes between the first read and the last write of an operation: that is the
    store's lock and its transaction.
    """

    def __init__(self, tables: RamTables) -> None:
        self.jobs = tables.jobs
        self.triggers = tables.triggers
        self.fired = tables.fired
        self.groups = tables.groups
        self.calendars = tables.calendars
        self.nodes = tables.nodes
        self.signals = Signals()
        self.unreadable = {}
        self._tables = tables

    async def clear(self) -> None:
        """Delete everything."""
        tables = self._tables
        await tables.fired.clear()
        await tables.triggers.delete(All())
        await tables.jobs.delete(list(tables.jobs.by_key))
        await tables.groups.forget(None)
        tables.calendars.clear()
