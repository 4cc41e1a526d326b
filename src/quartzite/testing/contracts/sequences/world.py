"""World: one store under a sequence of operations, and what its scheduler knows meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from quartzite.execution import TriggerFiredBundle
from quartzite.model.query import FireInstance
from quartzite.testing.contracts.job_store.content import plain
from quartzite.testing.contracts.job_store.driver import StoreDriver
from quartzite.testing.contracts.job_store.snapshot import Snapshot
from quartzite.triggers.base import Trigger

__all__ = ["HandleMisfires", "World"]

HandleMisfires = Callable[[StoreDriver], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class World:
    """A store and its scheduler's side.

    Attributes:
        name: For messages.
        driver: The store.
        handle_misfires: Makes the store deal with everything that is misfired now.
        held: Triggers that were acquired, and neither fired nor given back.
        running: Firings that have not ended.
        standing_by: Whether the scheduler is in standby.
    """

    name: str
    driver: StoreDriver
    handle_misfires: HandleMisfires
    held: list[Trigger] = field(default_factory=list)
    running: list[TriggerFiredBundle] = field(default_factory=list)
    standing_by: bool = False
    _numbers: dict[str, int] = field(default_factory=dict)

    def number_of(self, fire_instance_id: str | None) -> int:
        """Return the number of a firing: ids differ between stores, their order of appearance does not."""
        return self._numbers.setdefault(fire_instance_id or "", len(self._numbers))

    def shown(self, value: Any) -> Any:
        """Return a value as every store should show it: without the ids of firings."""
        if isinstance(value, Trigger):
            return plain(value)
        if isinstance(value, TriggerFiredBundle):
            return (self.number_of(value.fire_instance_id), replace(value, trigger=plain(value.trigger)))
        if isinstance(value, list | tuple):
            return [self.shown(one) for one in value]
        return value

    async def snapshot(self) -> Snapshot:
        """Return everything that can be seen, without the ids of firings."""
        seen = await self.driver.snapshot()
        return replace(seen, firings=tuple(sorted((self._shown(one) for one in seen.firings), key=_place)))

    def told(self) -> dict[str, Any]:
        """Return what the store told its scheduler since the last call, in an order that does not matter."""
        signaler = self.driver.signaler
        told = {
            "woken": bool(signaler.scheduling_changes),
            "misfired": sorted(map(plain, signaler.misfired), key=_key),
            "finalized": sorted(map(plain, signaler.finalized), key=_key),
            "deleted jobs": sorted(signaler.deleted_jobs),
            "triggers in error": sorted(set(signaler.triggers_in_error)),
            "jobs in error": sorted(set(signaler.jobs_in_error)),
            "errors": len(signaler.errors),
        }
        signaler.clear()
        return told

    def wait_until_due(self, triggers: list[Trigger]) -> None:
        """Move the clock on to the latest of the fire times, as a loop waits before it fires."""
        now = self.driver.clock.now()
        latest = max((trigger.next_fire_time or now for trigger in triggers), default=now)
        self.driver.advance(max(timedelta(0), latest - now))

    def _shown(self, firing: FireInstance) -> FireInstance:
        return replace(firing, fire_instance_id=f"{self.number_of(firing.fire_instance_id):06}")


def _place(firing: FireInstance) -> tuple[str, str, str]:
    return (*firing.trigger_key.paging_order, firing.fire_instance_id)


def _key(trigger: Trigger) -> tuple[str, str]:
    return trigger.key.paging_order
