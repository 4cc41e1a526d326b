"""Expressions in plain English words, for listings and for checking what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Final

from quartzite.cron.fields import DAY_OF_WEEK, MONTH, Field
from quartzite.cron.items import numbers

__all__ = ["describe"]

_WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_ORDINALS: Final = ("last", "first", "second", "third", "fourth", "fifth")
_SUFFIXES: Final = {1: "st", 2: "nd", 3: "rd"}  # codespell:ignore
_MOST_TIMES: Final = 6
_VALUES: Final = re.compile(r"\d+(?:,\d+)*", re.ASCII)
_FROM_START: Final = re.compile(r"(?:\*|0)?/(\d+)", re.ASCII)
_LAST_DAY: Final = re.compile(r"L(?:-(\d+))?(W)?(?:-(\d+))?", re.ASCII)


def describe(text: str) -> str:
    """Return the words of a resolved expression, as "At 09:30:00, Monday to Friday"."""
    second, minute, hour, day_of_month, month, day_of_week, *year = text.split(" ")
    time = _time(second, minute, hour)
    days = _days(day_of_month, day_of_week)
    if days == "every day" and (hour == "*" or time.startswith("every")):
        days = ""  # said already
    words = ", ".join(filter(None, [time, days, _months(month), _years(*year)]))
    return words[0].upper() + words[1:]


def _time(second: str, minute: str, hour: str) -> str:
    times = _times(second, minute, hour)
    if times:
        return f"at {_listed(times)}"
    units = _telling([("second", second), ("minute", minute), ("hour", hour)])
    words = " of ".join([_smallest(*units[0]), *(_counted(name, text.split(",")) for name, text in units[1:])])
    return words if _is_even(units[0][1]) else f"at {words}"


def _telling(units: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Leave out the units that go without saying: zeros below, and every one above."""
    zeros = next(place for place, (_, text) in enumerate(units) if text != "0")
    units = units[zeros if _is_even(units[zeros][1]) else min(zeros, 1) :]
    while len(units) > 1 and units[-1][1] == "*" and _is_even(units[-2][1]):
        units = units[:-1]
    return units


def _is_even(text: str) -> bool:
    """Tell whether a unit is spread over all of the next larger one: ``*``, ``*/n``, ``/n`` or ``0/n``."""
    return text == "*" or _FROM_START.fullmatch(text) is not None


def _times(second: str, minute: str, hour: str) -> list[str]:
    """Return the times of day when they are few and plain values."""
    if not all(_VALUES.fullmatch(text) for text in (second, minute, hour)):
        return []
    hours, minutes, seconds = ([*map(int, text.split(","))] for text in (hour, minute, second))
    times = sorted(set(product(hours, minutes, seconds)))
    return [f"{h:02}:{m:02}:{s:02}" for h, m, s in times] if len(times) <= _MOST_TIMES else []


def _smallest(name: str, text: str) -> str:
    if (match := _FROM_START.fullmatch(text)) is not None:
        return f"every {name}" if match[1] == "1" else f"every {match[1]} {name}s"
    return _counted(name, text.split(","))


def _counted(name: str, items: Sequence[str]) -> str:
    """Return the words of numbers, ranges and steps: "days 1 and 5 to 7 and every 3rd day from 10"."""
    plain = [_span(item, str) for item in items if "/" not in item and item != "*"]
    stepped = [_stepped(name, item) for item in items if "/" in item or item == "*"]
    if not plain:
        return _listed(stepped)
    one = len(plain) == 1 and plain[0].isdigit()
    return _listed([f"{name}{'' if one else 's'} {_listed(plain)}", *stepped])


def _stepped(name: str, item: str) -> str:
    span, _, step = item.partition("/")
    nth = "" if step in {"", "1"} else f"{_nth(int(step))} "
    start = "" if span in {"", "*"} else f" from {_span(span, str)}"
    return f"every {nth}{name}{start}"


def _span(item: str, word: Callable[[str], str]) -> str:
    low, _, high = item.partition("-")
    return f"{word(low)} to {word(high)}" if high else word(low)


def _days(day_of_month: str, day_of_week: str) -> str:
    if "*" in {day_of_month, day_of_week}:
        return "every day"
    days = [_days_of_month(day_of_month)] if day_of_month != "?" else []
    weekdays = [_days_of_week(day_of_week)] if day_of_week != "?" else []
    return " or ".join(days + weekdays)


def _days_of_month(text: str) -> str:
    items = text.split(",")
    numbered = [item for item in items if not _is_special(item)]
    special = [_special_day(item) for item in items if _is_special(item)]
    return _listed([f"{_counted('day', numbered)} of the month", *special] if numbered else special)


def _is_special(item: str) -> bool:
    return "L" in item or "W" in item


def _special_day(item: str) -> str:
    match = _LAST_DAY.fullmatch(item)
    if match is None:
        return f"the weekday nearest to day {item[:-1]} of the month"
    offset, weekday, earlier = int(match[1] or 0), match[2] is not None, int(match[3] or 0)
    if weekday and not offset:
        return f"{_before(earlier)}the last weekday of the month"
    day = f"{_before(offset)}the last day of the month"
    return f"{_before(earlier)}the weekday nearest to {day}" if weekday else day


def _before(days: int) -> str:
    return f"{days} day{'s' if days > 1 else ''} before " if days else ""


def _days_of_week(text: str) -> str:
    if text == "L":
        return _WEEKDAYS[-1]
    if text.endswith("L"):
        return f"the {_ORDINALS[0]} {_weekday(text[:-1])} of the month"
    if "#" in text:
        weekday, _, nth = text.partition("#")
        return f"the {_ORDINALS[int(nth)]} {_weekday(weekday)} of the month"
    return _named(DAY_OF_WEEK, text, _weekday)


def _months(text: str) -> str:
    return "" if text == "*" else f"in {_named(MONTH, text, _month)}"


def _years(text: str = "*") -> str:
    return "" if text == "*" else f"in {_counted('year', text.split(','))}".replace("in year ", "in ")


def _named(field: Field, text: str, word: Callable[[str], str]) -> str:
    """Return the names of a list; a step is written out."""
    names: list[str] = []
    for item in text.split(","):
        if "/" in item:
            names += [word(str(value)) for value in _members(numbers(field, item))]
        else:
            names.append(_span(item, word))
    return _listed(names)


def _weekday(token: str) -> str:
    return _WEEKDAYS[(DAY_OF_WEEK.numbers.get(token) or int(token)) - 1]


def _month(token: str) -> str:
    return _MONTHS[(MONTH.numbers.get(token) or int(token)) - 1]


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _members(mask: int) -> Iterable[int]:
    return (bit for bit in range(mask.bit_length()) if mask >> bit & 1)


def _nth(number: int) -> str:
    if 10 < number % 100 < 14:
        return f"{number}th"
    return f"{number}{_SUFFIXES.get(number % 10, 'th')}"
