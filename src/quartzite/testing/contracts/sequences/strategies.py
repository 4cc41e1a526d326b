"""Hypothesis strategies: lists of operations."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from quartzite.model.keys import TriggerKey
from quartzite.model.matchers import StringOperator
from quartzite.model.states import SchedulerInstruction
from quartzite.testing.contracts.sequences import operations as op
from quartzite.testing.contracts.sequences.specs import (
    CALENDAR_NAMES,
    CALENDARS,
    EXECUTION_GROUPS,
    JOB_KEYS,
    SCHEDULES,
    TRIGGER_KEYS,
    JobSpec,
    TriggerSpec,
)

__all__ = ["sequences"]

_flags = st.booleans()
_rarely = st.sampled_from([False, False, False, True])
_numbers = st.none() | st.integers(0, 2)
_jobs = st.sampled_from(JOB_KEYS)
_triggers = st.sampled_from(TRIGGER_KEYS)
_several_jobs = st.lists(_jobs, min_size=1, max_size=3).map(tuple)
_several_triggers = st.lists(_triggers, min_size=1, max_size=4).map(tuple)
_limits = st.sampled_from([None, None, {"g": 1}, {"g": 0, "*": 1}, {None: 1, "h": None}, {"*": 0}])
_changes: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "description": st.none() | st.just("new"),
        "priority": st.integers(3, 7),
        "misfire_instruction": st.sampled_from([-1, 0, 1, 2, 5, 9]),
        "calendar_name": st.none() | st.sampled_from(CALENDAR_NAMES),
    },
)


def _job_specs() -> st.SearchStrategy[JobSpec]:
    return st.builds(
        JobSpec,
        key=_jobs,
        exclusive=_flags,
        durable=_flags,
        persists=_flags,
        other_type=_rarely,
        data=_numbers,
    )


def _trigger_specs(job: st.SearchStrategy[Any] = _jobs) -> st.SearchStrategy[TriggerSpec]:
    return st.builds(
        TriggerSpec,
        key=_triggers,
        job=job,
        delay=st.sampled_from([0, 0, -3, -20, 1, 10]),
        schedule=st.integers(0, len(SCHEDULES) - 1),
        priority=st.integers(4, 6),
        lifetime=st.sampled_from([None, None, None, 12]),
        calendar=st.sampled_from([*[None] * 8, *CALENDAR_NAMES]),
        execution_group=st.sampled_from(EXECUTION_GROUPS),
        data=_numbers,
    )


_Content = tuple[tuple[JobSpec, tuple[TriggerSpec, ...]], ...]


def _content() -> st.SearchStrategy[_Content]:
    def with_triggers(job: JobSpec) -> st.SearchStrategy[tuple[JobSpec, tuple[TriggerSpec, ...]]]:
        triggers = st.lists(_trigger_specs(st.just(job.key)), min_size=1, max_size=3)
        return st.tuples(st.just(job), triggers.map(tuple))

    pairs = _job_specs().flatmap(with_triggers)
    return st.lists(pairs, min_size=1, max_size=3, unique_by=lambda pair: pair[0].key).map(_each_key_once)


def _each_key_once(content: list[tuple[JobSpec, tuple[TriggerSpec, ...]]]) -> _Content:
    owners: dict[TriggerKey, TriggerSpec] = {}
    for _, triggers in content:
        for trigger in triggers:
            owners.setdefault(trigger.key, trigger)
    return tuple((job, tuple(one for one in triggers if owners[one.key] is one)) for job, triggers in content)


_ends = st.sampled_from([None, None, None, *SchedulerInstruction])
_groups = st.builds(
    op.PauseGroups,
    resume=_flags,
    of_jobs=_rarely,
    operator=st.sampled_from(StringOperator),
    value=st.sampled_from(["a", "A", "_", "DEFAULT", "empty"]),
)
_acquire = st.builds(
    op.Acquire,
    max_count=st.sampled_from([6, 6, 1, 2]),
    ahead=st.sampled_from([5.0, 0.0, 30.0]),
    window=st.sampled_from([0.0, 0.0, 8.0]),
    limits=_limits,
    excludes_other_type=_rarely,
)
_complete = st.builds(op.Complete, count=st.integers(1, 3), instruction=_ends, data=_numbers, twice=_rarely)
_add_calendar = st.builds(
    op.AddCalendar,
    name=st.sampled_from(CALENDAR_NAMES),
    calendar=st.integers(0, len(CALENDARS) - 1),
    replace=_flags,
    update_triggers=_flags,
)
_STEPS: Final[list[tuple[int, st.SearchStrategy[op.Operation]]]] = [
    (12, st.builds(op.Turn)),
    (4, _acquire),
    (4, st.builds(op.Fire, count=st.integers(1, 4), from_the_end=_rarely)),
    (6, _complete),
    (2, st.builds(op.Release, count=st.integers(1, 4))),
    (12, st.builds(op.Advance, seconds=st.sampled_from([4.0, 4.0, 4.0, 1.0, 10.0, 6.0, 0.001, 45.0, 50000.0]))),
    (3, st.builds(op.Schedule, content=_content(), replace=_rarely.map(lambda rarely: not rarely))),
    (1, st.builds(op.AddJob, job=_job_specs(), replace=_flags)),
    (3, st.builds(op.AddTrigger, trigger=_trigger_specs(), replace=_flags)),
    (1, st.builds(op.DeleteJobs, keys=_several_jobs)),
    (1, st.builds(op.DeleteTriggers, keys=_several_triggers)),
    (1, st.builds(op.ReplaceTrigger, key=_triggers, trigger=_trigger_specs())),
    (1, st.builds(op.UpdateDetails, key=_triggers, changes=_changes)),
    (1, _add_calendar),
    (1, st.builds(op.DeleteCalendar, name=st.sampled_from(CALENDAR_NAMES))),
    (3, st.builds(op.PauseKeys, resume=_flags, triggers=_several_triggers)),
    (2, st.builds(op.PauseKeys, resume=_flags, jobs=_several_jobs)),
    (2, _groups),
    (2, st.builds(op.PauseAll, resume=_rarely.map(lambda rarely: not rarely))),
    (1, st.builds(op.Reset, key=_triggers)),
    (1, st.builds(op.StandBy) | st.builds(op.Clear)),
]
_kinds: Final = st.sampled_from([number for number, (weight, _) in enumerate(_STEPS) for _ in range(weight)])


def sequences(min_size: int = 20, max_size: int = 50) -> st.SearchStrategy[list[op.Operation]]:
    """Return lists of operations, those of the fire cycle most often; every list begins with a schedule.

    Args:
        min_size: The shortest list.
        max_size: The longest list.
    """
    step = _kinds.flatmap(lambda number: _STEPS[number][1])
    begin = st.builds(op.Schedule, content=_content(), replace=st.just(True))
    return st.tuples(begin, st.lists(step, min_size=min_size, max_size=max_size)).map(lambda pair: [pair[0], *pair[1]])
