"""The Unix dialect, read by croniter and put into Quartz's words once (decision 8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Final, TypeAlias

from croniter import croniter
from croniter.croniter import CroniterError

from quartzite.cron.fields import (
    DAY_OF_MONTH,
    HOUR,
    MINUTE,
    MONTH,
    MONTH_NAMES,
    WEEKDAY_NAMES,
    Field,
    FieldError,
)
from quartzite.cron.hashing import without_hash
from quartzite.errors import CronSyntaxError, InvalidValueError

__all__ = ["translate"]

_Values: TypeAlias = Sequence[int | str]

_ALIASES: Final = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}
_WEEKDAY: Final = Field(name="day of week", low=0, high=6, largest_step=None)
_FIELDS: Final = (MINUTE, HOUR, DAY_OF_MONTH, MONTH, _WEEKDAY)
_FIELD: Final = re.compile(r"[^ \t]+")
# croniter drops what it does not know behind a number, as in 15W, and draws lots for R: it gets to see only this.
_ITEM: Final = re.compile(
    r"(?:\*|\?|\d+|[A-Z]{3})(?:-(?:\d+|[A-Z]{3}))?(?:/\d+)?|L|L[0-7]|(?:\d|[A-Z]{3})#\d|/\d+", re.ASCII
)
# It also reads a range of one value, such as 5-5, as everything.
_ONE_VALUE: Final = re.compile(r"(?<![^ ,])(\w+)-\1(?![^ ,])", re.ASCII)
_STEPPING: Final = frozenset("*/-")
_SECONDS_FIRST: Final = "an expression with seconds is read by CronExpression(...)"


@lru_cache(maxsize=1024)
def translate(text: str, hash_key: str | int | None) -> str:
    """Return a line of five fields, or an alias, as an expression of Quartz's dialect that means the same.

    Raises:
        CronSyntaxError: croniter refuses it, or Quartz's dialect has no words for it.
    """
    line = " ".join(_resolved(text, place, match, hash_key) for place, match in enumerate(_split(text)))
    try:
        expanded, nth = croniter.expand(_ONE_VALUE.sub(r"\1", line))
    except CroniterError as error:
        raise CronSyntaxError(text, f"croniter refuses it: {error}") from error
    minute, hour, day_of_month, month, day_of_week = expanded
    minute_given, hour_given, *_ = line.split()
    days = [_days_of_month(day_of_month), _days_of_week(text, day_of_week, nth)]
    if days[1] == "*":
        days[1] = "?"
    elif days[0] == "*":
        days[0] = "?"
    time = [_stepped(MINUTE, minute, minute_given), _stepped(HOUR, hour, hour_given)]
    return f"0 {' '.join(time)} {days[0]} {_named(month, ('', *MONTH_NAMES))} {days[1]}"


def _split(text: str) -> list[re.Match[str]]:
    if not isinstance(text, str):
        raise InvalidValueError(f"crontab line {text!r} is no text: give five fields, as in '30 9 * * 1-5'")
    line = text.strip().upper()
    found = list(_FIELD.finditer(_ALIASES.get(line, text)))
    if line.startswith("@") and line not in _ALIASES:
        raise CronSyntaxError(text, "it is no alias", hint=f"write one of {' '.join(_ALIASES).lower()}")
    if len(found) != len(_FIELDS):
        hint = _SECONDS_FIRST if len(found) > len(_FIELDS) else "write minute hour day-of-month month day-of-week"
        raise CronSyntaxError(text, f"it has {len(found)} field{'s' * (len(found) != 1)}, and 5 are needed", hint=hint)
    return found


def _resolved(text: str, place: int, match: re.Match[str], hash_key: str | int | None) -> str:
    """Return one field in upper case with every H replaced, once it is known that croniter reads all of it."""
    try:
        # Quartz's fields begin with the seconds: with the same key, H means the same in both dialects.
        field = without_hash(_FIELDS[place], place + 1, match[0].upper(), hash_key)
    except FieldError as error:
        raise CronSyntaxError(text, error.reason, position=match.start() + error.at, hint=error.hint) from None
    for item in field.split(","):
        if not _ITEM.fullmatch(item):
            raise CronSyntaxError(text, f"{item!r} is no item of the Unix dialect", position=match.start())
    return field


def _days_of_month(values: _Values) -> str:
    if "*" in values:
        return "*"
    last = ["L"] if "l" in values else []
    return ",".join([*_ranges(_numbers(values), str), *last])


def _days_of_week(text: str, values: _Values, nth: dict[int, set[int | str]]) -> str:
    if "*" in values:
        return "*"
    if not nth:
        return _named(values, WEEKDAY_NAMES)
    if len(values) > 1 or sum(map(len, nth.values())) > 1:
        raise CronSyntaxError(text, "a weekday of the month must stand alone", hint="use a trigger for each of them")
    [(weekday, [week])] = nth.items()
    return f"{WEEKDAY_NAMES[weekday]}L" if week == "l" else f"{WEEKDAY_NAMES[weekday]}#{week}"


def _stepped(field: Field, values: _Values, given: str) -> str:
    """Write a clock unit so that it is an interval in Quartz's dialect when it was given with ``*``, ``/`` or ``-``."""
    if "*" in values:
        return "*"
    numbers = _numbers(values)
    if _STEPPING.isdisjoint(given):
        return ",".join(map(str, numbers))
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) > 2 and len(steps) == 1 and (step := steps.pop()) > 1:
        return _progression(field, numbers, step)
    written = _ranges(numbers, str, shortest=2)
    if not any("-" in item for item in written):
        written[-1] = f"{written[-1]}-{written[-1]}"
    return ",".join(written)


def _progression(field: Field, numbers: list[int], step: int) -> str:
    first, last = numbers[0], numbers[-1]
    if last + step <= field.high:
        return f"{first}-{last}/{step}"
    return f"{'*' if first == field.low else first}/{step}"


def _named(values: _Values, names: Sequence[str]) -> str:
    return "*" if "*" in values else ",".join(_ranges(_numbers(values), names.__getitem__))


def _numbers(values: Iterable[int | str]) -> list[int]:
    return sorted({value for value in values if isinstance(value, int)})


def _ranges(numbers: Sequence[int], word: Callable[[int], str], *, shortest: int = 3) -> list[str]:
    """Write ascending numbers, so many or more in a row as a range."""
    written = []
    for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        if len(members) >= shortest:
            written.append(f"{word(members[0])}-{word(members[-1])}")
        else:
            written += map(word, members)
    return written
