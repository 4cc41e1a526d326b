"""JsonSerializer: job data, triggers and calendars as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from quartzite.abc import Serializer
from quartzite.calendars.base import Calendar
from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.serialization.calendars import (
    AnnualCalendarSerializer,
    CalendarSerializer,
    CronCalendarSerializer,
    DailyCalendarSerializer,
    HolidayCalendarSerializer,
    MonthlyCalendarSerializer,
    WeeklyCalendarSerializer,
)
from quartzite.serialization.kinds import Kinds
from quartzite.serialization.triggers import (
    CalendarIntervalTriggerSerializer,
    CronTriggerSerializer,
    DailyTimeIntervalTriggerSerializer,
    RecurrenceTriggerSerializer,
    SimpleTriggerSerializer,
    TriggerSerializer,
)
from quartzite.serialization.values import UnreadableValueError, ValueCodec
from quartzite.triggers.base import Trigger

__all__ = ["JsonSerializer"]

T = TypeVar("T")
C = TypeVar("C", bound=type)
_JOB_DATA: Final = "job data"
_WRITE: Final = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode
_SCAN_LISTENERS: Final = ("FILE_SCAN_LISTENER_NAME", "DIRECTORY_SCAN_LISTENER_NAME")
"""Data with one of these keys is never taken for text only (spec 07 section 8)."""
_FOREIGN: Final = (
    (b"\x80", "it looks like a pickle, which is never read"),
    (b"\xac\xed", "it looks like a serialized Java object"),
    (b"\x00\x01\x00\x00\x00", "it looks like a binary-serialized .NET object"),
)


class JsonSerializer(Serializer):
    """Writes JSON (ASCII bytes) and reads it back equal (spec 07 section 8).

    * Job data keeps its types: None, bool, int, float, str, list, tuple, dict, aware datetime, date, time, timedelta,
      Decimal, UUID, bytes, and the classes given to :meth:`register_type`. Anything else is refused, by key, when it
      is stored. NaN is refused, infinities are exact.
    * No data is no bytes: empty job data becomes ``b""``, and ``b""`` becomes the shared empty data.
    * Nothing is unpickled, and nothing is imported or called because a row names it (decision 7).

    Args:
        use_properties: Job data may hold texts only; None is stored as an empty text. Reading knows both forms.
    """

    def __init__(self, *, use_properties: bool = False) -> None:
        self._use_properties = use_properties
        self._values = ValueCodec()
        self._triggers = Kinds[TriggerSerializer](
            what="trigger",
            base="TriggerSerializer",
            verb="add_trigger_serializer",
            built_in=(
                SimpleTriggerSerializer(),
                CronTriggerSerializer(),
                CalendarIntervalTriggerSerializer(),
                DailyTimeIntervalTriggerSerializer(),
                RecurrenceTriggerSerializer(),
            ),
        )
        self._calendars = Kinds[CalendarSerializer](
            what="calendar",
            base="CalendarSerializer",
            verb="add_calendar_serializer",
            built_in=(
                AnnualCalendarSerializer(),
                CronCalendarSerializer(),
                DailyCalendarSerializer(),
                HolidayCalendarSerializer(),
                MonthlyCalendarSerializer(),
                WeeklyCalendarSerializer(),
            ),
        )

    def register_type(
        self,
        cls: C,
        *,
        name: str | None = None,
        aliases: tuple[str, ...] = (),
        to_json: Callable[[Any], Any] | None = None,
        from_json: Callable[[Any], Any] | None = None,
    ) -> C:
        """Let objects of a class be stored in job data; returns the class, so that it can decorate one.

        An enumeration is stored by the names of its members, a dataclass by its fields, which may hold anything
        that job data may. Any other class needs two functions.

        Args:
            cls: The class itself; subclasses are registered on their own.
            name: The name that is stored; the class's own name when None.
            aliases: Names under which the class was stored before it was renamed.
            to_json: Returns what is stored instead of an object: any value that job data may hold.
            from_json: Returns an equal object again.

        Raises:
            InvalidValueError: the name belongs to another class, or there is no way to store the objects.
        """
        return self._values.register(cls, name=name, aliases=aliases, to_json=to_json, from_json=from_json)

    def add_trigger_serializer(self, serializer: TriggerSerializer) -> None:
        """Let triggers of a kind of your own be stored.

        Raises:
            InvalidValueError: the class or the stored name has a serializer already.
        """
        self._triggers.add(serializer)

    def add_calendar_serializer(self, serializer: CalendarSerializer) -> None:
        """Let calendars of a kind of your own be stored.

        Raises:
            InvalidValueError: the class or the stored name has a serializer already.
        """
        self._calendars.add(serializer)

    def check(self, value: object) -> None:
        """Refuse what :meth:`serialize` refuses, and triggers and calendars that would not come back equal.

        For job data, and for triggers of the kinds that come with the library, that is cheap: only job data is
        looked at.

        Raises:
            InvalidValueError: a value can not be stored; the message names its key, the reason and the remedy.
        """
        if isinstance(value, JobData):
            if value:
                self._check_data(value)
        elif isinstance(value, Trigger) and self._triggers.is_built_in(value):
            if value.job_data:
                self._check_data(value.job_data)
        else:
            self._check_round_trip(value)

    def serialize(self, value: object) -> bytes:
        """Return the bytes of a :class:`JobData`, :class:`Trigger` or :class:`Calendar`.

        Raises:
            InvalidValueError: it can not be stored; the message names the key, the reason and the remedy.
        """
        if isinstance(value, JobData):
            return _bytes_of(self._encode_data(value)) if value else b""
        if isinstance(value, Trigger):
            return _bytes_of(self._triggers.of(value).serialize(value, self._encode_data))
        if isinstance(value, Calendar):
            return _bytes_of(self._write_calendar(value))
        raise InvalidValueError(f"{value!r} can not be serialized: only job data, triggers and calendars can")

    def deserialize(self, payload: bytes, expected: type[T]) -> T:
        """Return the value, which is an instance of ``expected``.

        Raises:
            JobPersistenceError: the bytes can not be read, with the reason.
        """
        if not payload and expected is JobData:
            return EMPTY_JOB_DATA  # type: ignore[return-value]
        if not issubclass(expected, JobData | Trigger | Calendar):
            raise InvalidValueError(f"{expected!r} can not be read: only job data, triggers and calendars can")
        node = _read(payload, expected.__name__)
        try:
            value = self._decode(node, expected)
        except (ValueError, RecursionError) as error:  # both of our kinds of bad values are ValueErrors
            raise JobPersistenceError(f"stored {expected.__name__} can not be read: {error}") from error
        if not isinstance(value, expected):
            raise JobPersistenceError(f"stored {expected.__name__} can not be read: it is a {type(value).__name__}")
        return value

    def _decode(self, node: dict[str, Any], expected: type) -> object:
        if issubclass(expected, JobData):
            return self._decode_data(node)
        if issubclass(expected, Trigger):
            return self._triggers.named(node.get("TriggerType")).deserialize(node, self._decode_data)
        return self._read_calendar(node)

    def _check_round_trip(self, value: object) -> None:
        payload = self.serialize(value)
        try:
            back = self.deserialize(payload, type(value))
        except JobPersistenceError as error:
            raise InvalidValueError(f"{value!r} can not be stored: {error}") from error
        if back != value:
            raise InvalidValueError(f"{value!r} can not be stored: its serializer reads it back as {back!r}")

    def _write_calendar(self, calendar: Calendar) -> dict[str, Any]:
        return self._calendars.of(calendar).serialize(calendar, self._write_calendar)

    def _read_calendar(self, node: Any) -> Calendar:
        if type(node) is not dict:
            raise UnreadableValueError(f"{node!r} is no calendar")
        return self._calendars.named(node.get("Type")).deserialize(node, self._read_calendar)

    def _decode_data(self, node: Any) -> JobData:
        if type(node) is not dict:
            raise UnreadableValueError(f"{node!r} is no job data")
        return JobData._adopt(self._values.decode_all(node))  # fresh values: nobody else holds them

    def _check_data(self, data: JobData) -> None:
        if self._only_texts(data):
            _texts(data)
        else:
            self._values.check(_JOB_DATA, data)

    def _encode_data(self, data: JobData) -> dict[str, Any]:
        return _texts(data) if self._only_texts(data) else self._values.encode_all(_JOB_DATA, data)

    def _only_texts(self, data: JobData) -> bool:
        return self._use_properties and not any(key in data for key in _SCAN_LISTENERS)


def _texts(data: JobData) -> dict[str, str]:
    return {key: _text(key, value) for key, value in data.items()}


def _text(key: str, value: object) -> str:
    if value is None:
        return ""
    if type(value) is str:
        return value
    raise InvalidValueError(
        f"job data {key!r} is {value!r}, which is no text, and the store keeps texts only (use_properties): "
        "use str(...), or turn use_properties off"
    )


def _bytes_of(node: Mapping[str, Any]) -> bytes:
    return _WRITE(node).encode("ascii")


def _read(payload: bytes, what: str) -> dict[str, Any]:
    for beginning, reason in _FOREIGN:
        if payload.startswith(beginning):
            raise JobPersistenceError(f"stored {what} can not be read: {reason}")
    try:
        node = json.loads(payload, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise JobPersistenceError(f"stored {what} can not be read: it is no JSON ({error})") from error
    if type(node) is not dict:
        raise JobPersistenceError(f"stored {what} can not be read: it is no JSON object")
    return node


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")
