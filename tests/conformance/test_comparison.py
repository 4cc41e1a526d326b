"""The comparison with records fails when an answer is not the recorded one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.vectors import Count, Record, Tally, Vectors


def make(*, complete: bool = True) -> Vectors:
    """Return a file with three records, as if it had been read."""
    content = {"records": [{"in": n, "out": n * n} for n in (1, 2, 3)]}
    return Vectors(name="squares.json", content=content, tally=Tally(Path()), complete=complete)


def expected(record: Record) -> int:
    """Return what is recorded."""
    return int(record["out"])


def test_right_answers_pass_and_are_counted() -> None:
    """When all answers are as recorded nothing is raised, and all are counted."""
    squares = make()
    squares.compare(squares.records, lambda record: record["in"] ** 2, expected)
    assert squares.tally.counts == {"squares.json": Count(3, 3)}


def test_wrong_answer_fails_and_is_shown() -> None:
    """One wrong answer fails the test; its record, the recorded and the given answer are shown."""
    squares = make()
    with pytest.raises(pytest.fail.Exception, match=r"1 of 3 records") as caught:
        squares.compare(squares.records, lambda record: min(record["in"] ** 2, 5), expected)
    assert '{"in": 3, "out": 9}' in str(caught.value)
    assert squares.tally.counts == {"squares.json": Count(3, 2)}


def test_error_is_a_wrong_answer() -> None:
    """An answer that raises fails the test like a wrong one, and the others are compared all the same."""
    squares = make()
    with pytest.raises(pytest.fail.Exception, match="ZeroDivisionError"):
        squares.compare(squares.records, lambda record: 1 // (record["in"] - 1), expected)
    assert squares.tally.counts["squares.json"].compared == 3


def test_nothing_to_compare_fails_in_the_shipped_folder_only() -> None:
    """A list without records is a mistake in our own folder, and possible in another."""
    with pytest.raises(pytest.fail.Exception, match="no record"):
        make().compare([], expected, expected)
    make(complete=False).compare([], expected, expected)
