"""Column types: where the databases differ, and where values become columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Dialect, LargeBinary, String
from sqlalchemy.dialects.mysql import LONGBLOB, VARCHAR
from sqlalchemy.dialects.postgresql import TEXT
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.types import NVARCHAR, TypeDecorator, TypeEngine

from quartzite.errors import InvalidValueError
from quartzite.model.states import FiredState, StoredTriggerState

__all__ = [
    "UNIX_EPOCH_TICKS",
    "Flag",
    "Milliseconds",
    "OrdinalText",
    "Payload",
    "StateName",
    "UtcTicks",
    "from_ticks",
    "is_mysql",
    "mysql_collation",
    "portable_value",
    "to_ticks",
]

TICKS_PER_SECOND: Final = 10_000_000
UNIX_EPOCH_TICKS: Final = 621_355_968_000_000_000
"""The ticks of 1970-01-01T00:00Z."""
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def to_ticks(instant: datetime) -> int:
    """Return the .NET ticks (100 ns since 0001-01-01T00:00Z) of an aware instant, exactly (spec 07 section 1).

    Raises:
        InvalidValueError: the instant is naive.
    """
    if instant.tzinfo is None:
        raise InvalidValueError(f"{instant} has no time zone: give an aware datetime")
    since = instant - _FIRST
    return (since.days * 86_400 + since.seconds) * TICKS_PER_SECOND + since.microseconds * 10


def from_ticks(ticks: int | None) -> datetime | None:
    """Return the UTC instant of .NET ticks, cut to the microsecond; NULL, zero and less are None."""
    if ticks is None or ticks <= 0:
        return None
    return _FIRST + timedelta(microseconds=ticks // 10)


def is_mysql(dialect: Dialect) -> bool:
    """Tell whether a SQLAlchemy dialect speaks to MariaDB or MySQL."""
    return dialect.name in {"mysql", "mariadb"}


class UtcTicks(TypeDecorator[datetime]):
    """An instant as BIGINT ticks.

    In comparisons and arithmetic with plain numbers the column is a number.
    """

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | int | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Return the ticks of an instant; numbers pass as they are."""
        return to_ticks(value) if isinstance(value, datetime) else value

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the instant of ticks."""
        return from_ticks(value)

    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:  # noqa: ARG002
        """Take instants for instants, and everything else for a number."""
        return self if isinstance(value, datetime) else BigInteger()


class Milliseconds(TypeDecorator[timedelta]):
    """A duration as BIGINT milliseconds; a negative number reads as zero."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, dialect: Dialect) -> int | None:  # noqa: ARG002
        """Return the milliseconds of a duration.

        Raises:
            InvalidValueError: it is not whole milliseconds.
        """
        return None if value is None else _milliseconds(value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> timedelta | None:  # noqa: ARG002
        """Return the duration of milliseconds."""
        return None if value is None else timedelta(milliseconds=max(0, value))


class StateName(TypeDecorator[Enum]):
    """The state of a trigger or of a firing, as text.

    A state that this version does not know reads as WAITING in a trigger, so that it stays schedulable, and as
    EXECUTING in a firing, so that it is recovered with the most care.

    Args:
        states: ``StoredTriggerState`` or ``FiredState``.
    """

    impl = String(16)
    cache_ok = True

    def __init__(self, states: type[StoredTriggerState | FiredState] = StoredTriggerState) -> None:
        super().__init__()
        self.states = states
        self._by_text: dict[str, Enum] = {state.value: state for state in states}
        self._unknown: Enum = StoredTriggerState.WAITING if states is StoredTriggerState else FiredState.EXECUTING

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the text type of the database."""
        return _text_type(dialect, 16)

    def process_bind_param(self, value: Enum | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Return the persisted text of a state."""
        return None if value is None else value.value

    def process_result_value(self, value: str | None, dialect: Dialect) -> Enum | None:  # noqa: ARG002
        """Return the state of a persisted text."""
        return None if value is None else self._by_text.get(value, self._unknown)


class Payload(TypeDecorator[bytes]):
    """Bytes without a practical limit; no bytes are stored as NULL, and NULL reads as no bytes."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the binary type of the database; a MySQL BLOB would end at 64 kB."""
        return LONGBLOB() if is_mysql(dialect) else LargeBinary()

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """Return the bytes, or None for none."""
        return value or None

    def process_result_value(self, value: Any, dialect: Dialect) -> bytes:  # noqa: ARG002
        """Return the bytes, none for NULL."""
        return b"" if value is None else bytes(value)


class OrdinalText(TypeDecorator[str]):
    """Text that is compared and ordered by code point, in every database.

    Args:
        length: The most characters that it holds where a limit is enforced (MariaDB).
        sqlite_length: The length that SQLite's column declares; SQLite enforces none.
        postgresql_length: The limit in PostgreSQL; None for TEXT.
    """

    impl = String
    cache_ok = True

    def __init__(self, length: int, *, sqlite_length: int | None = None, postgresql_length: int | None = None) -> None:
        super().__init__(length)
        self.length = length
        self.sqlite_length = sqlite_length or length
        self.postgresql_length = postgresql_length

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the text type of the database, with the collation that compares code points."""
        return _text_type(dialect, self.length, self.sqlite_length, self.postgresql_length)

    def limit(self, dialect: Dialect) -> int | None:
        """Return the most characters that the column of a database holds, None without a limit."""
        if dialect.name == "sqlite":
            return None
        return self.postgresql_length if dialect.name == "postgresql" else self.length


class _Bit(Boolean):
    """A truth value in a column declared as BIT."""


@compiles(_Bit, "sqlite")
def _compile_bit(type_: _Bit, compiler: Any, **_: Any) -> str:  # noqa: ARG001
    return "BIT"


class Flag(TypeDecorator[bool]):
    """A truth value: BOOLEAN, and BIT in SQLite."""

    impl = Boolean
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of the database."""
        return _Bit() if dialect.name == "sqlite" else Boolean()

    def process_result_value(self, value: Any, dialect: Dialect) -> bool | None:  # noqa: ARG002
        """Return a truth value, whatever the driver hands out for one."""
        return None if value is None else bool(value)


def _text_type(
    dialect: Dialect, length: int, sqlite_length: int | None = None, postgresql_length: int | None = None
) -> TypeEngine[Any]:
    if dialect.name == "postgresql":
        return TEXT(collation="C") if postgresql_length is None else String(postgresql_length, collation="C")
    if is_mysql(dialect):
        return VARCHAR(length, charset="utf8mb4", collation=mysql_collation(dialect))
    if dialect.name == "sqlite":
        return NVARCHAR(sqlite_length or length)
    return String(length)


def mysql_collation(dialect: Dialect) -> str:
    """Return the collation that compares code points and does not take trailing spaces for nothing."""
    is_mariadb = dialect.name == "mariadb" or getattr(dialect, "is_mariadb", False)
    return "utf8mb4_nopad_bin" if is_mariadb else "utf8mb4_0900_bin"


def portable_value(type_: TypeEngine[Any]) -> Callable[[Any], Any] | None:
    """Return what makes a value of a column a value of JSON, None when it is one; bytes are not asked about."""
    if isinstance(type_, UtcTicks):
        return _ticks
    if isinstance(type_, Milliseconds):
        return _milliseconds
    if isinstance(type_, StateName):
        return _enum_value
    return None


def _ticks(value: datetime | int) -> int:
    return to_ticks(value) if isinstance(value, datetime) else value


def _enum_value(value: Enum) -> Any:
    return value.value


def _milliseconds(value: timedelta) -> int:
    number, rest = divmod(value, _MILLISECOND)
    if rest:
        raise InvalidValueError(f"{value} can not be stored: durations are whole milliseconds")
    return number
