"""A row set turns rows into one parameter, whatever their number."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import BigInteger, Integer, select

from quartzite.errors import InvalidValueError
from quartzite.model.states import StoredTriggerState
from quartzite.sql.dialects import SqlDialect, dialect_for
from quartzite.sql.schema import dialect_named
from quartzite.sql.types import Flag, Milliseconds, OrdinalText, Payload, StateName, UtcTicks, to_ticks

START = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS: dict[str, Any] = {
    "name": OrdinalText(200),
    "at": UtcTicks(),
    "state": StateName(StoredTriggerState),
    "span": Milliseconds(),
    "ok": Flag(),
    "n": BigInteger(),
}


def dialect(name: str = "postgresql") -> SqlDialect:
    """Return the answers of a database by its name."""
    return dialect_for(dialect_named(name))


def test_rows_are_one_json_parameter() -> None:
    """All rows are one text of JSON objects, with values as the columns hold them."""
    rows = dialect().row_set("given", COLUMNS)
    found = rows.parameters(
        [("ü😀", START, StoredTriggerState.WAITING, timedelta(seconds=1), True, 2**62), (None,) * len(COLUMNS)]
    )
    assert list(found) == ["given_rows"]
    assert json.loads(found["given_rows"]) == [
        {"name": "ü😀", "at": to_ticks(START), "state": "WAITING", "span": 1000, "ok": True, "n": 2**62},
        dict.fromkeys(COLUMNS),
    ]


def test_ticks_may_be_given_as_a_number() -> None:
    """A column of ticks takes numbers too, as it does in statements."""
    rows = dialect().row_set("given", {"at": UtcTicks()})
    assert rows.parameters([(5,)]) == {"given_rows": '[{"at":5}]'}


def test_bytes_travel_behind_one_another() -> None:
    """The bytes of all rows are one parameter; the rows say where theirs begin, and no bytes are NULL."""
    rows = dialect().row_set("given", {"name": OrdinalText(9), "data": Payload(), "more": Payload()})
    found = rows.parameters([("a", b"12", b"345"), ("b", b"", b"6")])
    assert found["given_bytes"] == b"123456"
    assert json.loads(found["given_rows"]) == [
        {"name": "a", "data_at": 1, "data_size": 2, "more_at": 3, "more_size": 3},
        {"name": "b", "data_at": None, "data_size": None, "more_at": 6, "more_size": 1},
    ]


def test_no_rows_are_an_empty_set() -> None:
    """A set without rows is valid and joins nothing."""
    assert dialect().row_set("given", {"data": Payload()}).parameters([]) == {"given_rows": "[]", "given_bytes": b""}


@pytest.mark.parametrize("row", [(b"a",), (b"a", b"b", b"c")])
def test_a_row_has_a_value_for_each_column(row: tuple[Any, ...]) -> None:
    """A row of another length is an error, not a shift."""
    shapes: list[dict[str, Any]] = [
        {"name": OrdinalText(9), "n": Integer()},
        {"data": Payload(), "name": OrdinalText(9)},
    ]
    for columns in shapes:
        with pytest.raises(ValueError, match="zip"):
            dialect().row_set("given", columns).parameters([row])


def test_a_value_that_does_not_fit_is_refused() -> None:
    """A naive instant and parts of a millisecond do not reach the database."""
    naive = datetime(2026, 1, 1)  # noqa: DTZ001
    with pytest.raises(InvalidValueError, match="aware"):
        dialect().row_set("given", {"at": UtcTicks()}).parameters([(naive,)])
    with pytest.raises(InvalidValueError, match="milliseconds"):
        dialect().row_set("given", {"span": Milliseconds()}).parameters([(timedelta(microseconds=1),)])


@pytest.mark.parametrize("name", ["postgresql", "mariadb", "sqlite"])
def test_the_statement_does_not_depend_on_the_rows(name: str) -> None:
    """One statement serves any number of rows, so that it is built and prepared once."""
    rows = dialect(name).row_set("given", COLUMNS)
    assert rows.capacity is None
    compiled = select(rows.c.name).compile(dialect=dialect_named(name))
    assert set(compiled.params) == {"given_rows"}


def test_large_sets_are_cut() -> None:
    """A caller says how many rows travel at once; a set that can carry fewer gets fewer."""
    rows = [(number,) for number in range(50)]
    plain = dialect().row_set("given", {"n": Integer()})
    assert [len(piece) for piece in plain.batches(rows, 30)] == [30, 20]
    assert list(plain.batches([], 30)) == []
    generic = SqlDialect(dialect_named("oracle")).row_set("given", {"n": Integer()})
    assert [len(piece) for piece in generic.batches(rows, 30)] == [20, 20, 10]


def test_a_set_of_parameters_has_a_place_for_each_value() -> None:
    """Where no JSON can be read each value is a parameter, spare rows are marked, and too many are refused."""
    rows = SqlDialect(dialect_named("oracle")).row_set("given", {"n": Integer()})
    found = rows.parameters([(7,), (8,)])
    assert len(found) == 2 * 20
    assert [found[f"given_{index}_n"] for index in range(3)] == [7, 8, None]
    assert [found[f"given_{index}_used"] for index in range(3)] == [1, 1, 0]
    with pytest.raises(ValueError, match="do not fit"):
        rows.parameters([(1,)] * 21)
