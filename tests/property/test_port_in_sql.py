"""The port can be done in SQL: the same operations on memory and on SQLite can not be told apart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from quartzite.execution import JobCompletion, TriggerFiredBundle
from quartzite.model.acquisition import ExecutionLimits, TriggerAcquisitionRequest
from quartzite.model.identity import SchedulerIdentity
from quartzite.model.job_data import JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.query import FireInstance, FireInstanceQuery
from quartzite.model.selectors import OfJobs
from quartzite.model.states import FiredState, SchedulerInstruction, StoredTriggerState
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.ram import RamJobStore
from quartzite.stores.standard import StandardJobStore
from quartzite.stores.work import Work
from quartzite.testing.signaler import RecordingSignaler
from quartzite.triggers.base import Trigger
from tests.property.throwaway_sqlite.store import SqliteStore
from tests.stores import NOW, SECOND, StandingClock, job, once, trigger

T = TypeVar("T")

LIMITS = [None, ExecutionLimits({"a": 1}), ExecutionLimits({"a": 0, None: 2}), ExecutionLimits({"*": 1})]
FIELDS = st.fixed_dictionaries(
    {
        "priority": st.integers(-1, 6),
        "execution_group": st.sampled_from([None, "a", "b"]),
        "misfire_instruction": st.sampled_from([-1, 0, 2, 4]),
        "group": st.sampled_from(["DEFAULT", "g", "G", "é", "𝄞"]),
        "start_time": st.integers(-8, 8).map(lambda seconds: NOW + seconds * SECOND),
    }
)
SCHEDULES = st.sampled_from(
    [
        {"repeat_count": 0, "repeat_interval": timedelta(0)},
        {"repeat_count": 2, "repeat_interval": SECOND},
        {"repeat_count": -1, "repeat_interval": 3 * SECOND},
    ]
)


class Side:
    """One of the two stores, with ids of firings that are the same on both."""

    def __init__(self, kind: Callable[..., StandardJobStore]) -> None:
        self.clock, self.heard = StandingClock(), RecordingSignaler()
        self.store = kind(clock=self.clock, signaler=self.heard, serializer=JsonSerializer())
        asyncio.run(self.store.initialize(SchedulerIdentity(scheduler_name="tests", instance_id="node")))
        numbers = count()
        self.store._new_fire_id = lambda: f"node-{next(numbers):04}"


class SameOnBoth(RuleBasedStateMachine):
    """Does the same to both stores and compares all that can be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.sides = [Side(RamJobStore), Side(SqliteStore)]
        self.names = count()
        self.jobs = [
            job("plain"),
            job("alone", concurrent_execution_disallowed=True, persist_job_data_after_execution=True),
            job("fleeting", durable=False, persist_job_data_after_execution=True, requests_recovery=True),
        ]
        self.acquired: list[Trigger] = []
        self.fired: list[TriggerFiredBundle] = []

    def teardown(self) -> None:
        for side in self.sides:
            asyncio.run(side.store.shutdown())

    def both(self, do: Callable[[StandardJobStore], Coroutine[Any, Any, T]]) -> T:
        """Do it to both stores, and return what both answered."""
        answers = [asyncio.run(do(side.store)) for side in self.sides]
        assert answers[0] == answers[1]
        return answers[0]

    @initialize()
    def store_jobs(self) -> None:
        self.both(lambda store: store.schedule_jobs(dict.fromkeys(self.jobs, ())))

    @rule(number=st.integers(0, 2), fields=FIELDS, schedule=SCHEDULES)
    def add_trigger(self, number: int, fields: dict[str, Any], schedule: dict[str, Any]) -> None:
        detail = self.jobs[number]
        if not self.both(lambda store: store.check_exists(detail.key)):
            self.both(lambda store: store.add_job(detail))
        value = trigger(f"t{next(self.names)}", detail, **{**schedule, **fields})
        self.both(lambda store: store.add_trigger(value))

    @rule(seconds=st.integers(1, 20))
    def advance(self, seconds: int) -> None:
        for side in self.sides:
            side.clock.advance(seconds * SECOND)

    @rule(
        most=st.integers(1, 4),
        window=st.integers(0, 3),
        ahead=st.integers(0, 5),
        limits=st.sampled_from(LIMITS),
        excluded=st.sampled_from([(), ("tests.jobs:other",), ("tests.jobs:run",)]),
    )
    def acquire(self, most: int, window: int, ahead: int, limits: ExecutionLimits | None, excluded: Any) -> None:
        request = TriggerAcquisitionRequest(
            no_later_than=self.sides[0].clock.now() + ahead * SECOND,
            max_count=most,
            time_window=window * SECOND,
            execution_limits=limits,
            excluded_job_type_names=excluded,
        )
        self.acquired += self.both(lambda store: store.acquire_next_triggers(request))

    @precondition(lambda self: self.acquired)
    @rule(data=st.data())
    def fire(self, data: st.DataObject) -> None:
        chosen = self._take(data, self.acquired)
        results = self.both(lambda store: store.triggers_fired(chosen))
        assert len(results) == len(chosen)
        self.fired += [result.bundle for result in results if result.bundle is not None]

    @precondition(lambda self: self.acquired)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        chosen = self._take(data, self.acquired)
        self.both(lambda store: store.release_acquired_triggers(chosen))

    @precondition(lambda self: self.fired)
    @rule(data=st.data(), values=st.dictionaries(st.sampled_from("xy"), st.integers(0, 9)))
    def complete(self, data: st.DataObject, values: dict[str, int]) -> None:
        done = [
            JobCompletion(
                bundle.trigger,
                bundle.job.with_job_data(JobData._adopt(values, changed=bool(values))),
                data.draw(st.sampled_from([bundle.trigger.execution_complete(None), *SchedulerInstruction])),
            )
            for bundle in self._take(data, self.fired)
        ]
        self.both(lambda store: store.triggered_jobs_complete(done))

    @staticmethod
    def _take(data: st.DataObject, pile: list[T]) -> list[T]:
        """Take some out of a pile, the first of it among them."""
        size = data.draw(st.integers(1, len(pile)))
        taken, pile[:] = pile[:size], pile[size:]
        return taken

    @invariant()
    def all_that_can_be_seen_is_equal(self) -> None:
        self.both(self._seen)
        signals = [self._heard(side.heard) for side in self.sides]
        assert signals[0] == signals[1]

    @invariant()
    def a_non_concurrent_job_runs_once(self) -> None:
        running = [item for item in self._firings() if item.job_key == JobKey("alone")]
        assert len(running) <= 1

    @invariant()
    def a_reserved_trigger_has_its_firing(self) -> None:
        reserved = {item.trigger_key for item in self._firings() if item.state is FiredState.ACQUIRED}
        assert self.both(self._acquired) <= reserved

    async def _acquired(self, store: StandardJobStore) -> set[TriggerKey]:
        of_all = OfJobs([detail.key for detail in self.jobs])
        rows = await store.run(Work.READ, lambda session: session.triggers.read(of_all))
        return {trigger.key for trigger, state in rows if state is StoredTriggerState.ACQUIRED}

    def _firings(self) -> Sequence[FireInstance]:
        return self.both(lambda store: store.query_fire_instances(FireInstanceQuery())).items

    async def _seen(self, store: StandardJobStore) -> Any:
        triggers = [t for detail in self.jobs for t in await store.get_triggers_for_job(detail.key)]
        return (
            await store.get_job_details([detail.key for detail in self.jobs]),
            triggers,
            [await store.get_trigger_state(value.key) for value in triggers],
            (await store.query_fire_instances(FireInstanceQuery())).items,
        )

    @staticmethod
    def _heard(heard: RecordingSignaler) -> Any:
        said = (
            heard.misfired,
            heard.finalized,
            heard.deleted_jobs,
            heard.triggers_in_error,
            heard.jobs_in_error,
            [text for text, _ in heard.errors],
            heard.scheduling_changes,
        )
        return [list(part) for part in said]


SameOnBoth.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)


TestSameOnBoth = SameOnBoth.TestCase


async def sqlite_store() -> SqliteStore:
    """Return an empty store."""
    store = SqliteStore(clock=StandingClock(), signaler=RecordingSignaler(), serializer=JsonSerializer())
    await store.initialize(SchedulerIdentity(scheduler_name="tests", instance_id="node"))
    return store


@pytest.mark.parametrize("size", [1, 10, 50])
@pytest.mark.parametrize("alone", [False, True])
async def test_statements_do_not_grow_with_the_batch(size: int, alone: bool) -> None:
    """A batch costs a constant number of statements in each part of the cycle, and exactly these."""
    store = await sqlite_store()
    jobs = [job(f"j{i}", concurrent_execution_disallowed=alone) for i in range(size)]
    await store.schedule_jobs({detail: [once(f"t{i}", detail)] for i, detail in enumerate(jobs)})
    store.executed()

    triggers = await store.acquire_next_triggers(TriggerAcquisitionRequest(no_later_than=NOW, max_count=size))
    assert len(triggers) == size
    assert len(store.executed()) == 1 + 3  # the misfires; due, claim, insert
    bundles = [r.bundle for r in await store.triggers_fired(triggers) if r.bundle is not None]
    assert len(bundles) == size
    assert len(store.executed()) == (5 if alone else 3)  # load, start, save; who runs, block
    await store.triggered_jobs_complete(
        [JobCompletion(b.trigger, b.job, SchedulerInstruction.DELETE_TRIGGER) for b in bundles]
    )
    assert len(store.executed()) == 5 + (2 if alone else 0)  # remove, delete, forget twice, orphans; free, late ones
    await store.shutdown()


async def test_a_claim_is_lost_to_a_changed_time() -> None:
    """A trigger whose time was changed between reading and claiming is not won."""
    store = await sqlite_store()
    await store.schedule_job(job(), trigger())
    stale = trigger().copy_with(next_fire_time=NOW + SECOND, fire_instance_id="x")
    won = await store.run(Work.CHANGE, lambda session: session.triggers.claim([stale]))
    assert won == set()
    await store.shutdown()
