"""Keys by what they belong to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quartzite.stores.ram.rows import KeysBy

STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "discard", "pop"]), st.integers(0, 2), st.sampled_from("abc")), max_size=40
)


@given(STEPS)
def test_it_is_a_mapping_to_sets(steps: list[tuple[str, int, str]]) -> None:
    """Whatever is added and taken, an owner has its keys, and is there as long as it has one."""
    held: KeysBy[int, str] = KeysBy()
    expected: dict[int, list[str]] = {}
    for step, owner, key in steps:
        keys = expected.setdefault(owner, [])
        if step == "add" and key not in keys:
            held.add(owner, key)
            keys.append(key)
        elif step == "discard":
            held.discard(owner, key)
            if key in keys:
                keys.remove(key)
        elif step == "pop":
            assert list(held.pop(owner)) == expected.pop(owner)
    left = {owner: keys for owner, keys in expected.items() if keys}
    assert {owner: list(held.of(owner)) for owner in held.owners} == left
    assert sorted(held.of_all([0, 1, 2, 2])) == sorted(key for keys in left.values() for key in keys)
    assert list(held.of(99)) == []
