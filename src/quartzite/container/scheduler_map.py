"""SchedulerMap: the schedulers of one container, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from quartzite.errors import SchedulerConfigError
from quartzite.model.identity import DEFAULT_SCHEDULER_NAME

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer
    from quartzite.engine.scheduler import Scheduler

__all__ = ["SchedulerMap"]


class SchedulerMap(Mapping[str, "SchedulerContainer"]):
    """The containers of the schedulers, in the order in which they were added, and which of them run.

    A name that is not there is an error that tells the names that are.
    """

    def __init__(self) -> None:
        self._parts: dict[str, SchedulerContainer] = {}
        self._running: dict[str, Scheduler] | None = None
        self._lock = Lock()

    def __getitem__(self, name: str) -> SchedulerContainer:
        try:
            return self._parts[name]
        except KeyError:
            raise _UnknownSchedulerError(f"there is no scheduler {name!r}: {self._known()}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._parts))

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        return f"schedulers {', '.join(map(repr, self._parts)) or '(none)'}"

    @property
    def is_running(self) -> bool:
        """Whether the container is within ``running(...)``."""
        return self._running is not None

    def add(self, name: str, parts: SchedulerContainer) -> None:
        """Add the container of one more scheduler.

        Raises:
            SchedulerConfigError: the name is taken, or the container is running.
        """
        with self._lock:
            self.refuse_while_running(f"scheduler {name!r} can not be added")
            if name in self._parts:
                raise SchedulerConfigError(f"scheduler {name!r} exists already: give each one a name of its own")
            self._parts[name] = parts

    def refuse_while_running(self, what: str) -> None:
        """Refuse what would have no effect any more.

        Raises:
            SchedulerConfigError: the container is running.
        """
        if self._running is not None:
            raise SchedulerConfigError(f"{what}: the container is running; do it before, or ask the running scheduler")

    def scheduler(self, name: str = DEFAULT_SCHEDULER_NAME) -> Scheduler:
        """Return a running scheduler.

        Raises:
            SchedulerConfigError: there is none of that name, or it does not run.
        """
        if self._running is not None and name in self._running:
            return self._running[name]
        self[name]
        raise SchedulerConfigError(
            f"scheduler {name!r} is not running: ask for it within `async with running(container)`, or in a job"
        )

    def begin(self) -> None:
        """Note that the container is started.

        Raises:
            SchedulerConfigError: it is running already, or has no scheduler.
        """
        with self._lock:
            if self._running is not None:
                raise SchedulerConfigError("the container is running already: one running(...) at a time")
            if not self._parts:
                raise SchedulerConfigError("the container has no scheduler: call add_quartz(container) first")
            self._running = {}

    def publish(self, schedulers: Mapping[str, Scheduler]) -> None:
        """Let the schedulers be found by name: they are complete."""
        self._running = dict(schedulers)

    def end(self) -> None:
        """Note that no scheduler runs any more."""
        self._running = None

    def _known(self) -> str:
        names = ", ".join(map(repr, self._parts))
        return f"there are {names}" if names else "none was added; call add_quartz(container)"


class _UnknownSchedulerError(SchedulerConfigError, KeyError):
    """No scheduler has that name; a KeyError too, as it must be for a mapping."""

    __str__ = Exception.__str__
