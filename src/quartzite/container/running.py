"""running and run: from a container of providers to schedulers that fire, and back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar

from dependency_injector import providers

from quartzite.abc import JobStore, SchedulerListener
from quartzite.container.content import ReadyContent
from quartzite.container.quartz import QuartzContainer, quartz_of
from quartzite.container.resources import open_resources
from quartzite.container.scheduler import SchedulerContainer
from quartzite.container.scheduler_map import SchedulerMap
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import SchedulerConfigError
from quartzite.stores.delegating import DelegatingJobStore

__all__ = ["run", "running"]

C = TypeVar("C", bound="QuartzContainer | providers.Container[Any]")
_LOGGER: Final = logging.getLogger("quartzite.container")
_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


@asynccontextmanager
async def running(
    container: C, *, wait_for_jobs: bool = True, shutdown_timeout: timedelta | None = None
) -> AsyncIterator[C]:
    """Run the schedulers of a container for as long as the block lasts.

    * Start-up order: the resources of the application that nobody opened yet; then for each scheduler the graph of
      its parts, its identity, ``job_store.initialize``, plugins, content; and once all are complete their loops.
    * When anything fails, what exists is shut down again; until all are complete nothing fires.
    * At the end all schedulers stop firing at once, what was acquired is given back, jobs that run may finish, and
      the resources that were opened here are closed. The parts are forgotten: the next block builds new ones.
    * Overrides made before the block hold in it; a part that was asked for before them is built already, and stays.

    Args:
        container: A :class:`QuartzContainer`, or the provider of one in the application's container.
        wait_for_jobs: Whether the end waits for jobs that run. In a test with a clock that stands still, a job that
            sleeps on it does not end by itself.
        shutdown_timeout: How long at most, None for as long as it takes.

    Yields:
        The container.

    Raises:
        SchedulerConfigError: the wiring or the content is wrong, listing every problem; or the container is running.
    """
    quartz = quartz_of(container)
    schedulers = quartz.schedulers()
    schedulers.begin()
    try:
        async with open_resources(quartz.application()):
            ending = _Ending(wait=wait_for_jobs, timeout=shutdown_timeout)
            started = await _start(schedulers, ending)
            try:
                yield container
            finally:
                await ending.shut_down(started)
    finally:
        schedulers.end()
        for parts in schedulers.values():
            _forget(parts)


def run(
    container: QuartzContainer | providers.Container[Any],
    *,
    wait_for_jobs: bool = True,
    shutdown_timeout: timedelta | None = None,
) -> None:
    """Run the schedulers of a container until SIGINT or SIGTERM, or until all of them were shut down.

    The first signal ends everything gracefully, as :func:`running` does; a second one at once. Needs no running event
    loop: it makes one.

    Args:
        container: See :func:`running`.
        wait_for_jobs: See :func:`running`.
        shutdown_timeout: See :func:`running`.
    """
    # What a second signal cancels has nothing to say about it.
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_run(container, wait_for_jobs, shutdown_timeout))


async def _run(container: Any, wait_for_jobs: bool, shutdown_timeout: timedelta | None) -> None:
    stop = asyncio.Event()
    with _stopping_on_signals(stop):
        async with running(container, wait_for_jobs=wait_for_jobs, shutdown_timeout=shutdown_timeout):
            schedulers = quartz_of(container).schedulers()
            _LastOne([schedulers.scheduler(name) for name in schedulers], stop)
            await stop.wait()


async def _start(schedulers: SchedulerMap, ending: _Ending) -> list[Scheduler]:
    """Create all schedulers, then start them; a failure shuts down those that exist, the last one first."""
    created: list[Scheduler] = []
    try:
        contents = _built(schedulers)
        for name, content in contents.items():
            scheduler = schedulers[name].scheduler()
            await scheduler.initialize(content.plugins)
            created.append(scheduler)
            await content.apply()
        schedulers.publish({scheduler.name: scheduler for scheduler in created})
        for scheduler in created:
            await scheduler.start()
    except BaseException:
        for scheduler in reversed(created):
            await ending.shut_down([scheduler])
        raise
    return created


def _built(schedulers: SchedulerMap) -> dict[str, ReadyContent]:
    """Build the graph of every scheduler, before anything is opened.

    Raises:
        SchedulerConfigError: a part can not be built, or two schedulers would share a store.
    """
    contents: dict[str, ReadyContent] = {}
    owners: dict[int, str] = {}
    for name, parts in schedulers.items():
        parts.check_dependencies()
        parts.scheduler()
        owner = owners.setdefault(id(_real_store(parts.job_store())), name)
        if owner != name:
            raise SchedulerConfigError(
                f"schedulers {owner!r} and {name!r} were given the same job store: give each its own, for example by "
                "the class instead of an instance"
            )
        contents[name] = parts.content().build(parts)
    return contents


def _real_store(store: JobStore) -> JobStore:
    return store.inner_job_store if isinstance(store, DelegatingJobStore) else store


def _forget(parts: SchedulerContainer) -> None:
    """Reset the singletons of a scheduler's own parts, and of what overrides them; nothing of the application's."""
    for part in parts.providers.values():
        for provider in (part, *part.overridden):
            if isinstance(provider, providers.BaseSingleton):
                provider.reset()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """How schedulers are shut down."""

    wait: bool
    timeout: timedelta | None

    async def shut_down(self, schedulers: list[Scheduler]) -> None:
        # At the same time: none goes on firing while another one waits for its jobs.
        shutdowns = (scheduler.shutdown(wait=self.wait, timeout=self.timeout) for scheduler in schedulers)
        ends = await asyncio.gather(*shutdowns, return_exceptions=True)
        for scheduler, end in zip(schedulers, ends, strict=True):
            if isinstance(end, BaseException):
                _LOGGER.error("A scheduler could not be shut down.", exc_info=end, extra={"scheduler": scheduler.name})
            elif not end.is_clean:
                left = [str(one.job_key) for one in end.left_running]
                _LOGGER.warning("Jobs were left running.", extra={"scheduler": scheduler.name, "jobs": left})


class _LastOne(SchedulerListener):
    """Sets an event when the last of some schedulers was shut down."""

    name = "quartzite.run"

    def __init__(self, schedulers: list[Scheduler], stop: asyncio.Event) -> None:
        self._left = len(schedulers)
        self._stop = stop
        for scheduler in schedulers:
            scheduler.listener_manager.add_scheduler_listener(self)

    async def scheduler_shutdown(self) -> None:
        """Count one less."""
        self._left -= 1
        if self._left == 0:
            self._stop.set()


@contextmanager
def _stopping_on_signals(stop: asyncio.Event) -> Iterator[None]:
    """Set an event with the first signal, and cancel the calling task with the second."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def on_signal() -> None:
        if stop.is_set() and task is not None:
            task.cancel()
        stop.set()

    installed = [number for number in _STOP_SIGNALS if _install(loop, number, on_signal)]
    try:
        yield
    finally:
        for number in installed:
            loop.remove_signal_handler(number)


def _install(loop: asyncio.AbstractEventLoop, number: signal.Signals, handler: Callable[[], None]) -> bool:
    try:
        loop.add_signal_handler(number, handler)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
        return False
    return True
