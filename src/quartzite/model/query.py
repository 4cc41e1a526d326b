"""Paged queries and what they return (spec 06 section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from quartzite.errors import InvalidValueError
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import GroupMatcher, NameMatcher
from quartzite.model.states import FiredState, TriggerState

__all__ = [
    "CalendarQuery",
    "FireInstance",
    "FireInstanceQuery",
    "JobGroup",
    "JobGroupQuery",
    "JobHeader",
    "JobQuery",
    "PagedQuery",
    "PagedResult",
    "TriggerGroup",
    "TriggerGroupQuery",
    "TriggerHeader",
    "TriggerQuery",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedQuery:
    """Which page, and whether to count.

    Attributes:
        skip: Items to leave out at the front.
        take: Items to return, None for all. 0 with ``include_total_count`` counts without reading rows.
        include_total_count: Whether to count what the filters select.

    Raises:
        InvalidValueError: skip or take is negative.
    """

    skip: int = 0
    take: int | None = None
    include_total_count: bool = False

    def __post_init__(self) -> None:
        if self.skip < 0:
            raise InvalidValueError(f"skip is {self.skip}: 0 or more")
        if self.take is not None and self.take < 0:
            raise InvalidValueError(f"take is {self.take}: 0 or more, or None for all")


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedResult(Generic[T]):
    """One page.

    Attributes:
        items: In the order of the query.
        has_more: Whether anything follows the page; exact.
        total_count: How many the filters select, None unless it was asked for.
    """

    items: Sequence[T]
    has_more: bool
    total_count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobQuery(PagedQuery):
    """Jobs by group and name; None filters nothing, both must match."""

    group: GroupMatcher[JobKey] | None = None
    name: NameMatcher[JobKey] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHeader:
    """A job without its data."""

    key: JobKey
    description: str | None
    job_type_name: str
    durable: bool
    concurrent_execution_disallowed: bool
    persist_job_data_after_execution: bool
    requests_recovery: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerQuery(PagedQuery):
    """Triggers by group, name, job, calendar and reported state; all given filters must match."""

    group: GroupMatcher[TriggerKey] | None = None
    name: NameMatcher[TriggerKey] | None = None
    job: JobKey | None = None
    calendar_name: str | None = None
    state: TriggerState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerHeader:
    """A trigger without its schedule and data. Times are aware UTC."""

    key: TriggerKey
    job_key: JobKey
    description: str | None
    trigger_type: str
    state: TriggerState
    start_time: datetime
    end_time: datetime | None
    next_fire_time: datetime | None
    previous_fire_time: datetime | None
    calendar_name: str | None
    priority: int
    execution_group: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupQuery(PagedQuery):
    name: str | None = None
    paused: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobGroupQuery(_GroupQuery):
    """Job groups by exact name and by being paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerGroupQuery(_GroupQuery):
    """Trigger groups by exact name and by being paused; paused ones are listed also when they are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobGroup:
    """A group of jobs."""

    name: str
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerGroup:
    """A group of triggers."""

    name: str
    paused: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarQuery(PagedQuery):
    """Names of all calendars."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FireInstanceQuery(PagedQuery):
    """Firings by trigger, job, node and state; all given filters must match."""

    trigger: TriggerKey | None = None
    job: JobKey | None = None
    instance_id: str | None = None
    state: FiredState | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FireInstance:
    """One firing that is reserved or running. Times are aware UTC.

    Attributes:
        job_key: None while the firing is only acquired: the job is not loaded until it starts.
        instance_id: The node that owns it.
    """

    fire_instance_id: str
    trigger_key: TriggerKey
    job_key: JobKey | None
    instance_id: str
    state: FiredState
    fire_time: datetime
    scheduled_fire_time: datetime
    priority: int
    requests_recovery: bool = False
    concurrent_execution_disallowed: bool = False
    execution_group: str | None = None
