"""What a column can not hold is refused with its name, its size and the limit."""

import pytest

from quartzite.errors import InvalidValueError
from quartzite.sql.dialects import dialect_for
from quartzite.sql.limits import ColumnLimits
from quartzite.sql.schema import dialect_named
from quartzite.sql.tables import tables

T = tables()


def limits(name: str) -> ColumnLimits:
    """Return the limits of a database by its name."""
    return ColumnLimits(T, dialect_for(dialect_named(name)))


def test_a_text_that_is_too_long_is_refused() -> None:
    """MariaDB's columns end where they are declared to: the message says who, which, how long and how long at most."""
    found = limits("mariadb")
    found.check(T.job_details, "job a.b", {"description": "ü" * 250, "job_class_name": None})
    with pytest.raises(
        InvalidValueError, match=r"^job a\.b: description has 251 characters, at most 250 can be stored$"
    ):
        found.check(T.job_details, "job a.b", {"description": "x" * 251})


def test_each_database_has_its_own_limits() -> None:
    """PostgreSQL limits what it declares, SQLite nothing."""
    long = {"description": "x" * 10_000}
    for name in ("postgresql", "sqlite"):
        limits(name).check(T.job_details, "job", long)
    with pytest.raises(InvalidValueError, match="at most 200"):
        limits("postgresql").check(T.triggers, "trigger", {"execution_group": "x" * 201})
    limits("sqlite").check(T.triggers, "trigger", {"execution_group": "x" * 201})


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "ü\udfff"])
@pytest.mark.parametrize("name", ["postgresql", "mariadb", "sqlite"])
def test_what_no_database_can_store_is_refused(name: str, text: str) -> None:
    """A NUL and half of a surrogate pair are refused for each database alike."""
    with pytest.raises(InvalidValueError, match="no database can store"):
        limits(name).check(T.job_details, "job", {"description": text})


def test_whole_numbers_have_32_bits() -> None:
    """A number that an INTEGER column can not hold is refused."""
    for number in (-(2**31), 2**31 - 1):
        ColumnLimits.check_integer("trigger a.b", "priority", number)
    for number in (-(2**31) - 1, 2**31):
        with pytest.raises(InvalidValueError, match=f"trigger a.b: priority is {number}"):
            ColumnLimits.check_integer("trigger a.b", "priority", number)
