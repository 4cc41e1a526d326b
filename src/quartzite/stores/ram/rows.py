"""What the tables of the RAM store share: a page of a list, and keys by what they belong to."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, KeysView, Sequence
from typing import Generic, TypeVar

from quartzite.model.query import PagedQuery

__all__ = ["KeysBy", "section"]

T = TypeVar("T")
B = TypeVar("B", bound=Hashable)
K = TypeVar("K", bound=Hashable)


def section(rows: Sequence[T], query: PagedQuery, limit: int | None) -> Sequence[T]:
    """Return the rows behind the skipped ones, ``limit`` at most."""
    return rows[query.skip :] if limit is None else rows[query.skip : query.skip + limit]


class KeysBy(Generic[B, K]):
    """Keys by what they belong to; an owner is there as long as it has a key."""

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        # Dictionaries, not sets: they keep the order of adding, and take less room.
        self._keys: dict[B, dict[K, None]] = {}

    def add(self, owner: B, key: K) -> None:
        """Put a key to its owner."""
        keys = self._keys.get(owner)
        if keys is None:
            self._keys[owner] = {key: None}
        else:
            keys[key] = None

    def discard(self, owner: B, key: K) -> None:
        """Take a key from its owner, when it is there."""
        keys = self._keys.get(owner)
        if keys is not None:
            keys.pop(key, None)
            if not keys:
                del self._keys[owner]

    def of(self, owner: B) -> Collection[K]:
        """Return the keys of an owner."""
        return self._keys.get(owner, ())

    def of_all(self, owners: Collection[B]) -> Iterator[K]:
        """Yield the keys of some owners."""
        return (key for owner in set(owners) for key in self._keys.get(owner, ()))

    def pop(self, owner: B) -> Collection[K]:
        """Take all keys from an owner, and return them."""
        return self._keys.pop(owner, ())

    @property
    def owners(self) -> KeysView[B]:
        """Who has a key, at any time."""
        return self._keys.keys()
