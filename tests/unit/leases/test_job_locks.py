"""Schedulers with job locks: each tick runs on one of the nodes."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest

from quartzite import (
    JobContext,
    JobKey,
    SchedulerBuilder,
    TriggerBuilder,
    TriggerKey,
    calendar_interval,
    cron,
    every,
    job,
    once,
    recurrence,
)
from quartzite.leases import (
    InMemoryLockProvider,
    JobLock,
    LockConfiguration,
    assert_locked,
    current_lease,
    scheduler_lock,
)
from quartzite.leases.job_locks import lock_name
from tests.unit.leases.nodes import Node, Nodes
from tests.unit.leases.values import MINUTE, FailingProvider

SECOND = timedelta(seconds=1)
AT_MOST = {"default_at_most_for": 5 * SECOND}


def noting(builder: SchedulerBuilder, node: Node, schedule: Any, **options: Any) -> None:
    """Declare a job that notes its ticks."""

    async def work(context: JobContext) -> None:
        node.note(context)

    builder.schedule(job(**options)(work), schedule, key="work")


# Which node runs --------------------------------------------------------------------------------------------------


async def test_each_tick_runs_once() -> None:
    """Nodes with the same schedule run each of its ticks once, between them."""
    nodes = Nodes(3)
    async with nodes.running(lambda builder, node: noting(builder, node, every(seconds=1)), **AT_MOST):
        await nodes.clock.advance(seconds=5)
    assert nodes.ran() == nodes.ticks(1, 2, 3, 4, 5)


async def test_what_is_left_to_another_node_is_told_and_counted() -> None:
    """Listeners hear which tick was left to whom; the metadata counts it, and the job did not start."""
    nodes = Nodes(2)
    async with nodes.running(lambda builder, node: noting(builder, node, every(seconds=1)), **AT_MOST):
        await nodes.clock.advance(seconds=2)
        runs = [node.scheduler.get_metadata().jobs_executed for node in nodes.all]
        skipped = [node.scheduler.get_metadata().firings_skipped for node in nodes.all]
    assert sorted(zip(runs, skipped, strict=True)) in ([(0, 2), (2, 0)], [(1, 1), (1, 1)])
    for node, other in (nodes.all, nodes.all[::-1]):
        assert [(skip.holder, skip.scheduled_fire_time, skip.claimed_tick) for skip in node.skips] == [
            (other.name_of_node, tick, tick) for tick in other.runs
        ]
    [first] = [skip for node in nodes.all for skip in node.skips if skip.scheduled_fire_time == nodes.ticks(1)[0]]
    assert (first.job_key, first.trigger_key) == (JobKey("work"), TriggerKey("work"))
    assert first.held_until is not None


@pytest.mark.parametrize("at_least", [timedelta(0), 3 * SECOND])
async def test_clocks_that_differ_run_no_tick_twice(at_least: timedelta) -> None:
    """A node whose clock is far behind finds its ticks claimed, though the short job is long over."""
    nodes = Nodes(3, skews=(timedelta(seconds=-90), timedelta(milliseconds=400)))
    async with nodes.running(
        lambda builder, node: noting(builder, node, every(seconds=1)), **AT_MOST, default_at_least_for=at_least
    ):
        await nodes.clock.advance(seconds=120)
    ran = nodes.ran()
    assert ran == sorted(set(ran))
    assert set(nodes.ticks(*range(2, 120))) <= set(ran)


async def test_a_node_takes_over_when_the_other_one_is_gone() -> None:
    """When a node stops, the next tick runs on the other one; nothing waits for a lease to end."""
    nodes = Nodes(2, skews=(timedelta(milliseconds=100),))
    async with nodes.running(
        lambda builder, node: noting(builder, node, every(seconds=1)), default_at_most_for=10 * MINUTE
    ):
        await nodes.clock.advance(seconds=3)
        await nodes[0].scheduler.standby()
        await nodes.clock.advance(seconds=3)
    assert nodes[0].runs == nodes.ticks(1, 2, 3)
    assert nodes[1].runs == nodes.ticks(4, 5, 6)


async def test_a_job_that_must_not_overlap_runs_on_one_node_at_a_time() -> None:
    """While a run lasts no other one begins on any node; who is refused hears who runs."""
    nodes = Nodes(2)
    inside: list[int] = []

    def declare(builder: SchedulerBuilder, node: Node) -> None:
        @job(disallow_concurrent_execution=True)
        async def work(context: JobContext) -> None:
            inside.append(1)
            assert len(inside) == 1
            node.note(context)
            await nodes.clock.sleep(2.5)
            inside.clear()

        builder.schedule(work, every(seconds=1), key="work")

    async with nodes.running(declare, **AT_MOST):
        await nodes.clock.advance(seconds=9)
    ran = nodes.ran()
    assert ran == sorted(set(ran))
    assert len(ran) >= 3
    assert [node.errors for node in nodes.all] == [[], []]
    idle, busy = sorted(nodes.all, key=lambda node: len(node.runs))
    assert {skip.holder for skip in idle.skips} == {busy.name_of_node}


async def test_a_long_run_keeps_others_out_for_longer_than_its_at_most_time() -> None:
    """The lease of a job that must not overlap is kept alive, unless that was switched off."""

    async def count(*, keep_alive: bool) -> int:
        nodes = Nodes(2)

        def declare(builder: SchedulerBuilder, node: Node) -> None:
            @job(disallow_concurrent_execution=True)
            async def work(context: JobContext) -> None:
                node.note(context)
                await nodes.clock.sleep(60)

            builder.schedule(work, every(seconds=1), key="work")

        async with nodes.running(declare, **AT_MOST, keep_alive=keep_alive):
            await nodes.clock.advance(seconds=30)
            started = len(nodes.ran())
            await nodes.clock.advance(seconds=60)
        return started

    assert await count(keep_alive=True) == 1
    assert await count(keep_alive=False) == 2


async def test_a_lost_lease_interrupts_the_run() -> None:
    """A run whose lease was lost finds its token set with the reason; a task that may be cancelled is."""
    nodes = Nodes(1)
    reasons: list[str | None] = []

    def declare(builder: SchedulerBuilder, node: Node) -> None:
        @job(disallow_concurrent_execution=True, hard_cancel=True)
        async def work(context: JobContext) -> None:
            node.note(context)
            try:
                await nodes.clock.sleep(600)
            finally:
                reasons.append(context.cancellation_token.reason)

        builder.schedule(work, once(), start_at=nodes.ticks(1)[0])

    async with nodes.running(declare, **AT_MOST):
        await nodes.clock.advance(seconds=1)
        nodes.leases._records.clear()
        await nodes.clock.advance(seconds=5)
    assert len(reasons) == 1
    assert "somebody else may have it" in str(reasons[0])


# What can not be known --------------------------------------------------------------------------------------------


async def test_without_an_answer_a_tick_does_not_run() -> None:
    """A node that can not reach the provider runs nothing, says so to listeners, and goes on when it is back."""
    nodes = Nodes(1)
    failing: list[FailingProvider] = []

    def wrap(provider: Any) -> FailingProvider:
        failing.append(FailingProvider(provider))
        return failing[0]

    nodes.wrap = wrap
    async with nodes.running(lambda builder, node: noting(builder, node, every(seconds=1)), **AT_MOST):
        failing[0].fails = {"lock"}
        await nodes.clock.advance(seconds=2)
        failing[0].fails = {"release"}
        await nodes.clock.advance(seconds=1)
        failing[0].fails = set()
        await nodes.clock.advance(seconds=1)
    assert nodes[0].runs == nodes.ticks(3, 4)
    refused, unreleased = nodes[0].errors[:2], nodes[0].errors[2:]
    assert all("does not run" in error and "the network is gone" in error for error in refused)
    assert ["could not be given back" in error for error in unreleased] == [True]
    assert failing[0].closed == 1


async def test_a_holder_that_can_not_be_found_out_is_left_out() -> None:
    """A tick that another node has is left to it also when its name can not be asked for."""
    nodes = Nodes(2)
    nodes.wrap = _nameless
    async with nodes.running(lambda builder, node: noting(builder, node, every(seconds=1)), **AT_MOST):
        await nodes.clock.advance(seconds=1)
    assert [skip.holder for node in nodes.all for skip in node.skips] == [None]


def _nameless(provider: Any) -> FailingProvider:
    failing = FailingProvider(provider)
    failing.fails = {"holder"}
    return failing


async def test_the_last_firing_is_the_end_of_a_trigger_here_too() -> None:
    """A trigger whose last tick ran elsewhere is finished and removed, like on the node where it ran."""
    nodes = Nodes(2)
    async with nodes.running(
        lambda builder, node: builder.schedule(_nothing, once(), start_at=nodes.ticks(1)[0], key="last"), **AT_MOST
    ):
        await nodes.clock.advance(seconds=2)
        left = [await node.scheduler.get_trigger(TriggerKey("last")) for node in nodes.all]
    assert left == [None, None]
    assert [node.finalized for node in nodes.all] == [["last"], ["last"]]


async def _nothing() -> None:
    """Do nothing."""


# What the job knows -----------------------------------------------------------------------------------------------


async def test_a_job_knows_its_lease() -> None:
    """A job, in a thread too, can make sure that it is locked, and has a token for what it writes."""
    nodes = Nodes(1)
    leases: list[tuple[str, str]] = []

    def plain() -> None:
        assert_locked()
        lease = current_lease()
        assert lease is not None
        leases.append((lease.name, lease.holder))

    async with nodes.running(lambda builder, node: builder.schedule(plain, every(seconds=1)), **AT_MOST):
        await nodes.clock.advance(seconds=1)
    assert leases == [("default/DEFAULT/plain", "node 0")]
    assert nodes[0].errors == []


async def test_a_decorated_job_takes_no_second_lock() -> None:
    """The durations of the decorator hold for the leases of the ticks, and its at-least time blocks no later tick."""
    nodes = Nodes(2)
    ends: list[timedelta] = []

    def declare(builder: SchedulerBuilder, node: Node) -> None:
        @scheduler_lock(name="not used here", at_most_for=10 * MINUTE, at_least_for=5 * MINUTE)
        async def work(context: JobContext) -> None:
            node.note(context)
            lease = current_lease()
            assert lease is not None
            ends.append(lease.configuration.lock_at_least_for)

        builder.schedule(work, every(seconds=1), key="work")

    async with nodes.running(declare, **AT_MOST):
        await nodes.clock.advance(seconds=3)
    assert nodes.ran() == nodes.ticks(1, 2, 3)
    assert set(ends) == {5 * MINUTE}
    assert await nodes.leases.holder("not used here") is None


async def test_a_function_that_a_job_calls_is_locked_by_the_same_provider() -> None:
    """Inside a job, a decorated function needs no provider of its own."""
    nodes = Nodes(1)
    done: list[int | None] = []

    @scheduler_lock(name="part-{number}", at_most_for=MINUTE)
    async def part(number: int) -> int:
        assert_locked()
        return number

    async def work() -> None:
        done.extend([await part(1), await part(2)])

    async with nodes.running(lambda builder, node: builder.schedule(work, every(seconds=1)), **AT_MOST):
        await nodes.leases.lock(LockConfiguration(name="part-2", lock_at_most_for=MINUTE))
        await nodes.clock.advance(seconds=1)
    assert done == [1, None]


async def test_a_job_class_with_settings_runs() -> None:
    """A decorated job class, and one derived from it, run under the lease of the tick."""
    nodes = Nodes(2)
    seen: list[timedelta] = []

    @scheduler_lock(name="report", at_most_for=7 * MINUTE)
    class Report:
        async def execute(self, context: JobContext) -> None:
            lease = current_lease()
            assert lease is not None
            seen.append(lease.configuration.lock_at_most_for)

    class Special(Report): ...

    async with nodes.running(lambda builder, node: builder.schedule(Special, every(seconds=1)), **AT_MOST):
        await nodes.clock.advance(seconds=2)
    assert seen == [7 * MINUTE] * 2
    assert [node.errors for node in nodes.all] == [[], []]


async def test_single_jobs_may_differ() -> None:
    """What the builder says of a job wins over its decorator; None lets it run on every node, without a lease."""
    nodes = Nodes(2)
    seen: dict[str, list[timedelta | None]] = {"own": [], "everywhere": []}

    @scheduler_lock(name="own", at_most_for=7 * MINUTE)
    async def own(context: JobContext) -> None:
        lease = current_lease()
        seen["own"].append(None if lease is None else lease.configuration.lock_at_most_for)

    async def everywhere(context: JobContext) -> None:
        lease = current_lease()
        seen["everywhere"].append(None if lease is None else lease.configuration.lock_at_most_for)

    def declare(builder: SchedulerBuilder, node: Node) -> None:
        start = nodes.ticks(1)[0]
        builder.schedule(own, every(seconds=10), start_at=start).schedule(everywhere, every(seconds=10), start_at=start)

    async with nodes.running(declare, **AT_MOST, jobs={own: JobLock(at_most_for=9 * MINUTE), "everywhere": None}):
        await nodes.clock.advance(seconds=2)
    assert seen == {"own": [9 * MINUTE], "everywhere": [None, None]}


async def test_a_firing_by_hand_runs_where_it_was_asked_for() -> None:
    """``trigger_job`` runs the job on the node that was asked, whoever has its lease, and leaves no record."""
    nodes = Nodes(2)
    async with nodes.running(lambda builder, node: noting(builder, node, every(hours=1)), **AT_MOST):
        for node in nodes.all:
            await node.scheduler.trigger_job(JobKey("work"))
        await nodes.clock.advance(seconds=1)
    assert [len(node.runs) for node in nodes.all] == [1, 1]
    assert nodes.leases._records == {}


async def test_a_name_like_one_by_hand_is_no_way_around() -> None:
    """A trigger of the schedule is locked, however it is called."""
    nodes = Nodes(2)
    async with nodes.running(
        lambda builder, node: builder.schedule(node_job(node), every(seconds=1), key="work", trigger_key="MT_1"),
        **AT_MOST,
    ):
        await nodes.clock.advance(seconds=2)
    assert nodes.ran() == nodes.ticks(1, 2)


def node_job(node: Node) -> Any:
    """Return a job that notes its ticks."""

    async def work(context: JobContext) -> None:
        node.note(context)

    return work


# When the ticks are -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "ticks"),
    [
        (every(seconds=11), [3, 14, 25]),
        (every(minutes=1), [60, 120]),
        (calendar_interval(seconds=30), [30, 60]),
        (calendar_interval(hours=1), [3600]),
        (recurrence("FREQ=MINUTELY;INTERVAL=2"), [120, 240]),
        (cron("0 * * * * ?"), [60, 120]),
    ],
    ids=str,
)
async def test_an_interval_without_a_start_begins_at_the_epoch(schedule: Any, ticks: list[float]) -> None:
    """Nodes that start at different times have the same ticks: those of an interval since 1970 began."""
    nodes = Nodes(2)
    nodes[1].skew = timedelta(milliseconds=250)
    async with nodes.running(lambda builder, node: noting(builder, node, schedule), **AT_MOST):
        await nodes.clock.advance(seconds=ticks[-1] + 0.1)
    # At midnight 1,767,225,600 s had passed since 1970: 8 s of the present 11.
    assert nodes.ran() == nodes.ticks(*ticks)


async def test_a_start_that_is_given_stays() -> None:
    """A schedule with a start of its own keeps it."""
    nodes = Nodes(2)
    start = nodes.ticks(2.5)[0]
    async with nodes.running(
        lambda builder, node: builder.schedule(node_job(node), every(seconds=2), start_at=start, key="work"), **AT_MOST
    ):
        await nodes.clock.advance(seconds=7)
    assert nodes.ran() == nodes.ticks(2.5, 4.5, 6.5)


@pytest.mark.parametrize("schedule", [once(), every(seconds=1, times=3)], ids=str)
async def test_a_schedule_that_depends_on_its_node_is_warned_about(
    schedule: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """What can not begin in 1970, and has no start, has other ticks on each node: the log names the remedy."""
    nodes = Nodes(1)
    with caplog.at_level(logging.WARNING, "quartzite.leases"):
        async with nodes.running(lambda builder, node: noting(builder, node, schedule), **AT_MOST):
            await nodes[0].scheduler.trigger_job(JobKey("work"))
            await nodes.clock.advance(seconds=5)
    assert [record.__dict__["trigger"] for record in caplog.records] == ["DEFAULT.work"]
    assert "give it a start time" in caplog.records[0].message


async def test_a_trigger_that_is_added_later_is_anchored_too() -> None:
    """A running scheduler gives an interval the same ticks as one that was declared."""
    nodes = Nodes(1)
    async with nodes.running(lambda builder, node: builder.add_job(node_job(node), key="work"), **AT_MOST):
        trigger = TriggerBuilder().with_identity("later").for_job(JobKey("work")).with_schedule(every(seconds=11))
        await nodes[0].scheduler.schedule_job(trigger)
        await nodes.clock.advance(seconds=22)
    assert nodes.ran() == nodes.ticks(3, 14)


# Names ------------------------------------------------------------------------------------------------------------


def test_different_triggers_have_different_leases() -> None:
    """The name of a lease tells schedulers, groups and names apart, however they are spelt, also when it is cut."""
    keys = [TriggerKey("c", "a/b"), TriggerKey("b/c", "a"), TriggerKey("c", "a%2Fb"), TriggerKey("c", "a")]
    long = [TriggerKey("n" * 199 + end, "g" * 200) for end in "ab"]
    names = [lock_name("quartz", key) for key in keys + long] + [lock_name("quartz/a", TriggerKey("c", "b"))]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) == 255
    assert names[3] == "quartz/a/c"


async def test_one_node_catches_up_in_order() -> None:
    """Ticks that one node fires at once are claimed in their order: none is refused because a later one was first."""
    claims: list[Any] = []

    class Uneven(InMemoryLockProvider):
        """Earlier claims take longer, as on connections that have to be opened."""

        async def lock(self, configuration: LockConfiguration) -> Any:
            claims.append(configuration.tick)
            for _ in range(100 // len(claims)):
                await asyncio.sleep(0)
            return await super().lock(configuration)

    nodes = Nodes(1)
    nodes.wrap = lambda provider: Uneven(clock=nodes.clock, holder="node 0")
    async with nodes.running(lambda builder, node: noting(builder, node, every(milliseconds=100)), **AT_MOST):
        nodes.clock.jump(SECOND)
        await nodes.clock.advance(seconds=1)
    assert nodes[0].skips == []
    assert nodes.ran() == nodes.ticks(*(tenth / 10 for tenth in range(3, 24)))
