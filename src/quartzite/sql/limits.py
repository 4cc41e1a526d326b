"""What the columns of a database can hold, so that a value is refused before any statement is sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Table

from quartzite.errors import InvalidValueError
from quartzite.sql.dialects import SqlDialect
from quartzite.sql.tables import Tables
from quartzite.sql.types import OrdinalText

__all__ = ["ColumnLimits"]

_SMALLEST, _LARGEST = -(2**31), 2**31 - 1


class ColumnLimits:
    """The text that each column of one database can hold.

    Args:
        tables: The tables.
        dialect: The database.
    """

    def __init__(self, tables: Tables, dialect: SqlDialect) -> None:
        self._limits: Final = {
            table: {
                column.key: dialect.text_limit(column.type)
                for column in table.columns
                if isinstance(column.type, OrdinalText)
            }
            for table in tables.all
        }

    def check(self, table: Table, who: str, texts: Mapping[str, str | None]) -> None:
        """Refuse texts that their columns can not hold.

        Args:
            table: Whose columns they are meant for.
            who: Whom they belong to, for the message.
            texts: By the name of the column.

        Raises:
            InvalidValueError: a text is too long, holds a NUL or half of a surrogate pair.
        """
        limits = self._limits[table]
        for name, text in texts.items():
            if text is None:
                continue
            limit = limits[name]
            if limit is not None and len(text) > limit:
                raise InvalidValueError(f"{who}: {name} has {len(text)} characters, at most {limit} can be stored")
            if "\0" in text or not _is_encodable(text):
                raise InvalidValueError(f"{who}: {name} {text!r} holds a character that no database can store")

    @staticmethod
    def check_integer(who: str, name: str, number: int) -> None:
        """Refuse a number that an INTEGER column can not hold.

        Raises:
            InvalidValueError: it needs more than 32 bits.
        """
        if not _SMALLEST <= number <= _LARGEST:
            raise InvalidValueError(f"{who}: {name} is {number}, from {_SMALLEST} to {_LARGEST} can be stored")


def _is_encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
