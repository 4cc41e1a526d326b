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
    """Keys by what they belong to; an owner is there as long as it has a key.

    Most owners have one key at a time (a trigger its firing, a job its trigger), so a single key stands for itself
    and only several take up a table: a dictionary, which keeps the order of adding. Keys are no dictionaries.
    """

    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: dict[B, K | dict[K, None]] = {}

    def add(self, owner: B, key: K) -> None:
        """Put a key, which it does not have yet, to its owner."""
        held = self._keys.setdefault(owner, key)
        if held is key:
            return
        if type(held) is dict:
            held[key] = None
        else:
            self._keys[owner] = {held: None, key: None}  # type: ignore[dict-item]

    def discard(self, owner: B, key: K) -> None:
        """Take a key from its owner, when it is there."""
        held = self._keys.get(owner)
        if type(held) is dict:
            held.pop(key, None)
            if not held:
                del self._keys[owner]
        elif held == key:
            del self._keys[owner]

    def of(self, owner: B) -> Collection[K]:
        """Return the keys of an owner."""
        held = self._keys.get(owner)
        if held is None:
            return ()
        return held if type(held) is dict else (held,)  # type: ignore[return-value]

    def of_all(self, owners: Collection[B]) -> Iterator[K]:
        """Yield the keys of some owners."""
        return (key for owner in set(owners) for key in self.of(owner))

    def pop(self, owner: B) -> Collection[K]:
        """Take all keys from an owner, and return them."""
        keys = self.of(owner)
        self._keys.pop(owner, None)
        return keys

    @property
    def owners(self) -> KeysView[B]:
        """Who has a key, at any time."""
        return self._keys.keys()
