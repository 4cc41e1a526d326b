"""Which of the offered candidates are taken."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.model.acquisition import ExecutionLimits, TriggerAcquisitionRequest
from quartzite.model.keys import JobKey
from quartzite.rules.acquisition import EVERY_GROUP, BatchPlan, Candidate, GroupFilter, batch_end
from quartzite.triggers.base import Trigger
from tests.stores import MINUTE, NOW, SECOND, job, trigger


def plan(**request: Any) -> BatchPlan:
    """Return the plan of a request that reaches ten minutes ahead and asks for ten."""
    asked = TriggerAcquisitionRequest(**{"no_later_than": NOW + 10 * MINUTE, "max_count": 10, **request})
    return BatchPlan(asked, NOW, NOW - 5 * SECOND)


def due(
    name: str, after: timedelta = timedelta(0), *, alone: str | None = None, executing: bool = False, **fields: Any
) -> Candidate:
    """Return a candidate that is due some time from now; ``alone`` names its non-concurrent job."""
    value = trigger(name, job(alone or f"job of {name}"), start_time=NOW + after, **fields)
    return Candidate(value, alone is not None, executing)


def names(triggers: list[Trigger]) -> list[str]:
    """Return who was chosen."""
    return [chosen.key.name for chosen in triggers]


def chosen(batch: BatchPlan, *candidates: Candidate) -> list[str]:
    """Offer one round of which every claim is won."""
    claims = batch.choose(candidates)
    batch.settle(claims, {claim.key for claim in claims})
    return names(claims)


@pytest.mark.parametrize(
    ("first", "window", "end"),
    [
        (-MINUTE, timedelta(0), timedelta(0)),
        (-MINUTE, 5 * SECOND, 5 * SECOND),
        (MINUTE, timedelta(0), MINUTE),
        (MINUTE, 5 * SECOND, MINUTE + 5 * SECOND),
    ],
)
def test_batch_end(first: timedelta, window: timedelta, end: timedelta) -> None:
    """A batch ends the window after its first trigger, or after now when that one is late."""
    assert batch_end(NOW, NOW + first, window) == NOW + end


def test_without_a_window_a_batch_is_one_instant() -> None:
    """Triggers of one instant come together; the first later one ends the batch."""
    offered = [due("a", MINUTE), due("b", MINUTE), due("c", MINUTE + SECOND), due("d", MINUTE)]
    assert chosen(plan(), *offered) == ["a", "b"]


def test_all_that_is_late_comes_together() -> None:
    """Different times that have passed are one batch: none of them would fire early."""
    assert chosen(plan(), due("a", -2 * SECOND), due("b", -SECOND), due("c"), due("d", SECOND)) == ["a", "b", "c"]


def test_the_window_is_counted_from_the_first_that_is_taken() -> None:
    """A candidate that is passed over does not open the batch."""
    offered = [due("a", alone="x", executing=True), due("b", MINUTE), due("c", MINUTE + 5 * SECOND)]
    assert chosen(plan(time_window=5 * SECOND), *offered) == ["b", "c"]


def test_nothing_later_than_asked_opens_a_batch() -> None:
    """The window widens a batch; it does not let its first trigger be later than the request says."""
    batch = plan(no_later_than=NOW, time_window=MINUTE)
    assert chosen(batch, due("a", SECOND)) == []
    assert not batch.wants_more


def test_read_before_and_after_the_first_is_taken() -> None:
    """The first round may read as far as any batch can reach; later ones read to the end of the batch."""
    batch = plan(time_window=5 * SECOND, max_count=3)
    before = batch.criteria()
    assert (before.until, before.latest, before.limit) == (NOW + 10 * MINUTE, NOW + 10 * MINUTE + 5 * SECOND, 3)
    assert before.end_after(NOW + MINUTE) == NOW + MINUTE + 5 * SECOND
    chosen(batch, due("a"), due("b", alone="x", executing=True))
    after = batch.criteria()
    assert (after.until, after.latest, after.limit) == (NOW + 5 * SECOND, NOW + 5 * SECOND, 2)
    assert after.end_after(NOW + SECOND) == NOW + 5 * SECOND


def test_one_per_non_concurrent_job() -> None:
    """Of a job that disallows concurrency one trigger is taken, and another round leaves the job out."""
    batch = plan()
    assert chosen(batch, due("a", alone="x"), due("b", alone="x"), due("c", alone="y"), due("d")) == ["a", "c", "d"]
    assert batch.wants_more
    assert JobKey("x") in batch.criteria().closed_jobs


def test_a_job_that_executes_is_passed_over() -> None:
    """No trigger of a non-concurrent job is taken while a firing of it is in progress."""
    batch = plan()
    assert chosen(batch, due("a", alone="x", executing=True), due("b")) == ["b"]
    assert set(batch.criteria().closed_jobs) == {JobKey("x")}


def test_a_group_without_a_slot_is_passed_over() -> None:
    """Each execution group gives as many triggers as it has slots, and is then left out of other rounds."""
    batch = plan(execution_limits=ExecutionLimits({"a": 1, None: 1}))
    offered = [
        due("1", execution_group="a"),
        due("2", execution_group="a"),
        due("3"),
        due("4"),
        due("5", execution_group="b"),
    ]
    assert chosen(batch, *offered) == ["1", "3", "5"]
    assert batch.wants_more
    groups = batch.criteria().groups
    assert [groups.admits(group) for group in ("a", None, "b")] == [False, False, True]


def test_a_full_batch_wants_no_more() -> None:
    """Passing something over is no reason to go on when the batch is full."""
    batch = plan(max_count=1)
    assert chosen(batch, due("a", alone="x", executing=True), due("b")) == ["b"]
    assert not batch.wants_more


def test_a_round_in_which_nothing_was_passed_over_is_the_last() -> None:
    """When every candidate was taken there is nothing that another round could find."""
    batch = plan()
    chosen(batch, due("a"))
    assert not batch.wants_more


def test_lost_claims_do_not_open_the_batch() -> None:
    """When other nodes won all, the next round begins as the first did."""
    batch = plan(time_window=SECOND)
    assert batch.settle(batch.choose([due("a", -MINUTE)]), set()) == []
    assert batch.wants_more
    assert batch.criteria().until == NOW + 10 * MINUTE
    assert chosen(batch, due("b", MINUTE), due("c", MINUTE + SECOND)) == ["b", "c"]


def test_taken_triggers_keep_their_order() -> None:
    """What several rounds won stands in the order in which it was won."""
    batch = plan()
    first = batch.choose([due("a"), due("b"), due("x", alone="j", executing=True)])
    batch.settle(first, {first[1].key})
    chosen(batch, due("c"))
    assert names(batch.taken) == ["b", "c"]


@pytest.mark.parametrize(
    ("limits", "open_groups"),
    [
        (None, {None, "a", "b"}),
        ({}, {None, "a", "b"}),
        ({"a": 3}, {None, "a", "b"}),
        ({"a": 0}, {None, "b"}),
        ({None: 0}, {"a", "b"}),
        ({"*": 0}, {None}),
        ({"*": 0, "a": 1}, {None, "a"}),
        ({"*": 0, "a": None, None: 0}, {"a"}),
        ({"*": 0, "a": 0}, {None}),
        ({"*": 2, "b": 0}, {None, "a"}),
    ],
)
def test_groups_that_limits_leave_open(
    limits: dict[str | None, int | None] | None, open_groups: set[str | None]
) -> None:
    """Limit 0 closes a group; ``*`` closes all named groups that are not listed, never those without a name."""
    made = GroupFilter.of(None if limits is None else ExecutionLimits(limits))
    assert {group for group in (None, "a", "b") if made.admits(group)} == open_groups
    assert made.admits_all is (open_groups == {None, "a", "b"})


def test_a_filter_that_closes_more_groups() -> None:
    """Groups are closed on top of those that are closed, in a new value."""
    closed = EVERY_GROUP.without(["a"]).without([None])
    assert [closed.admits(group) for group in ("a", None, "b")] == [False, False, True]
    assert EVERY_GROUP.admits_all
