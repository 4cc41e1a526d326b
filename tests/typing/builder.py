"""What a type checker says about the builder and the container; checked, never run.

A line that must be refused carries the error it is refused with: an unused ``ignore`` is an error itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import assert_type

from dependency_injector import containers, providers

from quartzite import (
    Clock,
    DelegatingJobStore,
    JobContext,
    JobKey,
    JobListener,
    JobStore,
    QuartzContainer,
    RamJobStore,
    Scheduler,
    SchedulerBuilder,
    SchedulerContainer,
    add_quartz,
    create,
    every,
    per_run,
    running,
    running_in_thread,
)
from quartzite.abc import Semaphore
from quartzite.clock import SystemClock
from quartzite.container import PerRun
from quartzite.locks import LocalSemaphore
from quartzite.testing import FakeClock


@dataclass(frozen=True)
class Options:
    url: str


class Store(RamJobStore):
    pass


class Meter:
    pass


class Metered(DelegatingJobStore):
    def __init__(self, inner: JobStore, meter: Meter) -> None:
        super().__init__(inner)


class Listener(JobListener):
    pass


class Application(containers.DeclarativeContainer):
    store = providers.Singleton(Store)


async def job(context: JobContext) -> None: ...


class Report:
    def execute(self, context: JobContext) -> int:
        return 1


def stores(q: SchedulerBuilder, existing: JobStore, application: Application, meter: Meter) -> None:
    assert_type(q.use_job_store(Store), SchedulerBuilder)
    q.use_job_store(Store, options=Options(url="..."))
    q.use_job_store(existing)
    q.use_job_store(application.store)
    q.use_job_store(lambda parts: Metered(create(RamJobStore, parts), meter))
    q.use_job_store(SystemClock)  # type: ignore[arg-type]
    q.use_job_store(existing, options=Options(url="..."))  # type: ignore[call-overload]
    q.use_job_store(lambda parts: SystemClock())  # type: ignore[arg-type, return-value]
    q.decorate_job_store(lambda inner: Metered(inner, meter))
    q.decorate_job_store(Metered)
    q.decorate_job_store(Metered, options=Options(url="..."))
    q.decorate_job_store(lambda inner: 1)  # type: ignore[arg-type, return-value]


def lock_handlers(q: SchedulerBuilder, handler: Semaphore) -> None:
    q.use_lock_handler(LocalSemaphore).use_lock_handler(handler).use_lock_handler(lambda parts: LocalSemaphore())
    q.use_lock_handler(Store)  # type: ignore[arg-type]


def other_parts(q: SchedulerBuilder) -> None:
    q.use_clock(SystemClock).use_clock(FakeClock("2026-01-01T00:00Z")).use_clock(lambda parts: SystemClock())
    q.use_clock(lambda parts: parts.clock())
    q.use_clock(Store)  # type: ignore[arg-type]
    q.use_workers("many")  # type: ignore[arg-type]
    q.add_job_listener(Listener).add_job_listener(Listener()).add_job_listener(lambda parts: Listener())


def content(q: SchedulerBuilder) -> None:
    assert_type(q.schedule(job, every(minutes=5)), SchedulerBuilder)
    q.schedule(Report, every(minutes=5), key="report").schedule(job, every(minutes=5), key=JobKey("a", "b"))
    q.schedule("module:job", every(minutes=5))  # type: ignore[arg-type]
    q.schedule(job, "0 0 * * * ?")  # type: ignore[arg-type]
    q.schedule(job)  # type: ignore[call-arg]
    q.schedule(job, every(minutes=5), priorty=3)  # type: ignore[call-arg]


def parts_of_a_scheduler(container: QuartzContainer) -> None:
    assert_type(add_quartz(container, "fast"), SchedulerBuilder)
    assert_type(container.scheduler("fast"), Scheduler)
    assert_type(container.schedulers()["fast"], SchedulerContainer)
    assert_type(container.schedulers()["fast"].clock(), Clock)
    assert_type(create(Store, container.schedulers()["fast"]), Store)


async def block(container: QuartzContainer) -> None:
    async with running(container) as yielded:
        assert_type(yielded, QuartzContainer)
        await yielded.scheduler().trigger_job(JobKey("a"))


def thread(container: QuartzContainer) -> None:
    with running_in_thread(container) as portal:
        portal.call(container.scheduler().trigger_job, JobKey("a"))


async def opened() -> AsyncIterator[Meter]:
    yield Meter()


def opened_plainly(store: JobStore) -> Iterator[Meter]:
    yield Meter()


async def not_closable() -> Meter:
    return Meter()


def resources(application: Application) -> None:
    assert_type(per_run(opened), PerRun[Meter])
    assert_type(per_run(opened_plainly, application.store), PerRun[Meter])
    assert_type(per_run(asynccontextmanager(opened)), PerRun[Meter])
    assert_type(per_run(contextmanager(opened_plainly)), PerRun[Meter])
    per_run(not_closable)  # type: ignore[arg-type]
