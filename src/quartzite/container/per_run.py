"""per_run: a provider whose object lives as long as one firing."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, Final, TypeVar, overload

from dependency_injector import providers

from quartzite.container.run_scope import current_scope
from quartzite.errors import SchedulerConfigError

__all__ = ["PerRun", "per_run", "per_run_providers"]

T = TypeVar("T")
_CALLED_LATER: Final = (providers.Delegate, providers.Selector, providers.Aggregate)
"""Providers that do not call all that they are related to when they are called themselves."""
_KEEPERS: Final = (providers.BaseSingleton, providers.Resource)
"""Providers that call what they depend on once and keep it."""


class PerRun(providers.Provider[T]):
    """Provides what a generator or context manager function opens, once per firing.

    * Opened at first use, before the job is built when an argument of the job depends on it.
    * The same object for everything within the firing, another one for each other firing.
    * Told of the exception with which the run ended, and closed once, in reverse order, after the job listeners.
    """

    __slots__ = ("_opener", "function")

    def __init__(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.function = function
        self._opener = providers.Callable(_manager_function(function), *args, **kwargs)
        super().__init__()
        # Otherwise one future, of a late opening, would turn every later answer into a future.
        self.disable_async_mode()

    def __deepcopy__(self, memo: dict[int, Any] | None) -> PerRun[T]:
        memo = {} if memo is None else memo
        copied: PerRun[T] | None = memo.get(id(self))
        if copied is None:
            args, kwargs = providers.deepcopy((self._opener.args, self._opener.kwargs), memo)
            copied = memo[id(self)] = type(self)(self.function, *args, **kwargs)
            self._copy_overridings(copied, memo)
        return copied

    @property
    def label(self) -> str:
        """Its function, as messages name it."""
        return f"per_run({getattr(self.function, '__qualname__', self.function)})"

    @property
    def related(self) -> Iterator[providers.Provider[Any]]:
        """The providers of its arguments."""
        yield from self._opener.related
        yield from super().related

    def manager(self) -> Any:
        """Return a new context manager that opens the object; a future of it when an argument is one."""
        return self._opener()

    def _provide(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        if args or kwargs:
            raise TypeError(f"{self.label} takes its arguments where it is declared, not where it is used")
        scope = current_scope.get()
        if scope is None:
            raise SchedulerConfigError(
                f"{self.label} is opened for one firing of a job, and here runs none: use providers.Resource for what "
                "lives as long as the application"
            )
        return scope.provide(self)  # type: ignore[no-any-return]


@overload
def per_run(function: Callable[..., AsyncIterator[T]], *args: Any, **kwargs: Any) -> PerRun[T]: ...
@overload
def per_run(function: Callable[..., Iterator[T]], *args: Any, **kwargs: Any) -> PerRun[T]: ...
@overload
def per_run(function: Callable[..., AbstractAsyncContextManager[T]], *args: Any, **kwargs: Any) -> PerRun[T]: ...
@overload
def per_run(function: Callable[..., AbstractContextManager[T]], *args: Any, **kwargs: Any) -> PerRun[T]: ...
def per_run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> PerRun[Any]:
    """Declare, in the application's container, something that is opened and closed once per firing.

    ::

        async def open_session(engine: Engine) -> AsyncIterator[Session]:
            async with Session(engine) as session:
                yield session

        class Application(containers.DeclarativeContainer):
            engine = providers.Singleton(create_engine)
            session = per_run(open_session, engine)
            orders = providers.Factory(Orders, session)

    Args:
        function: A generator function, plain or ``async``, or a function or class that gives a context manager. A
            plain one opens and closes on the event loop: it should be quick.
        args: Arguments of the function; providers among them are called.
        kwargs: The same, by name.

    Raises:
        SchedulerConfigError: the function is a coroutine function, which can not close what it opens.
    """
    return PerRun(function, *args, **kwargs)


def per_run_providers(provider: providers.Provider[Any]) -> list[PerRun[Any]]:
    """Return the per-run providers that calling ``provider`` uses, each after those that it depends on itself.

    Raises:
        SchedulerConfigError: a singleton or resource uses one; it would keep a closed object.
    """
    found: dict[PerRun[Any], None] = {}
    _collect(provider, found, set(), keeper=None)
    return list(found)


def _collect(
    provider: providers.Provider[Any],
    found: dict[PerRun[Any], None],
    seen: set[tuple[int, bool]],
    *,
    keeper: str | None,
) -> None:
    while provider.last_overriding is not None:
        provider = provider.last_overriding
    place = (id(provider), keeper is not None)
    if place in seen or isinstance(provider, _CALLED_LATER):
        return
    seen.add(place)
    if isinstance(provider, PerRun) and keeper is not None:
        raise SchedulerConfigError(
            f"{keeper} uses {provider.label} and would keep its object after it was closed: make it a Factory"
        )
    if isinstance(provider, _KEEPERS) and not isinstance(provider, providers.ContextLocalSingleton):
        keeper = f"{type(provider).__name__}({getattr(provider.provides, '__qualname__', provider.provides)})"
    for used in provider.related:
        _collect(used, found, seen, keeper=keeper)
    if isinstance(provider, PerRun):
        found[provider] = None


def _manager_function(function: Callable[..., Any]) -> Callable[..., Any]:
    if inspect.isasyncgenfunction(function):
        return asynccontextmanager(function)
    if inspect.isgeneratorfunction(function):
        return contextmanager(function)
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise SchedulerConfigError(
            f"per_run({getattr(function, '__qualname__', function)}): give a generator function or one that returns a "
            "context manager, so that what it opens can be closed"
        )
    return function
