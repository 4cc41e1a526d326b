"""Recording listeners and store: what was told and asked, in order."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from quartzite.abc import JobListener, JobStore, SchedulerListener, TriggerListener
from quartzite.execution import JobContext
from quartzite.testing.intercepting import InterceptingJobStore
from quartzite.triggers.base import Trigger

__all__ = [
    "Recorded",
    "RecordingJobListener",
    "RecordingJobStore",
    "RecordingSchedulerListener",
    "RecordingTriggerListener",
]

C = TypeVar("C", bound=type)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call: the name of the method and its arguments."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()


class Recording:
    """A list of calls.

    Several recorders may write into one list, to see the order among them: ``RecordingJobListener(log=calls)``.
    """

    def __init__(self, name: str | None = None, *, log: list[Recorded] | None = None) -> None:
        self._name = name or type(self).__name__
        self.calls: list[Recorded] = [] if log is None else log

    @property
    def name(self) -> str:
        """Identity in the listener manager."""
        return self._name

    @property
    def names(self) -> list[str]:
        """The names of the calls, in order."""
        return [call.name for call in self.calls]

    def of(self, *names: str) -> list[Recorded]:
        """Return the calls of these names, in order."""
        return [call for call in self.calls if call.name in names]

    def record(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Note a call."""
        self.calls.append(Recorded(name, args, tuple(sorted(kwargs.items()))))


def _recording(contract: type) -> Callable[[C], C]:
    """Give a class a recording method for each event of a listener that it does not define itself."""

    def decorate(recorder: C) -> C:
        for name, method in vars(contract).items():
            if inspect.iscoroutinefunction(method) and name not in vars(recorder):
                setattr(recorder, name, _recorded(name, method))
        return recorder

    return decorate


def _recorded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    async def record(self: Recording, *args: Any, **kwargs: Any) -> None:
        self.record(name, *args, **kwargs)

    return record


@_recording(JobListener)
class RecordingJobListener(Recording, JobListener):
    """Records every event of a job listener."""


@_recording(SchedulerListener)
class RecordingSchedulerListener(Recording, SchedulerListener):
    """Records every event of a scheduler listener."""

    @property
    def errors(self) -> list[str]:
        """The messages of all ``scheduler_error`` calls."""
        return [call.args[0] for call in self.of("scheduler_error")]


@_recording(TriggerListener)
class RecordingTriggerListener(Recording, TriggerListener):
    """Records every event of a trigger listener, and vetoes when it is told to.

    Args:
        name: Identity in the listener manager.
        log: A list that several recorders share.
        veto: Answers whether to keep a job from running; None never does.
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        log: list[Recorded] | None = None,
        veto: Callable[[Trigger, JobContext], bool] | None = None,
    ) -> None:
        super().__init__(name, log=log)
        self._veto = veto

    async def veto_job_execution(self, trigger: Trigger, context: JobContext) -> bool:
        """Record the question and answer it."""
        self.record("veto_job_execution", trigger, context)
        return self._veto is not None and self._veto(trigger, context)


class RecordingJobStore(InterceptingJobStore):
    """Records every call of a job store, and passes it on.

    A call of a bulk member is recorded as that member; a call that the inner store makes of itself is not.

    Args:
        inner: The store that does the work.
        log: A list that several recorders share.
    """

    def __init__(self, inner: JobStore, *, log: list[Recorded] | None = None) -> None:
        super().__init__(inner)
        self._recording = Recording(log=log)

    @property
    def calls(self) -> list[Recorded]:
        """The calls so far, in order."""
        return self._recording.calls

    @property
    def names(self) -> list[str]:
        """The names of the calls, in order."""
        return self._recording.names

    def of(self, *names: str) -> list[Recorded]:
        """Return the calls of these names, in order."""
        return self._recording.of(*names)

    async def _intercept(self, name: str, call: Callable[[], Awaitable[Any]], args: Any, kwargs: Any) -> Any:
        self._recording.record(name, *args, **kwargs)
        return await call()
