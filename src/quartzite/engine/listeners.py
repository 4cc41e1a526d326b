"""ListenerManager: which listeners a scheduler has, and which of them hear about a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from quartzite.abc import JobListener, SchedulerListener, TriggerListener
from quartzite.errors import InvalidValueError
from quartzite.model.keys import JobKey, Key, TriggerKey
from quartzite.model.matchers import Matcher

__all__ = ["ListenerManager"]

L = TypeVar("L", JobListener, TriggerListener)
K = TypeVar("K", bound=Key)


@dataclass(frozen=True, slots=True)
class _Registered(Generic[L, K]):
    listener: L
    matchers: tuple[Matcher[K], ...]

    def hears(self, key: K) -> bool:
        return not self.matchers or any(matcher.matches(key) for matcher in self.matchers)


class _Register(Generic[L, K]):
    """The listeners of one kind by name, in the order of registration; a listener without matchers hears all."""

    __slots__ = ("_by_name", "_kind", "_on_change", "_snapshot")

    def __init__(self, kind: str, on_change: Callable[[], None]) -> None:
        self._kind = kind
        self._on_change = on_change
        self._by_name: dict[str, _Registered[L, K]] = {}
        # Firings read this tuple while others register: it is replaced as a whole, never changed.
        self._snapshot: tuple[_Registered[L, K], ...] = ()

    def __bool__(self) -> bool:
        return bool(self._snapshot)

    def put(self, listener: L, matchers: Sequence[Matcher[K]]) -> None:
        name = _checked_name(self._kind, listener.name)
        self._by_name[name] = _Registered(listener, _checked_matchers(name, matchers))
        self._changed()

    def remove(self, name: str) -> bool:
        found = self._by_name.pop(name, None) is not None
        self._changed()
        return found

    def get(self, name: str) -> L | None:
        registered = self._by_name.get(name)
        return None if registered is None else registered.listener

    def all(self) -> list[L]:
        return [registered.listener for registered in self._snapshot]

    def hearing(self, key: K) -> list[L]:
        return [registered.listener for registered in self._snapshot if registered.hears(key)]

    def matchers(self, name: str) -> list[Matcher[K]]:
        registered = self._by_name.get(name)
        return [] if registered is None else list(registered.matchers)

    def set_matchers(self, name: str, matchers: Sequence[Matcher[K]]) -> bool:
        registered = self._by_name.get(name)
        if registered is None:
            return False
        self._by_name[name] = _Registered(registered.listener, _checked_matchers(name, matchers))
        self._changed()
        return True

    def add_matcher(self, name: str, matcher: Matcher[K]) -> bool:
        return self.set_matchers(name, [*self.matchers(name), matcher])

    def remove_matcher(self, name: str, matcher: Matcher[K]) -> bool:
        present = self.matchers(name)
        if matcher not in present:
            return False
        present.remove(matcher)
        return self.set_matchers(name, present)

    def _changed(self) -> None:
        self._snapshot = tuple(self._by_name.values())
        self._on_change()


class ListenerManager:
    """The listeners of one scheduler (spec 05 section 2).

    * A listener is known by its ``name``; registering one of the same name replaces the former with its matchers,
      in its place.
    * Listeners are told in the order of registration.
    * Job and trigger listeners hear of the keys that any of their matchers selects; without matchers of every key.
    * Listings are snapshots: they do not change when somebody registers meanwhile.

    Raises:
        InvalidValueError: from every ``add_*``, when the name is no text or blank, or a matcher is none.
    """

    def __init__(self) -> None:
        self._jobs: _Register[JobListener, JobKey] = _Register("job listener", self._changed)
        self._triggers: _Register[TriggerListener, TriggerKey] = _Register("trigger listener", self._changed)
        self._scheduler: dict[str, SchedulerListener] = {}
        self._scheduler_snapshot: tuple[SchedulerListener, ...] = ()
        # Attributes, not properties: every firing asks several times, and mostly the answer is no.
        self.hears_firings = False
        """Whether any job or trigger listener is registered; without one, a firing looks no further."""
        self.hears_scheduler = False
        """Whether any scheduler listener is registered."""

    # Job listeners --------------------------------------------------------------------------------------------

    def add_job_listener(self, listener: JobListener, *matchers: Matcher[JobKey]) -> None:
        """Register a job listener for the jobs that a matcher selects; without matchers for all."""
        self._jobs.put(listener, matchers)

    def remove_job_listener(self, name: str) -> bool:
        """Forget a job listener and its matchers; tell whether it was there."""
        return self._jobs.remove(name)

    def get_job_listener(self, name: str) -> JobListener | None:
        """Return a job listener, or None."""
        return self._jobs.get(name)

    def get_job_listeners(self) -> list[JobListener]:
        """Return all job listeners, in the order of registration."""
        return self._jobs.all()

    def add_job_listener_matcher(self, name: str, matcher: Matcher[JobKey]) -> bool:
        """Let a job listener hear of more jobs; False when there is no such listener."""
        return self._jobs.add_matcher(name, matcher)

    def remove_job_listener_matcher(self, name: str, matcher: Matcher[JobKey]) -> bool:
        """Remove an equal matcher; without its last one it hears of all jobs. False when it has none such."""
        return self._jobs.remove_matcher(name, matcher)

    def set_job_listener_matchers(self, name: str, matchers: Sequence[Matcher[JobKey]]) -> bool:
        """Replace the matchers of a job listener, empty for all jobs; False when there is no such listener."""
        return self._jobs.set_matchers(name, matchers)

    def get_job_listener_matchers(self, name: str) -> list[Matcher[JobKey]]:
        """Return the matchers of a job listener; empty when it has none, or is not there."""
        return self._jobs.matchers(name)

    # Trigger listeners ----------------------------------------------------------------------------------------

    def add_trigger_listener(self, listener: TriggerListener, *matchers: Matcher[TriggerKey]) -> None:
        """Register a trigger listener for the triggers that a matcher selects; without matchers for all."""
        self._triggers.put(listener, matchers)

    def remove_trigger_listener(self, name: str) -> bool:
        """Forget a trigger listener and its matchers; tell whether it was there."""
        return self._triggers.remove(name)

    def get_trigger_listener(self, name: str) -> TriggerListener | None:
        """Return a trigger listener, or None."""
        return self._triggers.get(name)

    def get_trigger_listeners(self) -> list[TriggerListener]:
        """Return all trigger listeners, in the order of registration."""
        return self._triggers.all()

    def add_trigger_listener_matcher(self, name: str, matcher: Matcher[TriggerKey]) -> bool:
        """Let a trigger listener hear of more triggers; False when there is no such listener."""
        return self._triggers.add_matcher(name, matcher)

    def remove_trigger_listener_matcher(self, name: str, matcher: Matcher[TriggerKey]) -> bool:
        """Remove an equal matcher; without its last one it hears of all triggers. False when it has none such."""
        return self._triggers.remove_matcher(name, matcher)

    def set_trigger_listener_matchers(self, name: str, matchers: Sequence[Matcher[TriggerKey]]) -> bool:
        """Replace the matchers of a trigger listener, empty for all; False when there is no such listener."""
        return self._triggers.set_matchers(name, matchers)

    def get_trigger_listener_matchers(self, name: str) -> list[Matcher[TriggerKey]]:
        """Return the matchers of a trigger listener; empty when it has none, or is not there."""
        return self._triggers.matchers(name)

    # Scheduler listeners --------------------------------------------------------------------------------------

    def add_scheduler_listener(self, listener: SchedulerListener) -> None:
        """Register a scheduler listener."""
        self._scheduler[_checked_name("scheduler listener", listener.name)] = listener
        self._changed()

    def remove_scheduler_listener(self, name: str) -> bool:
        """Forget a scheduler listener; tell whether it was there."""
        found = self._scheduler.pop(name, None) is not None
        self._changed()
        return found

    def get_scheduler_listener(self, name: str) -> SchedulerListener | None:
        """Return a scheduler listener, or None."""
        return self._scheduler.get(name)

    def get_scheduler_listeners(self) -> list[SchedulerListener]:
        """Return all scheduler listeners, in the order of registration."""
        return list(self._scheduler_snapshot)

    # What a firing asks ---------------------------------------------------------------------------------------

    def job_listeners_for(self, key: JobKey) -> list[JobListener]:
        """Return the job listeners that hear of a job, in the order of registration."""
        return self._jobs.hearing(key)

    def trigger_listeners_for(self, key: TriggerKey) -> list[TriggerListener]:
        """Return the trigger listeners that hear of a trigger, in the order of registration."""
        return self._triggers.hearing(key)

    def _changed(self) -> None:
        self._scheduler_snapshot = tuple(self._scheduler.values())
        self.hears_scheduler = bool(self._scheduler)
        self.hears_firings = bool(self._jobs) or bool(self._triggers)


def _checked_name(kind: str, name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidValueError(f"{kind} has the name {name!r}: its name property must return a text that is not blank")
    return name


def _checked_matchers(name: str, matchers: Sequence[Matcher[K]]) -> tuple[Matcher[K], ...]:
    for matcher in matchers:
        if not isinstance(matcher, Matcher):
            raise InvalidValueError(
                f"listener {name!r}: {matcher!r} is no matcher: give GroupMatcher.group_equals(...), "
                "KeyMatcher.key_equals(...) or one of their kin"
            )
    return tuple(matchers)
