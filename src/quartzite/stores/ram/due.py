"""DueIndex: triggers in fire order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from heapq import heapify, heappop, heappush
from typing import Final

from quartzite.model.keys import DEFAULT_GROUP, TriggerKey
from quartzite.triggers.base import Trigger

__all__ = ["DueIndex", "fire_order"]

_FEW: Final = 64


class DueIndex:
    """Orders triggers by next fire time, then higher priority, then key.

    Adding and removing cost O(log n), and walking the first k costs O(k log k), however many there are. Schedules
    share instants (every full second, every midnight), so the heap holds each instant once, and what fires at one
    instant is put into order only when it is walked.
    """

    __slots__ = ("_at", "_empty", "_instants")

    def __init__(self) -> None:
        # Every instant of the heap is a key: None where nothing is left, until the instant reaches the front.
        self._at: dict[datetime, Trigger | _SameInstant | None] = {}
        self._instants: list[datetime] = []
        self._empty = 0

    def add(self, trigger: Trigger) -> None:
        """Put in a trigger that has a next fire time."""
        moment = trigger.next_fire_time
        assert moment is not None  # noqa: S101  # the caller's part
        at = self._at.get(moment, self)
        if at is self:
            self._at[moment] = trigger
            heappush(self._instants, moment)
        elif at is None:
            self._at[moment] = trigger
            self._empty -= 1
        elif type(at) is _SameInstant:
            at.add(trigger)
        else:
            self._at[moment] = _SameInstant(at, trigger)  # type: ignore[arg-type]

    def remove(self, trigger: Trigger) -> None:
        """Take out a trigger that is in: the very value."""
        moment = trigger.next_fire_time
        assert moment is not None  # noqa: S101
        at = self._at[moment]
        if type(at) is _SameInstant and not at.remove(trigger):
            return
        self._at[moment] = None
        self._empty += 1
        if self._empty > _FEW and self._empty * 2 > len(self._instants):
            self._drop_empty()

    @property
    def first(self) -> datetime | None:
        """The earliest next fire time, None when there is none."""
        self._drop_empty_front()
        return self._instants[0] if self._instants else None

    def walk(self) -> Iterator[Trigger]:
        """Yield the triggers in order; the index must not change meanwhile."""
        self._drop_empty_front()
        instants = self._instants
        # A heap can be read in order from its root: the next one is always a child of one that was read.
        frontier = [(instants[0], 0)] if instants else []
        while frontier:
            moment, place = heappop(frontier)
            at = self._at[moment]
            if type(at) is _SameInstant:
                yield from at.walk()
            elif at is not None:
                yield at  # type: ignore[misc]
            for child in range(2 * place + 1, min(2 * place + 3, len(instants))):
                heappush(frontier, (instants[child], child))

    def _drop_empty_front(self) -> None:
        instants, at = self._instants, self._at
        while instants and at[instants[0]] is None:
            del at[heappop(instants)]
            self._empty -= 1

    def _drop_empty(self) -> None:
        self._at = {moment: at for moment, at in self._at.items() if at is not None}
        self._instants = list(self._at)
        heapify(self._instants)
        self._empty = 0


class _SameInstant:
    """The triggers of one instant, put into order when they are first walked."""

    __slots__ = ("_members", "_reversed")

    def __init__(self, *triggers: Trigger) -> None:
        self._members: dict[TriggerKey, Trigger] = {trigger.key: trigger for trigger in triggers}
        # The next one stands last, where taking out is cheap; values that were taken out elsewhere stay as litter.
        self._reversed: list[Trigger] | None = None

    def add(self, trigger: Trigger) -> None:
        self._members[trigger.key] = trigger
        self._reversed = None

    def remove(self, trigger: Trigger) -> bool:
        """Take out a trigger; tell whether it was the last."""
        del self._members[trigger.key]
        if self._reversed and self._reversed[-1] is trigger:
            self._reversed.pop()
        return not self._members

    def walk(self) -> Iterator[Trigger]:
        if self._reversed is None:
            self._reversed = sorted(self._members.values(), key=fire_order, reverse=True)
        members = self._members
        while self._reversed and members.get(self._reversed[-1].key) is not self._reversed[-1]:
            self._reversed.pop()
        for trigger in reversed(self._reversed):
            if members.get(trigger.key) is trigger:
                yield trigger


def fire_order(trigger: Trigger) -> tuple[int, bool, str, str]:
    """Return what orders triggers of one instant: higher priority, then key."""
    key = trigger.key
    return (-trigger.priority, key.group != DEFAULT_GROUP, key.group, key.name)
