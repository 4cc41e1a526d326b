"""The start-up order, told by a recording store, lock handler, id generator and plugin.

However the application hands its store over, it is built once, initialized once, and before everything that uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from quartzite import QuartzContainer, SchedulerBuilder, SchedulerContainer, add_quartz, every, running
from quartzite.abc import Clock, InstanceIdGenerator, Plugin, Semaphore, Serializer, Signaler
from quartzite.calendars import HolidayCalendar
from quartzite.engine.scheduler import Scheduler
from quartzite.errors import JobPersistenceError
from quartzite.execution import JobContext
from quartzite.locks.local import LocalSemaphore
from quartzite.model.identity import SchedulerIdentity, SemaphoreContext
from quartzite.stores.ram.store import RamJobStore
from quartzite.testing import FakeClock, Recorded, RecordingJobStore


@dataclass
class Log:
    """What happened, in order."""

    calls: list[Recorded] = field(default_factory=list)

    def note(self, name: str, *args: Any) -> None:
        self.calls.append(Recorded(name, args))

    @property
    def names(self) -> list[str]:
        return [call.name for call in self.calls]


class OrderedStore(RecordingJobStore):
    """A store that looks like one of a cluster, and initializes its lock handler as every store must."""

    def __init__(
        self,
        clock: Clock,
        signaler: Signaler,
        serializer: Serializer,
        semaphore: Semaphore | None = None,
        log: Log | None = None,
    ) -> None:
        self._log = log or Log()
        super().__init__(RamJobStore(clock=clock, signaler=signaler, serializer=serializer), log=self._log.calls)
        self._log.note("store built")
        self._clock = clock
        self._semaphore = semaphore or OrderedSemaphore(self._log)

    @property
    def clustered(self) -> bool:
        return True

    async def initialize(self, identity: SchedulerIdentity) -> None:
        self._log.note("store.initialize", identity)
        context = SemaphoreContext(
            scheduler_name=identity.scheduler_name, instance_id=identity.instance_id, clock=self._clock
        )
        await self._semaphore.initialize(context)
        await self._inner.initialize(identity)


class OrderedSemaphore(LocalSemaphore):
    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log
        log.note("semaphore built")

    async def initialize(self, context: SemaphoreContext) -> None:
        self._log.note("semaphore.initialize", context.scheduler_name, context.instance_id)
        await super().initialize(context)


class OrderedGenerator(InstanceIdGenerator):
    def __init__(self, log: Log) -> None:
        self._log = log

    def generate(self) -> str:
        self._log.note("id generated")
        return "node-1"


class OrderedPlugin(Plugin):
    def __init__(self, log: Log) -> None:
        self._log = log

    async def initialize(self, name: str, scheduler: Scheduler) -> None:
        self._log.note("plugin.initialize", name, scheduler.name)

    async def start(self) -> None:
        self._log.note("plugin.start")

    async def shutdown(self) -> None:
        self._log.note("plugin.shutdown")


class LoggedStore(OrderedStore):
    """Finds its log without options: the application's container provides it to nobody here."""

    log = Log()

    def __init__(self, clock: Clock, signaler: Signaler, serializer: Serializer, semaphore: Semaphore | None) -> None:
        super().__init__(clock, signaler, serializer, semaphore, self.log)


Choose = Callable[[SchedulerBuilder, Log], None]


def as_class(builder: SchedulerBuilder, log: Log) -> None:
    LoggedStore.log = log
    builder.use_job_store(LoggedStore)


def as_class_with_options(builder: SchedulerBuilder, log: Log) -> None:
    builder.use_job_store(OrderedStore, options=log)


def as_instance(builder: SchedulerBuilder, log: Log) -> None:
    parts = builder.parts
    store = OrderedStore(parts.clock(), parts.signaler(), parts.serializer(), parts.lock_handler(), log)
    builder.use_job_store(store)


def as_factory(builder: SchedulerBuilder, log: Log) -> None:
    def make(parts: SchedulerContainer) -> OrderedStore:
        return OrderedStore(parts.clock(), parts.signaler(), parts.serializer(), parts.lock_handler(), log)

    builder.use_job_store(make)


async def work(context: JobContext) -> None: ...


def complete(container: QuartzContainer, clock: FakeClock, choose: Choose, log: Log) -> SchedulerBuilder:
    """Add a scheduler that has everything whose order matters."""
    builder = add_quartz(container, "ordered").use_clock(clock)
    builder.use_instance_id_generator(OrderedGenerator(log)).configure(instance_id="AUTO")
    builder.add_plugin(OrderedPlugin(log), name="ordered")
    builder.add_calendar("holidays", HolidayCalendar()).schedule(work, every(hours=1), calendar_name="holidays")
    choose(builder, log)
    return builder


CHOICES = pytest.mark.parametrize("choose", [as_class, as_class_with_options, as_instance, as_factory])
SUPPLIED = pytest.mark.parametrize("supplied", [True, False], ids=["lock handler chosen", "lock handler of the store"])
ORDER = [
    "id generated",
    "store.initialize",
    "semaphore.initialize",
    "plugin.initialize",
    "add_calendar",
    "schedule_jobs",
    "scheduler_started",
    "plugin.start",
    "acquire_next_triggers",
]


@CHOICES
@SUPPLIED
async def test_everything_happens_in_its_order(choose: Choose, supplied: bool) -> None:
    """Graph, identity, store with its lock handler, plugins, content, recovery, plugins' start, loop."""
    clock, log = FakeClock(), Log()
    container = QuartzContainer()

    def choose_both(builder: SchedulerBuilder, log: Log) -> None:
        if supplied:
            builder.use_lock_handler(lambda _: OrderedSemaphore(log))
        choose(builder, log)

    complete(container, clock, choose_both, log)
    async with running(container):
        await clock.settle()
        names = log.names
    assert [name for name in names if name in ORDER][: len(ORDER)] == ORDER
    assert names.index("store built") < names.index("id generated")
    for once in ("store built", "semaphore built", "store.initialize", "semaphore.initialize", "scheduler_started"):
        assert names.count(once) == 1, once
    assert names.index("acquire_next_triggers") > names.index("plugin.start")


@CHOICES
async def test_the_identity_is_settled_before_the_store_is_initialized(choose: Choose) -> None:
    """The store and its lock handler hear the name and the id that was made, and nothing touches the store before."""
    clock, log = FakeClock(), Log()
    container = QuartzContainer()
    complete(container, clock, choose, log)
    async with running(container):
        assert container.scheduler("ordered").instance_id == "node-1"
    identity = SchedulerIdentity(scheduler_name="ordered", instance_id="node-1")
    assert Recorded("store.initialize", (identity,)) in log.calls
    assert Recorded("semaphore.initialize", ("ordered", "node-1")) in log.calls
    before = log.names[: log.names.index("store.initialize")]
    assert set(before) <= {"store built", "semaphore built", "id generated"}


@CHOICES
async def test_the_store_ends_last(choose: Choose) -> None:
    """Plugins end before the store, which is shut down once."""
    clock, log = FakeClock(), Log()
    container = QuartzContainer()
    complete(container, clock, choose, log)
    async with running(container):
        await clock.settle()
    assert log.names.count("shutdown") == 1
    assert log.names[-2:] == ["plugin.shutdown", "shutdown"]


async def test_a_store_that_can_not_be_initialized_ends_the_start() -> None:
    """The store is shut down, no plugin is initialized, and the error comes out."""

    class Away(OrderedStore):
        async def initialize(self, identity: SchedulerIdentity) -> None:
            raise JobPersistenceError("the database is away")

    log = Log()
    container = QuartzContainer()
    complete(container, FakeClock(), lambda builder, log: _use(builder, Away, log), log)
    with pytest.raises(JobPersistenceError, match="the database is away"):
        async with running(container):
            pytest.fail("it started")
    assert "plugin.initialize" not in log.names
    assert log.names[-1] == "shutdown"


def _use(builder: SchedulerBuilder, store: type[OrderedStore], log: Log) -> None:
    builder.use_job_store(store, options=log)
