"""RedisLockProvider: leases on a Redis server (extra ``redis``)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from quartzite.abc import Clock
from quartzite.errors import LockError, SchedulerConfigError
from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.provider import LockProvider, node_name

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["RECORD_LIFE", "RedisLockProvider"]

RECORD_LIFE: Final = timedelta(days=7)
"""How long the record of a lock outlives the lease, and with it the latest tick."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = datetime(1, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MILLISECOND: Final = timedelta(milliseconds=1)
_TIMEOUT: Final = 5.0
"""Seconds that a server may take to connect or to answer, where the application did not say."""
_NO_TICK: Final = "-" * 18

# The record of a lock is one text, so that a script reads and writes it at one go. Its fields have fixed places: token,
# lock_until, running_until and locked_at in microseconds since 1970 with 16 digits, which Lua counts exactly; the tick
# in microseconds since the year 1 with 18, which it does not; the claim; and the holder. All compare as text.
# A command whose answer was lost is sent again: the claim, a number of each call, makes that harmless.
_LOCK: Final = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local r = redis.call('GET', KEYS[1])
local kind, tick = string.sub(ARGV[3], 1, 1), string.sub(ARGV[3], 2)
local at = string.format('%.0f', now)
local token = at
if r then
  if string.sub(r, 83, 98) == ARGV[4] then return string.sub(r, 1, 16) .. string.sub(r, 49, 64) end
  local last = string.sub(r, 65, 82)
  if kind == 'p' then
    if string.sub(r, 17, 32) > at then return false end
    tick = last
  else
    if tick <= last then return false end
    if kind == 'x' and string.sub(r, 33, 48) > at then return false end
  end
  local former = string.sub(r, 1, 16)
  if former >= at then token = string.format('%.0f', former + 1) end
end
local til = string.format('%.0f', now + ARGV[2])
redis.call('SET', KEYS[1], token .. til .. til .. at .. tick .. ARGV[4] .. ARGV[1], 'PX', ARGV[5])
return token .. at
"""
# Who may have it next is said without asking the time: from the end of the at-least time on, which may have passed.
_RELEASE: Final = """
local r = redis.call('GET', KEYS[1])
if not r or string.sub(r, 1, 16) ~= ARGV[1] then return 0 end
redis.call('SETRANGE', KEYS[1], 16, ARGV[2] .. string.sub(r, 49, 64))
return 1
"""
_PROLONG: Final = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local at = string.format('%.0f', now)
local r = redis.call('GET', KEYS[1])
if not r or string.sub(r, 1, 16) ~= ARGV[1] or string.sub(r, 33, 48) <= at then return false end
local til = string.format('%.0f', now + ARGV[2])
redis.call('SETRANGE', KEYS[1], 16, til .. til)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return at
"""


class RedisLockProvider(LockProvider):
    """Leases on one Redis server (or one with Sentinel), by the server's time. No database is needed.

    Each lock is one key ``<key_prefix><name>``; taking, releasing and extending a lease is one command each. The
    record lives seven days longer than the lease. Services that share a server need prefixes of their own.

    Args:
        server: A URL, ``redis://cache:6379``; or a client of ``redis.asyncio``, which is the application's and is not
            closed; or a function that makes such a client, which is.
        clock: For the holder's own deadline.
        key_prefix: Put before the name.
        holder: What this node calls itself.
    """

    def __init__(
        self,
        server: Redis | str | Callable[[], Redis],
        *,
        clock: Clock,
        key_prefix: str = "quartz:lease:",
        holder: str | None = None,
    ) -> None:
        self._server = server
        self._clock = clock
        self._prefix = key_prefix
        self._holder = holder or node_name()
        self._owns_client = isinstance(server, str) or not hasattr(server, "connection_pool")
        self._client: Redis = _client_of(server)
        self._lock = _Script(self._client, _LOCK)
        self._release = _Script(self._client, _RELEASE)
        self._prolong = _Script(self._client, _PROLONG)

    def twin(self) -> RedisLockProvider:
        """Return a provider with a client of its own, with one connection."""
        return RedisLockProvider(
            partial(_twin_of, self._server), clock=self._clock, key_prefix=self._prefix, holder=self._holder
        )

    async def close(self) -> None:
        """Close the client unless it is the application's."""
        if self._owns_client:
            await self._client.aclose()

    async def lock(self, configuration: LockConfiguration) -> Lease | None:
        """Return the lease, or None when it is not granted.

        Raises:
            LockError: the server can not be reached.
        """
        asked_at = self._clock.monotonic()
        answer = await self._ask(
            self._lock,
            configuration.name,
            self._holder,
            configuration.lock_at_most_for // _MICROSECOND,
            _tick_text(configuration),
            secrets.token_hex(8),
            _life_of(configuration.lock_at_most_for),
        )
        if answer is None:
            return None
        return Lease(
            self,
            configuration,
            clock=self._clock,
            holder=self._holder,
            token=int(answer[:16]),
            locked_at=_instant(answer[16:]),
            asked_at=asked_at,
        )

    async def holder(self, name: str) -> LeaseInfo | None:
        """Return who holds, or last held, a lock.

        Raises:
            LockError: the server can not be reached.
        """
        answer = await self._ask(self._client.get, name)
        if answer is None:
            return None
        record = answer.decode() if isinstance(answer, bytes) else str(answer)
        tick = record[64:82]
        return LeaseInfo(
            holder=record[98:],
            locked_at=_instant(record[48:64]),
            locked_until=_instant(record[16:32]),
            tick=None if tick == _NO_TICK else _FIRST + int(tick) * _MICROSECOND,
            token=int(record[:16]),
        )

    async def release(self, lease: Lease) -> bool:
        """Give a lease back.

        Raises:
            LockError: the server can not be reached; the lease ends by itself.
        """
        until = (lease.at_least_until - _EPOCH) // _MICROSECOND
        return bool(await self._ask(self._release, lease.name, lease.token, until))

    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Let a lease last longer.

        Raises:
            LockError: the server can not be reached.
        """
        asked = replace(lease.configuration, lock_at_most_for=at_most_for, lock_at_least_for=at_least_for)
        asked_at = self._clock.monotonic()
        at_most = asked.lock_at_most_for
        now = await self._ask(self._prolong, lease.name, lease.token, at_most // _MICROSECOND, _life_of(at_most))
        if now is None:
            return False
        lease.prolonged(
            asked_at=asked_at,
            at_most_for=at_most_for,
            at_least_for=at_least_for,
            at_least_until=_instant(now) + at_least_for,
        )
        return True

    async def _ask(self, command: Callable[..., Awaitable[Any]], name: str, *arguments: object) -> Any:
        """Send a command; once more when its connection is lost, as all are by a restart of the server.

        Every command may come twice: a claim is known again, and what was released stays so.
        """
        key = self._prefix + name
        try:
            return await command(key, *arguments)
        except (_redis_error(), OSError) as error:
            if not isinstance(error, _connection_lost()):
                raise _unreachable(name, error) from error
        try:
            return await command(key, *arguments)
        except (_redis_error(), OSError) as error:
            raise _unreachable(name, error) from error


class _Script:
    """A script of one client: one command, and loaded again when the server has forgotten it.

    It is sent by the connections of the client's pool: the client's own way around them would cost half as much again.
    """

    __slots__ = ("_pool", "_sha", "_text")

    def __init__(self, client: Redis, text: str) -> None:
        self._pool: Any = client.connection_pool
        self._text = text
        self._sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()

    async def __call__(self, key: str, *arguments: object) -> Any:
        """Run it with one key."""
        try:
            return await self._send("EVALSHA", self._sha, 1, key, *arguments)
        except _redis_error() as error:
            if type(error).__name__ != "NoScriptError":
                raise
        return await self._send("EVAL", self._text, 1, key, *arguments)

    async def _send(self, *command: object) -> Any:
        connection = await self._pool.get_connection()
        try:
            await connection.send_command(*command)
            return await connection.read_response()
        finally:
            await self._pool.release(connection)


@cache
def _redis_error() -> type[Exception]:
    from redis.exceptions import RedisError

    return RedisError


@cache
def _connection_lost() -> type[Exception]:
    from redis.exceptions import ConnectionError as ConnectionLost

    return ConnectionLost


def _unreachable(name: str, error: Exception) -> LockError:
    return LockError(f"lock {name!r}: Redis did not answer: {type(error).__name__}: {error}")


def _tick_text(configuration: LockConfiguration) -> str:
    """Return the tick as the script reads it: plain, or a tick that may, or may not, run beside an earlier one."""
    if configuration.tick is None:
        return f"p{_NO_TICK}"
    return f"{'x' if configuration.exclusive else 't'}{(configuration.tick - _FIRST) // _MICROSECOND:018d}"


def _client_of(server: Redis | str | Callable[[], Redis]) -> Redis:
    from redis.asyncio import Redis

    if isinstance(server, Redis):
        return server
    if isinstance(server, str):
        return Redis.from_url(server, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT)
    client = server() if callable(server) else None
    if not isinstance(client, Redis):
        raise SchedulerConfigError(
            f"RedisLockProvider: {server!r} is neither a URL nor a client of redis.asyncio, nor a function that makes "
            "a client"
        )
    return client


def _twin_of(server: Redis | str | Callable[[], Redis]) -> Redis:
    """Return another client of the same server, with one connection that who needs it waits for."""
    from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis

    if isinstance(server, str):
        pool = BlockingConnectionPool.from_url(
            server, max_connections=1, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT
        )
        return Redis.from_pool(pool)
    if callable(server):
        return server()
    known: Any = server.connection_pool
    if not isinstance(known, ConnectionPool) or type(known).__module__.endswith("sentinel"):
        raise SchedulerConfigError(
            f"RedisLockProvider: how to make another client like {server!r} is not known: give a function that makes "
            "a client instead of a client"
        )
    options = {**known.connection_kwargs, "socket_timeout": known.connection_kwargs.get("socket_timeout") or _TIMEOUT}
    return Redis.from_pool(
        BlockingConnectionPool(connection_class=known.connection_class, max_connections=1, **options)
    )


def _life_of(at_most_for: timedelta) -> int:
    """Return how many milliseconds the record of a lease is kept."""
    return (at_most_for + RECORD_LIFE) // _MILLISECOND


def _instant(micros: bytes | str) -> datetime:
    return _EPOCH + timedelta(microseconds=int(micros))
