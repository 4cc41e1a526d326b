"""Job data: the values that a job or a trigger carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from copy import deepcopy
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, TypeVar
from uuid import UUID

from quartzite.errors import InvalidValueError

__all__ = ["EMPTY_JOB_DATA", "JobData", "MutableJobData"]

T = TypeVar("T")

_IMMUTABLE: Final = frozenset(
    {type(None), bool, int, float, str, bytes, date, datetime, time, timedelta, Decimal, UUID}
)


class JobData(Mapping[str, Any]):
    """Read-only values by text key, with typed access (spec 01 section 3).

    What is put in is copied deeply, and so is a list, dictionary or other changeable value that is taken out: nothing
    outside can change it, so that stores and firings can share one object. The typed getters convert from
    text; ``get_int("n")`` of ``"5"`` is 5. They raise :class:`InvalidValueError` when the key is missing or the
    value can not be read as the type; given ``default=...`` they return that instead of raising.

    ``changed`` is True only for data that a running job changed and that no store has taken over yet.

    Raises:
        InvalidValueError: a key is no text.
    """

    __slots__ = ("_changed", "_values")

    def __init__(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        if values is not None and not isinstance(values, Mapping):
            raise InvalidValueError(f"job data {values!r} is no mapping: give names with values, as in {{'amount': 5}}")
        merged = {**(values or {}), **more}
        for key in merged:
            if not isinstance(key, str):
                raise InvalidValueError(f"job data key {key!r} must be a text")
        self._values: dict[str, Any] = {key: _copied(key, value) for key, value in merged.items()}
        self._changed = False

    @classmethod
    def _adopt(cls, values: dict[str, Any], *, changed: bool = False) -> JobData:
        """Wrap a dictionary that nobody else holds, without a copy."""
        data = JobData.__new__(JobData)
        data._values = values
        data._changed = changed
        return data

    @property
    def changed(self) -> bool:
        """Whether a run changed it since it was stored."""
        return self._changed

    def settled(self) -> JobData:
        """Return the same values, unchanged as far as anybody knows: what a store keeps."""
        return JobData._adopt(self._values) if self._changed else self

    def __getitem__(self, key: str) -> Any:
        value = self._values[key]
        return value if type(value) in _IMMUTABLE else deepcopy(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, JobData):
            return self._values == other._values
        if isinstance(other, Mapping):
            return self._values == dict(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # values may be lists

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"

    def merged_with(self, over: JobData) -> JobData:
        """Return both, ``over`` winning: the merged view of a firing (trigger over job)."""
        if not over:
            return self
        if not self:
            return over
        return JobData._adopt({**self._values, **over._values})

    def mutable_copy(self) -> MutableJobData:
        """Return a deep copy that may be changed and knows whether it was."""
        return MutableJobData(self)

    def get_str(self, key: str, **default: Any) -> str:
        """Return a text; numbers and the like are not turned into one."""
        return self._get(key, default, "a text", _as_str)

    def get_int(self, key: str, **default: Any) -> int:
        """Return a whole number."""
        return self._get(key, default, "a whole number", _as_int)

    def get_float(self, key: str, **default: Any) -> float:
        """Return a floating-point number."""
        return self._get(key, default, "a number", _as_float)

    def get_decimal(self, key: str, **default: Any) -> Decimal:
        """Return a decimal number."""
        return self._get(key, default, "a decimal number", _as_decimal)

    def get_bool(self, key: str, **default: Any) -> bool:
        """Return a truth value; a text is true when it reads ``true``, in any case, and else false."""
        return self._get(key, default, "a truth value", _as_bool)

    def get_datetime(self, key: str, **default: Any) -> datetime:
        """Return an aware instant; a text is read as ISO 8601 and must have an offset."""
        return self._get(key, default, "an ISO 8601 instant with an offset", _as_datetime)

    def get_timedelta(self, key: str, **default: Any) -> timedelta:
        """Return a duration; a number, or a text of one, counts seconds."""
        return self._get(key, default, "a duration in seconds", _as_timedelta)

    def get_uuid(self, key: str, **default: Any) -> UUID:
        """Return a UUID."""
        return self._get(key, default, "a UUID", _as_uuid)

    def _get(self, key: str, default: dict[str, Any], kind: str, convert: Callable[[Any], T]) -> T:
        has_default = _check_default(default)
        if key not in self._values:
            if has_default:
                return default["default"]  # type: ignore[no-any-return]
            raise InvalidValueError(f"job data has no {key!r}: there is {', '.join(map(repr, self)) or 'nothing'}")
        try:
            return convert(self._values[key])
        except (ValueError, TypeError, ArithmeticError) as error:
            if has_default:
                return default["default"]  # type: ignore[no-any-return]
            raise InvalidValueError(f"job data {key!r} is {self._values[key]!r}, which is not {kind}") from error


class MutableJobData(JobData, MutableMapping[str, Any]):
    """Job data that a running job may change.

    ``changed`` tells whether it differs from what it was made of, changes inside nested values included.
    """

    __slots__ = ("_original",)

    def __init__(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        super().__init__(values, **more)
        self._original: dict[str, Any] = deepcopy(self._values)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise InvalidValueError(f"job data key {key!r} must be a text")
        self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    @property
    def changed(self) -> bool:
        """Whether the values differ from the original ones."""
        return self._values != self._original

    def frozen(self) -> JobData:
        """Return a read-only deep copy, which knows whether the values were changed."""
        return JobData._adopt(deepcopy(self._values), changed=self.changed)


def _copied(key: str, value: Any) -> Any:
    """Return a deep copy of a value; what can not be copied could not be stored either."""
    try:
        return deepcopy(value)
    except Exception as error:  # whatever the copying of a foreign class raises
        reason = str(error) or type(error).__name__
        raise InvalidValueError(
            f"job data {key!r} is a {type(value).__name__} that can not be copied ({reason}): "
            "store what it is made of instead"
        ) from error


EMPTY_JOB_DATA: Final = JobData()
"""Shared by everything that carries no data."""


def _check_default(default: dict[str, Any]) -> bool:
    unknown = set(default) - {"default"}
    if unknown:
        raise TypeError(f"unknown argument {unknown.pop()!r}: only default= is understood")
    return bool(default)


def _as_str(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def _as_int(value: Any) -> int:
    if isinstance(value, float) and not value.is_integer():
        raise ValueError
    return int(value)


def _as_float(value: Any) -> float:
    return float(value)


def _as_decimal(value: Any) -> Decimal:
    return Decimal(str(value)) if isinstance(value, float) else Decimal(value)


def _as_bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.lower() == "true"
    if isinstance(value, int):
        return bool(value)
    raise TypeError


def _as_datetime(value: Any) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError
    return moment


def _as_timedelta(value: Any) -> timedelta:
    return value if isinstance(value, timedelta) else timedelta(seconds=float(value))


def _as_uuid(value: Any) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)
