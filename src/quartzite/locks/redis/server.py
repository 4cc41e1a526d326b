"""LockServer: the commands that take, renew and give back a lock on a Redis server."""

from __future__ import annotations

import asyncio
import importlib.util
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from quartzite.errors import LockError, SchedulerConfigError
from quartzite.locks.redis.address import RedisAddress
from quartzite.locks.redis.releases import Releases

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["LockServer"]

_MILLISECOND: Final = timedelta(milliseconds=1)

# Each of these can be sent twice when the first answer was lost: a token asks for, renews and frees what is its own.
_TAKE: Final = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return redis.call('GET', KEYS[1]) == ARGV[1] and 1 or 0
"""
# A lock is only touched by whoever wrote its token, so that nobody renews or deletes what became another one's.
_RENEW: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""
# The name of the key is also that of the channel on which those who wait are woken.
_RELEASE: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[1], '')
return 1
"""


class LockServer:
    """One Redis server. Each event loop that asks gets a client of its own, made at its first command.

    A command whose connection is lost is sent once more on a new one: after a restart of the server every connection
    that was kept is of no use, which only its next command finds out.

    Args:
        address: Where it is.
        timeout: How long it may take to connect, and to answer.
    """

    def __init__(self, address: RedisAddress, timeout: timedelta) -> None:
        self._address = address
        self._timeout = timeout.total_seconds()
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, _Connection] = WeakKeyDictionary()

    async def take(self, key: str, token: str, time_to_live: timedelta) -> bool:
        """Take a lock unless it is taken.

        Raises:
            LockError: the server did not answer; nobody knows whether the lock was taken.
        """
        return await self._ask(self._connection().take, key, token, time_to_live // _MILLISECOND)

    async def renew(self, key: str, token: str, time_to_live: timedelta) -> bool:
        """Let a lock live from now on as long as a new one; False when it is not, or no longer, the token's.

        Raises:
            LockError: the server did not answer.
        """
        return await self._ask(self._connection().renew, key, token, time_to_live // _MILLISECOND)

    async def release(self, key: str, token: str) -> bool:
        """Give a lock back and wake those who wait for it; False when it is not, or no longer, the token's.

        Raises:
            LockError: the server did not answer.
        """
        return await self._ask(self._connection().release, key, token)

    def releases(self, key: str) -> asyncio.Event:
        """Return the event that is set when a lock is given back; to be asked for again before each wait.

        It may be set without a release, and a release may go by unheard when the connection is lost.
        """
        return self._connection().releases.of(key)

    async def close(self) -> None:
        """Close the client of the running event loop; those of others end with their loops."""
        connection = self._connections.pop(asyncio.get_running_loop(), None)
        if connection is not None:
            await connection.releases.close()
            with suppress(*_errors()):
                await connection.client.aclose()

    def _connection(self) -> _Connection:
        loop = asyncio.get_running_loop()
        found = self._connections.get(loop)
        if found is None:
            client = _client(self._address, self._timeout)
            found = self._connections[loop] = _Connection(
                client=client,
                take=client.register_script(_TAKE),
                renew=client.register_script(_RENEW),
                release=client.register_script(_RELEASE),
                releases=Releases(client, _errors()),
            )
        return found

    async def _ask(self, script: Any, key: str, *arguments: object) -> bool:
        from redis.exceptions import ConnectionError as LostConnection

        try:
            with suppress(LostConnection):
                return bool(await script(keys=[key], args=arguments))
            return bool(await script(keys=[key], args=arguments))
        except _errors() as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise LockError(f"Redis at {self._address.shown} did not answer: {reason}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Connection:
    """A client, the scripts that it knows, and what it hears."""

    client: Redis
    take: Any
    renew: Any
    release: Any
    releases: Releases


def _errors() -> tuple[type[Exception], ...]:
    from redis.exceptions import RedisError

    return (RedisError, OSError, TimeoutError)


def _client(address: RedisAddress, timeout: float) -> Redis:
    """Return a client; it connects with its first command."""
    if importlib.util.find_spec("redis") is None:
        raise SchedulerConfigError("locks on Redis need the package redis: pip install 'quartzite[redis]'")
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.asyncio.sentinel import Sentinel
    from redis.backoff import NoBackoff

    limits: dict[str, Any] = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    once: dict[str, Any] = {**limits, "retry": Retry(NoBackoff(), 0)}
    if not address.sentinels:
        return Redis.from_url(address.url, **once)
    sentinels = Sentinel(  # type: ignore[no-untyped-call]
        list(address.sentinels), sentinel_kwargs={**once, **address.sentinel_credentials}
    )
    master: Redis = sentinels.master_for(address.service, **once, **address.credentials)
    return master
