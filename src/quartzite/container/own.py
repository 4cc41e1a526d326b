"""Own: a provider that keeps one object for each instance of its container."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dependency_injector import providers

from quartzite.errors import SchedulerConfigError

__all__ = ["Own"]

T = TypeVar("T")


class Own(providers.Provider[T]):
    """Provides one object, made together with the container's instance and kept as long as that.

    ``providers.Object`` is shared by all instances of a container's class, and a singleton is forgotten when somebody
    resets the singletons; what ``add_quartz`` registers must be neither. For the same reason a container that holds
    something already can not be copied.
    """

    __slots__ = ("_make", "_value")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._value = make()
        super().__init__()

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Own[T]:
        memo = {} if memo is None else memo
        copied: Own[T] | None = memo.get(id(self))
        if copied is None:
            if self._value:
                raise SchedulerConfigError(
                    f"a container that holds {self._value!r} was copied: call add_quartz on the instance of the "
                    "application's container, not on its class"
                )
            copied = memo[id(self)] = type(self)(self._make)
            self._copy_overridings(copied, memo)
        return copied

    def _provide(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:  # noqa: ARG002 - the signature is the library's
        return self._value
