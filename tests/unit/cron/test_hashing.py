"""H: spread by key, the same for ever."""

from __future__ import annotations

import pytest

from quartzite.cron import CronExpression, trigger_hash_key
from quartzite.cron.hashing import hash_seed, spread
from quartzite.errors import CronSyntaxError, InvalidValueError


@pytest.mark.parametrize(
    ("key", "seed"),
    [
        ("", 18_652_613),
        ("a", 0xE40C292C & 0x7FFFFFFF),  # published values of FNV-1a
        ("foobar", 0xBF9CF968 & 0x7FFFFFFF),
        ("myTrigger", 969_250_717),
        (":myTrigger", 986_197_893),
        ("café", 856_211_068),
    ],
)
def test_seed_of_a_text(key: str, seed: int) -> None:
    """A text gives FNV-1a over its UTF-16 code units, 31 bits of it; the case counts."""
    assert hash_seed(key) == seed


def test_seed_of_code_units_beyond_one() -> None:
    """A character beyond the basic plane is two code units, and half of one is a unit as well."""
    assert hash_seed("\U0001f600") != hash_seed("\ud83d")
    assert hash_seed("\U0001f600") == hash_seed("\ud83d\ude00")


def test_number_is_its_own_seed() -> None:
    """A number is used as its 32 bits, whether read as signed or not."""
    assert hash_seed(42) == 42
    assert hash_seed(-1) == hash_seed(0xFFFF_FFFF) == 0xFFFF_FFFF
    assert CronExpression("H H * * * ?", hash_key=-1).text == "5 55 * * * ?"


@pytest.mark.parametrize("key", [-0x8000_0001, 0x1_0000_0000])
def test_number_of_more_bits_is_refused(key: int) -> None:
    """A number that does not fit 32 bits is refused."""
    with pytest.raises(InvalidValueError, match="32 bits"):
        CronExpression("H * * * * ?", hash_key=key)


def test_finalizer_has_its_published_value() -> None:
    """The finalizer of murmur3 maps 1 to its published value, of which 31 bits are kept."""
    assert spread(1, 0) == 0x514E28B7 & 0x7FFFFFFF


@pytest.mark.parametrize(
    ("group", "name", "key"),
    [
        ("DEFAULT", "nightly", ":nightly"),
        ("reports", "nightly", "7:reportsnightly"),
        ("", "n", "0:n"),
        ("\U0001f600", "n", "2:\U0001f600n"),  # the length counts code units
        ("1", "0:x", "1:10:x"),
    ],
)
def test_key_of_a_trigger(group: str, name: str, key: str) -> None:
    """A trigger's key is the length of its group, a colon, group and name; the default group is left out."""
    assert trigger_hash_key(group, name) == key


def test_keys_can_not_be_confused() -> None:
    """Group and name that join to the same letters have different keys."""
    assert trigger_hash_key("ab", "c") != trigger_hash_key("a", "bc")


@pytest.mark.parametrize(
    ("text", "key", "resolved"),
    [
        ("H H H * * ?", ":myTrigger", "3 49 10 * * ?"),
        ("H H H * * ?", "7:reportsnightly", "31 52 13 * * ?"),
        ("H H H ? H H", 0, "0 26 3 ? 8 1"),
        ("H H H H H ?", 42, "12 24 20 24 10 ?"),
        ("* H/15 * * * ?", 42, "* 9/15 * * * ?"),
        ("* H(0-29)/10 * * * ?", 42, "* 4-29/10 * * * ?"),
        ("* * H(9-17) * * ?", 42, "* * 14 * * ?"),
        ("* H,30,45 * * * ?", 42, "* 24,30,45 * * * ?"),
        ("* H(0-59)/15 * * * ?", 42, "* 9/15 * * * ?"),
        ("h h(0-3) * * * ? *", 42, "12 0 * * * ? *"),
    ],
)
def test_resolved_text(text: str, key: str | int, resolved: str) -> None:
    """Every H of a field is the same number; a step over the whole field is written without the range."""
    assert CronExpression(text, hash_key=key).text == resolved


def test_names_with_an_h_are_names() -> None:
    """THU and MARCH's MAR are no hash tokens, so no key is needed."""
    assert CronExpression("0 0 0 ? MAR THU").text == "0 0 0 ? MAR THU"


def test_key_without_h_changes_nothing() -> None:
    """A key is ignored when there is nothing to spread."""
    assert CronExpression("0 0 0 * * ?", hash_key="x") == CronExpression("0 0 0 * * ?")


@pytest.mark.parametrize(
    "text",
    [
        "H(30-5) * * * * ?", "H(0-60) * * * * ?", "H(0-5 * * * * ?", "H/0 * * * * ?", "H/-1 * * * * ?", "HX * * * * ?",
        "H(5) * * * * ?", "H(a-b) * * * * ?", "H(0-5)x * * * * ?", "H- * * * * ?", "H-5 * * * * ?", "HL * * * * ?",
        "0 0 0 H(0-5) * ?", "0 0 0 ? * H(0-7)", "0 0 0 ? * H#2", "0 0 0 HW * ?", "0 0 0 * * ? H", "5-H * * * * ?",
    ],
)  # fmt: skip
def test_malformed_tokens_are_refused(text: str) -> None:
    """What is none of H, H(a-b), H/n and H(a-b)/n inside the field's limits is refused."""
    with pytest.raises(CronSyntaxError):
        CronExpression(text, hash_key="key")
