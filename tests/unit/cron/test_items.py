"""Items of one field as sets of values."""

from __future__ import annotations

import pytest

from quartzite.cron.fields import DAY_OF_WEEK, HOUR, MINUTE, MONTH, YEAR, Field, FieldError
from quartzite.cron.items import days_of_month, days_of_week, items, numbers


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        (MINUTE, "7", [7]),
        (MINUTE, "5-8", [5, 6, 7, 8]),
        (MINUTE, "58-1", [0, 1, 58, 59]),
        (MINUTE, "50-10/7", [4, 50, 57]),
        (MINUTE, "*/20", [0, 20, 40]),
        (MINUTE, "/20", [0, 20, 40]),
        (MINUTE, "13/20", [13, 33, 53]),
        (MINUTE, "5-10/99", [5]),
        (MINUTE, "3,1,2,1", [1, 2, 3]),
        (HOUR, "22-2/2", [0, 2, 22]),
        (MONTH, "NOV-FEB", [1, 2, 11, 12]),
        (MONTH, "11-2/2", [1, 11]),
        (MONTH, "*/5", [1, 6, 11]),
        (DAY_OF_WEEK, "FRI-MON", [1, 2, 6, 7]),
        (DAY_OF_WEEK, "6-2/2", [1, 6]),
        (DAY_OF_WEEK, "2/2", [2, 4, 6]),
        (YEAR, "2190/4", [2190, 2194, 2198]),
        (YEAR, "2024-2030/3,2199", [2024, 2027, 2030, 2199]),
    ],
)
def test_numbers(field: Field, text: str, expected: list[int]) -> None:
    """Lists, ranges, wrapping ranges and steps hold these values."""
    mask = numbers(field, text)
    assert [value for value in range(mask.bit_length()) if mask >> value & 1] == expected


def test_items_know_their_places() -> None:
    """Each item comes with the index at which it begins."""
    assert list(items("1,20-30,*/5")) == [(0, "1"), (2, "20-30"), (8, "*/5")]


def test_empty_item_is_refused() -> None:
    """A comma with nothing behind it is refused at its place."""
    with pytest.raises(FieldError) as caught:
        list(items("1,2,"))
    assert caught.value.at == 4


def test_question_mark_says_nothing() -> None:
    """A day field with ? restricts nothing by itself."""
    assert days_of_month("?") is None
    assert days_of_week("?") is None


def test_zero_offset_from_the_last_day() -> None:
    """L-0 means L, and L-0W means LW."""
    assert days_of_month("L-0") == days_of_month("L")
    assert days_of_month("L-0W") == days_of_month("LW")


def test_lonely_l_is_saturday() -> None:
    """In the weekday field L alone is Saturday."""
    assert days_of_week("L") == days_of_week("7") == days_of_week("SAT")


def test_names_and_numbers_of_weekdays_agree() -> None:
    """Sunday is 1, with L and # too."""
    assert days_of_week("SUNL") == days_of_week("1L")
    assert days_of_week("FRI#3") == days_of_week("6#3")
