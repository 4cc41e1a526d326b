"""FaultyJobStore: a store that fails, or keeps one waiting, when a test says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from quartzite.abc import Clock, JobStore
from quartzite.errors import InvalidValueError
from quartzite.testing.intercepting import InterceptingJobStore

__all__ = ["FaultyJobStore"]


@dataclass(slots=True)
class _Fault:
    error: Exception | None
    delay: float
    times: int | None
    after: bool


class FaultyJobStore(InterceptingJobStore):
    """Fails one member after the other, as told, and is a faithful decorator otherwise.

    ::

        store = FaultyJobStore(inner)
        store.fail("acquire_next_triggers", JobPersistenceError("the database is away"), times=3)

    Args:
        inner: The store that does the work.
        clock: What a delay is measured by; needed for delays only.

    Attributes:
        failures: How often a call was failed or delayed, by member.
    """

    def __init__(self, inner: JobStore, *, clock: Clock | None = None) -> None:
        super().__init__(inner)
        self._clock = clock
        self._faults: dict[str, _Fault] = {}
        self.failures: dict[str, int] = {}

    def fail(self, member: str, error: Exception, *, times: int | None = None, after: bool = False) -> None:
        """Let the calls of a member raise.

        Args:
            member: Its name, such as ``triggers_fired``.
            error: What is raised.
            times: How many calls fail, None for all until it is healed.
            after: Do the work first: the caller does not learn that it was done.

        Raises:
            InvalidValueError: a job store has no such member.
        """
        self._put(member, _Fault(error, 0.0, times, after))

    def delay(self, member: str, delay: timedelta, *, times: int | None = None) -> None:
        """Let the calls of a member take their time, before the work is done.

        Raises:
            InvalidValueError: a job store has no such member, or this one got no clock.
        """
        if self._clock is None:
            raise InvalidValueError(f"a delay of {member} needs a clock: FaultyJobStore(inner, clock=clock)")
        self._put(member, _Fault(None, delay.total_seconds(), times, after=False))

    def heal(self, *members: str) -> None:
        """Let members work again; without names all of them."""
        for member in members or list(self._faults):
            self._faults.pop(member, None)

    def _put(self, member: str, fault: _Fault) -> None:
        if member.startswith("_") or not callable(getattr(JobStore, member, None)):
            raise InvalidValueError(f"a job store has no member {member!r}: see quartzite.abc.JobStore")
        self._faults[member] = fault

    async def _intercept(self, name: str, call: Callable[[], Awaitable[Any]], args: Any, kwargs: Any) -> Any:  # noqa: ARG002
        fault = self._taken(name)
        if fault is None:
            return await call()
        if fault.delay and self._clock is not None:
            await self._clock.sleep(fault.delay)
        if fault.error is None:
            return await call()
        if fault.after:
            await call()
        raise fault.error.with_traceback(None)

    def _taken(self, name: str) -> _Fault | None:
        fault = self._faults.get(name)
        if fault is None:
            return None
        self.failures[name] = self.failures.get(name, 0) + 1
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                del self._faults[name]
        return fault
