"""Which due triggers a node takes (spec 06 section 2, spec 07 section 5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from quartzite.model.acquisition import ExecutionLimits, ExecutionSlots, TriggerAcquisitionRequest
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import Trigger

__all__ = ["EVERY_GROUP", "BatchPlan", "Candidate", "DueCriteria", "GroupFilter", "batch_end"]

OTHER_GROUPS: Final = "*"


# Made once per candidate or firing of every batch: a named tuple costs a third of a frozen dataclass.
class Candidate(NamedTuple):
    """A due trigger, as acquisition sees it.

    Attributes:
        trigger: As stored.
        non_concurrent: Whether its job disallows concurrency.
        executing: Whether a firing of that non-concurrent job is in progress anywhere.
    """

    trigger: Trigger
    non_concurrent: bool
    executing: bool


@dataclass(frozen=True, slots=True)
class GroupFilter:
    """Which execution groups may be taken at all.

    Attributes:
        closed: Groups without a free slot; None stands for triggers without a group.
        only_named: When given, no other named group is open; it says nothing about triggers without a group.
    """

    closed: frozenset[str | None] = frozenset()
    only_named: frozenset[str] | None = None

    @property
    def admits_all(self) -> bool:
        """Whether nothing is filtered."""
        return not self.closed and self.only_named is None

    def admits(self, group: str | None) -> bool:
        """Tell whether a trigger of this group may be taken."""
        if group in self.closed:
            return False
        return group is None or self.only_named is None or group in self.only_named

    def without(self, groups: Iterable[str | None]) -> GroupFilter:
        """Return the filter with more groups closed."""
        return GroupFilter(self.closed.union(groups), self.only_named)

    @classmethod
    def of(cls, limits: ExecutionLimits | None) -> GroupFilter:
        """Return the filter that execution limits make before anything is taken."""
        if limits is None or limits.is_empty:
            return EVERY_GROUP
        closed = frozenset(g for g, limit in limits.groups.items() if limit == 0 and g != OTHER_GROUPS)
        if limits.groups.get(OTHER_GROUPS, 1) != 0:
            return cls(closed)
        return cls(closed, frozenset(g for g in limits.groups if g is not None and g != OTHER_GROUPS))


EVERY_GROUP: Final = GroupFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCriteria:
    """Which triggers are candidates; every part is a filter inside the store's read, so none takes up a place.

    Attributes:
        now: The instant of the acquisition.
        until: Latest next fire time of a candidate; before a first trigger is won, of the first candidate.
        time_window: How much later the others may fire; None when the batch end is settled, as ``until``.
        limit: Most candidates.
        misfired_before: An earlier next fire time is a misfire and not acquirable, unless the trigger ignores misfires.
        excluded_types: Stored job type names to leave out.
        groups: Execution groups to leave out.
        closed_jobs: Jobs to leave out.
    """

    now: datetime
    until: datetime
    time_window: timedelta | None
    limit: int
    misfired_before: datetime
    excluded_types: Collection[str] = frozenset()
    groups: GroupFilter = EVERY_GROUP
    closed_jobs: Collection[JobKey] = frozenset()

    @property
    def latest(self) -> datetime:
        """No candidate fires later, whichever is the first: what a store's read is bounded by."""
        return self.until if self.time_window is None else self.until + self.time_window

    def end_after(self, first: datetime) -> datetime:
        """Return the end of the batch whose first candidate fires at ``first``; later ones may be left out."""
        return self.until if self.time_window is None else batch_end(self.now, first, self.time_window)


def batch_end(now: datetime, first: datetime, time_window: timedelta) -> datetime:
    """Return the latest fire time of a batch whose first trigger fires at ``first``."""
    return max(now, first) + time_window


@dataclass(slots=True)
class BatchPlan:
    """One acquisition: several rounds of candidates are offered until it is full or nothing is left.

    Attributes:
        taken: The triggers that were won so far, in fire order.
    """

    request: TriggerAcquisitionRequest
    now: datetime
    misfired_before: datetime
    taken: list[Trigger] = field(default_factory=list)
    _until: datetime = field(init=False)
    _slots: ExecutionSlots | None = field(init=False)
    _groups: GroupFilter = field(init=False)
    _jobs: set[JobKey] = field(default_factory=set)
    _passed_over: bool = False

    def __post_init__(self) -> None:
        limits = self.request.execution_limits
        self._until = self.request.no_later_than
        self._slots = None if limits is None or limits.is_empty else limits.create_slots()
        self._groups = GroupFilter.of(limits)

    @property
    def wants_more(self) -> bool:
        """Whether another round could add a trigger: there is room, and something was passed over or lost."""
        return self._passed_over and len(self.taken) < self.request.max_count

    def criteria(self) -> DueCriteria:
        """Return what the next round reads."""
        request = self.request
        return DueCriteria(
            now=self.now,
            until=self._until,
            time_window=None if self.taken else request.time_window,
            limit=request.max_count - len(self.taken),
            misfired_before=self.misfired_before,
            excluded_types=request.excluded_job_type_names,  # type: ignore[arg-type]  # settled by the request
            groups=self._groups,
            closed_jobs=self._jobs,
        )

    def choose(self, candidates: Iterable[Candidate]) -> list[Trigger]:
        """Return the candidates of one round to claim, at most one per job that disallows concurrency."""
        chosen: list[Trigger] = []
        until, jobs, slots = self._until, self._jobs, self._slots
        first = not self.taken
        self._passed_over = False
        for trigger, non_concurrent, executing in candidates:
            due = trigger.next_fire_time
            if due is None or due > until:
                break
            if non_concurrent and (executing or trigger.job_key in jobs):
                self._pass_over(trigger.job_key)
            elif slots is not None and not slots.try_take(trigger.execution_group):
                self._close(trigger.execution_group)
            else:
                if non_concurrent:
                    jobs.add(trigger.job_key)
                if first:
                    first, until = False, batch_end(self.now, due, self.request.time_window)
                chosen.append(trigger)
        return chosen

    def settle(self, claims: list[Trigger], won: Collection[TriggerKey]) -> list[Trigger]:
        """Note which claims of one round were won, and return them."""
        if len(won) == len(claims):
            gained = claims
        else:
            gained = [trigger for trigger in claims if trigger.key in won]
            self._passed_over = True
        if gained and not self.taken:
            first = gained[0].next_fire_time or self.now
            self._until = batch_end(self.now, first, self.request.time_window)
        self.taken += gained
        return gained

    def _pass_over(self, job_key: JobKey) -> None:
        self._jobs.add(job_key)
        self._passed_over = True

    def _close(self, group: str | None) -> None:
        self._groups = self._groups.without((group,))
        self._passed_over = True
