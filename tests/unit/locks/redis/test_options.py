"""Options of locks on Redis: what is understood, and what is refused at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from quartzite.errors import InvalidValueError
from quartzite.locks.redis import RedisLockOptions
from quartzite.locks.redis.address import RedisAddress


def test_the_defaults() -> None:
    """A server on this machine, locks that live half a minute and are asked for ten times a second."""
    options = RedisLockOptions()
    assert (options.redis_configuration, options.key_prefix) == ("localhost:6379", "quartz:lock:")
    assert (options.lock_time_to_live, options.lock_retry_interval) == (
        timedelta(seconds=30),
        timedelta(milliseconds=100),
    )


@pytest.mark.parametrize(
    ("configuration", "url"),
    [
        ("cache", "redis://cache"),
        ("cache:6380", "redis://cache:6380"),
        (" redis://:secret@cache:6380/2 ", "redis://:secret@cache:6380/2"),
        ("rediss://cache", "rediss://cache"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("[::1]:6379", "redis://[::1]:6379"),
    ],
)
def test_one_server(configuration: str, url: str) -> None:
    """Host and port, or a URL."""
    assert RedisAddress.parse(configuration).url == url


def test_sentinels() -> None:
    """Sentinels with their service; credentials are the server's, those of the sentinels are told apart."""
    address = RedisAddress.parse("sentinels://me:a%20b@one:26380,two/main?db=3&sentinel_password=other")
    assert address.sentinels == (("one", 26380), ("two", 26379))
    assert address.service == "main"
    assert address.credentials == {"ssl": True, "username": "me", "password": "a b", "db": 3}
    assert address.sentinel_credentials == {"ssl": True, "password": "other"}


@pytest.mark.parametrize(
    "configuration",
    ["", "  ", "http://cache", "cache:port", "cache:99999", "redis://", "sentinel://one:1", "sentinel:///main",
     "sentinel://one/main?database=3", "sentinel://one/main?db=x", None],
)  # fmt: skip
def test_what_can_not_be_read_is_refused(configuration: Any) -> None:
    """The message says how to write it."""
    with pytest.raises(InvalidValueError, match="write host:port"):
        RedisLockOptions(redis_configuration=configuration)


@pytest.mark.parametrize("name", ["lock_time_to_live", "lock_retry_interval"])
@pytest.mark.parametrize("value", [timedelta(0), timedelta(seconds=-1), timedelta(microseconds=1500), 30])
def test_durations_are_whole_milliseconds_above_0(name: str, value: Any) -> None:
    """Anything else is refused by name."""
    with pytest.raises(InvalidValueError, match=name):
        RedisLockOptions(**{name: value})


def test_a_password_is_not_shown() -> None:
    """Neither the options nor the address in messages repeat it."""
    for configuration in ("redis://me:secret@cache", "sentinel://me:secret@one/main?sentinel_password=secret"):
        options = RedisLockOptions(redis_configuration=configuration)
        assert "secret" not in repr(options) + repr(options.address) + options.address.shown
