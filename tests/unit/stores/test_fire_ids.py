"""Names for firings."""

from __future__ import annotations

from quartzite.stores.fire_ids import FireIds


def test_no_two_are_equal() -> None:
    """One node makes a new id each time, and two lives of it, or two nodes, never the same."""
    made = [next_id() for next_id in (FireIds("n"), FireIds("n"), FireIds("n1")) for _ in range(1000)]
    assert len(set(made)) == 3000


def test_it_tells_the_node_and_fits_its_column() -> None:
    """An id begins with the node and has at most 140 characters for the longest instance id."""
    made = FireIds("x" * 120)()
    assert made.startswith("x" * 120 + "-")
    assert len(made) == 140


def test_ids_of_one_life_ascend() -> None:
    """Ids of one life have one length and sort in the order of making."""
    next_id = FireIds("n")
    made = [next_id() for _ in range(1000)]
    assert made == sorted(made)
    assert len({len(text) for text in made}) == 1
