"""ValueCodec: typed values as JSON, exactly, and back."""

from __future__ import annotations

import base64
import inspect
import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum, Flag
from types import NoneType
from typing import Any, Final, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from quartzite.errors import InvalidValueError
from quartzite.timezones import zone

__all__ = ["UnreadableValueError", "ValueCodec"]

C = TypeVar("C", bound=type)
E = TypeVar("E")
_MARK: Final = "$"
_MICROSECOND: Final = timedelta(microseconds=1)
# Python refuses to read or write decimal digits beyond a limit that may be set as low as 640 digits.
_MAX_DECIMAL_BITS: Final = 2048
_NEVER_REFUSED: Final = frozenset({str, bool, NoneType})
_CONTAINERS: Final = frozenset({list, dict})
_MAX_DEPTH: Final = 100
"""Far below Python's own limit, so that what was stored is read on any stack."""
_BRIEF: Final = reprlib.Repr()
_BRIEF.maxother = _BRIEF.maxstring = 80


class UnreadableValueError(ValueError):
    """A stored value can not be turned back; the text says which and why."""


class _Refused(Exception):  # noqa: N818  # travels from the value to the key that holds it, never further
    """A value can not be stored."""

    def __init__(self, value: object, reason: str) -> None:
        super().__init__(reason)
        self.value = value
        self.reason = reason
        self.path: list[str] = []


@dataclass(frozen=True, slots=True)
class _RegisteredType:
    """A type of the application: its stored name, and how its objects become JSON values and back."""

    cls: type
    name: str
    to_json: Callable[[Any], Any]
    from_json: Callable[[Any], Any]


class ValueCodec:
    """Turns values into what JSON can hold, and back into equal values of the same type.

    None, truth values, texts, whole numbers of any size, finite numbers, lists and dictionaries with text keys stand
    for themselves. Anything else is an object with one key that begins with ``$`` and names the type:
    ``{"$decimal": "1.10"}``. A dictionary that has such a key itself is wrapped (``{"$dict": {...}}``), so no
    content can be taken for a type. What would not come back equal is refused.

    Types are known by their exact class: a subclass of ``int`` is no whole number. Enumerations, dataclasses and
    other types are known once they are registered; reading only ever looks a name up among those (decision 7).
    """

    def __init__(self) -> None:
        self._encoders: dict[type, Callable[[Any], Any]] = {
            str: _itself,
            bool: _itself,
            NoneType: _itself,
            int: _encode_int,
            float: _encode_float,
            list: self._encode_list,
            dict: self._encode_dict,
            tuple: lambda value: {"$tuple": self._encode_list(value)},
            datetime: _encode_datetime,
            date: lambda value: {"$date": value.isoformat()},
            time: _encode_time,
            timedelta: lambda value: {"$timedelta": value // _MICROSECOND},
            Decimal: _encode_decimal,
            UUID: lambda value: {"$uuid": str(value)},
            bytes: lambda value: {"$bytes": base64.b64encode(value).decode("ascii")},
        }
        self._decoders: dict[str, Callable[[Any], Any]] = {
            "$int": lambda text: int(text, 16),
            "$float": float,
            "$dict": self._decode_plain_dict,
            "$object": self._decode_registered,
            "$tuple": lambda items: tuple(map(self.decode, _expect(items, list))),
            "$datetime": _decode_datetime,
            "$date": date.fromisoformat,
            "$time": time.fromisoformat,
            "$timedelta": lambda microseconds: timedelta(microseconds=_expect(microseconds, int)),
            "$decimal": lambda text: Decimal(_expect(text, str)),
            "$uuid": lambda text: UUID(_expect(text, str)),
            "$bytes": lambda text: base64.b64decode(text, validate=True),
        }
        self._registered: dict[str, _RegisteredType] = {}

    # Registration ---------------------------------------------------------------------------------------------

    def register(
        self,
        cls: C,
        *,
        name: str | None = None,
        aliases: tuple[str, ...] = (),
        to_json: Callable[[Any], Any] | None = None,
        from_json: Callable[[Any], Any] | None = None,
    ) -> C:
        """Let objects of a class be stored; see :meth:`JsonSerializer.register_type`."""
        if (to_json is None) != (from_json is None):
            raise InvalidValueError(f"type {cls.__qualname__}: give both to_json and from_json, or neither")
        if to_json is None or from_json is None:
            to_json, from_json = self._conversions(cls)
        known = _RegisteredType(cls, _checked_name(cls, name or cls.__name__), to_json, from_json)
        for stored_name in (known.name, *(_checked_name(cls, alias) for alias in aliases)):
            other = self._registered.get(stored_name)
            if other is not None and not _is_redefinition(other.cls, cls):
                raise InvalidValueError(
                    f"the type name {stored_name!r} belongs to {other.cls.__module__}.{other.cls.__qualname__}: "
                    f"register {cls.__module__}.{cls.__qualname__} with another name=..."
                )
        for stored_name in (known.name, *aliases):
            self._registered[stored_name] = known
        self._encoders[cls] = lambda value: self._encode_registered(known, value)
        return cls

    def _conversions(self, cls: type) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        if isinstance(cls, type) and issubclass(cls, Flag):
            return (lambda member: member.value), cls
        if isinstance(cls, type) and issubclass(cls, Enum):
            return (lambda member: member.name), cls.__getitem__
        if is_dataclass(cls) and isinstance(cls, type):
            if cls.__eq__ is object.__eq__:
                raise InvalidValueError(f"dataclass {cls.__qualname__} compares by identity: leave out eq=False")
            names = tuple(field.name for field in fields(cls) if field.init)
            return (lambda value: {name: getattr(value, name) for name in names}), lambda values: cls(**values)
        raise InvalidValueError(
            f"type {getattr(cls, '__qualname__', cls)!r} is neither an enumeration nor a dataclass: "
            "give to_json and from_json"
        )

    # Encoding -------------------------------------------------------------------------------------------------

    def check(self, what: str, values: Mapping[str, Any]) -> None:
        """Refuse what :meth:`encode_all` refuses; cheap for texts, truth values and None."""
        for key, value in values.items():
            if type(value) not in _NEVER_REFUSED:
                self._encode_at(what, key, value)

    def encode_all(self, what: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON object of values by key.

        Raises:
            InvalidValueError: a value can not be stored; the message names ``what``, the key, the reason, the remedy.
        """
        return {key: self._encode_at(what, key, value) for key, value in values.items()}

    def _encode_at(self, what: str, key: str, value: Any) -> Any:
        try:
            return _shallow(value, self._encode(value))
        except _Refused as refused:
            place = repr(key) + "".join(reversed(refused.path))
            shown, reason = _shown(refused.value), refused.reason
        except RecursionError:
            place, shown, reason = repr(key), f"a {type(value).__name__}", "it is nested too deeply, or contains itself"
        raise InvalidValueError(f"{what} {place} is {shown}, which can not be stored: {reason}")

    def _encode(self, value: Any) -> Any:
        encoder = self._encoders.get(type(value))
        if encoder is None:
            raise _Refused(value, _advice(value))
        return encoder(value)

    def _encode_list(self, values: list[Any] | tuple[Any, ...]) -> list[Any]:
        encoded = []
        for index, value in enumerate(values):
            try:
                encoded.append(self._encode(value))
            except _Refused as refused:
                refused.path.append(f"[{index}]")
                raise
        return encoded

    def _encode_dict(self, values: dict[Any, Any]) -> dict[str, Any]:
        encoded, looks_marked = {}, False
        for key, value in values.items():
            if type(key) is not str:
                raise _Refused(values, f"its key {key!r} is no text: use text keys")
            looks_marked = looks_marked or key.startswith(_MARK)
            try:
                encoded[key] = self._encode(value)
            except _Refused as refused:
                refused.path.append(f"[{key!r}]")
                raise
        return {"$dict": encoded} if looks_marked else encoded

    def _encode_registered(self, known: _RegisteredType, value: Any) -> dict[str, Any]:
        try:
            encoded: dict[str, Any] = {"$object": [known.name, self._encode(known.to_json(value))]}
        except _Refused as refused:
            refused.path.append(f".<{known.name}>")
            raise
        try:
            back = self.decode(encoded)
        except UnreadableValueError as error:
            raise _Refused(value, f"it could not be read back ({error})") from error
        return _if_equal(value, back, encoded)

    # Decoding -------------------------------------------------------------------------------------------------

    def decode_all(self, encoded: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of a JSON object by key.

        Raises:
            UnreadableValueError: a value has an unknown type or is malformed; the message names its key.
        """
        values = {}
        for key, node in encoded.items():
            try:
                values[key] = self.decode(node)
            except UnreadableValueError as error:
                raise UnreadableValueError(f"{key!r}: {error}") from error
        return values

    def decode(self, node: Any) -> Any:
        """Return the value of one JSON value.

        Raises:
            UnreadableValueError: it names a type that is not known here, or is malformed.
        """
        if type(node) is dict:
            return self._decode_object(node)
        if type(node) is list:
            return [self.decode(item) for item in node]
        return node

    def _decode_object(self, node: dict[str, Any]) -> Any:
        if len(node) == 1:
            ((tag, content),) = node.items()
            if tag.startswith(_MARK):
                return self._decode_marked(tag, content)
        return {key: self.decode(item) for key, item in node.items()}

    def _decode_marked(self, tag: str, content: Any) -> Any:
        decoder = self._decoders.get(tag)
        if decoder is None:
            raise UnreadableValueError(f"values of type {tag!r} are not known here")
        try:
            return decoder(content)
        except UnreadableValueError:
            raise
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:
            raise UnreadableValueError(f"{_shown(content)} is no {tag!r} ({error})") from error

    def _decode_plain_dict(self, content: Any) -> dict[str, Any]:
        return {key: self.decode(item) for key, item in _expect(content, dict).items()}

    def _decode_registered(self, content: Any) -> Any:
        name, node = _expect(content, list)
        known = self._registered.get(name)
        if known is None:
            raise UnreadableValueError(f"the type {name!r} is not registered: call register_type(...) before reading")
        value = self.decode(node)
        try:
            return known.from_json(value)
        except Exception as error:
            raise UnreadableValueError(f"{_shown(value)} is no {name!r} ({error!r})") from error


def _itself(value: Any) -> Any:
    return value


def _shallow(value: object, encoded: Any) -> Any:
    level = [encoded]
    for _ in range(_MAX_DEPTH):
        level = [item for node in level if type(node) in _CONTAINERS for item in _items(node)]
        if not level:
            return encoded
    raise _Refused(value, f"it is nested more than {_MAX_DEPTH} levels deep")


def _shown(value: object) -> str:
    try:
        return _BRIEF.repr(value)
    except ValueError:  # a number of more digits than Python is willing to write
        return f"a {type(value).__name__}"


def _items(container: Any) -> Iterable[Any]:
    return container.values() if type(container) is dict else container


def _encode_int(value: int) -> Any:
    return value if value.bit_length() <= _MAX_DECIMAL_BITS else {"$int": hex(value)}


def _encode_float(value: float) -> Any:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        raise _Refused(value, "not-a-number is not even equal to itself: use None")
    return {"$float": repr(value)}


def _encode_decimal(value: Decimal) -> dict[str, str]:
    if value.is_nan():
        raise _Refused(value, "not-a-number is not even equal to itself: use None")
    return {"$decimal": str(value)}


def _encode_time(value: time) -> dict[str, str]:
    if value.tzinfo is not None and value.utcoffset() is None:
        raise _Refused(value, "its offset depends on the date: use a time without a zone, and store the zone's id")
    encoded = {"$time": value.isoformat()}
    return _if_equal(value, time.fromisoformat(encoded["$time"]), encoded)


def _encode_datetime(value: datetime) -> dict[str, str]:
    """Write an instant as RFC 9557 does: local time, offset, and the id of the zone when there is one."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise _Refused(value, "it has no time zone: give an aware datetime")
    zone_id = value.tzinfo.key if isinstance(value.tzinfo, ZoneInfo) else None
    if value.tzinfo is UTC:
        return {"$datetime": value.isoformat()}
    encoded = {"$datetime": value.isoformat() + (f"[{zone_id}]" if zone_id else "")}
    return _if_equal(value, _decode_datetime(encoded["$datetime"]), encoded)


def _decode_datetime(text: str) -> datetime:
    stamp, bracket, zone_id = _expect(text, str).partition("[")
    moment = datetime.fromisoformat(stamp)
    if moment.tzinfo is None:
        raise ValueError("it has no offset")
    if not bracket:
        return moment
    return _in_zone(moment, zone(zone_id.removesuffix("]")))


def _in_zone(moment: datetime, time_zone: tzinfo) -> datetime:
    """Return the same local time in the zone; where clocks show it twice, or never, the offset says which is meant."""
    first = moment.replace(tzinfo=time_zone, fold=0)
    second = first.replace(fold=1)
    offset = moment.utcoffset()
    return second if second.utcoffset() == offset != first.utcoffset() else first


def _if_equal(value: object, back: object, encoded: dict[str, E]) -> dict[str, E]:
    if type(back) is type(value) and back == value:
        return encoded
    raise _Refused(value, f"it would come back as {_shown(back)}, which is not equal")


def _expect(content: Any, kind: type) -> Any:
    if type(content) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return content


def _checked_name(cls: type, name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InvalidValueError(f"type {cls.__qualname__}: the stored name {name!r} must be a text that is not blank")
    return name


def _is_redefinition(old: type, new: type) -> bool:
    """Tell whether a class is another one written again, as reloading its module does."""
    return (old.__module__, old.__qualname__) == (new.__module__, new.__qualname__)


def _advice(value: object) -> str:
    cls = type(value)
    name = cls.__name__
    if isinstance(value, Enum) or (is_dataclass(value) and not inspect.isclass(value)):
        return f"the type {name} is not registered: call register_type({name}) on the serializer"
    if isinstance(value, set | frozenset):
        return "sets have no order: use a sorted list"
    if isinstance(value, bytearray | memoryview):
        return "it can be changed: use bytes"
    for plain in (int, float, str, bytes, list, dict, tuple, datetime, date, time, timedelta, Decimal, UUID):
        if isinstance(value, plain):
            return f"its type {name} would come back as {plain.__name__}: use {plain.__name__}(...)"
    return (
        f"objects of type {name} are not known: store an id and look the object up in the job, "
        f"or call register_type({name}, to_json=..., from_json=...) on the serializer"
    )
