"""FireIds: names for firings."""

from __future__ import annotations

from itertools import count
from random import SystemRandom
from typing import Final

__all__ = ["FireIds"]

_FIRST: Final = 10**18
_START_BELOW: Final = 5 * 10**18


class FireIds:
    """Makes ids that no other firing of the cluster has, of 140 characters at most.

    The number starts at random and always has 19 digits, so that neither another life of the node nor another
    node, whose id might end in digits, makes the same text.
    """

    __slots__ = ("_numbers", "_prefix")

    def __init__(self, instance_id: str) -> None:
        self._prefix = f"{instance_id}-"
        self._numbers = count(SystemRandom().randrange(_FIRST, _START_BELOW))

    def __call__(self) -> str:
        """Return a new id."""
        return f"{self._prefix}{next(self._numbers)}"
