"""Keys: how jobs and triggers are named."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Self, TypeVar
from uuid import uuid4

from quartzite.errors import InvalidValueError

__all__ = [
    "DEFAULT_GROUP",
    "MAX_KEY_LENGTH",
    "RECOVERY_GROUP",
    "RETRY_GROUP",
    "JobKey",
    "Key",
    "TriggerKey",
    "check_name",
]

DEFAULT_GROUP: Final = "DEFAULT"
RECOVERY_GROUP: Final = "RECOVERING_JOBS"
"""The group of the triggers that recovery makes (spec 01 section 1)."""
RETRY_GROUP: Final = "RETRYING_JOBS"
"""The group of the one-shot triggers that delayed retries make."""
MAX_KEY_LENGTH: Final = 200
"""The longest name or group, in characters: what the tables of every database can hold."""

K = TypeVar("K", bound="Key")


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A name within a group.

    Equality is exact (ordinal, case-sensitive) and only among keys of one type. The order is that of
    acquisition: the group ``DEFAULT`` first, then group and name by code point (spec 01 section 1); paged
    queries order by :attr:`paging_order`.

    Raises:
        InvalidValueError: name or group is no text, empty, longer than 200 characters, or holds a NUL or a lone
            surrogate.
    """

    name: str
    group: str = DEFAULT_GROUP
    # A firing looks a key up several times; hashing two strings each time would show.
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kind = type(self).__name__
        check_name(kind, "name", self.name)
        check_name(kind, "group", self.group)
        object.__setattr__(self, "_hash", hash((kind, self.group, self.name)))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return self.name == other.name and self.group == other.group

    def __lt__(self, other: Self) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.fire_order < other.fire_order

    def __reduce__(self) -> tuple[type[Key], tuple[str, str]]:
        # The hash of a text differs between processes, so it never travels.
        return type(self), (self.name, self.group)

    def __str__(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def fire_order(self) -> tuple[bool, str, str]:
        """Sort key of acquisition: the group ``DEFAULT`` first, then group, then name."""
        return (self.group != DEFAULT_GROUP, self.group, self.name)

    @property
    def paging_order(self) -> tuple[str, str]:
        """Sort key of paged queries: group, then name, both by code point."""
        return (self.group, self.name)

    @classmethod
    def checked(cls, key: object) -> Self:
        """Return a key that was handed over, when it is one of this type.

        Raises:
            InvalidValueError: it is something else, also a text or a key of the other type.
        """
        if isinstance(key, cls):
            return key
        raise InvalidValueError(
            f"{key!r} is no {cls.__name__}: give {cls.__name__}(name) or {cls.__name__}(name, group)"
        )

    @classmethod
    def random(cls, group: str = DEFAULT_GROUP) -> Self:
        """Return a key with a name that nobody else uses (a UUID)."""
        return cls(str(uuid4()), group)


class JobKey(Key):
    """The key of a job; unique within its scheduler."""

    __slots__ = ()


class TriggerKey(Key):
    """The key of a trigger; unique within its scheduler."""

    __slots__ = ()


def check_name(kind: str, part: str, text: object) -> None:
    """Refuse what can not be a name that every database can hold; ``kind`` and ``part`` say whose name it is.

    Raises:
        InvalidValueError: it is no text, empty, longer than 200 characters, or holds a NUL or a lone surrogate.
    """
    if not isinstance(text, str):
        raise InvalidValueError(f"{kind} {part} must be a text, not {text!r}")
    if not text:
        raise InvalidValueError(f"{kind} {part} is empty: give it at least one character")
    if len(text) > MAX_KEY_LENGTH:
        raise InvalidValueError(f"{kind} {part} {text[:20]!r}... has {len(text)} characters: at most {MAX_KEY_LENGTH}")
    if "\0" in text:
        raise InvalidValueError(f"{kind} {part} {text!r} holds a NUL character, which no database can store")
    try:
        text.encode()
    except UnicodeEncodeError:
        reason = "holds half of a character (a surrogate), which no database can store"
        raise InvalidValueError(f"{kind} {part} {text!r} {reason}") from None
