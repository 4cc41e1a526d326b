"""SchedulerCore: the parts that the verbs of one scheduler share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Concatenate, ParamSpec
from zoneinfo import ZoneInfo

from quartzite.abc import Clock, FiringGate, JobStore, SchedulerListener, TypeLoader
from quartzite.calendars.base import Calendar
from quartzite.engine.lifecycle import Lifecycle
from quartzite.engine.notifying import Notifier
from quartzite.engine.signals import SchedulingSignal
from quartzite.triggers.base import Trigger

__all__ = ["SchedulerCore"]

P = ParamSpec("P")


class SchedulerCore:
    """What scheduling, pausing and querying have in common.

    Attributes:
        clock: The scheduler's only source of time.
        time_zone: Zone of schedules that name none.
        type_loader: Where live job classes and functions are registered.
    """

    __slots__ = ("_gate", "_lifecycle", "_notifier", "_signal", "_store", "clock", "time_zone", "type_loader")

    def __init__(
        self,
        *,
        store: JobStore,
        clock: Clock,
        time_zone: ZoneInfo,
        type_loader: TypeLoader,
        notifier: Notifier,
        signal: SchedulingSignal,
        lifecycle: Lifecycle,
        gate: FiringGate | None = None,
    ) -> None:
        self._store = store
        self._gate = gate
        self._notifier = notifier
        self._signal = signal
        self._lifecycle = lifecycle
        self.clock = clock
        self.time_zone = time_zone
        self.type_loader = type_loader

    @property
    def store(self) -> JobStore:
        """The job store, as long as the scheduler is open.

        Raises:
            SchedulerError: the scheduler has been shut down.
        """
        self._lifecycle.check_open()
        return self._store

    def first_fire(self, trigger: Trigger, calendar: Calendar | None) -> Trigger:
        """Return a trigger as it is stored when it is scheduled now, with its first fire time or none."""
        now = self.clock.now()
        if self._gate is None:
            return trigger.compute_first_fire_time(calendar, now)
        return self._gate.first_fire(trigger, calendar, now)

    def changed(self, candidate: datetime | None = None) -> None:
        """Wake the loop: something may fire at ``candidate``, or at a time not known."""
        self._signal.set(candidate)

    async def tell(
        self,
        event: Callable[Concatenate[SchedulerListener, P], Awaitable[None]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> None:
        """Tell scheduler listeners of an event."""
        await self._notifier.tell(event, *args, **kwargs)
