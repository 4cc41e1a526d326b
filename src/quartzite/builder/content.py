"""DeclaredContent: what the builder gathered, to be built and stored when its scheduler is created."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from quartzite.abc import JobListener, Plugin, SchedulerListener, TriggerListener
from quartzite.builder.declarations import DeclaredTrigger
from quartzite.builder.reconciling import reconcile
from quartzite.builder.scheduling_data import ContentRules, NamedCalendar, SchedulingData
from quartzite.container.content import Content, ReadyContent
from quartzite.container.scheduler import SchedulerContainer
from quartzite.errors import SchedulerConfigError, SchedulerError
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.matchers import Matcher

__all__ = ["DeclaredContent"]

T = TypeVar("T")
Make: TypeAlias = Callable[[], T]


class DeclaredContent(Content):
    """Jobs, triggers, calendars, listeners and plugins in the order of their declaration.

    What is named twice is refused at once; what needs the parts of the scheduler is built when it is created, anew
    for each life of the container.
    """

    def __init__(self) -> None:
        self.rules = ContentRules()
        self._jobs: dict[JobKey, JobDetail] = {}
        self._triggers: dict[TriggerKey, DeclaredTrigger] = {}
        self._calendars: dict[str, NamedCalendar] = {}
        self._plugins: dict[str, Make[Plugin]] = {}
        self._job_listeners: list[tuple[Make[JobListener], tuple[Matcher[JobKey], ...]]] = []
        self._trigger_listeners: list[tuple[Make[TriggerListener], tuple[Matcher[TriggerKey], ...]]] = []
        self._scheduler_listeners: list[Make[SchedulerListener]] = []

    def add_content(self, job: JobDetail | None, trigger: DeclaredTrigger | None) -> None:
        """Add a job, a trigger, or both; when one of them is refused, neither is added.

        Raises:
            SchedulerConfigError: a key is taken.
        """
        if job is not None:
            _refuse_taken("job", job.key, self._jobs)
        if trigger is not None:
            _refuse_taken("trigger", trigger.key, self._triggers)
            self._triggers[trigger.key] = trigger
        if job is not None:
            self._jobs[job.key] = job

    def add_calendar(self, calendar: NamedCalendar) -> None:
        """Add a calendar.

        Raises:
            SchedulerConfigError: the name is taken.
        """
        _refuse_taken("calendar", calendar.name, self._calendars)
        self._calendars[calendar.name] = calendar

    def add_plugin(self, name: str, make: Make[Plugin]) -> None:
        """Add a plugin; its name is its identity.

        Raises:
            SchedulerConfigError: the name is taken.
        """
        _refuse_taken("plugin", name, self._plugins)
        self._plugins[name] = make

    def add_job_listener(self, make: Make[JobListener], matchers: tuple[Matcher[JobKey], ...]) -> None:
        """Add a job listener for the jobs that any of the matchers selects; for all without one."""
        self._job_listeners.append((make, matchers))

    def add_trigger_listener(self, make: Make[TriggerListener], matchers: tuple[Matcher[TriggerKey], ...]) -> None:
        """Add a trigger listener for the triggers that any of the matchers selects; for all without one."""
        self._trigger_listeners.append((make, matchers))

    def add_scheduler_listener(self, make: Make[SchedulerListener]) -> None:
        """Add a scheduler listener."""
        self._scheduler_listeners.append(make)

    def build(self, parts: SchedulerContainer) -> ReadyContent:
        """Build the listeners and plugins, and check the jobs.

        Raises:
            SchedulerConfigError: listing every problem.
        """
        problems = [*self._problems_of_jobs(parts)]
        built = _BuiltContent(
            parts=parts,
            declared=self,
            plugins=dict(zip(self._plugins, _all_built(self._plugins.values(), problems), strict=False)),
            job_listeners=_all_built((make for make, _ in self._job_listeners), problems),
            trigger_listeners=_all_built((make for make, _ in self._trigger_listeners), problems),
            scheduler_listeners=_all_built(self._scheduler_listeners, problems),
        )
        for listeners in (built.job_listeners, built.trigger_listeners, built.scheduler_listeners):
            problems += _same_names(listeners)
        if problems:
            title = f"scheduler {parts.name()!r} can not be built:"
            raise SchedulerConfigError("\n  ".join([title, *problems]))
        return built

    def data(self, time_zone: ZoneInfo) -> SchedulingData:
        """Return the calendars, jobs and triggers, built for a scheduler's time zone."""
        return SchedulingData(
            calendars=self._calendars,
            jobs=self._jobs,
            triggers={key: declared.make(time_zone) for key, declared in self._triggers.items()},
            rules=self.rules,
        )

    @property
    def job_matchers(self) -> list[tuple[Matcher[JobKey], ...]]:
        """The matchers of each job listener."""
        return [matchers for _, matchers in self._job_listeners]

    @property
    def trigger_matchers(self) -> list[tuple[Matcher[TriggerKey], ...]]:
        """The matchers of each trigger listener."""
        return [matchers for _, matchers in self._trigger_listeners]

    def _problems_of_jobs(self, parts: SchedulerContainer) -> Iterator[str]:
        factory, loader = parts.job_factory(), parts.type_loader()
        for job in self._jobs.values():
            try:
                # A stored job knows only its name: this is how the name leads to the job of this process.
                loader.register(job.job_type)
                factory.check(job.job_type)
            except SchedulerError as error:
                yield f"job {job.key}: {_indented(error)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _BuiltContent(ReadyContent):
    """The content of one life of a scheduler."""

    parts: SchedulerContainer
    declared: DeclaredContent
    plugins: Mapping[str, Plugin]
    job_listeners: Sequence[JobListener]
    trigger_listeners: Sequence[TriggerListener]
    scheduler_listeners: Sequence[SchedulerListener]

    async def apply(self) -> None:
        """Register the listeners, then store the calendars, jobs and triggers."""
        manager = self.parts.listener_manager()
        for listener in self.scheduler_listeners:
            manager.add_scheduler_listener(listener)
        for job_listener, job_matchers in zip(self.job_listeners, self.declared.job_matchers, strict=True):
            manager.add_job_listener(job_listener, *job_matchers)
        for trigger_listener, matchers in zip(self.trigger_listeners, self.declared.trigger_matchers, strict=True):
            manager.add_trigger_listener(trigger_listener, *matchers)
        await reconcile(self.declared.data(self.parts.time_zone()), self.parts.scheduler())


def _all_built(makes: Iterable[Make[T]], problems: list[str]) -> list[T]:
    built = []
    for make in makes:
        try:
            built.append(make())
        except SchedulerConfigError as error:
            problems.append(_indented(error))
    return built


def _indented(error: Exception) -> str:
    return str(error).replace("\n", "\n  ")


def _same_names(listeners: Sequence[JobListener | TriggerListener | SchedulerListener]) -> Iterator[str]:
    counted = Counter(listener.name for listener in listeners)
    for name, count in counted.items():
        if count > 1:
            # The manager knows listeners by their names: the second one would silently take the first one's place.
            yield f"{count} listeners of one kind are called {name!r}: give each a name of its own"


def _refuse_taken(kind: str, key: object, declared: Collection[object]) -> None:
    if key in declared:
        raise SchedulerConfigError(f"{kind} {key} was declared already: give this one another key=...")
