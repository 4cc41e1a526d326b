"""The triggers of the RAM store."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import merge
from typing import Final

from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import TriggerHeader, TriggerQuery
from quartzite.model.selectors import All, ByKeys, InGroups, OfJobs, TriggerSelector
from quartzite.model.states import StoredTriggerState
from quartzite.rules.acquisition import Candidate, DueCriteria
from quartzite.rules.firing import FiringRow
from quartzite.rules.misfires import NEVER_MISFIRES
from quartzite.rules.states import resolve_trigger_state
from quartzite.rules.transitions import Transition
from quartzite.stores.ram.due import DueIndex, fire_order
from quartzite.stores.ram.fired import RamFired
from quartzite.stores.ram.jobs import RamJobs
from quartzite.stores.ram.rows import KeysBy, section
from quartzite.stores.session import StoredTrigger, TriggerTable
from quartzite.triggers.base import Trigger

__all__ = ["RamTriggers"]

_WAITING: Final = StoredTriggerState.WAITING
_ACQUIRED: Final = StoredTriggerState.ACQUIRED
_HELD_BY_JOB: Final = frozenset({StoredTriggerState.BLOCKED, StoredTriggerState.PAUSED_BLOCKED})


class RamTriggers(TriggerTable):
    """Triggers by key; their states; their keys by job and group; and the WAITING ones in fire order.

    A trigger that was acquired keeps the id of that firing, which saves a copy per firing; it is taken off when the
    trigger is read.
    """

    __slots__ = ("_by_key", "_fired", "_in_group", "_jobs", "_of_job", "_patient", "_states", "_waiting")

    def __init__(self, jobs: RamJobs, fired: RamFired) -> None:
        self._jobs = jobs
        self._fired = fired
        self._by_key: dict[TriggerKey, Trigger] = {}
        # Most triggers wait most of the time, so only the others take up room here.
        self._states: dict[TriggerKey, StoredTriggerState] = {}
        self._of_job: KeysBy[JobKey, TriggerKey] = KeysBy()
        self._in_group: KeysBy[str, TriggerKey] = KeysBy()
        self._waiting = DueIndex()
        # Apart from the others, so that those which are late on purpose are not looked at for misfires.
        self._patient = DueIndex()
        jobs.with_triggers = self._of_job.owners

    def __len__(self) -> int:
        return len(self._by_key)

    # Reading ----------------------------------------------------------------------------------------------------

    async def read(self, selector: TriggerSelector) -> list[StoredTrigger]:
        """Return the selected triggers."""
        return [self._row(key) for key in self._selected(selector)]

    async def existing(self, keys: Collection[TriggerKey]) -> set[TriggerKey]:
        """Return which of these keys are taken."""
        return {key for key in keys if key in self._by_key}

    async def states(self, keys: Collection[TriggerKey]) -> dict[TriggerKey, tuple[StoredTriggerState, bool]]:
        """Return stored states, and whether a firing executes."""
        there = (key for key in keys if key in self._by_key)
        return {key: (self._state(key), self._fired.trigger_executes(key)) for key in there}

    async def in_state(self, state: StoredTriggerState) -> list[TriggerKey]:
        """Return the keys of the triggers in a stored state."""
        return [key for key in self._by_key if self._state(key) is state]

    async def stranded(self) -> list[TriggerKey]:
        """Return the triggers whose state nothing bears out any more."""
        return [key for key, state in self._states.items() if self._is_stranded(key, state)]

    async def naming_calendar(self, name: str) -> list[StoredTrigger]:
        """Return the triggers that name a calendar."""
        return [self._row(key) for key, trigger in self._by_key.items() if trigger.calendar_name == name]

    async def groups(self) -> set[str]:
        """Return the groups that have a trigger."""
        return set(self._in_group.owners)

    # Writing ----------------------------------------------------------------------------------------------------

    async def insert(self, rows: Sequence[StoredTrigger]) -> None:
        """Add triggers."""
        for trigger, state in rows:
            self._of_job.add(trigger.job_key, trigger.key)
            self._in_group.add(trigger.key.group, trigger.key)
            self._put(None, trigger, state)

    async def replace(self, rows: Sequence[StoredTrigger]) -> None:
        """Write triggers over those of the same keys."""
        for trigger, state in rows:
            old = self._by_key[trigger.key]
            if old.job_key != trigger.job_key:
                self._of_job.discard(old.job_key, trigger.key)
                self._of_job.add(trigger.job_key, trigger.key)
            self._put(old, trigger, state)

    async def save_progress(self, rows: Sequence[StoredTrigger]) -> None:
        """Write what firing and misfiring change."""
        for trigger, state in rows:
            old = self._by_key.get(trigger.key)
            if old is not None:
                self._put(old, trigger, state)

    async def move(self, selector: TriggerSelector, transition: Transition) -> int:
        """Change states."""
        moved = 0
        moves = transition.moves
        for key in list(self._selected(selector)):
            state = moves.get(self._state(key))
            if state is not None:
                trigger = self._by_key[key]
                self._put(trigger, trigger, state)
                moved += 1
        return moved

    async def delete(self, selector: TriggerSelector, *, finished_only: bool = False) -> dict[TriggerKey, JobKey]:
        """Delete triggers."""
        gone = {}
        for key in list(self._selected(selector)):
            trigger = self._by_key[key]
            if not finished_only or trigger.next_fire_time is None:
                self._take_out(trigger)
                gone[key] = trigger.job_key
        return gone

    # The fire cycle ---------------------------------------------------------------------------------------------

    async def due(self, criteria: DueCriteria) -> list[Candidate]:
        """Return what may be acquired, in fire order."""
        found: list[Candidate] = []
        until, misfired_before, limit = criteria.until, criteria.misfired_before, criteria.limit
        jobs, job_executes = self._jobs.by_key, self._fired.job_executes
        is_narrowed = bool(criteria.excluded_types or criteria.closed_jobs or not criteria.groups.admits_all)
        for trigger in self._in_fire_order():
            due = trigger.next_fire_time
            if due > until:  # type: ignore[operator]  # what is in the index has a time
                break
            if due < misfired_before and trigger.misfire_instruction != NEVER_MISFIRES:  # type: ignore[operator]
                continue
            if is_narrowed and not self._meets(trigger, criteria):
                continue
            if not found:
                until = criteria.end_after(due)  # type: ignore[arg-type]
            alone = jobs[trigger.job_key].concurrent_execution_disallowed
            found.append(Candidate(trigger, alone, alone and job_executes(trigger.job_key)))
            if len(found) == limit:
                break
        return found

    async def claim(self, triggers: Sequence[Trigger]) -> set[TriggerKey]:
        """Reserve triggers that wait with the same next fire time."""
        by_key, states, won = self._by_key, self._states, set()
        for trigger in triggers:
            key = trigger.key
            stored = by_key.get(key)
            if stored is not None and key not in states and stored.next_fire_time == trigger.next_fire_time:
                self._index_of(stored).remove(stored)
                by_key[key] = trigger
                states[key] = _ACQUIRED
                won.add(key)
        return won

    async def load_for_firing(self, triggers: Sequence[Trigger]) -> list[FiringRow | None]:
        """Return what is stored about acquired triggers."""
        by_key, state_of, jobs, is_acquired = self._by_key, self._states.get, self._jobs.by_key, self._fired.is_acquired
        rows: list[FiringRow | None] = []
        for trigger in triggers:
            fire_id = trigger.fire_instance_id
            stored = by_key.get(trigger.key)
            if stored is None or fire_id is None:
                rows.append(None)
                continue
            if stored.fire_instance_id != fire_id:
                stored = stored.copy_with(fire_instance_id=fire_id)
            state = state_of(stored.key, _WAITING)
            rows.append(FiringRow(stored, state, jobs.get(stored.job_key), is_acquired(fire_id)))
        return rows

    async def misfired(self, selector: TriggerSelector, before: datetime, limit: int) -> list[Trigger]:
        """Return waiting triggers that are late."""
        found: list[Trigger] = []
        if not self.is_any_due_before(before):
            return found
        wanted = None if isinstance(selector, All) else set(self._selected(selector))
        for trigger in self._waiting.walk():
            if trigger.next_fire_time >= before or len(found) == limit:  # type: ignore[operator]
                break
            if wanted is None or trigger.key in wanted:
                found.append(_plain(trigger))
        return found

    def is_any_due_before(self, moment: datetime) -> bool:
        """Tell whether a waiting trigger that minds misfires should have fired before an instant."""
        first = self._waiting.first
        return first is not None and first < moment

    # Queries ----------------------------------------------------------------------------------------------------

    async def query(self, query: TriggerQuery, limit: int | None) -> list[TriggerHeader]:
        """Return headers of what the filters select."""
        keys = sorted(self._queried(query), key=lambda key: key.paging_order)
        return [self._header(self._by_key[key]) for key in section(keys, query, limit)]

    async def count(self, query: TriggerQuery) -> int:
        """Return how many the filters select."""
        return sum(1 for _ in self._queried(query))

    # ------------------------------------------------------------------------------------------------------------

    def _state(self, key: TriggerKey) -> StoredTriggerState:
        return self._states.get(key, _WAITING)

    def _is_stranded(self, key: TriggerKey, state: StoredTriggerState) -> bool:
        if state is _ACQUIRED:
            return not self._fired.trigger_is_acquired(key)
        return state in _HELD_BY_JOB and not self._fired.job_executes(self._by_key[key].job_key)

    def _row(self, key: TriggerKey) -> StoredTrigger:
        return StoredTrigger(_plain(self._by_key[key]), self._state(key))

    def _selected(self, selector: TriggerSelector) -> Iterable[TriggerKey]:
        if isinstance(selector, ByKeys):
            return (key for key in selector.keys if key in self._by_key)
        if isinstance(selector, OfJobs):
            return self._of_job.of_all(selector.keys)
        if isinstance(selector, InGroups):
            return self._in_group.of_all(selector.groups)
        return self._by_key.keys()

    def _put(self, old: Trigger | None, trigger: Trigger, state: StoredTriggerState) -> None:
        """Store a value and its state in the place of another, and keep the index in step."""
        key, states = trigger.key, self._states
        if old is not None and old.next_fire_time is not None and key not in states:
            self._index_of(old).remove(old)
        self._by_key[key] = trigger
        if state is not _WAITING:
            states[key] = state
            return
        states.pop(key, None)
        if trigger.next_fire_time is not None:
            self._index_of(trigger).add(trigger)

    def _take_out(self, trigger: Trigger) -> None:
        key = trigger.key
        state = self._states.pop(key, None)
        if state is None and trigger.next_fire_time is not None:
            self._index_of(trigger).remove(trigger)
        del self._by_key[key]
        self._of_job.discard(trigger.job_key, key)
        self._in_group.discard(key.group, key)

    def _index_of(self, trigger: Trigger) -> DueIndex:
        return self._patient if trigger.misfire_instruction == NEVER_MISFIRES else self._waiting

    def _in_fire_order(self) -> Iterator[Trigger]:
        if self._patient.first is None:
            return self._waiting.walk()
        return merge(self._waiting.walk(), self._patient.walk(), key=lambda t: (t.next_fire_time, *fire_order(t)))

    def _meets(self, trigger: Trigger, criteria: DueCriteria) -> bool:
        job = self._jobs.by_key[trigger.job_key]
        return (
            job.job_type.full_name not in criteria.excluded_types
            and trigger.job_key not in criteria.closed_jobs
            and criteria.groups.admits(trigger.execution_group)
        )

    def _queried(self, query: TriggerQuery) -> Iterator[TriggerKey]:
        keys: Iterable[TriggerKey] = self._by_key if query.job is None else self._of_job.of(query.job)
        matchers = [matcher for matcher in (query.group, query.name) if matcher is not None]
        for key in keys:
            if not all(matcher.matches(key) for matcher in matchers):
                continue
            if query.calendar_name not in (None, self._by_key[key].calendar_name):
                continue
            if query.state is None or self._reported(key) is query.state:
                yield key

    def _reported(self, key: TriggerKey) -> object:
        return resolve_trigger_state(self._state(key), self._fired.trigger_executes(key))

    def _header(self, trigger: Trigger) -> TriggerHeader:
        key = trigger.key
        return TriggerHeader(
            key=key,
            job_key=trigger.job_key,
            description=trigger.description,
            trigger_type=trigger.trigger_type,
            state=resolve_trigger_state(self._state(key), self._fired.trigger_executes(key)),
            start_time=trigger.start_time,
            end_time=trigger.end_time,
            next_fire_time=trigger.next_fire_time,
            previous_fire_time=trigger.previous_fire_time,
            calendar_name=trigger.calendar_name,
            priority=trigger.priority,
            execution_group=trigger.execution_group,
        )


def _plain(trigger: Trigger) -> Trigger:
    """Return a trigger without the id of a firing."""
    return trigger if trigger.fire_instance_id is None else trigger.copy_with(fire_instance_id=None)
