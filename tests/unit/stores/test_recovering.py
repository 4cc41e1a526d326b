"""What a former life, or a node that is gone, left behind."""

from __future__ import annotations

import logging
from datetime import datetime

import pytest

from quartzite.execution import JobContext
from quartzite.model.job_data import JobData
from quartzite.model.keys import RECOVERY_GROUP, TriggerKey
from quartzite.model.query import FireInstanceQuery, TriggerQuery
from quartzite.model.selectors import All
from quartzite.model.states import StoredTriggerState
from quartzite.rules.membership import CheckIn
from quartzite.stores.operations.recovering import free_stale_claims, free_stranded, recover_at_start, take_over
from quartzite.stores.session import NodeTable, StoreSession
from tests.stores import MINUTE, NOW, SECOND, Subject, job, new_subject, once, trigger

S = StoredTriggerState
ASKS = job("asks", requests_recovery=True)
ALONE = job("alone", concurrent_execution_disallowed=True)
INTERVAL = THRESHOLD = 8 * SECOND


@pytest.fixture
async def subject() -> Subject:
    """A store at ``NOW``."""
    return await new_subject()


async def states(subject: Subject) -> dict[str, S]:
    """Return the stored states of all triggers by name."""
    rows = await subject.work(lambda session: session.triggers.read(All()))
    return {row.trigger.key.name: row.state for row in rows}


async def start_again(subject: Subject) -> list[str]:
    """Recover as at the start of a store that is not clustered; return the names of the firings left unfinished."""
    now = subject.clock.now()
    rows = await subject.work(
        lambda session: recover_at_start(session, instance_id="node", now=now, misfired_before=now - 5 * SECOND)
    )
    return sorted(row.trigger_key.name for row in rows)


async def test_a_start_frees_everything(subject: Subject) -> None:
    """What was reserved or blocked waits again, pauses stay, and no firing is left."""
    await subject.store.schedule_jobs(
        {
            ALONE: [trigger("runs", ALONE), trigger("blocked", ALONE), trigger("paused", ALONE)],
            job(): [trigger("reserved", start_time=NOW + SECOND)],
        }
    )
    await subject.store.pause_trigger(TriggerKey("paused"))
    assert len(await subject.fire(await subject.acquire(1))) == 1
    subject.clock.advance(SECOND)
    await subject.acquire()
    assert (await states(subject))["paused"] is S.PAUSED_BLOCKED
    assert len(await start_again(subject)) == 1
    expected = {"runs": S.WAITING, "blocked": S.WAITING, "paused": S.PAUSED, "reserved": S.WAITING}
    assert await states(subject) == expected
    assert (await subject.store.query_fire_instances(FireInstanceQuery())).items == []


async def test_a_start_runs_again_what_asks_for_it(subject: Subject) -> None:
    """A firing whose job requests recovery runs once more, for its scheduled time, knowing where it came from."""
    value = once("t", ASKS, job_data=JobData(a=1), priority=7, execution_group="g")
    await subject.store.schedule_jobs({ASKS: [value], job(): [once("lost")]})
    first = {bundle.trigger.key.name: bundle for bundle in await subject.fire()}
    subject.clock.advance(SECOND)
    assert await start_again(subject) == ["lost", "t"]
    (bundle,) = await subject.fire()
    assert bundle.recovering
    assert bundle.trigger.key == TriggerKey(f"recover_{first['t'].fire_instance_id}", RECOVERY_GROUP)
    assert (bundle.scheduled_fire_time, bundle.trigger.priority, bundle.trigger.execution_group) == (NOW, 7, "g")
    context = JobContext(bundle, None)  # type: ignore[arg-type]
    assert context.recovering_trigger_key == TriggerKey("t")
    assert context.data["a"] == 1
    times = {name: value for name, value in context.data.items() if name.endswith("FIRETIME_AS_STRING")}
    assert {datetime.fromisoformat(text) for text in times.values()} == {NOW}


async def test_a_start_deletes_what_is_complete(subject: Subject) -> None:
    """Triggers that never fire again go, their jobs by the orphan rule; a firing's own last time is among them."""
    fleeting = job("fleeting", durable=False)
    await subject.store.schedule_jobs({fleeting: [once("over", fleeting)], job(): [trigger("goes on")]})
    await subject.fire()
    await start_again(subject)
    assert list(await states(subject)) == ["goes on"]
    assert subject.heard.deleted_jobs == [fleeting.key]


async def test_a_start_handles_what_was_missed(subject: Subject) -> None:
    """Times that passed while nobody was there are misfires, however many."""
    await subject.store.schedule_jobs({job(): [trigger(f"t{i}", misfire_instruction=4) for i in range(50)]})
    subject.clock.advance(30 * SECOND)
    await start_again(subject)
    assert len(subject.heard.misfires) == 50


async def test_a_job_that_is_gone_does_not_run_again(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """A firing whose job was deleted is reported; a firing whose job went otherwise is warned of."""
    await subject.store.schedule_job(ASKS, trigger("t", ASKS))
    await subject.fire()
    await subject.work(lambda session: session.triggers.delete(All()))
    await subject.work(lambda session: session.jobs.delete([ASKS.key]))
    with caplog.at_level(logging.WARNING, "quartzite.stores"):
        assert await start_again(subject) == ["t"]
    assert (await subject.store.query_triggers(TriggerQuery())).items == []
    assert len(caplog.records) == 1


async def take(subject: Subject, *, seconds_ago: int | None, current: str = "other") -> tuple[int, int]:
    """Take the node over; return how many firings were preserved, and how many unfinished."""
    record = None
    if seconds_ago is not None:
        record = CheckIn(instance_id="node", last=subject.clock.now() - seconds_ago * SECOND, interval=INTERVAL)
    plan = await subject.work(
        lambda session: take_over(
            session, "node", record, current_id=current, now=subject.clock.now(), threshold=THRESHOLD
        )
    )
    return len(plan.preserved), len(plan.unfinished)


async def test_a_takeover_frees_claims_and_runs_again(subject: Subject) -> None:
    """What the node reserved is free; what it ran runs again when it asks; what is over and done with goes."""
    await subject.store.schedule_jobs({ASKS: [once("asks", ASKS)], job(): [once("lost"), trigger("reserved")]})
    await subject.fire([claim for claim in await subject.acquire() if claim.key.name != "reserved"])
    subject.clock.advance(SECOND)
    assert await take(subject, seconds_ago=17) == (0, 2)
    left = await states(subject)
    assert left.pop("reserved") is S.WAITING
    ((name, state),) = left.items()
    assert (name.startswith("recover_node-"), state) == (True, S.WAITING)
    assert (await subject.store.query_fire_instances(FireInstanceQuery())).items == []


async def test_a_late_node_keeps_its_non_concurrent_job(subject: Subject) -> None:
    """Its firing stays while the node may be late only, and is ended, its siblings freed, when it is not."""
    later = trigger("sibling", ALONE, start_time=NOW + MINUTE)
    await subject.store.schedule_jobs({ALONE: [trigger("t", ALONE), later]})
    await subject.fire()
    assert await take(subject, seconds_ago=17) == (1, 0)
    assert (await states(subject))["sibling"] is S.BLOCKED
    assert await take(subject, seconds_ago=24) == (0, 1)
    assert await states(subject) == {"t": S.WAITING, "sibling": S.WAITING}


class Records(NodeTable):
    """Notes what is asked of the check-in records."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    async def all(self) -> list[CheckIn]:
        """Return nothing."""
        return []

    async def delete(self, instance_id: str) -> None:
        """Note it."""
        self.calls.append(("delete", instance_id))

    async def release_pins(self, instance_id: str) -> None:
        """Note it."""
        self.calls.append(("release", instance_id))


@pytest.mark.parametrize(
    ("failed", "last", "calls"),
    [
        ("node", NOW - 30 * SECOND, [("release", "node"), ("delete", "node")]),
        ("node", NOW - 17 * SECOND, []),
        ("own", NOW - 30 * SECOND, []),
    ],
)
async def test_the_record_of_a_failed_node(
    failed: str, last: datetime, calls: list[tuple[str, str]], subject: Subject
) -> None:
    """It goes last, after its pins, unless a firing was preserved (the node is looked at again) or it is the own."""
    await subject.store.schedule_job(ALONE, trigger("t", ALONE))
    await subject.fire()
    records = Records()

    async def take_it_over(session: StoreSession) -> None:
        session.nodes = records
        record = CheckIn(instance_id=failed, last=last, interval=INTERVAL)
        await take_over(session, failed, record, current_id="own", now=NOW, threshold=THRESHOLD)

    await subject.work(take_it_over)
    assert records.calls == calls


async def test_firings_without_a_record_are_over(subject: Subject) -> None:
    """A node that left firings and no record is taken over at once."""
    await subject.store.schedule_job(ALONE, trigger("t", ALONE))
    await subject.fire()
    assert await take(subject, seconds_ago=None) == (0, 1)


async def test_completions_of_a_node_that_was_taken_over_change_nothing(subject: Subject) -> None:
    """A node that comes back ends a firing that is not its own any more: nothing happens."""
    detail = job(persist_job_data_after_execution=True)
    await subject.store.schedule_job(detail, trigger("t", detail))
    (bundle,) = await subject.fire()
    await take(subject, seconds_ago=30)
    left = bundle.job.with_job_data(JobData._adopt({"n": 1}, changed=True))
    await subject.store.triggered_job_complete(bundle.trigger, left, bundle.trigger.execution_complete(None))
    stored = await subject.store.get_job(detail.key)
    assert stored is not None
    assert not stored.job_data


async def test_paused_recovery_stays_paused(subject: Subject) -> None:
    """While the group of the recovery triggers is paused, recovery waits."""
    await subject.store.schedule_job(ASKS, once("t", ASKS))
    await subject.fire()
    await subject.store.pause_all()
    await take(subject, seconds_ago=30)
    assert set((await states(subject)).values()) == {S.PAUSED}
    await subject.store.resume_all()
    assert len(await subject.fire()) == 1


async def test_forgotten_claims_are_given_back(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """What this node reserved long ago and never began waits again, with a warning; what it runs goes on."""
    await subject.store.schedule_jobs({job(): [trigger("runs"), trigger("forgotten")]})
    await subject.fire([claim for claim in await subject.acquire() if claim.key.name == "runs"])

    async def free(session: StoreSession) -> list[TriggerKey]:
        now = subject.clock.now()
        return [*await free_stale_claims(session, instance_id="node", now=now, misfire_threshold=5 * SECOND)]

    assert await subject.work(free) == []
    subject.clock.advance(3 * MINUTE)
    with caplog.at_level(logging.WARNING, "quartzite.stores"):
        assert await subject.work(free) == [TriggerKey("forgotten")]
    assert await subject.state(TriggerKey("forgotten")) is S.WAITING
    assert len((await subject.store.query_fire_instances(FireInstanceQuery())).items) == 1
    assert "forgotten" in caplog.text


async def test_stranded_triggers_go_on(subject: Subject, caplog: pytest.LogCaptureFixture) -> None:
    """A trigger that is reserved or blocked while no firing says so waits again, with a warning that names it."""
    await subject.store.schedule_jobs(
        {
            ALONE: [trigger("fine", ALONE), trigger("fine too", ALONE)],
            job(): [trigger("acquired"), trigger("blocked"), trigger("paused"), trigger("kept")],
        }
    )
    claims = await subject.acquire()
    await subject.fire([claim for claim in claims if claim.key.name == "fine"])
    await subject.store.release_acquired_triggers([claim for claim in claims if claim.key.name not in ("fine", "kept")])
    forced = {"acquired": S.ACQUIRED, "blocked": S.BLOCKED, "paused": S.PAUSED_BLOCKED}
    for name, state in forced.items():
        await subject.force(TriggerKey(name), state)
    with caplog.at_level(logging.WARNING, "quartzite.stores"):
        found = await subject.work(free_stranded)
    assert {key.name for key in found} == set(forced)
    assert await states(subject) == {
        "fine": S.BLOCKED,
        "fine too": S.BLOCKED,
        "acquired": S.WAITING,
        "blocked": S.WAITING,
        "paused": S.PAUSED,
        "kept": S.ACQUIRED,
    }
    assert all(f"DEFAULT.{name} " in caplog.text for name in forced)
