"""Field: one entry of a JSON object and the attribute it stands for; and how common kinds of values are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from quartzite.cron import DayOfWeek
from quartzite.timezones import zone

__all__ = [
    "Field",
    "are_flags",
    "boolean",
    "integer",
    "items",
    "read_date",
    "read_fields",
    "read_instant",
    "read_span",
    "read_time",
    "read_week_days",
    "read_zone",
    "text",
    "write_fields",
    "write_instant",
    "write_span",
    "write_time",
    "write_week_days",
    "write_zone",
]

_SPAN: Final = re.compile(r"(-)?(?:(\d+)\.)?(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,7}))?")
_TIME: Final = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.:](\d{1,3})\d{0,4})?)?")


def _itself(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Field:
    """An entry of a JSON object and the attribute of a value that it stands for.

    Attributes:
        name: The key in the object.
        attribute: The attribute, which is also the name of the constructor's argument.
        write: Returns the JSON value of the attribute's value, which is not None.
        read: Returns the attribute's value again; raises ``ValueError`` or ``TypeError`` for anything malformed.
    """

    name: str
    attribute: str
    write: Callable[[Any], Any] = _itself
    read: Callable[[Any], Any] = _itself


def write_fields(table: Iterable[Field], value: object) -> dict[str, Any]:
    """Return the entries of a value; what is None is written as null."""
    written = {}
    for field in table:
        content = getattr(value, field.attribute)
        written[field.name] = None if content is None else field.write(content)
    return written


def read_fields(table: Iterable[Field], node: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constructor arguments that an object has; a missing or null entry leaves one to its default.

    Raises:
        ValueError: an entry is malformed; the message names it.
    """
    arguments = {}
    for field in table:
        content = node.get(field.name)
        if content is None:
            continue
        try:
            arguments[field.attribute] = field.read(content)
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise ValueError(f"{field.name} {content!r}: {error}") from error
    return arguments


def text(content: Any) -> str:
    """Return a text.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(content, str):
        raise TypeError("it must be a text")
    return content


def integer(content: Any) -> int:
    """Return a whole number.

    Raises:
        TypeError: it is none.
    """
    if type(content) is not int:
        raise TypeError("it must be a whole number")
    return content


def boolean(content: Any) -> bool:
    """Return a truth value.

    Raises:
        TypeError: it is none.
    """
    if type(content) is not bool:
        raise TypeError("it must be true or false")
    return content


def items(content: Any) -> list[Any]:
    """Return a list.

    Raises:
        TypeError: it is none.
    """
    if type(content) is not list:
        raise TypeError("it must be a list")
    return content


def are_flags(content: list[Any], size: int) -> bool:
    """Tell whether a list holds that many truth values: how older programs wrote sets of days."""
    return len(content) == size and all(type(item) is bool for item in content)


def write_instant(instant: datetime) -> str:
    """Write an aware instant in ISO 8601, to the microsecond."""
    return instant.isoformat()


def read_instant(content: Any) -> datetime:
    """Read an ISO 8601 instant; one without an offset is UTC, as .NET means it.

    Raises:
        ValueError: it is none.
    """
    moment = datetime.fromisoformat(text(content))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def write_span(span: timedelta) -> str:
    """Write a duration in .NET's constant form: ``[-][d.]hh:mm:ss[.fffffff]``."""
    magnitude = abs(span)
    minutes, seconds = divmod(magnitude.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days = f"{magnitude.days}." if magnitude.days else ""
    fraction = f".{magnitude.microseconds:06d}0" if magnitude.microseconds else ""
    return f"{'-' if span < timedelta(0) else ''}{days}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"


def read_span(content: Any) -> timedelta:
    """Read a duration in .NET's constant form.

    Raises:
        ValueError: it is none.
    """
    found = _SPAN.fullmatch(text(content))
    if found is None:
        raise ValueError("it must be a duration, as in 1.02:03:04.5")
    sign, days, hours, minutes, seconds, fraction = found.groups(default="0")
    span = timedelta(
        days=int(days),
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int(fraction.ljust(7, "0")) // 10,
    )
    return -span if sign == "-" else span


def write_time(moment: time) -> str:
    """Write a time of day, to the millisecond."""
    return moment.isoformat(timespec="milliseconds")


def read_time(content: Any) -> time:
    """Read a time of day, ``8:30`` or more precise; Quartz separates milliseconds by a colon.

    Raises:
        ValueError: it is none.
    """
    found = _TIME.fullmatch(text(content))
    if found is None:
        raise ValueError("it must be a time of day, as in 08:30:00.000")
    hour, minute, second, milliseconds = found.groups(default="0")
    return time(int(hour), int(minute), int(second), int(milliseconds.ljust(3, "0")) * 1000)


def read_date(content: Any) -> date:
    """Read an ISO 8601 date; a time behind it is not looked at.

    Raises:
        ValueError: it is none.
    """
    return datetime.fromisoformat(text(content)).date()


def write_week_days(days: Iterable[DayOfWeek]) -> list[str]:
    """Write days of the week by name, from Sunday on."""
    return [day.name.capitalize() for day in sorted(days)]


def read_week_days(content: Any) -> frozenset[DayOfWeek]:
    """Read names, .NET's numbers (0 is Sunday), or one truth value for each day from Sunday on.

    Raises:
        ValueError: there is no such day.
    """
    days = items(content)
    if are_flags(days, len(DayOfWeek)):
        return frozenset(DayOfWeek(number) for number, included in enumerate(days, 1) if included)
    return frozenset(DayOfWeek[day.upper()] if isinstance(day, str) else DayOfWeek(integer(day) + 1) for day in days)


def write_zone(value: Any) -> str:
    """Write the id of a zone."""
    return str(value.key)


read_zone = zone
"""Read the id of a zone, IANA or Windows."""
