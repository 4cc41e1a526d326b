"""One page of a query."""

from __future__ import annotations

import pytest

from quartzite.model.query import PagedQuery
from quartzite.rules.paging import counts_only, page, rows_to_read

ALL = ["a", "b", "c", "d"]


def answer(query: PagedQuery) -> tuple[list[str], bool, int | None]:
    """Return a page as a store would make it."""
    limit = rows_to_read(query)
    rows = [] if counts_only(query) else ALL[query.skip :][:limit]
    made = page(query, rows, len(ALL) if query.include_total_count else None)
    return list(made.items), made.has_more, made.total_count


@pytest.mark.parametrize(
    ("skip", "take", "items", "has_more"),
    [
        (0, None, ALL, False),
        (1, None, ["b", "c", "d"], False),
        (0, 3, ["a", "b", "c"], True),
        (0, 4, ALL, False),
        (0, 5, ALL, False),
        (1, 3, ["b", "c", "d"], False),
        (3, 1, ["d"], False),
        (4, 1, [], False),
        (9, 1, [], False),
        (0, 0, [], True),
        (4, 0, [], False),
    ],
)
@pytest.mark.parametrize("counted", [False, True])
def test_page(skip: int, take: int | None, items: list[str], has_more: bool, counted: bool) -> None:
    """The page holds what was asked for, knows exactly whether anything follows, and counts only when asked."""
    query = PagedQuery(skip=skip, take=take, include_total_count=counted)
    assert answer(query) == (items, has_more, 4 if counted else None)


def test_one_row_past_the_page_is_read() -> None:
    """That is how a page knows whether anything follows; without an end everything is read."""
    assert rows_to_read(PagedQuery(take=3)) == 4
    assert rows_to_read(PagedQuery(take=0)) == 1
    assert rows_to_read(PagedQuery()) is None


def test_the_counting_idiom_reads_no_row() -> None:
    """Taking nothing and counting reads no row; taking nothing alone looks whether there is one."""
    assert counts_only(PagedQuery(take=0, include_total_count=True))
    assert not counts_only(PagedQuery(take=0))
    assert not counts_only(PagedQuery(include_total_count=True))
