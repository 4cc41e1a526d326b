"""Parts: which annotation asks for which part of a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from quartzite.abc import (
    Clock,
    FiringGate,
    Heartbeat,
    InstanceIdGenerator,
    JobFactory,
    JobStore,
    Semaphore,
    Serializer,
    Signaler,
    TypeLoader,
    WorkerPool,
)
from quartzite.engine.listeners import ListenerManager
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import SchedulerConfigError
from quartzite.settings import SchedulerSettings

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer

__all__ = ["narrower_part", "part_of"]

_PARTS: Final[Mapping[type, str]] = {
    Clock: "clock",
    FiringGate: "firing_gate",
    Heartbeat: "heartbeat",
    InstanceIdGenerator: "instance_id_generator",
    JobFactory: "job_factory",
    JobStore: "job_store",
    ListenerManager: "listener_manager",
    Scheduler: "scheduler",
    SchedulerSettings: "settings",
    Semaphore: "semaphore",
    Serializer: "serializer",
    Signaler: "signaler",
    TypeLoader: "type_loader",
    WorkerPool: "worker_pool",
    ZoneInfo: "time_zone",
}


def part_of(parts: SchedulerContainer, wanted: Any, *, optional: bool) -> Callable[[], Any] | None:
    """Return the provider of the part that an annotation asks for, None when it asks for no part.

    Who can do without a lock handler (``Semaphore | None``) gets one only when the application chose one: such a
    store picks its own otherwise.
    """
    if isinstance(wanted, type) and wanted is parts.declarative_parent:
        return lambda: parts
    if wanted is Semaphore and optional:
        return parts.lock_handler
    name = _PARTS.get(wanted) if isinstance(wanted, type) else None
    return None if name is None else parts.providers[name]


def narrower_part(parts: SchedulerContainer, wanted: Any) -> Callable[[], Any] | None:
    """Return the part that an annotation with a subclass of its contract asks for, None when it is none such.

    Raises:
        SchedulerConfigError: the scheduler has another kind of that part.
    """
    for contract, name in _PARTS.items():
        if isinstance(wanted, type) and issubclass(wanted, contract):
            part = parts.providers[name]()
            if isinstance(part, wanted):
                return lambda: part
            raise SchedulerConfigError(
                f"the {name} of this scheduler is a {type(part).__qualname__}, not a {wanted.__qualname__}: ask for "
                f"{contract.__qualname__}, or choose that one with use_{name}"
            )
    return None
