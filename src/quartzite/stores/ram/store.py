"""RamJobStore: everything in memory, gone with the process."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, TypeVar

from quartzite.abc import Clock, Serializer, Signaler
from quartzite.model.acquisition import TriggerAcquisitionRequest
from quartzite.stores.ram.session import RamSession, RamTables
from quartzite.stores.standard import Body, StandardJobStore
from quartzite.stores.work import Work
from quartzite.triggers.base import Trigger

__all__ = ["RamJobStore"]

T = TypeVar("T")

DEFAULT_MISFIRE_THRESHOLD: Final = timedelta(seconds=5)
MISFIRES_AT_ONCE: Final = 500
"""Late triggers handled in one go, so that the event loop gets a turn between two."""


class RamJobStore(StandardJobStore):
    """Keeps jobs, triggers and firings in memory; used from one event loop.

    Functions that another process could not find (lambdas, closures, ``__main__``) may be jobs here. Job data must
    pass the serializer all the same, so that moving to a database never breaks a job.

    Args:
        clock: The store's only source of time.
        signaler: Hears what happened, after each operation.
        serializer: Says which job data may be stored.
        misfire_threshold: How late a firing may be before it counts as missed; at least 1 ms.

    Raises:
        InvalidValueError: the misfire threshold is shorter than 1 ms.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        signaler: Signaler,
        serializer: Serializer,
        misfire_threshold: timedelta = DEFAULT_MISFIRE_THRESHOLD,
    ) -> None:
        super().__init__(clock=clock, signaler=signaler, serializer=serializer, misfire_threshold=misfire_threshold)
        self._tables = RamTables()

    @property
    def supports_persistence(self) -> bool:
        """The data does not survive the process."""
        return False

    @property
    def clustered(self) -> bool:
        """No other node sees the data."""
        return False

    async def run(self, work: Work, body: Body[T]) -> T:  # noqa: ARG002  # all kinds of work are alike in memory
        """Run an operation; it never suspends, so that nothing comes between its steps."""
        session = RamSession(self._tables)
        result = await body(session)
        await session.signals.deliver(self._signaler)
        return result

    async def scheduler_started(self) -> None:
        """Begin: there is no former life, and no work in the background."""

    async def shutdown(self) -> None:
        """End: there is nothing to free."""

    async def acquire_next_triggers(self, request: TriggerAcquisitionRequest) -> list[Trigger]:
        """Reserve triggers, once all that missed their time have been handled."""
        triggers = self._tables.triggers
        if triggers.is_any_due_before(self._clock.now() - self.misfire_threshold):
            for _ in range(0, len(triggers), MISFIRES_AT_ONCE):
                if not (await self.handle_misfires(MISFIRES_AT_ONCE)).has_more:
                    break
        return await super().acquire_next_triggers(request)
