"""Kinds: which serializer belongs to which class, and to which stored name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from quartzite.errors import InvalidValueError
from quartzite.serialization.values import UnreadableValueError

__all__ = ["Kind", "Kinds"]


class Kind(Protocol):
    """A serializer of one class of values."""

    @property
    def kind_class(self) -> type:
        """The class whose values it writes; subclasses need their own."""

    @property
    def type_name(self) -> str:
        """The name that is stored."""


K = TypeVar("K", bound=Kind)


class Kinds(Generic[K]):
    """The serializers of one scheduler for triggers, or for calendars.

    Args:
        what: What they serialize, for messages.
        base: The class to derive a missing serializer from, for messages.
        verb: The method that adds one, for messages.
        built_in: The serializers that are always there.
    """

    def __init__(self, *, what: str, base: str, verb: str, built_in: Iterable[K]) -> None:
        self._what = what
        self._remedy = f"derive one from {base} or a built-in one, and add it with {verb}"
        self._by_class: dict[type, K] = {}
        self._by_name: dict[str, K] = {}
        for serializer in built_in:
            self.add(serializer)
        self._built_in = frozenset(self._by_class)

    def add(self, serializer: K) -> None:
        """Add the serializer of a class.

        Raises:
            InvalidValueError: the class or the stored name has one already.
        """
        cls, name = serializer.kind_class, serializer.type_name
        if cls in self._by_class:
            raise InvalidValueError(f"{self._what} {cls.__qualname__} has a serializer already")
        if name in self._by_name:
            other = self._by_name[name].kind_class.__qualname__
            raise InvalidValueError(
                f"the {self._what} type {name!r} belongs to {other}: give the serializer of "
                f"{cls.__qualname__} a type_name of its own"
            )
        self._by_class[cls] = self._by_name[name] = serializer

    def of(self, value: object) -> K:
        """Return the serializer of a value.

        Raises:
            InvalidValueError: its class has none, whatever its base classes have.
        """
        serializer = self._by_class.get(type(value))
        if serializer is None:
            raise InvalidValueError(
                f"{self._what} {type(value).__qualname__} can not be stored: it has no serializer; {self._remedy}"
            )
        return serializer

    def named(self, name: object) -> K:
        """Return the serializer of a stored name.

        Raises:
            UnreadableValueError: there is none.
        """
        serializer = self._by_name.get(name) if isinstance(name, str) else None
        if serializer is None:
            raise UnreadableValueError(f"the {self._what} type {name!r} has no serializer here; {self._remedy}")
        return serializer

    def is_built_in(self, value: object) -> bool:
        """Tell whether a value is of a class that came with the library, and not of a subclass."""
        return type(value) in self._built_in
