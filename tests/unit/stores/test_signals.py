"""What a unit of work has to tell, and when it is told."""

from __future__ import annotations

import logging

import pytest

from quartzite.errors import SchedulerError
from quartzite.stores.signals import Signals
from quartzite.testing.signaler import RecordingSignaler
from tests.stores import NOW, SECOND, job, new_subject, trigger


async def test_everything_is_told_in_order() -> None:
    """What was noted is told once, each in the order of noting."""
    signals, heard = Signals(), RecordingSignaler()
    signals.misfired(trigger("a"))
    signals.misfired(trigger("b"))
    signals.finalized(trigger("a"))
    signals.job_deleted(job().key)
    signals.trigger_in_error(trigger().key)
    signals.triggers_in_error(job().key)
    signals.error("text", error := SchedulerError("reason"))
    await signals.deliver(heard)
    assert [value.key.name for value in heard.misfired] == ["a", "b"]
    assert [value.key.name for value in heard.finalized] == ["a"]
    assert (heard.deleted_jobs, heard.jobs_in_error) == ([job().key], [job().key])
    assert (heard.triggers_in_error, heard.errors) == ([trigger().key], [("text", error)])
    assert heard.scheduling_changes == []


@pytest.mark.parametrize(
    ("noted", "told"),
    [
        ([NOW], [NOW]),
        ([NOW + SECOND, NOW, NOW + 2 * SECOND], [NOW]),
        ([None], [None]),
        ([NOW, None], [None]),
        ([None, NOW], [None]),
        ([], []),
    ],
)
async def test_one_change_of_schedule_is_told(noted: list[object], told: list[object]) -> None:
    """The earliest of several candidates is told; a time that is not known wins over all."""
    signals, heard = Signals(), RecordingSignaler()
    for candidate in noted:
        signals.scheduling_change(candidate)  # type: ignore[arg-type]
    await signals.deliver(heard)
    assert heard.scheduling_changes == told


async def test_a_listener_that_fails_undoes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """What a listener raises is logged; the others hear, and the operation has succeeded."""
    signals, heard = Signals(), RecordingSignaler()

    async def fail() -> None:
        raise RuntimeError("a listener's fault")

    heard.when_notified = fail
    signals.misfired(trigger("a"))
    signals.misfired(trigger("b"))
    with caplog.at_level(logging.ERROR, "quartzite.stores"):
        await signals.deliver(heard)
    assert len(heard.misfired) == 2
    assert len(caplog.records) == 2


async def test_a_refused_operation_tells_nothing() -> None:
    """An operation that is refused changed nothing, so nobody hears of it."""
    subject = await new_subject()
    await subject.store.schedule_job(job(), trigger())
    with pytest.raises(SchedulerError):
        await subject.store.schedule_job(job(), trigger("other"))
    assert subject.heard.scheduling_changes == []


async def test_a_listener_may_use_the_store() -> None:
    """Listeners hear after the unit of work, so one that calls the store neither waits nor sees half of it."""
    subject = await new_subject()
    await subject.store.schedule_job(job(), trigger(end_time=NOW + SECOND, misfire_instruction=4))
    subject.clock.advance(60 * SECOND)
    seen = []

    async def look() -> None:
        seen.append(await subject.store.get_trigger(trigger().key))

    subject.heard.when_notified = look
    await subject.acquire()
    assert [value.next_fire_time for value in seen if value is not None] == [None, None]
