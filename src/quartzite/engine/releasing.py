"""Releasing: gives acquired triggers back that did not fire."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from quartzite.abc import Clock, JobStore
from quartzite.engine.backoff import Backoff
from quartzite.triggers.base import Trigger

__all__ = ["Releasing"]

logger: Final = logging.getLogger("quartzite.engine")


class Releasing:
    """Releases triggers at once, and tries those that failed again in the background until shutdown.

    An error never reaches the caller: the loop must go on. A trigger that could not be released stays reserved until
    the store's own recovery frees it.

    Attributes:
        on_freed: Called when an attempt in the background succeeded: the trigger may be due, and nobody waits for it.
    """

    def __init__(self, *, store: JobStore, clock: Clock, backoff: Backoff) -> None:
        self._store = store
        self._clock = clock
        self._backoff = backoff
        self._retrying: set[asyncio.Task[None]] = set()
        self.on_freed: Callable[[], None] | None = None

    @property
    def failing(self) -> int:
        """How many triggers wait for the store to take them back."""
        return len(self._retrying)

    async def release(self, triggers: Sequence[Trigger]) -> None:
        """Give triggers back."""
        if not triggers:
            return
        try:
            await self._store.release_acquired_triggers(triggers)
        except Exception as error:  # noqa: BLE001 - whatever it is, each trigger is tried again by itself
            logger.warning(
                "Releasing triggers failed; it is tried again.",
                extra={"triggers": [str(trigger.key) for trigger in triggers], "reason": str(error)},
            )
            for trigger in triggers:
                self._retry_later(trigger)

    async def close(self) -> None:
        """Wait for the attempts under way; cancelling that gives them up."""
        retrying = set(self._retrying)
        if not retrying:
            return
        try:
            await asyncio.wait(retrying)
        finally:
            for task in retrying:
                task.cancel()

    def _retry_later(self, trigger: Trigger) -> None:
        task = asyncio.get_running_loop().create_task(self._retry(trigger), name="quartzite-release")
        self._retrying.add(task)
        task.add_done_callback(self._retrying.discard)

    async def _retry(self, trigger: Trigger) -> None:
        failures = 1
        while await self._backoff.wait(failures):
            try:
                with self._clock.busy(f"release of trigger {trigger.key}"):
                    await self._store.release_acquired_trigger(trigger)
            except Exception:
                failures += 1
                logger.debug("Releasing a trigger failed again.", exc_info=True, extra={"trigger": str(trigger.key)})
            else:
                if self.on_freed is not None:
                    self.on_freed()
                return
        logger.error(
            "A trigger could not be released before the shutdown; the store's recovery frees it.",
            extra={"trigger": str(trigger.key)},
        )
