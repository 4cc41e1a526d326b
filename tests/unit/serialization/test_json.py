"""JsonSerializer reads what it wrote, equal; it refuses early and executes nothing."""

import json
import os
import pickle
from decimal import Decimal
from typing import Any

import pytest

from quartzite.errors import InvalidValueError, JobPersistenceError
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.serialization import JsonSerializer


@pytest.fixture
def serializer() -> JsonSerializer:
    """The default serializer."""
    return JsonSerializer()


def test_job_data_comes_back_equal_and_unchanged(serializer: JsonSerializer) -> None:
    """Read data equals the written one and counts as unchanged."""
    data = JobData(a=1, b=[Decimal("1.10"), {"$date": 1}])
    back = serializer.deserialize(serializer.serialize(data), JobData)
    assert back == data
    assert not back.changed


def test_plain_data_is_plain_json(serializer: JsonSerializer) -> None:
    """Texts, numbers and lists are written as anybody would write them, and as ASCII."""
    payload = serializer.serialize(JobData(name="Grüße", count=3, tags=["a"], none=None))
    assert json.loads(payload) == {"name": "Grüße", "count": 3, "tags": ["a"], "none": None}
    assert payload.isascii()


def test_no_data_is_no_bytes(serializer: JsonSerializer) -> None:
    """Empty data is no bytes, and no bytes are the shared empty data."""
    assert serializer.serialize(JobData()) == b""
    assert serializer.deserialize(b"", JobData) is EMPTY_JOB_DATA


def test_keys_of_the_data_are_never_taken_for_a_type(serializer: JsonSerializer) -> None:
    """A key of the data itself may look like the mark of a type."""
    data = JobData({"$decimal": "1.10"})
    assert serializer.deserialize(serializer.serialize(data), JobData) == data


def test_check_refuses_what_serialize_refuses(serializer: JsonSerializer) -> None:
    """A store in memory finds the same fault that a database would find, and accepts what it would accept."""
    serializer.check(EMPTY_JOB_DATA)
    serializer.check(JobData(a=1, b="x", c=[Decimal(1)]))
    with pytest.raises(InvalidValueError, match="job data 'a' is"):
        serializer.check(JobData(a=object()))


def test_the_classes_of_one_serializer_are_unknown_to_another(serializer: JsonSerializer) -> None:
    """Registration belongs to the serializer; it works as a decorator."""
    from tests.unit.serialization.test_values import Colour

    assert serializer.register_type(Colour) is Colour
    payload = serializer.serialize(JobData(colour=Colour.RED))
    assert serializer.deserialize(payload, JobData)["colour"] is Colour.RED
    with pytest.raises(JobPersistenceError, match="'colour': the type 'Colour' is not registered"):
        JsonSerializer().deserialize(payload, JobData)


class _Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_runs_nothing(
    serializer: JsonSerializer, protocol: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that holds a pickle, of any protocol, is unreadable; nothing in it is executed."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JobPersistenceError, match="can not be read"):
        serializer.deserialize(pickle.dumps(_Bomb(), protocol), JobData)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"\x80\x04K\x01.", "it looks like a pickle, which is never read"),
        (b"\xac\xed\x00\x05sr", "it looks like a serialized Java object"),
        (b"not json", "it is no JSON"),
        (b'{"a":1', "it is no JSON"),
        (b'{"a":NaN}', "it is no JSON"),
        (b"\xff\xfe\x00", "it is no JSON"),
        (b"[1]", "it is no JSON object"),
        (b'{"a":{"$unheard":1}}', "'a': values of type '$unheard' are not known here"),
        (b'{"a":' + b"[" * 100_000, "it is no JSON"),
        (b'{"a":' + b"[" * 600 + b"]" * 600 + b"}", "recursion"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_an_unreadable_row_says_why(serializer: JsonSerializer, payload: bytes, reason: str) -> None:
    """Bytes that are no job data are one clear error with the reason."""
    with pytest.raises(JobPersistenceError, match="stored JobData can not be read") as refused:
        serializer.deserialize(payload, JobData)
    assert reason in str(refused.value)


def test_only_what_is_meant_to_be_stored_is(serializer: JsonSerializer) -> None:
    """Anything but job data, triggers and calendars is refused in both directions."""
    with pytest.raises(InvalidValueError, match="only job data, triggers and calendars"):
        serializer.serialize({"a": 1})
    with pytest.raises(InvalidValueError, match="only job data, triggers and calendars"):
        serializer.deserialize(b"{}", dict)


# Texts only (use_properties) --------------------------------------------------------------------------------------


def test_texts_only_keeps_a_flat_object_of_texts() -> None:
    """With use_properties data is stored as texts, None as an empty one."""
    serializer = JsonSerializer(use_properties=True)
    payload = serializer.serialize(JobData(a="x", b=None))
    assert json.loads(payload) == {"a": "x", "b": ""}
    assert serializer.deserialize(payload, JobData) == {"a": "x", "b": ""}


@pytest.mark.parametrize("value", [1, True, b"x", ["x"], {"a": "b"}])
def test_texts_only_refuses_other_values(value: object) -> None:
    """With use_properties any other value is refused by key, by check and by serialize, with the remedy."""
    serializer = JsonSerializer(use_properties=True)
    for store in (serializer.check, serializer.serialize):
        with pytest.raises(InvalidValueError, match=r"job data 'n' is .*: use str\(\.\.\.\), or turn use_properties"):
            store(JobData(fine="x", n=value))


def test_each_form_reads_the_other() -> None:
    """Turning use_properties on or off leaves what is stored readable."""
    texts, typed = JsonSerializer(use_properties=True), JsonSerializer()
    assert texts.deserialize(typed.serialize(JobData(n=Decimal(1))), JobData) == {"n": Decimal(1)}
    assert typed.deserialize(texts.serialize(JobData(n="1")), JobData) == {"n": "1"}


@pytest.mark.parametrize("key", ["FILE_SCAN_LISTENER_NAME", "DIRECTORY_SCAN_LISTENER_NAME"])
def test_scan_jobs_are_never_texts_only(key: str) -> None:
    """Data of the file and directory scan jobs keeps its types in either mode (spec 07 section 8)."""
    serializer = JsonSerializer(use_properties=True)
    data = JobData({key: "listener", "last_modified": 5})
    assert serializer.deserialize(serializer.serialize(data), JobData) == data
