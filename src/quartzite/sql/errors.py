"""What a driver's error says: its codes, and the connection that it ended."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import DBAPIError, DisconnectionError

from quartzite.errors import JobPersistenceError

__all__ = ["Failure", "failure_of", "persistence_error"]

_SQLSTATE: Final = re.compile(r"[0-9A-Z]{5}")
_MAX_LENGTH: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What can be known of an error, whichever driver raised it.

    Attributes:
        sqlstate: The five characters of the SQL standard, None when the driver gives none.
        code: The number of the database's own numbering, None when there is none.
        message: The driver's text, one line, without the statement and its values.
        disconnected: Whether the connection is gone.
    """

    sqlstate: str | None = None
    code: int | None = None
    message: str = ""
    disconnected: bool = False


def failure_of(error: BaseException) -> Failure:
    """Return what an error says, looking through everything that wraps or caused it."""
    chain = tuple(_chain(error))
    return Failure(
        sqlstate=next((state for link in chain if (state := _sqlstate(link))), None),
        code=next((code for link in chain if (code := _code(link)) is not None), None),
        message=_message(error),
        disconnected=any(_is_disconnect(link) for link in chain),
    )


def persistence_error(doing: str, error: BaseException) -> JobPersistenceError:
    """Return the error that a store raises for a driver's error; the caller chains it (``raise ... from error``)."""
    return JobPersistenceError(f"{doing} failed: {_message(error)}")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, what SQLAlchemy wrapped, and what either was raised from."""
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        link = pending.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        original = getattr(link, "orig", None)
        pending += [original if isinstance(original, BaseException) else None, link.__cause__]


def _sqlstate(error: BaseException) -> str | None:
    for name in ("sqlstate", "pgcode"):
        state = getattr(error, name, None)
        if isinstance(state, str) and _SQLSTATE.fullmatch(state):
            return state
    return None


def _code(error: BaseException) -> int | None:
    sqlite_code = getattr(error, "sqlite_errorcode", None)
    if isinstance(sqlite_code, int):
        return sqlite_code & 0xFF  # the upper bits say more of what the lower ones name
    first = error.args[0] if error.args and not isinstance(error, OSError) else None
    return first if type(first) is int else None


def _is_disconnect(error: BaseException) -> bool:
    if isinstance(error, DBAPIError):
        return error.connection_invalidated
    return isinstance(error, DisconnectionError | ConnectionError | asyncio.IncompleteReadError)


def _message(error: BaseException) -> str:
    """Return the driver's words; SQLAlchemy's own text would repeat the statement and its values."""
    original = getattr(error, "orig", None)
    source = original if isinstance(original, BaseException) else error
    words = " ".join(str(source).split()) or type(source).__name__
    return words if len(words) <= _MAX_LENGTH else words[:_MAX_LENGTH] + "..."
