"""RedisLockOptions: where the Redis server is, and how long its locks live (spec 09 section 7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from quartzite.errors import InvalidValueError
from quartzite.locks.redis.address import RedisAddress

__all__ = ["RedisLockOptions"]

_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisLockOptions:
    """Options of :class:`~quartzite.locks.redis.RedisSemaphore`.

    Attributes:
        redis_configuration: Where the server is: ``host:port``; a URL, ``redis://:password@host:6379/0``, with TLS
            ``rediss://``, on a socket ``unix://``; or ``sentinel://host:26379,other:26379/service``, with TLS
            ``sentinels://``.
        key_prefix: What the keys of the locks begin with.
        lock_time_to_live: After which time a lock ends whose holder died; whole milliseconds, more than 0. It is
            renewed at a third of it while it is held.
        lock_retry_interval: How often a lock that is taken is asked for again in any case; whole milliseconds, more
            than 0. A lock that is given back wakes those who wait for it at once.

    Raises:
        InvalidValueError: a value can not be used.
    """

    redis_configuration: str = field(default="localhost:6379", repr=False)  # it may hold a password
    key_prefix: str = "quartz:lock:"
    lock_time_to_live: timedelta = timedelta(seconds=30)
    lock_retry_interval: timedelta = timedelta(milliseconds=100)

    def __post_init__(self) -> None:
        RedisAddress.parse(self.redis_configuration)
        if not isinstance(self.key_prefix, str):
            raise InvalidValueError(f"key_prefix {self.key_prefix!r} must be a text")
        _check_duration("lock_time_to_live", self.lock_time_to_live)
        _check_duration("lock_retry_interval", self.lock_retry_interval)

    @property
    def address(self) -> RedisAddress:
        """The configuration, read."""
        return RedisAddress.parse(self.redis_configuration)


def _check_duration(name: str, duration: object) -> None:
    if not isinstance(duration, timedelta):
        raise InvalidValueError(f"{name} is {duration!r}: give a timedelta")
    if duration <= timedelta(0) or duration % _MILLISECOND:
        raise InvalidValueError(f"{name} is {duration}: more than 0, whole milliseconds")
