"""Texts that are expressions, texts that are not, and what the error says."""

from __future__ import annotations

import pytest

from quartzite.cron.grammar import read
from quartzite.errors import CronSyntaxError


def refusal(text: str, hash_key: str | int | None = None) -> CronSyntaxError:
    """Return the error of a text that is refused."""
    with pytest.raises(CronSyntaxError) as caught:
        read(text, hash_key)
    return caught.value


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("0 0 12 * * ?", "0 0 12 * * ?"),
        ("  0\t0  12 * *\t? ", "0 0 12 * * ?"),
        ("0 0 12 ? jan-mar mon,Wed 2030", "0 0 12 ? JAN-MAR MON,WED 2030"),
        ("0 15 10 l-3w * ?", "0 15 10 L-3W * ?"),
        ("0 0 0 ? * fril", "0 0 0 ? * FRIL"),
        ("0 0 0 ? * sat#5", "0 0 0 ? * SAT#5"),
        ("05 00 007 01 1 ?", "05 00 007 01 1 ?"),
    ],
)
def test_text_is_upper_case_with_single_spaces(text: str, resolved: str) -> None:
    """Letters become capitals and runs of spaces and tabs one space; nothing else changes."""
    assert read(text, None)[0] == resolved


@pytest.mark.parametrize(
    "text",
    [
        "58-4 21-3 22-2 28-5 11-2 FRI-TUE",
        "58-4/2 50-10/7 22-2/3 28-5/2 11-2/2 6-2/3",
        "0-59/90 0-5/99 0-23/24 1-31/32 1-12/13 ?",
        "*/59 */59 */23 */31 */12 ?",
        "/5 /5 /5 /5 /5 ?",
        "* * * ? * */7",
        "*,5 5,*/7 1,1,1 L,LW,L-3,15W,L-2W-1,*/9 * ?",
        "0 0 0 L-0 * ?",
        "0 0 0 L-0W-5,LW-0 * ?",
        "0 0 0 ? * L",
        "0 0 0 13 * FRI",
        "0 0 0 1 1 ? 1970-2199/7,2026",
        "0 0 0 31 2 ?",
    ],
)
def test_accepted(text: str) -> None:
    """Wrapping ranges, long steps behind ranges, lists of special days and impossible dates are expressions."""
    read(text, None)


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("0 60 0 * * ?", 2, "'60' is no minute: 0 to 59"),
        ("0 0 24 * * ?", 4, "'24' is no hour: 0 to 23"),
        ("0 0 0 0 * ?", 6, "'0' is no day of month: 1 to 31"),
        ("0 0 0 1 13 ?", 8, "'13' is no month: 1 to 12, or JAN to DEC"),
        ("0 0 0 ? * 8", 10, "'8' is no day of week: 1 to 7, or SUN to SAT"),
        ("0 0 0 1 1 ? 2200", 12, "'2200' is no year: 1970 to 2199"),
        ("0 0 0 1 1 ? 1969", 12, "'1969' is no year"),
        ("0 0 0 1 1 ? 2030-2024", 12, "the range 2030-2024 runs backwards"),
        ("99 0 0 * * ?", 0, "'99' is no second"),
        ("0 5,10,61 0 * * ?", 7, "'61' is no minute"),
        ("0 0 5-25 * * ?", 6, "'25' is no hour"),
        ("0 0 12345678901234567890 * * ?", 4, "is no hour"),
        ("0 5- 0 * * ?", 3, "the range '5-' has no end"),
        ("0 -5 0 * * ?", 2, "the range '-5' has no start"),
        ("0 *-5 0 * * ?", 2, "the range '*-5' has no start"),
        ("0 */ 0 * * ?", 3, "the step '/' has no number"),
        ("0 5/x 0 * * ?", 3, "the step '/X' has no number"),
        ("0 */5/5 0 * * ?", 5, "the step '/5' has no number"),
        ("0 */0 0 * * ?", 4, "a step must be at least 1"),
        ("0 5-10/0 0 * * ?", 7, "a step must be at least 1"),
        ("0 */-5 0 * * ?", 3, "the step '/-5' has no number"),
        ("0 */60 0 * * ?", 4, "the step 60 is larger than the minute field, 59"),
        ("0 0 3/24 * * ?", 6, "the step 24 is larger than the hour field, 23"),
        ("0 5-9/9999999999 0 * * ?", 6, "is larger than the minute field"),
        ("0 ,5 0 * * ?", 2, "an item of the list is empty"),
        ("0 5, 0 * * ?", 4, "an item of the list is empty"),
        ("0 5,,6 0 * * ?", 4, "an item of the list is empty"),
        ("0 ** 0 * * ?", 3, "'*' can not stand here"),
        ("0 5x 0 * * ?", 3, "'X' can not stand here"),
        ("0 0 0 15D * ?", 8, "'D' can not stand here"),
        ("0 0 0 15WX * ?", 8, "'WX' can not stand here"),
        ("0 0 0 15W-3 * ?", 8, "'W-3' can not stand here"),
        ("0 0 0 0W * ?", 6, "'0' is no day of month"),
        ("0 0 0 32W * ?", 6, "'32' is no day of month"),
        ("0 0 0 WL * ?", 6, "'WL' is no day of month"),
        ("0 0 0 L-31 * ?", 8, "L-31 is more than 30 days before the last"),
        ("0 0 0 L-3W-31 * ?", 11, "L-31 is more than 30 days before the last"),
        ("0 0 0 L-3-2 * ?", 9, "'-2' can not stand here"),
        ("0 0 L * * ?", 4, "'L' is no hour"),
        ("0 0 0 5L * ?", 7, "'L' can not stand here"),
        ("0 0 0 ? * 6#6", 12, "#6 is no week of a month: #1 to #5"),
        ("0 0 0 ? * 6#0", 12, "#0 is no week of a month"),
        ("0 0 0 ? * 8#1", 10, "'8' is no day of week"),
        ("0 0 0 ? * L#2", 10, "'L' is no day of week"),
        ("0 0 0 ? * LW", 10, "'LW' is no day of week"),
        ("0 0 0 ? * MON,L", 14, "'L' must stand alone"),
        ("0 0 0 ? * 2#1,6#3", 10, "'2#1' must stand alone"),
        ("0 0 0 ? * 6L,2", 10, "'6L' must stand alone"),
        ("0 0 0 ? * 2-FRI", 10, "the range 2-FRI mixes a name and a number"),
        ("0 0 0 ? * FRI/2", 13, "a step can not follow a name"),
        ("0 0 0 ? * MON-FRI/2", 17, "a step can not follow a name"),
        ("0 0 0 1 JAN/2 ?", 11, "a step can not follow a name"),
        ("0 0 ? * * ?", 4, "? stands alone, in one of the two day fields"),
        ("0 0 0 ?/2 * MON", 6, "? stands alone"),
        ("0 0 0 1,? * MON", 8, "? stands alone"),
        ("0 0 0 ? * ?", 10, "only one of the two day fields may be ?"),
        ("0 0 0 1 JANUARY ?", 8, "'JANUARY' is no month"),
        ("0 0 0 * * ? * *", 14, "it has 8 fields, and 6 or 7 are needed"),
        ("0 0 12 * *\n?", 10, "'\\n' is no character of an expression"),
        ("0 0 12 * * é", 11, "'é' is no character of an expression"),
        ("0 0 ١٢ * * ?", 4, "is no character of an expression"),
    ],
)
def test_refused_where_and_why(text: str, position: int, reason: str) -> None:
    """The error quotes the text, marks the wrong character and says what is wrong with it."""
    error = refusal(text)
    assert (error.text, error.position) == (text, position)
    assert reason in error.reason
    assert repr(text) in str(error)
    assert error.reason in str(error)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("30 9 * * 1-5", "CronExpression.from_crontab"),
        ("@daily", "CronExpression.from_crontab"),
        (" @hourly", "CronExpression.from_crontab"),
        ("0 0 12", "second minute hour day-of-month month day-of-week"),
        ("", "second minute hour day-of-month month day-of-week"),
        ("0 0 0 ? * FRI/2", "recurrence trigger: FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("0 0 0 1 JAN/2 ?", "numbers instead of names"),
        ("0 0 0 ? * MONDAY", "names have three letters: MON"),
        ("0 0 0 ? * ?", "write * in one of them"),
        ("0 0 0 ? * 2#1,6#3", "a trigger for each"),
        ("0 H 0 * * ?", "hash_key="),
    ],
)
def test_refused_with_a_hint(text: str, hint: str) -> None:
    """The error of a common mistake says what to write instead."""
    error = refusal(text)
    assert hint in (error.hint or "")
    assert hint in str(error)


def test_mark_stands_under_the_character() -> None:
    """The message shows the text with a mark under the wrong character."""
    lines = str(refusal("0 0 25 * * ?")).splitlines()
    assert lines[1].index("25") == lines[2].index("^")


def test_error_of_a_hashed_field_points_at_it() -> None:
    """What H makes too large is marked where the field begins, as the number itself is not in the text."""
    error = refusal("0 5,H/90 * * * ?", "key")
    assert error.position == 2
    assert "90" in error.reason


def test_hash_tokens_are_marked() -> None:
    """A malformed H is marked by its own place in the list."""
    assert refusal("0 5,H(9-3) 0 * * ?", "key").position == 6
    assert refusal("0 5,HX 0 * * ?", "key").position == 4
    assert refusal("0 5,H/0 0 * * ?", "key").position == 6
    assert refusal("0 5,H 0 * * ?").position == 4


def test_equal_texts_share_their_fields() -> None:
    """Reading a text again costs nothing, and texts that differ in their time only share their days."""
    assert read("0 0 3 ? * MON", None) is read("0 0 3 ? * MON", None)
    assert read("0 0 3 ? * MON", None)[1].days is read("1 2 4 ? * MON", None)[1].days


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("0 0 12 * * ?", False),
        ("0 0,30 1,2 1-15 * ?", False),
        ("0 0 2 ? * MON-FRI", False),
        ("0 0 2 */2 * ?", False),
        ("* 0 2 * * ?", True),
        ("0 0/30 2 * * ?", True),
        ("0 0 1-3 * * ?", True),
        ("0 0 2-2 * * ?", True),
    ],
)
def test_interval_by_second_minute_and_hour(text: str, interval: bool) -> None:
    """An expression is an interval by the signs in its second, minute and hour, whatever the day fields hold."""
    assert read(text, None)[1].interval is interval


def test_interval_by_the_resolved_text() -> None:
    """A plain H is a value, a stepping one is a step."""
    assert read("0 H(0-30) 3 * * ?", "key")[1].interval is False
    assert read("0 H/30 3 * * ?", "key")[1].interval is True
