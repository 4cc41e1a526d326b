"""Values become columns exactly, and columns that another program wrote become values."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, Table, select

from quartzite.errors import InvalidValueError
from quartzite.model.states import FiredState, StoredTriggerState
from quartzite.sql.schema import dialect_named
from quartzite.sql.types import (
    Flag,
    Milliseconds,
    OrdinalText,
    Payload,
    StateName,
    UtcTicks,
    from_ticks,
    to_ticks,
)

DIALECT = dialect_named("postgresql")


def bind(type_: Any, value: Any) -> Any:
    """Return what a type hands to the driver."""
    return type_.process_bind_param(value, DIALECT)


def result(type_: Any, value: Any) -> Any:
    """Return what a type makes of what the driver hands out."""
    return type_.process_result_value(value, DIALECT)


@pytest.mark.parametrize(
    ("instant", "ticks"),
    [
        (datetime(1, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, tzinfo=UTC), 621_355_968_000_000_000),
        (datetime(2000, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 630_822_816_000_000_010),
        (datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), 3_155_378_975_999_999_990),
        (datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), 621_355_968_000_000_000),
    ],
)
def test_instants_are_dotnet_ticks(instant: datetime, ticks: int) -> None:
    """An instant is the number of 100 ns since the year 1 in UTC, exact to the microsecond (spec 07 section 1)."""
    assert to_ticks(instant) == bind(UtcTicks(), instant) == ticks
    if ticks:
        assert from_ticks(ticks) == result(UtcTicks(), ticks) == instant


@pytest.mark.parametrize("ticks", [None, 0, -1])
def test_no_time_is_none(ticks: int | None) -> None:
    """NULL, zero and less read as no time, as .NET and Java wrote it."""
    assert result(UtcTicks(), ticks) is None


def test_parts_of_a_microsecond_are_cut() -> None:
    """Ticks that .NET wrote finer than a microsecond read as the microsecond they are in."""
    assert from_ticks(to_ticks(datetime(2026, 1, 1, tzinfo=UTC)) + 19) == datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)


def test_a_naive_instant_is_refused() -> None:
    """A datetime without a zone never reaches the database."""
    with pytest.raises(InvalidValueError, match="give an aware datetime"):
        bind(UtcTicks(), datetime(2026, 1, 1))  # noqa: DTZ001


def test_ticks_compare_with_instants_and_with_numbers() -> None:
    """In a statement a column of ticks takes instants, and numbers where one counts in ticks."""
    table = Table("t", MetaData(), Column("at", UtcTicks), Column("span", Milliseconds))
    earlier = table.c.at < datetime(1970, 1, 1, tzinfo=UTC)
    later = table.c.at + 10_000 > 5
    compiled = select(table).where(earlier, later).compile(dialect=DIALECT, compile_kwargs={"literal_binds": True})
    assert "621355968000000000" in str(compiled)
    assert "t.at + 10000 > 5" in str(compiled)


def test_durations_are_whole_milliseconds() -> None:
    """A duration is a number of milliseconds; parts of one are refused, a negative number reads as none."""
    assert bind(Milliseconds(), timedelta(days=1, milliseconds=1)) == 86_400_001
    assert bind(Milliseconds(), None) is None
    assert result(Milliseconds(), 86_400_001) == timedelta(days=1, milliseconds=1)
    assert result(Milliseconds(), -1) == timedelta(0)
    assert result(Milliseconds(), None) is None
    with pytest.raises(InvalidValueError, match="whole milliseconds"):
        bind(Milliseconds(), timedelta(microseconds=1))


@pytest.mark.parametrize("states", [StoredTriggerState, FiredState])
def test_states_are_their_text(states: type[StoredTriggerState | FiredState]) -> None:
    """Each state is stored as its text and read from it."""
    for state in states:
        assert bind(StateName(states), state) == state.value
        assert result(StateName(states), state.value) is state


def test_a_state_of_a_later_version() -> None:
    """A state that is not known leaves a trigger schedulable and a firing to be recovered; NULL is none."""
    assert result(StateName(StoredTriggerState), "HIBERNATING") is StoredTriggerState.WAITING
    assert result(StateName(FiredState), "BLOCKED") is FiredState.EXECUTING
    assert result(StateName(), None) is None
    assert bind(StateName(), None) is None


def test_no_bytes_are_null() -> None:
    """No bytes and NULL are the same; whatever the driver hands out for bytes becomes bytes."""
    assert bind(Payload(), b"") is None
    assert bind(Payload(), b"x") == b"x"
    assert result(Payload(), None) == b""
    assert result(Payload(), memoryview(b"x")) == b"x"


def test_truth_values_of_any_driver() -> None:
    """Numbers read as truth values, NULL as None."""
    assert result(Flag(), 1) is True
    assert result(Flag(), 0) is False
    assert result(Flag(), None) is None


@pytest.mark.parametrize(
    ("type_", "spelled"),
    [
        (
            OrdinalText(120, sqlite_length=250),
            {
                "postgresql": 'TEXT COLLATE "C"',
                "mariadb": "VARCHAR(120) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
                "mysql": "VARCHAR(120) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
                "sqlite": "NVARCHAR(250)",
                "oracle": "VARCHAR2(120 CHAR)",
            },
        ),
        (OrdinalText(200, postgresql_length=200), {"postgresql": 'VARCHAR(200) COLLATE "C"'}),
        (Payload(), {"postgresql": "BYTEA", "mariadb": "LONGBLOB", "mysql": "LONGBLOB", "sqlite": "BLOB"}),
        (Flag(), {"postgresql": "BOOLEAN", "mariadb": "BOOL", "sqlite": "BIT"}),
        (StateName(), {"postgresql": 'TEXT COLLATE "C"', "sqlite": "NVARCHAR(16)"}),
        (UtcTicks(), {"postgresql": "BIGINT", "mariadb": "BIGINT", "sqlite": "BIGINT"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_database_has_its_spelling(type_: Any, spelled: dict[str, str]) -> None:
    """A type is declared as spec 07 section 2 says, in a collation that compares code points."""
    for name, expected in spelled.items():
        assert type_.compile(dialect=dialect_named(name)) == expected
