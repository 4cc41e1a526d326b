"""OwnRows: a set of rows, each of which says which scheduler it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import FromClause
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import KeyedColumnElement

from quartzite.sql.row_set import RowSet

__all__ = ["MOST_ROWS", "SCHEDULER", "OwnRows"]

SCHEDULER: Final = "sched_name"
MOST_ROWS: Final = 5000
"""Rows that travel with one statement: larger sets are cut, so that no parameter grows without limit."""


@dataclass(frozen=True, slots=True)
class OwnRows:
    """A row set with the scheduler's name as its last column.

    Statements compare the name with that column and never with a constant. For a table without statistics PostgreSQL
    believes that few rows have a given name, and would read all rows of the scheduler instead of looking each one up
    in the primary key.

    Attributes:
        rows: The set.
        scheduler_name: Whose rows are meant.
    """

    rows: RowSet
    scheduler_name: str

    @property
    def c(self) -> ReadOnlyColumnCollection[str, KeyedColumnElement[Any]]:
        """The columns, for use in statements."""
        return self.rows.c

    @property
    def element(self) -> FromClause:
        """The FROM element."""
        return self.rows.element

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns but the scheduler's."""
        return tuple(name for name in self.rows.columns if name != SCHEDULER)

    def parameters(self, values: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the parameters of each statement that is needed for all rows; the values lack the scheduler's name."""
        for piece in self.rows.batches(values, MOST_ROWS):
            yield self.rows.parameters([(*row, self.scheduler_name) for row in piece])
