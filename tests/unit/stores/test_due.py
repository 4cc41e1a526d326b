"""The index of triggers in fire order."""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from quartzite.stores.ram.due import DueIndex, fire_order
from quartzite.triggers.base import Trigger
from tests.stores import NOW, SECOND, trigger

KEYS = st.tuples(st.sampled_from(["a", "b", "B", "é", "🙂"]), st.sampled_from(["DEFAULT", "A", "z"]))
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "remove", "walk", "walk two"]), KEYS, st.integers(0, 3), st.integers(4, 6)
    ),
    max_size=60,
)


def in_order(triggers: list[Trigger]) -> list[Trigger]:
    """Return triggers in fire order, by sorting them."""
    return sorted(triggers, key=lambda value: (value.next_fire_time, *fire_order(value)))


@given(CHANGES)
def test_it_is_a_sorted_list(changes: list[tuple[str, tuple[str, str], int, int]]) -> None:
    """Whatever is put in and taken out, the walk is what sorting gives, and so is its beginning."""
    index, there = DueIndex(), {}
    for change, (name, group), seconds, priority in changes:
        if change == "add" and (name, group) not in there:
            value = trigger(name, group=group, start_time=NOW + seconds * SECOND, priority=priority)
            there[name, group] = value
            index.add(value)
        elif change == "remove" and (name, group) in there:
            index.remove(there.pop((name, group)))
        elif change.startswith("walk"):
            expected = in_order(list(there.values()))
            most = 2 if change == "walk two" else None
            assert list(islice(index.walk(), most)) == expected[:most]
            assert index.first == (expected[0].next_fire_time if expected else None)
    assert list(index.walk()) == in_order(list(there.values()))


def test_order() -> None:
    """Earlier first; at one instant higher priority first, then the group DEFAULT, then by code point."""
    values = [
        trigger("late", start_time=NOW + SECOND, priority=9),
        trigger("b"),
        trigger("B"),
        trigger("a", group="A"),
        trigger("a", priority=6),
        trigger("low", priority=-1),
    ]
    index = DueIndex()
    for value in values:
        index.add(value)
    assert [str(value.key) for value in index.walk()] == [
        "DEFAULT.a",
        "DEFAULT.B",
        "DEFAULT.b",
        "A.a",
        "DEFAULT.low",
        "DEFAULT.late",
    ]


def test_instants_that_were_left_take_no_room() -> None:
    """A trigger that moves from time to time leaves nothing behind, wherever in the order it stands."""
    index = DueIndex()
    index.add(trigger("first"))
    for seconds in range(1, 5000):
        moving = trigger("moving", start_time=NOW + seconds * SECOND)
        index.add(moving)
        index.remove(moving)
    assert len(index._instants) < 200
    assert len(index._at) == len(index._instants)


def test_a_crowd_at_one_instant_costs_little_each() -> None:
    """Taking 20,000 triggers of one instant in batches of 50 takes time in proportion, not squared."""
    index = DueIndex()
    for i in range(20_000):
        index.add(trigger(f"t{i:05}"))
    begun = time.process_time()
    taken = 0
    while batch := list(islice(index.walk(), 50)):
        for value in batch:
            index.remove(value)
        taken += len(batch)
    assert taken == 20_000
    assert time.process_time() - begun < 2  # about 0.05 s; squared it would be some 10 s


def test_far_ones_do_not_slow_the_first() -> None:
    """Finding what is due looks at that, not at the 20,000 that are not."""
    index = DueIndex()
    for i in range(20_000):
        index.add(trigger(f"far{i}", start_time=NOW + timedelta(days=1, seconds=i)))
    due = trigger("due")
    begun = time.process_time()
    for _ in range(2000):
        index.add(due)
        assert next(index.walk()) is due
        index.remove(due)
    assert time.process_time() - begun < 2
