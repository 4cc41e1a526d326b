"""The letter H: values spread by a hash of the trigger's key (spec 02 section 3.1).

The function is fixed for ever, as its results are stored: FNV-1a (32 bit) over the UTF-16 code units of the key, then,
for each field, the finalizer of murmur3 (32 bit) over the seed and the field's place.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from quartzite.cron.fields import YEAR, Field, FieldError
from quartzite.cron.items import items
from quartzite.errors import InvalidValueError

__all__ = ["hash_seed", "spread", "trigger_hash_key", "without_hash"]

_DEFAULT_GROUP: Final = "DEFAULT"
_32_BITS: Final = 0xFFFF_FFFF
_31_BITS: Final = 0x7FFF_FFFF
_ITEM: Final = re.compile(r"H(?:\((\d{1,4})-(\d{1,4})\))?(?:/(\d{1,4}))?", re.ASCII)


def trigger_hash_key(key_group: str, key_name: str) -> str:
    """Return the key with which a trigger of that key spreads its H."""
    prefix = "" if key_group == _DEFAULT_GROUP else f"{len(_code_units(key_group))}"
    return f"{prefix}:{'' if key_group == _DEFAULT_GROUP else key_group}{key_name}"


def hash_seed(key: str | int) -> int:
    """Return the 31 bits that a text stands for; a number of 32 bits, signed or not, stands for itself.

    Raises:
        InvalidValueError: the number has more than 32 bits.
    """
    if isinstance(key, int):
        if not -0x8000_0000 <= key <= _32_BITS:
            raise InvalidValueError(f"hash key {key} does not fit 32 bits: give a smaller number or a text")
        return key & _32_BITS
    value = 2_166_136_261
    for unit in _code_units(key):
        value = (value ^ unit) * 16_777_619 & _32_BITS
    return value & _31_BITS


def spread(seed: int, place: int) -> int:
    """Return the 31 bits that all H of one field share; ``place`` is 0 for seconds to 5 for the day of the week."""
    value = (seed + place * 0x9E37_79B9) & _32_BITS
    value = (value ^ value >> 16) * 0x85EB_CA6B & _32_BITS
    value = (value ^ value >> 13) * 0xC2B2_AE35 & _32_BITS
    return (value ^ value >> 16) & _31_BITS


def without_hash(field: Field, place: int, text: str, hash_key: str | int | None) -> str:
    """Return a field's text with every H replaced by what the key deals it; ``place`` is as for ``spread``.

    Raises:
        FieldError: an H is malformed, leaves the field's range, or has no key to spread by.
        InvalidValueError: the key is a number of more than 32 bits.
    """
    found = list(items(text))
    places = [at for at, item in found if item.startswith("H")]
    if not places:
        return text
    if hash_key is None:
        raise FieldError(places[0], "H needs a key to spread by", "pass hash_key=..., or give the trigger a name")
    value = spread(hash_seed(hash_key), place)
    return ",".join(_resolved(field, at, item, value) if item.startswith("H") else item for at, item in found)


def _resolved(field: Field, at: int, item: str, value: int) -> str:
    if field is YEAR:
        raise FieldError(at, "H can not spread over years")
    match = _ITEM.fullmatch(item)
    if match is None:
        raise FieldError(at, f"{item!r} is none of H, H(a-b), H/n and H(a-b)/n")
    low, high = _range(field, at, match)
    if match[3] is None:
        return str(low + value % (high - low + 1))
    step = int(match[3])
    if step < 1:
        raise FieldError(at + match.start(3), "the step of H must be at least 1")
    start = low + value % min(step, high - low + 1)
    return f"{start}/{step}" if (low, high) == (field.low, field.high) else f"{start}-{high}/{step}"


def _range(field: Field, at: int, match: re.Match[str]) -> tuple[int, int]:
    if match[1] is None:
        return field.low, field.high
    low, high = int(match[1]), int(match[2])
    if not field.low <= low <= high <= field.high:
        at += match.start(1)
        raise FieldError(at, f"H needs a range inside {field.low}-{field.high} of the {field.name}, not {low}-{high}")
    return low, high


def _code_units(text: str) -> memoryview:
    # surrogatepass: a lone surrogate is a code unit like any other
    return memoryview(text.encode("utf-16-le" if sys.byteorder == "little" else "utf-16-be", "surrogatepass")).cast("H")
