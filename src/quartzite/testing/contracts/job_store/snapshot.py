"""Snapshot: everything that can be seen of a store, as a value to compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quartzite.abc import JobStore
from quartzite.calendars.base import Calendar
from quartzite.model.job import JobDetail
from quartzite.model.query import (
    CalendarQuery,
    FireInstance,
    FireInstanceQuery,
    JobGroup,
    JobGroupQuery,
    JobHeader,
    JobQuery,
    TriggerGroup,
    TriggerGroupQuery,
    TriggerHeader,
    TriggerQuery,
)
from quartzite.model.states import TriggerState
from quartzite.testing.contracts.job_store.content import keys_of, plain
from quartzite.triggers.base import Trigger

__all__ = ["Snapshot", "take_snapshot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What ``get_*``, the states and the queries of a store answer at one moment."""

    jobs: tuple[JobDetail, ...]
    job_headers: tuple[JobHeader, ...]
    job_groups: tuple[JobGroup, ...]
    triggers: tuple[Trigger, ...]
    trigger_headers: tuple[TriggerHeader, ...]
    trigger_states: tuple[TriggerState, ...]
    trigger_groups: tuple[TriggerGroup, ...]
    paused_groups: tuple[TriggerGroup, ...]
    calendars: Mapping[str, Calendar | None]
    firings: tuple[FireInstance, ...]


async def take_snapshot(store: JobStore) -> Snapshot:
    """Ask a store for everything."""
    jobs = (await store.query_jobs(JobQuery())).items
    triggers = (await store.query_triggers(TriggerQuery())).items
    names = (await store.query_calendar_names(CalendarQuery())).items
    found = await store.get_triggers(keys_of(triggers))
    return Snapshot(
        jobs=tuple(await store.get_job_details(keys_of(jobs))),
        job_headers=tuple(jobs),
        job_groups=tuple((await store.query_job_groups(JobGroupQuery())).items),
        triggers=tuple(plain(trigger) for trigger in found),
        trigger_headers=tuple(triggers),
        trigger_states=tuple([await store.get_trigger_state(header.key) for header in triggers]),
        trigger_groups=tuple((await store.query_trigger_groups(TriggerGroupQuery())).items),
        paused_groups=tuple((await store.query_trigger_groups(TriggerGroupQuery(paused=True))).items),
        calendars={name: await store.get_calendar(name) for name in names},
        firings=tuple((await store.query_fire_instances(FireInstanceQuery())).items),
    )
