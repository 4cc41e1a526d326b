"""ApplicationProviders: what the application's own container provides, by type and by name."""

from __future__ import annotations

import collections.abc
import contextlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, get_args, get_origin, get_type_hints

from dependency_injector import containers, providers, resources

from quartzite.container.parameters import type_name
from quartzite.container.per_run import PerRun
from quartzite.errors import SchedulerConfigError

__all__ = ["ApplicationProviders", "declared_providers", "provided_type"]

_YIELDS: Final = {
    collections.abc.Iterator,
    collections.abc.Iterable,
    collections.abc.Generator,
    collections.abc.AsyncIterator,
    collections.abc.AsyncIterable,
    collections.abc.AsyncGenerator,
    collections.abc.Awaitable,
    contextlib.AbstractContextManager,
    contextlib.AbstractAsyncContextManager,
}
"""Return types of functions that open something: the first argument is what is opened."""


class ApplicationProviders:
    """Finds providers in the application's container and in the containers nested in it.

    The provided type is read from the provider: the class of a factory or singleton, the type of an object, else what
    the return annotation of its function says. Providers whose type can not be known are found by name only.
    """

    def __init__(self, container: containers.Container | None = None) -> None:
        self._container = container

    @property
    def exists(self) -> bool:
        """Whether there is an application's container at all."""
        return self._container is not None

    @cached_property
    def has_per_run(self) -> bool:
        """Whether anything is opened for each firing."""
        return any(isinstance(provider, PerRun) for _, provider in self._all)

    def of_type(self, wanted: Any) -> providers.Provider[Any] | None:
        """Return the one provider of a type, or else of a subclass of it; None when there is none.

        Raises:
            SchedulerConfigError: there are several.
        """
        exact = self.exactly(wanted)
        if exact is not None:
            return exact
        return self._only(wanted, [(path, one) for path, one, has in self._typed if _is_subclass(has, wanted)])

    def exactly(self, wanted: Any) -> providers.Provider[Any] | None:
        """Return the one provider of exactly a type; None when there is none.

        Raises:
            SchedulerConfigError: there are several.
        """
        return self._only(wanted, [(path, one) for path, one, has in self._typed if has == wanted])

    def named(self, path: str) -> providers.Provider[Any]:
        """Return the provider that a dotted path leads to.

        Raises:
            SchedulerConfigError: it leads nowhere.
        """
        found: Any = self._container
        for step in path.split("."):
            try:
                found = getattr(found, step)
            except AttributeError:
                raise SchedulerConfigError(self._unknown(path)) from None
        if not isinstance(found, providers.Provider):
            raise SchedulerConfigError(self._unknown(path))
        return found

    def _unknown(self, path: str) -> str:
        if not self.exists:
            return f"there is no provider {path!r}: give the application's container, QuartzContainer(application=...)"
        known = ", ".join(sorted(path for path, _ in self._all)) or "nothing"
        return f"the application's container has no provider {path!r}: it has {known}"

    def _only(self, wanted: Any, found: list[tuple[str, providers.Provider[Any]]]) -> providers.Provider[Any] | None:
        if len(found) > 1:
            names = ", ".join(path for path, _ in found)
            raise SchedulerConfigError(
                f"several providers of {type_name(wanted)} in the application's container ({names}): choose one, "
                f'Annotated[{type_name(wanted)}, Named("{found[0][0]}")]'
            )
        return found[0][1] if found else None

    @cached_property
    def _typed(self) -> list[tuple[str, providers.Provider[Any], Any]]:
        return [(path, one, has) for path, one in self._all if (has := provided_type(one)) is not None]

    @cached_property
    def _all(self) -> list[tuple[str, providers.Provider[Any]]]:
        return [] if self._container is None else list(declared_providers(self._container))


def declared_providers(container: Any, prefix: str = "") -> Iterator[tuple[str, providers.Provider[Any]]]:
    """Yield the providers of a container and of those nested in it, with their paths, in the order of declaration."""
    for name, provider in container.providers.items():
        if isinstance(provider, providers.Container | providers.DependenciesContainer):
            yield from declared_providers(provider, f"{prefix}{name}.")
        elif not isinstance(provider, providers.Self):
            yield prefix + name, provider


def provided_type(provider: providers.Provider[Any]) -> Any:
    """Return the type that a provider provides, None when it can not be known.

    An overridden provider keeps the type that it was declared with, so that a fake takes the place of the real thing.
    """
    declared = _declared_type(provider)
    if declared is None and provider.last_overriding is not None:
        return provided_type(provider.last_overriding)
    return declared


def _declared_type(provider: Any) -> Any:
    if isinstance(provider, PerRun):
        return _opened(provider.function)
    if isinstance(provider, providers.Dependency):
        return None if provider.instance_of is object else provider.instance_of
    if isinstance(provider, providers.Configuration):
        return None
    if isinstance(provider, providers.Object):
        return None if provider.provides is None else type(provider.provides)
    if isinstance(provider, providers.Resource):
        return _resource_type(provider.provides)
    if isinstance(provider, providers.Factory | providers.BaseSingleton | providers.Callable):
        return _returned(provider.provides)
    return None


def _resource_type(opener: Any) -> Any:
    if isinstance(opener, type) and issubclass(opener, resources.Resource | resources.AsyncResource):
        opener = opener.init
    return _opened(opener)


def _opened(opener: Any) -> Any:
    """Return what a generator yields, a context manager enters as, or an ``open`` function returns."""
    hint = _returned(opener)
    origin, arguments = get_origin(hint), get_args(hint)
    return arguments[0] if origin in _YIELDS and arguments else hint


def _returned(function: Any) -> Any:
    """Return the class itself, or what the return annotation of a function promises."""
    if function is None or isinstance(function, type):
        return function
    try:
        hint = get_type_hints(inspect.unwrap(function)).get("return")
    except Exception:  # noqa: BLE001 - an annotation that can not be read here tells nothing, which is no error
        return None
    return None if hint is Any else hint


def _is_subclass(has: Any, wanted: Any) -> bool:
    try:
        return issubclass(get_origin(has) or has, wanted)
    except TypeError:  # a generic or a protocol without run-time checks: only the very same annotation matches
        return False
