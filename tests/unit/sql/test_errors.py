"""What a driver's error says is found through everything that wraps it."""

import sqlite3
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError, OperationalError

from quartzite.errors import JobPersistenceError
from quartzite.sql.dialects import dialect_for
from quartzite.sql.errors import failure_of, persistence_error
from quartzite.sql.schema import dialect_named


class DriverError(Exception):
    """An error of a driver that knows SQLSTATE."""

    def __init__(self, *args: object, sqlstate: str | None = None) -> None:
        super().__init__(*args)
        self.sqlstate = sqlstate


def wrapped(error: BaseException, *, invalidated: bool = False) -> DBAPIError:
    """Return an error as SQLAlchemy hands it out."""
    return OperationalError("INSERT INTO t VALUES (?)", ("secret",), error, connection_invalidated=invalidated)


def caused(error: BaseException) -> BaseException:
    """Return an error that was raised from another one."""
    outer = RuntimeError("outer")
    outer.__cause__ = error
    return outer


def sqlite_error(code: int) -> sqlite3.OperationalError:
    """Return an error of SQLite with its code."""
    error: Any = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = code
    return error  # type: ignore[no-any-return]


@pytest.mark.parametrize("wrap", [wrapped, caused, lambda error: caused(wrapped(caused(error)))])
def test_codes_are_found_through_wrappers(wrap: Any) -> None:
    """SQLSTATE and the database's own number are found wherever they are in the chain."""
    assert failure_of(wrap(DriverError("no", sqlstate="40P01"))).sqlstate == "40P01"
    assert failure_of(wrap(DriverError(1213, "deadlock"))).code == 1213
    assert failure_of(wrap(sqlite_error(5 | 2 << 8))).code == 5


def test_an_error_without_codes_has_none() -> None:
    """An ordinary exception, a circle of causes and odd attributes do not confuse the search."""
    odd = DriverError("no", sqlstate="x")
    odd.__cause__ = caused(odd)
    assert (failure_of(odd).sqlstate, failure_of(odd).code) == (None, None)
    assert failure_of(OSError(111, "refused")).code is None


def test_a_lost_connection_is_known() -> None:
    """SQLAlchemy's verdict and errors of the network mean that the connection is gone."""
    assert failure_of(wrapped(DriverError("gone"), invalidated=True)).disconnected
    assert failure_of(caused(ConnectionResetError())).disconnected
    assert not failure_of(wrapped(DriverError("no"))).disconnected
    assert not failure_of(TimeoutError()).disconnected


@pytest.mark.parametrize(
    ("name", "error", "transient"),
    [
        ("postgresql", DriverError(sqlstate="40001"), True),
        ("postgresql", DriverError(sqlstate="40P01"), True),
        ("postgresql", DriverError(sqlstate="08006"), True),
        ("postgresql", DriverError(sqlstate="53300"), True),
        ("postgresql", DriverError(sqlstate="57P01"), True),
        ("postgresql", DriverError(sqlstate="57014"), False),
        ("postgresql", DriverError(sqlstate="23505"), False),
        ("postgresql", DriverError(sqlstate="28P01"), False),
        ("postgresql", DriverError(sqlstate="42P01"), False),
        ("mariadb", DriverError(1205, "x"), True),
        ("mariadb", DriverError(1213, "x"), True),
        ("mariadb", DriverError(2006, "x"), True),
        ("mariadb", DriverError(2013, "x"), True),
        ("mariadb", DriverError(1062, "x"), False),
        ("mariadb", DriverError(1045, "x"), False),
        ("sqlite", sqlite_error(5), True),
        ("sqlite", sqlite_error(6), True),
        ("sqlite", sqlite_error(261), True),
        ("sqlite", sqlite_error(1), False),
        ("oracle", DriverError(sqlstate="40001"), True),
        ("oracle", DriverError(sqlstate="23000"), False),
        ("oracle", ConnectionResetError(), True),
    ],
)
def test_what_may_be_tried_again(name: str, error: BaseException, transient: bool) -> None:
    """Deadlocks, lost connections and overload are transient; wrong data, names and passwords are not."""
    assert dialect_for(dialect_named(name)).is_transient(wrapped(error)) is transient


def test_the_message_is_one_line_of_the_driver() -> None:
    """The error of a store has what was done and the driver's words, neither statement nor values, cut when long."""
    error = persistence_error("adding job a.b", wrapped(DriverError("first\n  second")))
    assert isinstance(error, JobPersistenceError)
    assert str(error) == "adding job a.b failed: first second"
    assert len(str(persistence_error("x", DriverError("y" * 9999)))) < 600
    assert str(persistence_error("x", TimeoutError())) == "x failed: TimeoutError"
