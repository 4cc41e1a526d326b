"""Matchers: which keys a listener or a call is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from quartzite.model.keys import JobKey, Key, TriggerKey

__all__ = [
    "AndMatcher",
    "EverythingMatcher",
    "GroupMatcher",
    "KeyMatcher",
    "Matcher",
    "NameMatcher",
    "NotMatcher",
    "OrMatcher",
    "StringOperator",
]

K = TypeVar("K", bound=Key)


class StringOperator(Enum):
    """How a matcher compares a text: always by code point, case-sensitive (spec 05 section 3)."""

    EQUALITY = "equals"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    CONTAINS = "contains"
    ANYTHING = "anything"

    def evaluate(self, text: str, value: str) -> bool:
        """Tell whether ``text`` relates to ``value`` in this way."""
        return _EVALUATE[self](text, value)


_EVALUATE: dict[StringOperator, Callable[[str, str], bool]] = {
    StringOperator.EQUALITY: lambda text, value: text == value,
    StringOperator.STARTS_WITH: str.startswith,
    StringOperator.ENDS_WITH: str.endswith,
    StringOperator.CONTAINS: str.__contains__,
    StringOperator.ANYTHING: lambda _text, _value: True,
}


class Matcher(Generic[K]):
    """Selects keys. Matchers are values: equal ones are interchangeable."""

    __slots__ = ()

    def matches(self, key: K) -> bool:
        """Tell whether ``key`` is selected."""
        raise NotImplementedError

    def and_(self, other: Matcher[K]) -> AndMatcher[K]:
        """Return a matcher for what both select."""
        return AndMatcher(self, other)

    def or_(self, other: Matcher[K]) -> OrMatcher[K]:
        """Return a matcher for what either selects."""
        return OrMatcher(self, other)

    def not_(self) -> NotMatcher[K]:
        """Return a matcher for what this one does not select."""
        return NotMatcher(self)


@dataclass(frozen=True, slots=True)
class _TextMatcher(Matcher[K]):
    operator: StringOperator
    value: str = ""

    def __str__(self) -> str:
        return f"{self.operator.value}({self.value})"

    @property
    def is_exact(self) -> bool:
        """Whether exactly one text matches."""
        return self.operator is StringOperator.EQUALITY


@dataclass(frozen=True, slots=True)
class GroupMatcher(_TextMatcher[K]):
    """Selects keys by their group."""

    def matches(self, key: K) -> bool:
        """Tell whether the group of ``key`` is selected."""
        return self.operator.evaluate(key.group, self.value)

    def matches_group(self, group: str) -> bool:
        """Tell whether the group itself is selected."""
        return self.operator.evaluate(group, self.value)

    @classmethod
    def group_equals(cls, group: str) -> GroupMatcher[K]:
        """Select one group."""
        return cls(StringOperator.EQUALITY, group)

    @classmethod
    def group_starts_with(cls, prefix: str) -> GroupMatcher[K]:
        """Select the groups that begin with ``prefix``."""
        return cls(StringOperator.STARTS_WITH, prefix)

    @classmethod
    def group_ends_with(cls, suffix: str) -> GroupMatcher[K]:
        """Select the groups that end with ``suffix``."""
        return cls(StringOperator.ENDS_WITH, suffix)

    @classmethod
    def group_contains(cls, part: str) -> GroupMatcher[K]:
        """Select the groups that hold ``part``."""
        return cls(StringOperator.CONTAINS, part)

    @classmethod
    def any_group(cls) -> GroupMatcher[K]:
        """Select every group."""
        return cls(StringOperator.ANYTHING)


@dataclass(frozen=True, slots=True)
class NameMatcher(_TextMatcher[K]):
    """Selects keys by their name."""

    def matches(self, key: K) -> bool:
        """Tell whether the name of ``key`` is selected."""
        return self.operator.evaluate(key.name, self.value)

    @classmethod
    def name_equals(cls, name: str) -> NameMatcher[K]:
        """Select one name, in every group."""
        return cls(StringOperator.EQUALITY, name)

    @classmethod
    def name_starts_with(cls, prefix: str) -> NameMatcher[K]:
        """Select the names that begin with ``prefix``."""
        return cls(StringOperator.STARTS_WITH, prefix)

    @classmethod
    def name_ends_with(cls, suffix: str) -> NameMatcher[K]:
        """Select the names that end with ``suffix``."""
        return cls(StringOperator.ENDS_WITH, suffix)

    @classmethod
    def name_contains(cls, part: str) -> NameMatcher[K]:
        """Select the names that hold ``part``."""
        return cls(StringOperator.CONTAINS, part)

    @classmethod
    def any_name(cls) -> NameMatcher[K]:
        """Select every name."""
        return cls(StringOperator.ANYTHING)


@dataclass(frozen=True, slots=True)
class KeyMatcher(Matcher[K]):
    """Selects one key."""

    key: K

    def matches(self, key: K) -> bool:
        """Tell whether ``key`` is the one."""
        return key == self.key

    @classmethod
    def key_equals(cls, key: K) -> KeyMatcher[K]:
        """Select one key."""
        return cls(key)

    def __str__(self) -> str:
        return f"key({self.key})"


@dataclass(frozen=True, slots=True)
class EverythingMatcher(Matcher[K]):
    """Selects every key."""

    def matches(self, key: K) -> bool:  # noqa: ARG002
        """Tell that ``key`` is selected."""
        return True

    @staticmethod
    def all_jobs() -> EverythingMatcher[JobKey]:
        """Select every job."""
        return EverythingMatcher()

    @staticmethod
    def all_triggers() -> EverythingMatcher[TriggerKey]:
        """Select every trigger."""
        return EverythingMatcher()


@dataclass(frozen=True, slots=True)
class AndMatcher(Matcher[K]):
    """Selects what both matchers select."""

    left: Matcher[K]
    right: Matcher[K]

    def matches(self, key: K) -> bool:
        """Tell whether both select ``key``."""
        return self.left.matches(key) and self.right.matches(key)


@dataclass(frozen=True, slots=True)
class OrMatcher(Matcher[K]):
    """Selects what either matcher selects."""

    left: Matcher[K]
    right: Matcher[K]

    def matches(self, key: K) -> bool:
        """Tell whether either selects ``key``."""
        return self.left.matches(key) or self.right.matches(key)


@dataclass(frozen=True, slots=True)
class NotMatcher(Matcher[K]):
    """Selects what the matcher does not select."""

    operand: Matcher[K]

    def matches(self, key: K) -> bool:
        """Tell whether ``key`` is not selected by the operand."""
        return not self.operand.matches(key)
