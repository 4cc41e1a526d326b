"""Broadcast listeners: one name, many ears, and none of them disturbs the others."""

import inspect
from typing import Any

import pytest

from quartzite.abc import JobListener, SchedulerListener, TriggerListener
from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.listeners import BroadcastJobListener, BroadcastSchedulerListener, BroadcastTriggerListener
from quartzite.testing import (
    RecordingJobListener,
    RecordingSchedulerListener,
    RecordingTriggerListener,
)
from quartzite.triggers.base import Trigger

ANYTHING: Any = None
KINDS: list[tuple[Any, Any, type]] = [
    (BroadcastJobListener, RecordingJobListener, JobListener),
    (BroadcastTriggerListener, RecordingTriggerListener, TriggerListener),
    (BroadcastSchedulerListener, RecordingSchedulerListener, SchedulerListener),
]


@pytest.mark.parametrize(("broadcast", "child", "contract"), KINDS)
async def test_every_event_reaches_every_child(broadcast: Any, child: Any, contract: type) -> None:
    """Each event of the contract is passed on with its arguments, in the order of the children."""
    first, second = child("first"), child("second")
    listener = broadcast("all", [first, second])
    assert isinstance(listener, contract)
    events = [name for name, member in inspect.getmembers(contract, inspect.iscoroutinefunction)]
    for event in events:
        method = getattr(listener, event)
        await method(*range(len(inspect.signature(method).parameters)))
    assert first.names == second.names == events
    assert first.calls == second.calls


@pytest.mark.parametrize(("broadcast", "child", "contract"), KINDS)
def test_children_come_and_go(broadcast: Any, child: Any, contract: type) -> None:
    """Children are added at the end, removed by themselves or by name, and listed as a snapshot."""
    first, second = child("first"), child("second")
    listener = broadcast("all")
    listener.add_listener(first)
    listener.add_listener(second)
    listed = listener.listeners
    assert listener.remove_listener(first)
    assert listener.remove_listener("second")
    assert not listener.remove_listener("nobody")
    assert (listed, listener.listeners, listener.name) == ([first, second], [], "all")


async def test_a_child_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The next child is told all the same; a plain function as a method is fine."""

    class Broken(JobListener):
        async def job_to_be_executed(self, context: JobContext) -> None:
            raise RuntimeError("child is broken")

        def job_was_executed(self, context: JobContext, error: object) -> None:  # type: ignore[override]
            raise RuntimeError("child is broken, plainly")

    second = RecordingJobListener()
    listener = BroadcastJobListener("all", [Broken(), second])
    await listener.job_to_be_executed(ANYTHING)
    await listener.job_was_executed(ANYTHING, None)
    assert second.names == ["job_to_be_executed", "job_was_executed"]
    assert caplog.text.count("A listener failed") == 2


async def test_the_first_veto_decides() -> None:
    """Children are asked one after the other until one vetoes; without a veto the answer is no."""
    no, yes, unasked = (
        RecordingTriggerListener(veto=lambda *_, answer=answer: answer) for answer in (False, True, True)
    )
    assert await BroadcastTriggerListener("all", [no, yes, unasked]).veto_job_execution(ANYTHING, ANYTHING)
    assert (no.names, yes.names, unasked.names) == (["veto_job_execution"], ["veto_job_execution"], [])
    assert not await BroadcastTriggerListener("all", [no]).veto_job_execution(ANYTHING, ANYTHING)


async def test_a_veto_that_fails_is_not_swallowed() -> None:
    """A child that can not say whether it vetoes fails the asking: the job must not run by mistake."""

    class Broken(TriggerListener):
        def veto_job_execution(self, trigger: Trigger, context: JobContext) -> bool:  # type: ignore[override]
            raise RuntimeError("child is broken")

    with pytest.raises(RuntimeError, match="child is broken"):
        await BroadcastTriggerListener("all", [Broken()]).veto_job_execution(ANYTHING, ANYTHING)


@pytest.mark.parametrize("broadcast", [BroadcastJobListener, BroadcastTriggerListener, BroadcastSchedulerListener])
def test_a_blank_name_is_refused(broadcast: Any) -> None:
    """A broadcast listener is known by its name."""
    with pytest.raises(InvalidValueError, match="blank"):
        broadcast(" ")
