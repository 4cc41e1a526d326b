"""QuartzContainer: what the schedulers of one application share, and the way to each of them."""

from __future__ import annotations

from typing import Any

from dependency_injector import containers, providers

from quartzite.abc import Clock, Serializer, TypeLoader
from quartzite.clock import SystemClock
from quartzite.container.own import Own
from quartzite.container.scheduler_map import SchedulerMap
from quartzite.engine.scheduler import Scheduler
from quartzite.engine.type_loader import ImportTypeLoader
from quartzite.errors import SchedulerConfigError
from quartzite.model.identity import DEFAULT_SCHEDULER_NAME
from quartzite.serialization.json import JsonSerializer

__all__ = ["QuartzContainer", "quartz_of", "scheduler_named"]


def _scheduler(schedulers: SchedulerMap, name: str = DEFAULT_SCHEDULER_NAME) -> Scheduler:
    return schedulers.scheduler(name)


class QuartzContainer(containers.DeclarativeContainer):
    """Holds the schedulers of one application, by name, and what they share unless one has its own.

    ::

        container = QuartzContainer(application=Application())
        add_quartz(container).schedule(send_digest, every(minutes=5))
        async with running(container):
            await container.scheduler().trigger_job(JobKey("send_digest"))

    It may stand in the application's own container::

        class Application(containers.DeclarativeContainer):
            __self__ = providers.Self()
            quartz = providers.Container(QuartzContainer, application=__self__)

    Two containers know nothing of each other.

    Attributes:
        application: The application's own container, where jobs and parts find what they need; None without one.
        clock: The time of every scheduler that does not override its own.
        serializer: Turns job data, triggers and calendars into bytes, likewise.
        type_loader: Finds jobs by their stored names, likewise.
        schedulers: The containers of the schedulers, by name: ``container.schedulers()["reporting"].clock``.
        scheduler: A running scheduler: ``container.scheduler()``, ``container.scheduler("reporting")``.
    """

    application: providers.Provider[containers.Container | None] = providers.Dependency(default=providers.Object(None))
    clock: providers.Provider[Clock] = providers.ThreadSafeSingleton(SystemClock)
    serializer: providers.Provider[Serializer] = providers.ThreadSafeSingleton(JsonSerializer)
    type_loader: providers.Provider[TypeLoader] = providers.ThreadSafeSingleton(ImportTypeLoader)
    schedulers: providers.Provider[SchedulerMap] = Own(SchedulerMap)
    scheduler: providers.Callable[Scheduler] = providers.Callable(_scheduler, schedulers)


def quartz_of(container: Any) -> QuartzContainer:
    """Return the container itself, or the one that a provider in the application's container holds.

    Raises:
        SchedulerConfigError: it is none.
    """
    quartz = container() if isinstance(container, providers.Container) else container
    if not isinstance(getattr(quartz, "schedulers", None), Own):
        raise SchedulerConfigError(
            f"{container!r} is no QuartzContainer: give one, or the provider of one in the application's container"
        )
    return quartz  # type: ignore[no-any-return]


def scheduler_named(name: str, container: Any = QuartzContainer) -> Any:
    """Return the marker that injects a named scheduler into a wired function.

    ::

        @inject
        async def report(scheduler: Scheduler = Provide[scheduler_named("reporting")]) -> None: ...

    Args:
        name: The scheduler's name.
        container: Where the schedulers are: ``Application.quartz`` when the container stands in the application's.
    """
    return container.schedulers.provided.scheduler.call(name)
