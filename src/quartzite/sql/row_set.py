"""RowSet: many rows of values as one FROM element, carried by one parameter (decision 4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import FromClause
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.elements import KeyedColumnElement
from sqlalchemy.types import TypeEngine

from quartzite.sql.types import Payload, portable_value

__all__ = ["ParameterRowSet", "RowSet", "SetColumns", "byte_range", "parameter_name"]

SetColumns = Mapping[str, TypeEngine[Any]]
"""The names and types of the columns of a row set."""
_WRITE: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


def byte_range(name: str) -> tuple[str, str]:
    """Return the names of the two numbers that stand for a column of bytes: where they begin, and how many."""
    return f"{name}_at", f"{name}_size"


def parameter_name(set_name: str, *parts: object) -> str:
    """Return the name of a parameter that belongs to a row set."""
    return "_".join((set_name, *map(str, parts)))


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows that a statement joins like a table; the statement is the same for any number of them.

    All rows travel as one JSON parameter. Bytes are no JSON: those of all rows travel behind one another in a second
    parameter, and the rows say where theirs begin. Use one row set in one place of a statement, or several of
    different names::

        done = dialect.row_set("done", {"entry_id": t.fired_triggers.c.entry_id.type})
        statement = select(t.fired_triggers).join(done.element, t.fired_triggers.c.entry_id == done.c.entry_id)
        await connection.execute(statement, done.parameters([("node-1:17",), ("node-1:18",)]))

    Attributes:
        name: The name in statements, and the beginning of the names of its parameters.
        columns: Names and types; a type of :mod:`quartzite.sql.types` takes the values that its column takes.
        element: The FROM element.
        capacity: The most rows that it can carry, None without a limit.
    """

    name: str
    columns: SetColumns
    element: FromClause
    capacity: int | None = None

    @property
    def c(self) -> ReadOnlyColumnCollection[str, KeyedColumnElement[Any]]:
        """The columns, for use in statements."""
        return self.element.c

    def parameters(self, rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """Return the parameters of a statement for some rows, each a sequence in the order of the columns.

        Raises:
            InvalidValueError: a value does not fit the type of its column.
        """
        nodes, heap = _encoded(self.columns, rows)
        found: dict[str, Any] = {parameter_name(self.name, "rows"): _WRITE(nodes)}
        if heap is not None:
            found[parameter_name(self.name, "bytes")] = bytes(heap)
        return found

    def batches(self, rows: Sequence[Sequence[Any]], most: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Cut rows into pieces of ``most`` rows, fewer where the set can not carry as many."""
        size = most if self.capacity is None else min(most, self.capacity)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


@dataclass(frozen=True, slots=True)
class ParameterRowSet(RowSet):
    """A row set for databases that are not known to read JSON: a parameter for each value, and for each spare row."""

    def parameters(self, rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """Return the parameters of a statement for some rows, each a sequence in the order of the columns.

        Raises:
            ValueError: there are more rows than the set can carry: cut them with ``batches``.
        """
        given = list(rows)
        capacity = self.capacity or 0
        if len(given) > capacity:
            raise ValueError(f"{len(given)} rows do not fit into row set {self.name!r}, which carries {capacity}")
        found: dict[str, Any] = {}
        for index in range(capacity):
            used = index < len(given)
            found[parameter_name(self.name, index, "used")] = int(used)
            values = given[index] if used else (None,) * len(self.columns)
            for column, value in zip(self.columns, values, strict=True):
                found[parameter_name(self.name, index, column)] = value
        return found


def _encoded(columns: SetColumns, rows: Iterable[Sequence[Any]]) -> tuple[list[dict[str, Any]], bytearray | None]:
    """Return the rows as JSON objects, and the bytes they point into when there are columns of bytes."""
    if any(isinstance(type_, Payload) for type_ in columns.values()):
        heap = bytearray()
        return [_with_bytes(columns, row, heap) for row in rows], heap
    names = tuple(columns)
    converters = [(name, convert) for name, type_ in columns.items() if (convert := portable_value(type_))]
    return [_converted(dict(zip(names, row, strict=True)), converters) for row in rows], None


def _converted(node: dict[str, Any], converters: list[tuple[str, Callable[[Any], Any]]]) -> dict[str, Any]:
    for name, convert in converters:
        value = node[name]
        if value is not None:
            node[name] = convert(value)
    return node


def _with_bytes(columns: SetColumns, row: Sequence[Any], heap: bytearray) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for (name, type_), value in zip(columns.items(), row, strict=True):
        if isinstance(type_, Payload):
            offset, length = byte_range(name)
            node[offset], node[length] = (len(heap) + 1, len(value)) if value else (None, None)
            heap += value or b""
        else:
            convert = portable_value(type_)
            node[name] = value if convert is None or value is None else convert(value)
    return node
