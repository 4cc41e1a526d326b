"""A store in front of another one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from quartzite.abc import JobStore
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.triggers.base import Trigger
from tests.stores import NOW, job, new_subject, trigger

MEMBERS = [name for name, value in vars(JobStore).items() if inspect.isfunction(value)]
ANSWERS = [name for name, value in vars(JobStore).items() if isinstance(value, property)]
TWINS = {
    "delete_jobs": "delete_job",
    "get_job_details": "get_job",
    "delete_triggers": "delete_trigger",
    "get_triggers": "get_trigger",
    "pause_triggers_by_key": "pause_trigger",
    "resume_triggers_by_key": "resume_trigger",
    "pause_jobs_by_key": "pause_job",
    "resume_jobs_by_key": "resume_job",
    "triggered_jobs_complete": "triggered_job_complete",
    "release_acquired_triggers": "release_acquired_trigger",
}


class Recorder:
    """Stands in for the inner store: notes each call with its arguments, and answers with its name."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        if name in ANSWERS:
            return name
        member = getattr(JobStore, name)

        def note(*args: Any, **kwargs: Any) -> Any:
            self.calls.append((name, args, kwargs))
            return answer() if inspect.iscoroutinefunction(member) else name

        async def answer() -> str | None:
            return None if inspect.signature(member).return_annotation == "None" else name

        return note


def arguments_of(name: str) -> tuple[list[Any], dict[str, Any]]:
    """Return an argument of its own for each parameter of a member."""
    parameters = list(inspect.signature(getattr(JobStore, name)).parameters.values())[1:]
    positional = [object() for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return positional, {p.name: object() for p in parameters if p.kind is p.KEYWORD_ONLY}


async def outcome(member: Callable[..., Any], args: Collection[Any], kwargs: dict[str, Any]) -> Any:
    """Call a member, and await it when it is to be awaited."""
    answer = member(*args, **kwargs)
    return await answer if inspect.isawaitable(answer) else answer


@pytest.mark.parametrize("name", MEMBERS)
async def test_every_member_is_forwarded(name: str) -> None:
    """The inner store gets the very arguments, once, and its answer comes back."""
    inner = Recorder()
    args, kwargs = arguments_of(name)
    said = await outcome(getattr(DelegatingJobStore(inner), name), args, kwargs)  # type: ignore[arg-type]
    assert inner.calls == [(name, tuple(args), kwargs)]
    assert said == await outcome(getattr(Recorder(), name), args, kwargs)


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_forwarded(name: str) -> None:
    """What the store is, the inner store says."""
    assert getattr(DelegatingJobStore(Recorder()), name) == name  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*MEMBERS, *ANSWERS])
def test_every_member_is_its_own(name: str) -> None:
    """No member is inherited: a looping default would hide the inner store's own way."""
    assert name in vars(DelegatingJobStore)


@pytest.mark.parametrize(("many", "single"), TWINS.items())
async def test_an_overridden_member_is_not_passed_by(many: str, single: str) -> None:
    """When a subclass overrides the member for one, the member for many calls it for each, and nothing else."""
    seen: list[Any] = []

    async def override(self: DelegatingJobStore, *args: Any) -> bool:
        seen.append(args[0])
        return True

    inner = Recorder()
    store = type("Changed", (DelegatingJobStore,), {single: override})(inner)
    given = [job("a").key, job("b").key]
    if many == "triggered_jobs_complete":
        completions = [type("Done", (), {"trigger": key, "job": None, "instruction": None}) for key in given]
        await store.triggered_jobs_complete(completions)
    else:
        await getattr(store, many)(given)
    assert seen == given
    assert inner.calls == []


def test_all_members_for_many_are_known() -> None:
    """Every member of the contract that loops over another one by default is looked at above."""
    looping = [name for name in MEMBERS if "for " in inspect.getsource(getattr(JobStore, name)) and name in TWINS]
    concrete = [
        name
        for name in MEMBERS
        if not getattr(getattr(JobStore, name), "__isabstractmethod__", False)
        and name not in {"scheduler_paused", "scheduler_resumed", "get_acquire_retry_delay"}
    ]
    assert sorted(looping) == sorted(concrete) == sorted(TWINS)


async def test_the_real_store_is_reached_through_all_layers() -> None:
    """However many decorators are in front of it, the store that keeps the data can be reached."""
    real = (await new_subject()).store
    assert DelegatingJobStore(DelegatingJobStore(DelegatingJobStore(real))).inner_job_store is real


class Budgeted(DelegatingJobStore):
    """Takes at most two triggers at a time, and declines a type of job."""

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Narrow the request."""
        narrowed = replace(request, max_count=min(request.max_count, 2), excluded_job_type_names=["tests.jobs:heavy"])
        return await super().acquire_next_triggers(narrowed)


async def test_a_decorator_narrows_what_a_node_takes() -> None:
    """A rewritten request is what the store sees, and what it leaves out takes up no place."""
    real = (await new_subject()).store
    heavy = job("heavy", job_type=replace(job().job_type, full_name="tests.jobs:heavy"))
    await real.schedule_jobs(
        {heavy: [trigger(f"a{i}", heavy) for i in range(5)], job(): [trigger(f"b{i}") for i in range(5)]}
    )
    request = TriggerAcquisitionRequest(no_later_than=NOW, max_count=10)
    taken = await Budgeted(real).acquire_next_triggers(request)
    assert [value.key.name for value in taken] == ["b0", "b1"]
    assert request.max_count == 10


class Counting(DelegatingJobStore):
    """Counts deletions."""

    deleted = 0

    async def delete_trigger(self, key: TriggerKey) -> bool:
        """Count."""
        self.deleted += 1
        return await super().delete_trigger(key)


async def test_layers_keep_each_others_changes() -> None:
    """A decorator in front of another one forwards to it as one, and that one does its part for each."""
    real = (await new_subject()).store
    await real.schedule_jobs({job(): [trigger("a"), trigger("b")]})
    counting = Counting(real)
    assert await DelegatingJobStore(counting).delete_triggers([TriggerKey("a"), TriggerKey("b")])
    assert counting.deleted == 2
    assert await real.check_exists(JobKey("job"))
    assert counting.get_acquire_retry_delay(3) == timedelta(milliseconds=20)
