"""running: everything is built, started and ended within the block."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from dependency_injector import containers, providers

from quartzite import JobContext, JobKey, QuartzContainer, RamJobStore, add_quartz, every, running
from quartzite.abc import JobStore, Plugin, SchedulerListener
from quartzite.errors import SchedulerConfigError, SchedulerError
from quartzite.model.identity import SchedulerIdentity
from quartzite.testing import FakeClock

LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


async def nothing() -> None: ...


class Recorder(Plugin, SchedulerListener):
    """Notes what happens to a scheduler, as a plugin and as a listener."""

    name = "recorder"

    def __init__(self, log: list[str], label: str = "") -> None:
        self.log, self.label = log, label

    def note(self, what: str) -> None:
        self.log.append(f"{self.label}{what}")

    async def initialize(self, name: str, scheduler: Any) -> None:
        self.note(f"initialize {name}")

    async def start(self) -> None:
        self.note("start")

    async def shutdown(self) -> None:
        self.note("shutdown")

    async def scheduler_started(self) -> None:
        self.note("started")

    async def scheduler_shutdown(self) -> None:
        self.note("ended")


class Missing:
    pass


async def lonely(missing: Missing) -> None: ...


class FailingPlugin(Plugin):
    async def initialize(self, name: str, scheduler: Any) -> None:
        raise OSError("no such device")


class NotStarting(Plugin):
    async def start(self) -> None:
        raise OSError("will not start")


def add_recorded(container: QuartzContainer, name: str, log: list[str]) -> None:
    recorder = Recorder(log, f"{name}: ")
    add_quartz(container, name).add_plugin(recorder, name="plugin").add_scheduler_listener(recorder)


async def test_nothing_is_built_before_the_block() -> None:
    """Adding schedulers and content constructs nothing."""
    built: list[str] = []

    class Store(RamJobStore):
        def __init__(self, **parts: Any) -> None:
            raise AssertionError

    def make(parts: Any) -> JobStore:
        built.append("store")
        raise SchedulerConfigError("on purpose")

    container = QuartzContainer()
    add_quartz(container).use_job_store(make).schedule(nothing, every(hours=1))
    assert built == []
    with pytest.raises(SchedulerConfigError, match="on purpose"):
        async with running(container):
            pytest.fail("it started")
    assert built == ["store"]


async def test_all_schedulers_are_complete_before_one_starts() -> None:
    """Creation comes first, for every scheduler; then all are started; at the end all are shut down."""
    log: list[str] = []
    container = QuartzContainer()
    add_recorded(container, "a", log)
    add_recorded(container, "b", log)
    async with running(container) as yielded:
        assert yielded is container
        assert log == [
            "a: initialize plugin",
            "b: initialize plugin",
            "a: start",
            "a: started",
            "b: start",
            "b: started",
        ]
        del log[:]
    assert sorted(log) == ["a: ended", "a: shutdown", "b: ended", "b: shutdown"]


async def test_a_failure_shuts_down_what_exists_in_reverse() -> None:
    """The scheduler that fails undoes its own parts, those before it are shut down, and nothing has started."""
    log: list[str] = []
    container = QuartzContainer()
    for name in ("a", "b"):
        add_recorded(container, name, log)
    add_quartz(container, "c").add_plugin(FailingPlugin)
    with pytest.raises(OSError, match="no such device"):
        async with running(container):
            pytest.fail("it started")
    assert log == [
        "a: initialize plugin",
        "b: initialize plugin",
        "b: shutdown",
        "b: ended",
        "a: shutdown",
        "a: ended",
    ]
    assert not container.schedulers().is_running


async def test_a_failing_start_shuts_down_what_has_started() -> None:
    """A plugin that does not start ends all schedulers, and the error comes out."""
    log: list[str] = []
    container = QuartzContainer()
    add_recorded(container, "a", log)
    add_quartz(container, "b").add_plugin(NotStarting)
    with pytest.raises(OSError, match="will not start"):
        async with running(container):
            pytest.fail("it started")
    assert log[-2:] == ["a: shutdown", "a: ended"]


async def test_an_error_in_the_block_comes_out_and_everything_ends() -> None:
    """The schedulers are shut down on every way out."""
    log: list[str] = []
    container = QuartzContainer()
    add_recorded(container, "a", log)
    with pytest.raises(LookupError):
        async with running(container):
            raise LookupError
    assert log[-2:] == ["a: shutdown", "a: ended"]


async def test_a_container_without_schedulers_is_refused() -> None:
    """Somebody forgot add_quartz."""
    with pytest.raises(SchedulerConfigError, match=r"no scheduler: call add_quartz\(container\) first"):
        async with running(QuartzContainer()):
            pytest.fail("it started")


async def test_a_container_runs_once_at_a_time() -> None:
    """A second block inside the first is refused, and so is everything that would have no effect any more."""
    container = QuartzContainer()
    builder = add_quartz(container)
    async with running(container):
        with pytest.raises(SchedulerConfigError, match="running already"):
            async with running(container):
                pytest.fail("it started twice")
        with pytest.raises(SchedulerConfigError, match="scheduler 'late' can not be added: the container is running"):
            add_quartz(container, "late")
        with pytest.raises(SchedulerConfigError, match=r"nothing can not be declared: the container is running"):
            builder.schedule(nothing, every(hours=1))
        with pytest.raises(SchedulerConfigError, match="use_clock: the container is running"):
            builder.use_clock(FakeClock())
        assert container.scheduler().is_started


async def test_each_block_builds_its_own_parts() -> None:
    """Overrides made before a block hold in it; afterwards the parts are forgotten, and others are built."""
    container = QuartzContainer()
    add_quartz(container)
    clock, later = FakeClock(), FakeClock()
    container.clock.override(clock)
    async with running(container):
        first = container.scheduler()
        assert first.clock is clock
    container.clock.override(later)
    with pytest.raises(SchedulerError, match="has been shut down"):
        await first.pause_all()
    async with running(container):
        assert container.scheduler() is not first
        assert container.scheduler().clock is later


async def test_a_part_that_was_asked_for_before_is_the_one_that_runs() -> None:
    """A store that is built by hand may take the signaler from the parts: the scheduler attaches itself to that one."""
    clock = FakeClock()
    container = QuartzContainer()
    builder = add_quartz(container).use_clock(clock)
    parts = builder.parts
    store = RamJobStore(clock=clock, signaler=parts.signaler(), serializer=parts.serializer())
    builder.use_job_store(store)
    signaler = parts.signaler()
    async with running(container):
        assert parts.signaler() is signaler
        assert parts.job_store() is store
    assert parts.signaler() is not signaler


async def test_the_applications_singletons_are_left_alone() -> None:
    """What the application provides is neither reset nor rebuilt, also where it stands for a part."""

    class Application(containers.DeclarativeContainer):
        clock = providers.Singleton(FakeClock)
        plain: providers.Singleton[list[int]] = providers.Singleton(list)

    application = Application()
    container = QuartzContainer(application=application)
    add_quartz(container).use_clock(application.clock)
    clock, plain = application.clock(), application.plain()
    async with running(container):
        assert container.scheduler().clock is clock
    assert application.clock() is clock
    assert application.plain() is plain


async def test_two_schedulers_can_not_share_a_store() -> None:
    """An instance given to both would be initialized twice, and their jobs would mix."""
    clock = FakeClock()
    container = QuartzContainer()
    store = add_quartz(QuartzContainer(), "elsewhere").use_clock(clock).parts.job_store()
    add_quartz(container, "a").use_job_store(store)
    add_quartz(container, "b").use_job_store(store)
    with pytest.raises(SchedulerConfigError, match="schedulers 'a' and 'b' were given the same job store"):
        async with running(container):
            pytest.fail("it started")


async def test_wiring_errors_come_before_anything_is_opened() -> None:
    """A job that nobody can build is reported before the store is initialized."""
    initialized: list[SchedulerIdentity] = []

    class Store(RamJobStore):
        async def initialize(self, identity: SchedulerIdentity) -> None:
            initialized.append(identity)

    container = QuartzContainer()
    add_quartz(container).use_job_store(Store).schedule(lonely, every(hours=1))
    with pytest.raises(SchedulerConfigError) as caught:
        async with running(container):
            pytest.fail("it started")
    message = str(caught.value)
    assert "scheduler 'default' can not be built:" in message
    assert "job DEFAULT.lonely" in message
    assert "argument 'missing': nobody provides a Missing" in message
    assert initialized == []


async def test_content_that_can_not_be_stored_ends_the_start() -> None:
    """The store is as it was, and nothing has fired."""
    stores: list[JobStore] = []
    container = QuartzContainer()
    add_quartz(container, "a")
    builder = (
        add_quartz(container, "b")
        .schedule(nothing, every(hours=1))
        .schedule(nothing, every(hours=1), key="ended", end_at=LONG_AGO, start_at=LONG_AGO)
    )

    class Keeping(RamJobStore):
        async def shutdown(self) -> None:
            stores.append(self)

    builder.use_job_store(Keeping)
    with pytest.raises(SchedulerConfigError, match=r"trigger DEFAULT\.ended never fires"):
        async with running(container):
            pytest.fail("it started")
    assert await stores[0].get_job(JobKey("nothing")) is None


async def test_the_end_waits_for_jobs_unless_told_otherwise() -> None:
    """A job that runs at the end of the block may finish."""
    clock = FakeClock()
    begun, ended = asyncio.Event(), asyncio.Event()

    async def slow(context: JobContext) -> None:
        begun.set()
        await context.scheduler.clock.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        ended.set()

    container = QuartzContainer()
    add_quartz(container).use_clock(clock).schedule(slow, every(hours=1))
    async with running(container):
        await begun.wait()
    assert ended.is_set()


async def test_jobs_that_are_left_running_are_named(caplog: pytest.LogCaptureFixture) -> None:
    """When the end does not wait, a warning says which jobs still run."""
    release, begun = asyncio.Event(), asyncio.Event()

    async def endless() -> None:
        begun.set()
        await release.wait()

    container = QuartzContainer()
    add_quartz(container).schedule(endless, every(hours=1))
    async with running(container, wait_for_jobs=False):
        await begun.wait()
    left = [vars(record)["jobs"] for record in caplog.records if record.msg == "Jobs were left running."]
    assert left == [["DEFAULT.endless"]]
    release.set()
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_job_asks_the_container_for_its_scheduler() -> None:
    """A job finds running schedulers, its own and others, through the container."""
    clock = FakeClock()
    seen: list[tuple[bool, str]] = []
    container = QuartzContainer()

    async def ask(context: JobContext) -> None:
        seen.append((container.scheduler() is context.scheduler, container.scheduler("other").name))

    container.clock.override(clock)
    add_quartz(container).schedule(ask, every(hours=1))
    add_quartz(container, "other")
    async with running(container):
        await clock.settle()
    assert seen == [(True, "other")]
