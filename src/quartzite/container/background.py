"""running_in_thread: schedulers for applications that have no event loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from dependency_injector import providers

from quartzite.container.quartz import QuartzContainer
from quartzite.container.running import running

__all__ = ["running_in_thread"]


@contextmanager
def running_in_thread(
    container: QuartzContainer | providers.Container[Any],
    *,
    wait_for_jobs: bool = True,
    shutdown_timeout: timedelta | None = None,
) -> Iterator[BlockingPortal]:
    """Run the schedulers of a container on an event loop in a thread, for as long as the block lasts.

    For Django, Flask and scripts: the portal calls any method of a scheduler and waits for its result (decision 1).

    ::

        with running_in_thread(container) as portal:
            portal.call(container.scheduler().trigger_job, JobKey("report"))

    Args:
        container: See :func:`running`.
        wait_for_jobs: See :func:`running`.
        shutdown_timeout: See :func:`running`.

    Yields:
        The way into the thread, usable from every other thread.
    """
    with (
        start_blocking_portal("asyncio") as portal,
        portal.wrap_async_context_manager(
            running(container, wait_for_jobs=wait_for_jobs, shutdown_timeout=shutdown_timeout)
        ),
    ):
        yield portal
