"""Checkup: finds out how a scheduler fares."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from quartzite.abc import Clock
from quartzite.engine.cycle import FireCycle
from quartzite.engine.health import Health, HealthState
from quartzite.engine.lifecycle import Lifecycle
from quartzite.settings import SchedulerSettings

__all__ = ["Checkup"]

PERIODS_UNTIL_FAILED: Final = 3
"""How many idle waits without a sign of life make a loop count as dead."""


class Checkup:
    """Reads the signs of life of a scheduler; it asks nobody and takes no time."""

    def __init__(
        self,
        *,
        settings: SchedulerSettings,
        clock: Clock,
        lifecycle: Lifecycle,
        cycle: FireCycle,
    ) -> None:
        self._clock = clock
        self._lifecycle = lifecycle
        self._loop = cycle.loop
        self._completions = cycle.completions
        self._releasing = cycle.releasing
        self._limit = PERIODS_UNTIL_FAILED * settings.idle_wait_time.total_seconds()

    def health(self) -> Health:
        """Return the verdict with its reasons."""
        failed, degraded, notes = list(self._failures()), list(self._delays()), list(self._notes())
        state = HealthState.FAILED if failed else HealthState.DEGRADED if degraded else HealthState.OK
        pulse = self._loop.pulse
        return Health(
            state=state,
            reasons=(*failed, *degraded, *notes),
            last_error=pulse.last_error,
            last_error_time=pulse.last_error_time,
            last_loop_tick=pulse.last_tick,
        )

    def _failures(self) -> Iterator[str]:
        pulse = self._loop.pulse
        if self._lifecycle.is_closed:
            yield "the scheduler has been shut down"
        elif self._lifecycle.is_running and pulse.end is not None:
            yield pulse.end
        elif self._lifecycle.is_running and pulse.overdue > self._limit:
            yield f"the scheduling loop gave no sign of life for {pulse.overdue:.0f} s: the job store may hang"

    def _delays(self) -> Iterator[str]:
        pulse = self._loop.pulse
        if pulse.failures:
            yield f"the scheduling loop failed {pulse.failures} times running"
        if self._completions.failing:
            yield f"the ends of {self._completions.failing} firings could not be stored yet"
        if self._releasing.failing:
            yield f"{self._releasing.failing} triggers could not be released yet"
        since = pulse.since_workers_wanted
        if since is not None and self._clock.monotonic() - since > self._limit:
            yield f"all workers have been busy for {self._clock.monotonic() - since:.0f} s"

    def _notes(self) -> Iterator[str]:
        if not self._lifecycle.is_running and not self._lifecycle.is_shutting_down:
            yield "in standby: nothing fires"
        elif self._lifecycle.is_shutting_down and not self._lifecycle.is_closed:
            yield "shutting down: nothing fires"
