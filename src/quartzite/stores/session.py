"""StoreSession: the port that every store of ours implements, one unit of work at a time.

The port is set-based and dumb. Its methods take selectors, sets and transition tables, never instructions, and each
can be done in a constant number of statements, whatever the size of the set (decision 4). What is to be done is
decided by ``rules`` and carried out by ``stores.operations``: an ``if`` about scheduling in a session is a fault.

* Any set may be empty; such a call changes nothing, answers with nothing, and needs no statement.
* A unit of work sees its own changes; nobody else sees them before it ends.
* Values go in and out; a session never hands out what changes later.
* Rows that can not be read are left out of an answer and noted in :attr:`StoreSession.unreadable`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from quartzite.calendars.base import Calendar
from quartzite.model.job import JobDetail
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher
from quartzite.model.query import (
    FireInstance,
    FireInstanceQuery,
    JobHeader,
    JobQuery,
    PagedQuery,
    TriggerHeader,
    TriggerQuery,
)
from quartzite.model.selectors import TriggerSelector
from quartzite.model.states import StoredTriggerState
from quartzite.rules.acquisition import Candidate, DueCriteria
from quartzite.rules.firing import FiredRow, FiringRow
from quartzite.rules.membership import CheckIn
from quartzite.rules.transitions import Transition
from quartzite.stores.signals import Signals
from quartzite.triggers.base import Trigger

__all__ = [
    "CalendarTable",
    "FiredTable",
    "GroupTable",
    "JobTable",
    "NodeTable",
    "StoreSession",
    "StoredTrigger",
    "TriggerTable",
]


# Rows are made by the batch on the path of every firing: named tuples, as they cost a third of a frozen dataclass.
class StoredTrigger(NamedTuple):
    """A trigger with its stored state."""

    trigger: Trigger
    state: StoredTriggerState


class JobTable(ABC):
    """The jobs of the scheduler."""

    @abstractmethod
    async def read(self, keys: Collection[JobKey]) -> list[JobDetail]:
        """Return the jobs of these keys that are there, in any order."""

    @abstractmethod
    async def existing(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Return which of these keys are taken."""

    @abstractmethod
    async def insert(self, jobs: Sequence[JobDetail]) -> None:
        """Add jobs whose keys are free."""

    @abstractmethod
    async def replace(self, jobs: Sequence[JobDetail]) -> None:
        """Write jobs over those of the same keys."""

    @abstractmethod
    async def save_data(self, data: Mapping[JobKey, JobData]) -> None:
        """Write the data of jobs; keys that are not there are passed over."""

    @abstractmethod
    async def delete(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Delete jobs, which have no triggers; return which were there."""

    @abstractmethod
    async def delete_orphans(self, keys: Collection[JobKey]) -> set[JobKey]:
        """Delete those of these jobs that are not durable and have no trigger; return them."""

    @abstractmethod
    async def keys(self, matcher: GroupMatcher[JobKey]) -> list[JobKey]:
        """Return the keys in the groups that match."""

    @abstractmethod
    async def lock(self, keys: Collection[JobKey]) -> None:
        """Keep other nodes from firing these jobs until the unit of work ends; taken in key order."""

    @abstractmethod
    async def query(self, query: JobQuery, limit: int | None) -> list[JobHeader]:
        """Return what the filters select, in paging order, behind ``query.skip``, ``limit`` at most."""

    @abstractmethod
    async def count(self, query: JobQuery) -> int:
        """Return how many the filters select."""

    @abstractmethod
    async def groups(self) -> set[str]:
        """Return the groups that have a job."""


class TriggerTable(ABC):
    """The triggers of the scheduler, each with its stored state."""

    @abstractmethod
    async def read(self, selector: TriggerSelector) -> list[StoredTrigger]:
        """Return the selected triggers, in any order; within one transaction they stay as they are."""

    @abstractmethod
    async def existing(self, keys: Collection[TriggerKey]) -> set[TriggerKey]:
        """Return which of these keys are taken."""

    @abstractmethod
    async def states(self, keys: Collection[TriggerKey]) -> dict[TriggerKey, tuple[StoredTriggerState, bool]]:
        """Return the stored state, and whether a firing executes, of those that are there; in one statement."""

    @abstractmethod
    async def in_state(self, state: StoredTriggerState) -> list[TriggerKey]:
        """Return the keys of the triggers in a stored state."""

    @abstractmethod
    async def stranded(self) -> list[TriggerKey]:
        """Return the triggers whose state nothing bears out any more.

        They are ACQUIRED, and no firing of theirs is; or BLOCKED or PAUSED_BLOCKED, and their job does not execute.
        """

    @abstractmethod
    async def naming_calendar(self, name: str) -> list[StoredTrigger]:
        """Return the triggers that name a calendar."""

    @abstractmethod
    async def insert(self, rows: Sequence[StoredTrigger]) -> None:
        """Add triggers whose keys are free."""

    @abstractmethod
    async def replace(self, rows: Sequence[StoredTrigger]) -> None:
        """Write triggers, and their states, over those of the same keys; the kind may change."""

    @abstractmethod
    async def save_progress(self, rows: Sequence[StoredTrigger]) -> None:
        """Write what firing and misfiring change, and the state: times, counters, misfire origin, automatic pin.

        The definition of the row is that of the stored one; rows that are not there are passed over.
        """

    @abstractmethod
    async def move(self, selector: TriggerSelector, transition: Transition) -> int:
        """Change the states of the selected triggers; return how many changed."""

    @abstractmethod
    async def delete(self, selector: TriggerSelector, *, finished_only: bool = False) -> dict[TriggerKey, JobKey]:
        """Delete the selected triggers, or only those without a next fire time; return them with their jobs."""

    @abstractmethod
    async def due(self, criteria: DueCriteria) -> list[Candidate]:
        """Return WAITING triggers that meet the criteria, in fire order.

        The order is next fire time, then higher priority, then key (``Key.fire_order``).
        """

    @abstractmethod
    async def claim(self, triggers: Sequence[Trigger]) -> set[TriggerKey]:
        """Reserve triggers: WAITING with this very next fire time becomes ACQUIRED; return the keys that were won."""

    @abstractmethod
    async def load_for_firing(self, triggers: Sequence[Trigger]) -> list[FiringRow | None]:
        """Return what is stored about acquired triggers, aligned with them, locked; None for one that is gone.

        Each row's trigger has the fire instance id of the trigger at its place.
        """

    @abstractmethod
    async def misfired(self, selector: TriggerSelector, before: datetime, limit: int) -> list[Trigger]:
        """Return WAITING triggers among the selected whose time lies before an instant, earliest first.

        Those that ignore misfires are left out.
        """

    @abstractmethod
    async def groups(self) -> set[str]:
        """Return the groups that have a trigger."""

    @abstractmethod
    async def query(self, query: TriggerQuery, limit: int | None) -> list[TriggerHeader]:
        """Return what the filters select, in paging order, behind ``query.skip``, ``limit`` at most."""

    @abstractmethod
    async def count(self, query: TriggerQuery) -> int:
        """Return how many the filters select."""


class FiredTable(ABC):
    """The firings that are reserved or in progress. A row is the claim of its node on the firing (decision 5)."""

    @abstractmethod
    async def insert(self, rows: Sequence[FiredRow]) -> None:
        """Add acquired firings."""

    @abstractmethod
    async def start(self, rows: Sequence[FiredRow]) -> set[str]:
        """Write firings over the own rows of the same ids that are ACQUIRED; return the ids that were."""

    @abstractmethod
    async def remove(self, ids: Collection[str]) -> dict[str, FiredRow]:
        """Delete own rows; return those that were there, as they were."""

    @abstractmethod
    async def remove_of(self, instance_id: str, ids: Collection[str] | None) -> None:
        """Delete rows of some node, all of its rows when ``ids`` is None."""

    @abstractmethod
    async def clear(self) -> None:
        """Delete all rows of the scheduler."""

    @abstractmethod
    async def forget_triggers(self, keys: Collection[TriggerKey]) -> None:
        """Let the firings of triggers go that are deleted: ACQUIRED ones are deleted, EXECUTING is TRIGGER_GONE."""

    @abstractmethod
    async def forget_jobs(self, keys: Collection[JobKey]) -> None:
        """Let the firings of jobs go that are deleted: every executing state becomes JOB_GONE."""

    @abstractmethod
    async def executing_jobs(self, keys: Collection[JobKey]) -> dict[JobKey, bool]:
        """Return those of these jobs that execute anywhere, and whether a firing of theirs is non-concurrent."""

    @abstractmethod
    async def of_instance(self, instance_id: str) -> list[FiredRow]:
        """Return the rows of one node, in any order."""

    @abstractmethod
    async def instances(self) -> set[str]:
        """Return the nodes that have rows."""

    @abstractmethod
    async def query(self, query: FireInstanceQuery, limit: int | None) -> list[FireInstance]:
        """Return what the filters select, by trigger group, name and id, behind ``query.skip``, ``limit`` at most."""

    @abstractmethod
    async def count(self, query: FireInstanceQuery) -> int:
        """Return how many the filters select."""


class GroupTable(ABC):
    """The trigger groups that are remembered as paused."""

    @abstractmethod
    async def paused(self) -> set[str]:
        """Return them, the marker for all groups among them."""

    @abstractmethod
    async def remember(self, groups: Collection[str]) -> None:
        """Add groups; those that are there stay."""

    @abstractmethod
    async def forget(self, groups: Collection[str] | None) -> None:
        """Remove groups, all when None."""


class CalendarTable(ABC):
    """The calendars of the scheduler, by name."""

    @abstractmethod
    async def read(self, names: Collection[str]) -> dict[str, Calendar]:
        """Return the calendars of these names that are there."""

    @abstractmethod
    async def put(self, name: str, calendar: Calendar) -> None:
        """Write a calendar, over the one of that name when there is one."""

    @abstractmethod
    async def delete(self, name: str) -> bool:
        """Delete a calendar; tell whether it was there."""

    @abstractmethod
    async def query(self, query: PagedQuery, limit: int | None) -> list[str]:
        """Return names, by code point, behind ``query.skip``, ``limit`` at most."""

    @abstractmethod
    async def count(self, query: PagedQuery) -> int:
        """Return how many there are."""


class NodeTable(ABC):
    """The check-in records of the nodes; empty in a store without membership."""

    @abstractmethod
    async def all(self) -> list[CheckIn]:
        """Return every record, in any order."""

    @abstractmethod
    async def delete(self, instance_id: str) -> None:
        """Delete the record of a node: from then on it can not claim (decision 5)."""

    @abstractmethod
    async def release_pins(self, instance_id: str) -> None:
        """Let the automatic pins of a node go to whoever fires next (spec 07 section 9)."""


class StoreSession(ABC):
    """One unit of work on a store.

    Attributes:
        jobs: The jobs.
        triggers: The triggers.
        fired: The firings.
        groups: The paused trigger groups.
        calendars: The calendars.
        nodes: The check-in records.
        signals: What the scheduler shall hear after the unit of work.
        unreadable: Triggers that an answer left out because their rows can not be read, with the reason.
    """

    jobs: JobTable
    triggers: TriggerTable
    fired: FiredTable
    groups: GroupTable
    calendars: CalendarTable
    nodes: NodeTable
    signals: Signals
    unreadable: dict[TriggerKey, Exception]

    @abstractmethod
    async def clear(self) -> None:
        """Delete all jobs, triggers, calendars, pauses and firings; check-in records stay."""
