"""RecurrenceRule: an RRULE of RFC 5545, read and checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from difflib import get_close_matches
from enum import IntEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from quartzite.errors import RecurrenceSyntaxError

__all__ = ["Frequency", "RecurrenceRule"]

_WEEKDAYS: Final = MappingProxyType({"MO": 0, "TU": 1, "WE": 2, "TH": 3, "FR": 4, "SA": 5, "SU": 6})
_BY_DAY: Final = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_UNTIL: Final = re.compile(r"\d{8}(T\d{6}Z?)?", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?\d{1,9}", re.ASCII)
_PREFIX: Final = "RRULE:"
_LAST_SECOND: Final = time(23, 59, 59)


class Frequency(IntEnum):
    """How often a period of the rule begins, from seldom to often."""

    YEARLY = 0
    MONTHLY = 1
    WEEKLY = 2
    DAILY = 3
    HOURLY = 4
    MINUTELY = 5
    SECONDLY = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurrenceRule:
    """The parts of a rule (RFC 5545 section 3.3.10, spec 02 section 6). What is empty was not given.

    Attributes:
        text: The rule as it is stored: upper case, in the order given, without prefix and defaults.
        frequency: FREQ.
        interval: INTERVAL, 1 by default.
        count: COUNT: how often the trigger fires.
        until: UNTIL: the last instant (aware), or the last local time (naive) that may fire.
        week_start: WKST, 0 for Monday, which is the default.
        by_day: BYDAY: pairs of an ordinal, None for every one, and a day of the week.
        by_month_day: BYMONTHDAY.
        by_month: BYMONTH.
        by_year_day: BYYEARDAY.
        by_week_number: BYWEEKNO.
        by_hour: BYHOUR.
        by_minute: BYMINUTE.
        by_second: BYSECOND.
        by_set_position: BYSETPOS.
    """

    text: str
    frequency: Frequency
    interval: int = 1
    count: int | None = None
    until: datetime | None = None
    week_start: int = 0
    by_day: tuple[tuple[int | None, int], ...] = ()
    by_month_day: tuple[int, ...] = ()
    by_month: tuple[int, ...] = ()
    by_year_day: tuple[int, ...] = ()
    by_week_number: tuple[int, ...] = ()
    by_hour: tuple[int, ...] = ()
    by_minute: tuple[int, ...] = ()
    by_second: tuple[int, ...] = ()
    by_set_position: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> RecurrenceRule:
        """Read a rule; an ``RRULE:`` prefix and either case are understood, parts named ``X-...`` are ignored.

        Raises:
            RecurrenceSyntaxError: the text is no rule, or has both COUNT and UNTIL.
        """
        if not isinstance(text, str):
            raise RecurrenceSyntaxError(f"recurrence rule {text!r} must be a text, for example FREQ=DAILY;INTERVAL=2")
        return _parse(text)


@lru_cache(maxsize=1024)
def _parse(text: str) -> RecurrenceRule:
    parts = _split(text)
    if "FREQ" not in parts:
        raise _refused(text, "it has no FREQ", "begin with FREQ=DAILY or its kin")
    if "COUNT" in parts and "UNTIL" in parts:
        raise _refused(text, "it has both COUNT and UNTIL", "keep one of them")
    values = {}
    for name, value in parts.items():
        field, read = _PARTS[name]
        try:
            values[field] = read(value)
        except (ValueError, KeyError):
            raise _refused(text, f"{name}={value} is not understood", _FORMS[name]) from None
    return RecurrenceRule(text=_stored(parts), **values)


def _split(text: str) -> dict[str, str]:
    body = text.strip().upper()
    body = body.removeprefix(_PREFIX)
    parts: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in body.split(";"))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise _refused(text, f"the part {part!r} has no value", "write parts as NAME=value, separated by ;")
        if name.startswith("X-"):
            continue
        if name not in _PARTS:
            near = get_close_matches(name, _PARTS, n=1)
            raise _refused(text, f"there is no part {name}", f"did you mean {near[0]}?" if near else "leave it out")
        if name in parts:
            raise _refused(text, f"{name} is given twice", "give each part once")
        parts[name] = value
    return parts


def _stored(parts: Mapping[str, str]) -> str:
    defaults = {("INTERVAL", "1"), ("WKST", "MO")}
    return ";".join(f"{name}={value}" for name, value in parts.items() if (name, value) not in defaults)


def _refused(text: str, reason: str, remedy: str) -> RecurrenceSyntaxError:
    return RecurrenceSyntaxError(f"recurrence rule {text!r}: {reason}: {remedy}")


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not _NUMBER.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError(text)
        return int(text)

    return read


def _numbers(low: int, high: int, *, from_the_end: bool = False) -> Callable[[str], tuple[int, ...]]:
    read_one = _number(-high if from_the_end else low, high)

    def read(text: str) -> tuple[int, ...]:
        found = sorted({read_one(item.strip()) for item in text.split(",")})
        if from_the_end and 0 in found:
            raise ValueError(text)
        return tuple(found)

    return read


def _by_days(text: str) -> tuple[tuple[int | None, int], ...]:
    return tuple(_by_day(item.strip()) for item in text.split(","))


def _by_day(text: str) -> tuple[int | None, int]:
    match = _BY_DAY.fullmatch(text)
    if match is None:
        raise ValueError(text)
    ordinal, day = match.groups()
    if ordinal is not None and not 1 <= abs(int(ordinal)) <= 53:
        raise ValueError(text)
    return (None if ordinal is None else int(ordinal)), _WEEKDAYS[day]


def _until(text: str) -> datetime:
    if not _UNTIL.fullmatch(text):
        raise ValueError(text)
    day = datetime.strptime(text[:8], "%Y%m%d")  # noqa: DTZ007  # the zone is the trigger's
    if len(text) == 8:
        return datetime.combine(day.date(), _LAST_SECOND)
    local = datetime.combine(day.date(), time(int(text[9:11]), int(text[11:13]), int(text[13:15])))
    return local.replace(tzinfo=UTC) if text.endswith("Z") else local


_PARTS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = MappingProxyType(
    {
        "FREQ": ("frequency", Frequency.__getitem__),
        "INTERVAL": ("interval", _number(1, 999_999_999)),
        "COUNT": ("count", _number(1, 999_999_999)),
        "UNTIL": ("until", _until),
        "WKST": ("week_start", _WEEKDAYS.__getitem__),
        "BYDAY": ("by_day", _by_days),
        "BYMONTHDAY": ("by_month_day", _numbers(1, 31, from_the_end=True)),
        "BYMONTH": ("by_month", _numbers(1, 12)),
        "BYYEARDAY": ("by_year_day", _numbers(1, 366, from_the_end=True)),
        "BYWEEKNO": ("by_week_number", _numbers(1, 53, from_the_end=True)),
        "BYHOUR": ("by_hour", _numbers(0, 23)),
        "BYMINUTE": ("by_minute", _numbers(0, 59)),
        "BYSECOND": ("by_second", _numbers(0, 59)),
        "BYSETPOS": ("by_set_position", _numbers(1, 366, from_the_end=True)),
    }
)
_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "FREQ": f"give one of {', '.join(Frequency.__members__)}",
        "INTERVAL": "give a whole number from 1 on",
        "COUNT": "give a whole number from 1 on",
        "UNTIL": "give 20261231, 20261231T235959 (local) or 20261231T235959Z (UTC)",
        "WKST": "give MO, TU, WE, TH, FR, SA or SU",
        "BYDAY": "give days as MO,WE or, counted within the month or year, as 2MO,-1FR (1 to 53)",
        "BYMONTHDAY": "give days from 1 to 31, or from -1 to -31 counted from the end",
        "BYMONTH": "give months from 1 to 12",
        "BYYEARDAY": "give days from 1 to 366, or from -1 to -366 counted from the end",
        "BYWEEKNO": "give weeks from 1 to 53, or from -1 to -53 counted from the end",
        "BYHOUR": "give hours from 0 to 23",
        "BYMINUTE": "give minutes from 0 to 59",
        "BYSECOND": "give seconds from 0 to 59",
        "BYSETPOS": "give positions from 1 to 366, or from -1 to -366 counted from the end",
    }
)
