"""Typed values survive JSON exactly, or are refused when they are stored."""

import math
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum, Flag, IntEnum
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from quartzite.errors import InvalidValueError
from quartzite.serialization.values import UnreadableValueError, ValueCodec

NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001
BERLIN = ZoneInfo("Europe/Berlin")


class Colour(Enum):
    """A plain enumeration, whose values are no JSON."""

    RED = b"r"
    BLUE = b"b"


class Level(IntEnum):
    """An enumeration whose members are numbers as well."""

    LOW = 1


class Access(Flag):
    """Members that can be combined."""

    READ = 1
    WRITE = 2


@dataclass(frozen=True)
class Line:
    """A part of an invoice."""

    text: str
    amount: Decimal


@dataclass
class Invoice:
    """A dataclass that holds others, and a value that has a default."""

    number: int
    due: datetime
    lines: list[Line] = field(default_factory=list)
    paid: bool = False


class Money:
    """A class that is neither an enumeration nor a dataclass."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    __hash__ = None  # type: ignore[assignment]


class OddZone(tzinfo):
    """A zone of another library, whose offset depends on ``fold`` in an hour that is shown twice."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta(hours=1 if dt is not None and dt.fold else 2)

    def dst(self, dt: datetime | None) -> timedelta:
        return timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return "odd"


def round_trip(value: Any, codec: ValueCodec | None = None) -> Any:
    """Return what a value reads back as."""
    codec = codec or ValueCodec()
    return codec.decode_all(codec.encode_all("job data", {"key": value}))["key"]


VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    -(2**63),
    2**64,
    7**9000,
    -(7**9000),
    0.1,
    -0.0,
    5e-324,
    math.inf,
    -math.inf,
    "",
    "grüße 😀 \x00 \ud800",
    [],
    [1, [2, [None, "x"]]],
    {},
    {"a": {"b": [1]}, "": 1},
    (1, "two", (3.0,)),
    datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    datetime(2026, 7, 1, 9, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    datetime(1890, 1, 1, tzinfo=BERLIN),  # local mean time: an offset with seconds
    datetime(2026, 7, 1, 9, tzinfo=BERLIN),
    date(2026, 2, 28),
    time(9, 30),
    time(23, 59, 59, 999999),
    time(9, 30, tzinfo=timezone(timedelta(hours=-3))),
    timedelta.max,
    timedelta.min,
    timedelta(days=-1, microseconds=1),
    Decimal("1.10"),
    Decimal("-0"),
    Decimal("1E-400"),
    Decimal("Infinity"),
    UUID("12345678-1234-5678-1234-567812345678"),
    b"",
    bytes(range(256)),
    {"$date": "2026-01-01"},
    {"$dict": {"$dict": {}}},
    {"$object": ["os:system", "echo"]},
    {"$a": 1, "b": {"$c": date(2026, 1, 1)}},
    {"$": [(), {}]},
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_equal_and_of_its_type(value: Any) -> None:
    """Each supported value is equal after the round trip, and has the type it had."""
    back = round_trip(value)
    assert back == value
    assert type(back) is type(value)


def test_signs_and_exponents_survive() -> None:
    """What ``==`` does not see stays too: the sign of zero and the digits of a decimal."""
    assert math.copysign(1, round_trip(-0.0)) == -1
    assert str(round_trip(Decimal("1.10"))) == "1.10"
    assert str(round_trip(Decimal("-0.00"))) == "-0.00"


@pytest.mark.parametrize("hour", [1, 2, 3])
@pytest.mark.parametrize("fold", [0, 1])
@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
def test_an_instant_keeps_its_zone_and_its_pass_through_clock_changes(day: date, hour: int, fold: int) -> None:
    """A datetime with a zone keeps id, local time and offset, also in the gap and in both passes of the overlap."""
    moment = datetime(day.year, day.month, day.day, hour, 30, tzinfo=BERLIN, fold=fold)
    back = round_trip(moment)
    assert back.tzinfo.key == "Europe/Berlin"
    assert (back.replace(tzinfo=None), back.utcoffset()) == (moment.replace(tzinfo=None), moment.utcoffset())
    assert back == moment


@pytest.mark.parametrize(
    ("value", "place", "advice"),
    [
        (NAIVE, "'key'", "give an aware datetime"),
        ([{"when": NAIVE}], "'key'[0]['when']", "give an aware datetime"),
        (math.nan, "'key'", "use None"),
        (Decimal("sNaN"), "'key'", "use None"),
        ({1: 2}, "'key'", "its key 1 is no text"),
        ({"set": {1}}, "'key'['set']", "use a sorted list"),
        (bytearray(b"x"), "'key'", "use bytes"),
        (Colour.RED, "'key'", "call register_type(Colour)"),
        (Level.LOW, "'key'", "call register_type(Level)"),
        (Line("a", Decimal(1)), "'key'", "call register_type(Line)"),
        (Money(5), "'key'", "register_type(Money, to_json=..., from_json=...)"),
        (type("Name", (str,), {})("x"), "'key'", "use str(...)"),
        (object(), "'key'", "store an id and look the object up in the job"),
        (time(2, 30, tzinfo=BERLIN), "'key'", "its offset depends on the date"),
        (datetime(2026, 10, 25, 2, 30, tzinfo=OddZone()), "'key'", "which is not equal"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_would_not_come_back_equal_is_refused(value: Any, place: str, advice: str) -> None:
    """A value that can not be stored exactly is refused, naming its place and the remedy, by check and by encode."""
    codec = ValueCodec()
    for store in (codec.check, codec.encode_all):
        with pytest.raises(InvalidValueError) as refused:
            store("job data", {"fine": 1, "key": value})
        assert f"job data {place} is " in str(refused.value)
        assert advice in str(refused.value)


def test_a_value_that_contains_itself_is_refused() -> None:
    """A list inside itself is refused by key, and neither loops nor crashes."""
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidValueError, match=r"'key' is a list, .* contains itself"):
        ValueCodec().check("job data", {"key": circle})


def test_depth_is_limited_far_below_the_stack() -> None:
    """What is deeper than reading can rely on is refused when it is stored; just below, it comes back."""
    deep: Any = 1
    for _ in range(99):
        deep = [deep]
    assert round_trip(deep) == deep
    with pytest.raises(InvalidValueError, match="more than 100 levels"):
        round_trip([deep])


def test_registered_types_come_back_equal() -> None:
    """Enumerations, flags, dataclasses inside dataclasses and converted classes survive once they are registered."""
    codec = ValueCodec()
    for cls in (Colour, Level, Access, Line, Invoice):
        codec.register(cls)
    codec.register(Money, to_json=lambda money: money.cents, from_json=Money)
    invoice = Invoice(number=7, due=datetime(2026, 1, 1, tzinfo=BERLIN), lines=[Line("a", Decimal("1.10"))], paid=True)
    for value in (Colour.BLUE, Level.LOW, Access.READ | Access.WRITE, Access(0), invoice, Money(5), [Money(1)]):
        back = round_trip(value, codec)
        assert back == value
        assert type(back) is type(value)


def test_registering_says_what_the_class_lacks() -> None:
    """A class that gives no way to store its objects is refused when it is registered."""
    codec = ValueCodec()
    by_identity: type = dataclass(eq=False)(type("ByIdentity", (), {}))
    with pytest.raises(InvalidValueError, match="give to_json and from_json"):
        codec.register(Money)
    with pytest.raises(InvalidValueError, match="or neither"):
        codec.register(Money, to_json=vars)
    with pytest.raises(InvalidValueError, match="leave out eq=False"):
        codec.register(by_identity)
    with pytest.raises(InvalidValueError, match="not blank"):
        codec.register(Line, name=" ")


def test_one_name_is_one_class() -> None:
    """A second class under a name is refused and changes nothing; the same class written again takes its place."""
    codec = ValueCodec()
    codec.register(Line, aliases=("Row",))
    with pytest.raises(InvalidValueError, match=r"'Row' belongs to .*Line: register .*Invoice"):
        codec.register(Invoice, aliases=("Row",))
    with pytest.raises(InvalidValueError, match="register_type"):
        codec.check("job data", {"key": Invoice(1, datetime(2026, 1, 1, tzinfo=UTC))})
    again: type = dataclass(frozen=True)(
        type("Line", (), {"__annotations__": {"text": str}, "__module__": Line.__module__, "__qualname__": "Line"})
    )
    codec.register(again)
    assert round_trip(again(text="x"), codec) == again(text="x")


def test_a_renamed_class_still_reads_its_old_name() -> None:
    """What was stored under an alias is read as the class of today, and stored under its name from then on."""
    old, new = ValueCodec(), ValueCodec()
    old.register(Line, name="Row")
    new.register(Line, aliases=("Row",))
    line = Line("a", Decimal(1))
    assert new.decode_all(old.encode_all("job data", {"key": line})) == {"key": line}
    assert new.encode_all("job data", {"key": line})["key"]["$object"][0] == "Line"


def test_a_dataclass_that_grew_reads_what_it_stored_before() -> None:
    """Fields that a row does not have take their defaults; fields that the class no longer has are an error."""
    codec = ValueCodec()
    codec.register(Invoice)
    due = {"$datetime": "2026-01-01T00:00:00+00:00"}
    stored = {"key": {"$object": ["Invoice", {"number": 1, "due": due}]}}
    assert codec.decode_all(stored)["key"] == Invoice(1, datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(UnreadableValueError, match=r"'key': .*'colour'"):
        codec.decode_all({"key": {"$object": ["Invoice", {"number": 1, "due": due, "colour": 2}]}})


def test_a_class_that_changes_its_values_is_refused() -> None:
    """An object that its class would not build again equal is refused when it is stored."""

    @dataclass
    class Stamped:
        value: int

        def __post_init__(self) -> None:
            self.value += 1

    codec = ValueCodec()
    codec.register(Stamped)
    with pytest.raises(InvalidValueError, match="which is not equal"):
        codec.check("job data", {"key": Stamped(1)})


@pytest.mark.parametrize(
    "node",
    [
        {"$unheard": 1},
        {"$object": ["NoSuchType", {}]},
        {"$object": 5},
        {"$object": [1]},
        {"$object": [{}, 1]},
        {"$datetime": "2026-01-01T00:00:00"},
        {"$datetime": "2026-01-01T00:00:00+01:00[Nowhere/City]"},
        {"$datetime": 5},
        {"$date": "yesterday"},
        {"$time": None},
        {"$timedelta": "5"},
        {"$timedelta": 10**30},
        {"$decimal": "many"},
        {"$decimal": [0, [1], 0]},
        {"$uuid": "x"},
        {"$bytes": "not base64!"},
        {"$int": "zz"},
        {"$dict": []},
        {"$tuple": "ab"},
    ],
    ids=str,
)
def test_what_is_malformed_is_told_by_key(node: Any) -> None:
    """An unknown type or a malformed content is an error that names the key, never another value."""
    with pytest.raises(UnreadableValueError, match=r"^'key': "):
        ValueCodec().decode_all({"key": node})
