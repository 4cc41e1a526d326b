"""Job data: read-only when stored, changeable in a run."""

from threading import Lock
from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.model.job_data import JobData

NESTED: dict[str, Any] = {"list": [1], "map": {"a": [2]}, "text": "x"}


def test_what_is_put_in_is_copied() -> None:
    """Changing what the data was made of does not change the data."""
    given = {"list": [1]}
    data = JobData(given)
    given["list"].append(2)
    assert data == {"list": [1]}


def test_what_is_taken_out_is_copied() -> None:
    """Changing a nested value that was read does not change the data, however it was read."""
    data = JobData(NESTED)
    data["list"].append(99)
    data["map"]["a"].append(99)
    data.get("list", []).append(99)
    for value in (*data.values(), *(value for _, value in data.items())):
        if isinstance(value, list):
            value.append(99)
    assert data == NESTED


def test_merged_data_is_read_only_too() -> None:
    """The merged view of a firing shares nothing that can be changed with what it was made of."""
    job, trigger = JobData(NESTED), JobData(more=[1])
    merged = job.merged_with(trigger)
    merged["list"].append(99)
    merged["more"].append(99)
    assert job == NESTED
    assert trigger == {"more": [1]}
    assert merged == {**NESTED, "more": [1]}


def test_a_run_changes_nested_values_in_place() -> None:
    """The mutable copy hands out its own values, and knows that one of them was changed inside."""
    data = JobData(NESTED)
    copy = data.mutable_copy()
    assert not copy.changed
    copy["map"]["a"].append(3)
    assert copy.changed
    assert copy.frozen()["map"] == {"a": [2, 3]}
    assert data == NESTED


@pytest.mark.parametrize("values", [["amount"], "amount", 5])
def test_what_is_no_mapping_is_refused(values: Any) -> None:
    """Job data is made of names with values: anything else is refused with an error of its own."""
    with pytest.raises(InvalidValueError, match="is no mapping"):
        JobData(values)


def test_what_can_not_be_copied_is_refused_by_its_key() -> None:
    """A value that can not be copied is refused when it is put in, naming key and type."""
    with pytest.raises(InvalidValueError, match=r"'guard' is a lock that can not be copied"):
        JobData({"guard": Lock()})


def test_values_that_are_nested_too_deep_are_refused_by_their_key() -> None:
    """Lists within lists without end are refused, naming the key."""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InvalidValueError, match="'deep' is a list"):
        JobData({"deep": deep})
