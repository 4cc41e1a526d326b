"""The items of one field: numbers, names, ranges, steps, and the special days (spec 02 section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from quartzite.cron.days import ALL_DAYS_OF_MONTH, DaysOfMonth, DaysOfWeek, LastDay, NearestWeekday, SpecialDay
from quartzite.cron.fields import DAY_OF_MONTH, DAY_OF_WEEK, DayOfWeek, Field, FieldError

__all__ = ["days_of_month", "days_of_week", "items", "numbers"]

_ITEM: Final = re.compile(r"(\*|\d+|[A-Z]+)?(?:-(\d+|[A-Z]+))?(?:/(\d+))?", re.ASCII)
_LAST_DAY: Final = re.compile(r"L(?:-(\d+))?(?:(W)(?:-(\d+))?)?", re.ASCII)
_NEAREST_WEEKDAY: Final = re.compile(r"(\d+)W", re.ASCII)
_OF_MONTH: Final = re.compile(r"(\d+|[A-Z]+)(?:L|#(\d+))", re.ASCII)
_LONGEST_OFFSET: Final = 30
_MOST_WEEKS: Final = 5
_LONGEST_NUMBER: Final = 9
_EVERY_SECOND_FRIDAY: Final = "for every second Friday use a recurrence trigger: FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"


def items(text: str) -> Iterator[tuple[int, str]]:
    """Yield the items of a comma list, each with its index.

    Raises:
        FieldError: an item is empty.
    """
    at = 0
    for item in text.split(","):
        if not item:
            raise FieldError(at, "an item of the list is empty", "remove the comma")
        yield at, item
        at += len(item) + 1


@lru_cache(maxsize=4096)
def numbers(field: Field, text: str) -> int:
    """Return the values that a field without special days holds: bit v stands for v.

    Raises:
        FieldError: the text is no list of numbers, names, ranges and steps inside the field's range.
    """
    mask = 0
    for at, item in items(text):
        mask |= _values(field, at, item)
    return mask


@lru_cache(maxsize=1024)
def days_of_month(text: str) -> DaysOfMonth | None:
    """Return what the day-of-month field says; None for ``?``.

    Raises:
        FieldError: the text is no such field.
    """
    if text == "?":
        return None
    if text == "*":
        return DaysOfMonth(plain=ALL_DAYS_OF_MONTH)
    plain, special = 0, []
    for at, item in items(text):
        day = _special_day(at, item)
        if day is not None:
            special.append(day)
        else:
            plain |= _values(DAY_OF_MONTH, at, item)
    return DaysOfMonth(plain=plain, special=tuple(special))


@lru_cache(maxsize=1024)
def days_of_week(text: str) -> DaysOfWeek | None:
    """Return what the day-of-week field says; None for ``?``.

    Raises:
        FieldError: the text is no such field.
    """
    if text == "?":
        return None
    if text == "L":
        return DaysOfWeek(plain=1 << DayOfWeek.SATURDAY)
    match = _OF_MONTH.fullmatch(text)
    if match is not None:
        return _of_month(match)
    plain = 0
    for at, item in items(text):
        if item == "L" or _OF_MONTH.fullmatch(item):
            raise FieldError(
                at, f"{item!r} must stand alone in the day-of-week field", "use a trigger for each of them"
            )
        plain |= _values(DAY_OF_WEEK, at, item)
    return DaysOfWeek(plain=plain)


def _special_day(at: int, item: str) -> SpecialDay | None:
    if (match := _NEAREST_WEEKDAY.fullmatch(item)) is not None:
        return NearestWeekday(_value(DAY_OF_MONTH, at, match[1]))
    if (match := _LAST_DAY.fullmatch(item)) is not None:
        offset, earlier = _offset(at, match, 1), _offset(at, match, 3)
        return LastDay(offset=offset, weekday=match[2] is not None, earlier=earlier)
    return None


def _offset(at: int, match: re.Match[str], group: int) -> int:
    """Return the n of L-n, 0 when it is not given."""
    number = _number(match[group] or "0")
    if number is None or number > _LONGEST_OFFSET:
        raise FieldError(
            at + match.start(group), f"L-{match[group]} is more than {_LONGEST_OFFSET} days before the last"
        )
    return number


def _of_month(match: re.Match[str]) -> DaysOfWeek:
    """Return what ``6L`` or ``6#3`` says."""
    weekday = _value(DAY_OF_WEEK, 0, match[1])
    nth = 0 if match[2] is None else _number(match[2])
    if nth is None or nth > _MOST_WEEKS or (nth == 0 and match[2] is not None):
        raise FieldError(match.start(2), f"#{match[2]} is no week of a month: #1 to #{_MOST_WEEKS}")
    return DaysOfWeek(plain=1 << weekday, nth=nth)


def _values(field: Field, at: int, item: str) -> int:
    """Return the values of one item: bit v stands for v."""
    match = _ITEM.match(item)
    if match is None or match.end() < len(item):
        raise _left_over(at, item, 0 if match is None else match.end())
    first, last, step = match.groups()
    by = 1 if step is None else _step(field, at, match)
    if first in {None, "*"}:
        if last is not None:
            raise FieldError(at, f"the range {item!r} has no start")
        return _mask(field, field.low, field.high, by)
    low = _value(field, at, first)
    if last is not None:
        return _mask(field, low, _end_of_range(field, at, match, low), by)
    return _mask(field, low, low if step is None else field.high, by)


def _mask(field: Field, low: int, high: int, by: int) -> int:
    """Set the bits from low to high; a high behind the field's end counts on from its start."""
    mask = 0
    for value in range(low, high + 1, by):
        mask |= 1 << field.low + (value - field.low) % field.size
    return mask


def _end_of_range(field: Field, at: int, match: re.Match[str], low: int) -> int:
    first, last = match[1], match[2]
    if first.isdigit() != last.isdigit():
        raise FieldError(at, f"the range {first}-{last} mixes a name and a number", "write both ends alike")
    high = _value(field, at + match.start(2), last)
    if high >= low:
        return high
    if not field.wraps:
        raise FieldError(at, f"the range {first}-{last} runs backwards")
    return high + field.size


def _value(field: Field, at: int, token: str) -> int:
    number = _number(token) if token.isdigit() else field.numbers.get(token)
    if number is not None and field.low <= number <= field.high:
        return number
    names = list(field.numbers)
    spelled = f", or {names[0]} to {names[-1]}" if names else ""
    reason = f"{token!r} is no {field.name}: {field.low} to {field.high}{spelled}"
    hint = f"names have three letters: {token[:3]}" if token[:3] in field.numbers else None
    raise FieldError(at, reason, hint)


def _number(token: str) -> int | None:
    return int(token) if len(token) <= _LONGEST_NUMBER else None


def _step(field: Field, at: int, match: re.Match[str]) -> int:
    first, last, token = match.groups()
    if any(end is not None and end.isalpha() for end in (first, last)):
        hint = _EVERY_SECOND_FRIDAY if field is DAY_OF_WEEK else "write numbers instead of names"
        raise FieldError(at + match.start(3) - 1, "a step can not follow a name", hint)
    step = _number(token)
    if step == 0:
        raise FieldError(at + match.start(3), "a step must be at least 1")
    # A step longer than a range that has both ends is harmless: it leaves the start.
    limit = field.largest_step if last is None else None
    if step is None or (limit is not None and step > limit):
        raise FieldError(at + match.start(3), f"the step {token} is larger than the {field.name} field, {limit}")
    return step


def _left_over(at: int, item: str, end: int) -> FieldError:
    """Say what is wrong with an item that is understood up to its index ``end`` only."""
    rest = item[end:]
    if rest.startswith("?"):
        return FieldError(at + end, "? stands alone, in one of the two day fields")
    if rest == "-":
        return FieldError(at + end, f"the range {item!r} has no end")
    if rest.startswith("/"):
        return FieldError(at + end, f"the step {rest!r} has no number")
    return FieldError(at + end, f"{rest!r} can not stand here")
