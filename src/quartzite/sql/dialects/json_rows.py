"""Row sets whose rows a database reads from one JSON text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import BindParameter, Dialect, FromClause, Integer, LargeBinary, Text, bindparam, text
from sqlalchemy import column as named_column
from sqlalchemy.types import TypeEngine

from quartzite.sql.row_set import RowSet, SetColumns, byte_range, parameter_name
from quartzite.sql.types import Payload

__all__ = ["JsonColumn", "json_row_set"]

JsonColumn = tuple[str, TypeEngine[Any]]
"""The name of an entry of the JSON objects, and its type."""
_INTEGER = Integer()


def json_row_set(
    dialect: Dialect,
    name: str,
    columns: SetColumns,
    *,
    source: Callable[[str, list[JsonColumn]], str],
    entry: Callable[[str], str] = str,
) -> RowSet:
    """Return a row set.

    Args:
        dialect: Spells names and types.
        name: The name of the set.
        columns: Names and types of its columns.
        source: Returns what stands behind FROM, given the spelling of the parameter and the entries of an object.
        entry: Returns the expression that reads an entry, given its quoted name; the name itself when the source
            makes columns of the entries.
    """
    quote = dialect.identifier_preparer.quote
    heap = f":{parameter_name(name, 'bytes')}"

    def selected() -> Iterator[str]:
        for key, type_ in columns.items():
            if isinstance(type_, Payload):
                start, length = (entry(part) for part in byte_range(key))
                yield f"SUBSTR({heap}, {start}, {length}) AS {quote(key)}"
            else:
                read = entry(quote(key))
                yield read if read == quote(key) else f"{read} AS {quote(key)}"

    rows = source(f":{parameter_name(name, 'rows')}", list(_entries(columns)))
    statement = text(f"SELECT {', '.join(selected())} FROM {rows}")  # noqa: S608  # names and types only, no values
    parameters: list[BindParameter[Any]] = [bindparam(parameter_name(name, "rows"), type_=Text())]
    if any(isinstance(type_, Payload) for type_ in columns.values()):
        parameters.append(bindparam(parameter_name(name, "bytes"), type_=LargeBinary()))
    element: FromClause = (
        statement.bindparams(*parameters)
        .columns(*(named_column(key, type_) for key, type_ in columns.items()))
        .subquery(name)
    )
    return RowSet(name, columns, element)


def _entries(columns: SetColumns) -> Iterator[JsonColumn]:
    for key, type_ in columns.items():
        if isinstance(type_, Payload):
            for part in byte_range(key):
                yield part, _INTEGER
        else:
            yield key, type_
