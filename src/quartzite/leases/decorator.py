"""scheduler_lock: a function or job that runs on one node at a time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial, wraps
from typing import Any, Final, TypeVar

from quartzite.errors import InvalidValueError, SchedulerConfigError
from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.current import is_held_for
from quartzite.leases.executor import LockingExecutor, active_executor
from quartzite.leases.provider import LockProvider

__all__ = ["JobLock", "lock_of", "scheduler_lock"]

F = TypeVar("F", bound=Callable[..., Any])
_ATTRIBUTE: Final = "__quartzite_lock__"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLock:
    """How long the lease of one job lasts; None leaves it to the scheduler.

    Attributes:
        at_most_for: How long when its node dies.
        at_least_for: How long at least, however short the job is.

    Raises:
        InvalidValueError: the durations do not go together.
    """

    at_most_for: timedelta | None = None
    at_least_for: timedelta | None = None

    def __post_init__(self) -> None:
        at_least = self.at_least_for if self.at_least_for is not None else timedelta(0)
        at_most = self.at_most_for if self.at_most_for is not None else at_least or timedelta(seconds=1)
        LockConfiguration(name="job", lock_at_most_for=at_most, lock_at_least_for=at_least)


def lock_of(target: Any) -> JobLock | None:
    """Return what :func:`scheduler_lock` says about a job class or function, None when it was not used."""
    found = getattr(target, _ATTRIBUTE, None)
    return found if isinstance(found, JobLock) else None


def scheduler_lock(
    *,
    name: str,
    at_most_for: timedelta,
    at_least_for: timedelta = timedelta(0),
    provider: LockProvider | Callable[[], LockProvider] | None = None,
) -> Callable[[F], F]:
    """Let a function, or a job class, run on one node at a time.

    Called while another one has the lock, it does nothing and returns None; :class:`LockingExecutor` tells the two
    apart. Within work that holds a lock of the same name it runs at once.

    As a job of a scheduler with job locks its durations apply to the leases of the job's ticks, and no other lock is
    taken: each tick runs once. Everywhere else the lock is called ``name``.

    Args:
        name: Of the lock; may name arguments of the call: ``"report-{region}"``.
        at_most_for: How long the lock is held when its node dies.
        at_least_for: How long it is held at least, however short the work is.
        provider: Grants the lock, or a function that returns what does; None for that of the scheduler whose job
            calls the function.

    Raises:
        InvalidValueError: the name or the durations can not be used.
    """
    LockConfiguration(name=name, lock_at_most_for=at_most_for, lock_at_least_for=at_least_for)
    said = JobLock(at_most_for=at_most_for, at_least_for=at_least_for)

    def decorate(target: F) -> F:
        if isinstance(target, type):
            target.execute = _locked(target.execute, name, said, provider, target=target)  # type: ignore[attr-defined]
            setattr(target, _ATTRIBUTE, said)
            return target
        locked = _locked(target, name, said, provider)
        setattr(locked, _ATTRIBUTE, said)
        return locked  # type: ignore[return-value]

    return decorate


def _locked(
    function: Callable[..., Any],
    name: str,
    said: JobLock,
    provider: LockProvider | Callable[[], LockProvider] | None,
    *,
    target: Any = None,
) -> Callable[..., Any]:
    named = _Name(name, function)

    def configuration(args: tuple[Any, ...], kwargs: dict[str, Any]) -> LockConfiguration:
        return LockConfiguration(
            name=named.of(args, kwargs),
            lock_at_most_for=said.at_most_for or timedelta(0),
            lock_at_least_for=said.at_least_for or timedelta(0),
        )

    @wraps(function)
    async def run(*args: Any, **kwargs: Any) -> Any:
        work = partial(function, *args, **kwargs)
        if is_held_for(target=target or run):
            return await work()
        return (await _executor(named, provider).run(work, configuration(args, kwargs))).value

    @wraps(function)
    def run_blocking(*args: Any, **kwargs: Any) -> Any:
        work = partial(function, *args, **kwargs)
        if is_held_for(target=target or run_blocking):
            return work()
        return _executor(named, provider).run_blocking(work, configuration(args, kwargs)).value

    return run if inspect.iscoroutinefunction(function) else run_blocking


def _executor(named: _Name, provider: LockProvider | Callable[[], LockProvider] | None) -> LockingExecutor:
    if provider is None:
        active = active_executor.get()
        if active is None:
            raise SchedulerConfigError(
                f"lock {named.template!r} has no provider: give provider=... to @scheduler_lock, or call the function "
                "from a job of a scheduler with use_job_locks(...)"
            )
        return active
    return LockingExecutor(provider if isinstance(provider, LockProvider) else provider())


class _Name:
    """The name of a lock: a text, or a template over the arguments of the call."""

    def __init__(self, template: str, function: Callable[..., Any]) -> None:
        self.template = template
        self._function = function
        self._signature = inspect.signature(function) if "{" in template else None
        self._probe()

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Return the name for one call."""
        if self._signature is None:
            return self.template
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._filled(bound.arguments)

    def _probe(self) -> None:
        """Refuse a name that no call could fill in."""
        if self._signature is None:
            return
        from string import Formatter

        for _, field, _, _ in Formatter().parse(self.template):
            argument = (field or "").partition(".")[0].partition("[")[0]
            if field is not None and argument not in self._signature.parameters:
                raise InvalidValueError(
                    f"lock name {self.template!r}: {self._function.__qualname__} has no argument {argument!r}: it has "
                    f"{', '.join(self._signature.parameters) or 'none'}"
                )

    def _filled(self, arguments: dict[str, Any]) -> str:
        try:
            return self.template.format(**arguments)
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise InvalidValueError(
                f"lock name {self.template!r} can not be filled in: {type(error).__name__}: {error}"
            ) from error
