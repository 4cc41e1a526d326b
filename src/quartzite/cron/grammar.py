"""Text to compiled fields, with errors that say where and why (spec 02 section 3.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeVar

from quartzite.cron.compiled import CronFields
from quartzite.cron.days import DayTable
from quartzite.cron.fields import FIELDS, YEAR, Field, FieldError
from quartzite.cron.hashing import without_hash
from quartzite.cron.items import days_of_month, days_of_week, numbers
from quartzite.cron.times import TimesOfDay, UnitTable, unit_table
from quartzite.errors import CronSyntaxError, InvalidValueError

__all__ = ["read"]

_T = TypeVar("_T")

_FIELD: Final = re.compile(r"[^ \t]+")
_ILLEGAL: Final = re.compile(r"[^ -~\t]")
_STEPPING: Final = frozenset("*/-")
_UNIX_FIELDS: Final = 5
_FORM: Final = "write second minute hour day-of-month month day-of-week [year], as in 0 30 9 ? * MON-FRI"
_UNIX: Final = (
    "a Unix crontab line is read by CronExpression.from_crontab(...); here the seconds come first, "
    "one of the day fields is ? and Sunday is 1, as in 0 30 9 ? * MON-FRI"
)

_day_table = lru_cache(maxsize=1024)(DayTable)


@lru_cache(maxsize=4096)
def read(text: str, hash_key: str | int | None) -> tuple[str, CronFields]:
    """Return the resolved text and its compiled fields.

    Resolved means: every H replaced, upper case, one space between the fields. Equal arguments give the same object.

    Raises:
        CronSyntaxError: the text is no expression.
        InvalidValueError: the text is no text, or the hash key is a number of more than 32 bits.
    """
    parts = [part.resolved(hash_key) for part in _split(text)]
    return " ".join(part.text for part in parts), _compiled(parts)


@dataclass(slots=True)  # frozen ones take three times as long to make, and these live for one call
class _Part:
    """One field of an expression.

    Attributes:
        field: Which one.
        text: Its text in upper case.
        whole: The expression as it was given.
        start: Where the field begins in it.
        exact: Whether an index into ``text`` is one into the given text too.
    """

    field: Field
    text: str
    whole: str
    start: int
    exact: bool = True

    def resolved(self, hash_key: str | int | None) -> _Part:
        """Return the part with every H replaced."""
        text = (
            self.read(lambda text: without_hash(self.field, FIELDS.index(self.field), text, hash_key))
            if "H" in self.text
            else self.text
        )
        return self if text == self.text else replace(self, text=text, exact=False)

    def read(self, parse: Callable[[str], _T]) -> _T:
        """Parse the text; a refusal is told in terms of the whole expression."""
        try:
            return parse(self.text)
        except FieldError as error:
            raise self.refusal(error) from None

    def refusal(self, error: FieldError) -> CronSyntaxError:
        """Return the error of the whole expression for one of this field."""
        at = self.start + (error.at if self.exact else 0)
        return CronSyntaxError(self.whole, error.reason, position=at, hint=error.hint)

    def numbers(self) -> int:
        """Return the values of the field: bit v stands for v."""
        return self.read(lambda text: numbers(self.field, text))

    def table(self) -> UnitTable:
        """Return the values of a clock unit."""
        return unit_table(self.numbers(), self.field.size)


def _split(text: str) -> list[_Part]:
    if not isinstance(text, str):
        raise InvalidValueError(
            f"cron expression {text!r} is no text: give six or seven fields, as in '0 30 9 ? * MON'"
        )
    if (illegal := _ILLEGAL.search(text)) is not None:
        raise CronSyntaxError(text, f"{illegal[0]!r} is no character of an expression", position=illegal.start())
    found = list(_FIELD.finditer(text))
    if len(found) not in {len(FIELDS) - 1, len(FIELDS)}:
        raise _wrong_count(text, found)
    return [_Part(field, match[0].upper(), text, match.start()) for field, match in zip(FIELDS, found, strict=False)]


def _wrong_count(text: str, found: list[re.Match[str]]) -> CronSyntaxError:
    count = len(found)
    foreign = count == _UNIX_FIELDS or text.lstrip(" \t").startswith("@")
    return CronSyntaxError(
        text,
        f"it has {count} field{'' if count == 1 else 's'}, and 6 or 7 are needed",
        position=found[len(FIELDS)].start() if count > len(FIELDS) else None,
        hint=_UNIX if foreign else _FORM,
    )


def _compiled(parts: list[_Part]) -> CronFields:
    seconds, minutes, hours, day_of_month, month, day_of_week, *year = parts
    times = TimesOfDay(seconds.table(), minutes.table(), hours.table())
    if day_of_month.text == day_of_week.text == "?":
        raise day_of_week.refusal(FieldError(0, "only one of the two day fields may be ?", "write * in one of them"))
    return CronFields(
        times=times,
        days=_day_table(
            days_of_month=day_of_month.read(days_of_month),
            months=month.numbers(),
            days_of_week=day_of_week.read(days_of_week),
            years=_years(*year),
        ),
        interval=any(not _STEPPING.isdisjoint(part.text) for part in (seconds, minutes, hours)),
        first_time=times.first,
        last_time=times.last,
    )


def _years(part: _Part | None = None) -> int | None:
    return None if part is None or part.text == "*" else part.numbers() >> YEAR.low
