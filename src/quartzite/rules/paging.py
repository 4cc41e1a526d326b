"""One page of a query: which rows to read, and what they say (spec 06 section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from quartzite.model.query import PagedQuery, PagedResult

__all__ = ["counts_only", "page", "rows_to_read"]

T = TypeVar("T")


def counts_only(query: PagedQuery) -> bool:
    """Tell whether the query is the counting idiom, which reads no row."""
    return query.take == 0 and query.include_total_count


def rows_to_read(query: PagedQuery) -> int | None:
    """Return how many rows to read behind the skipped ones: one more than the page shows; None for all."""
    return None if query.take is None else query.take + 1


def page(query: PagedQuery, rows: Sequence[T], total: int | None) -> PagedResult[T]:
    """Return the page.

    Args:
        query: What was asked.
        rows: What was read: ``rows_to_read`` rows at most, or none for the counting idiom.
        total: How many the filters select, when it was counted.
    """
    if counts_only(query):
        return PagedResult(items=[], has_more=(total or 0) > query.skip, total_count=total)
    shown = rows if query.take is None else rows[: query.take]
    return PagedResult(items=list(shown), has_more=len(rows) > len(shown), total_count=total)
