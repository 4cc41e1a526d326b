"""RedisLockProvider: leases on a Redis server (extra ``redis``)."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from quartzite.abc import Clock
from quartzite.errors import LockError, SchedulerConfigError
from quartzite.leases.configuration import LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.provider import LockProvider, node_name

if TYPE_CHECKING:
    from redis.asyncio import Redis

__all__ = ["RECORD_LIFE", "RedisLockProvider"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
RECORD_LIFE: Final = timedelta(days=7)
"""How long the record of a lock outlives the lease, and with it the latest tick."""
_RECORD_MILLIS: Final = RECORD_LIFE // timedelta(milliseconds=1)
_TIMEOUT: Final = 5.0
"""Seconds that a server may take to connect or to answer, where the application did not say."""

# A command whose answer was lost is sent again by the client: the claim, a number of each call, makes that harmless.
# Numbers travel as text: microseconds since 1970 have 16 digits, within the 53 bits that Lua counts exactly.
_NOW: Final = """
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
"""
_TEXT: Final = "local function text(n) return string.format('%.0f', n) end\n"
_LOCK: Final = (
    _NOW
    + _TEXT
    + """
local r = redis.call('HMGET', KEYS[1], 'token', 'lock_until', 'running_until', 'tick', 'claim', 'locked_at')
local tick = tonumber(ARGV[3])
if r[5] == ARGV[6] then return {r[1], r[6]} end
if r[1] then
  if not tick then
    if tonumber(r[2]) > now then return false end
  else
    if r[4] and tick <= tonumber(r[4]) then return false end
    if ARGV[4] == '1' and tonumber(r[3]) > now then return false end
  end
end
local token = math.max(now, (tonumber(r[1]) or 0) + 1)
local til = text(now + ARGV[2])
redis.call('HSET', KEYS[1], 'token', text(token), 'locked_by', ARGV[1], 'locked_at', text(now),
  'lock_until', til, 'running_until', til, 'claim', ARGV[6])
if tick then redis.call('HSET', KEYS[1], 'tick', ARGV[3]) end
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[2] / 1000) + ARGV[5])
return {text(token), text(now)}
"""
)
_RELEASE: Final = (
    _NOW
    + _TEXT
    + """
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'running_until', text(now), 'lock_until', text(math.max(now, tonumber(ARGV[2]))))
return 1
"""
)
_PROLONG: Final = (
    _NOW
    + _TEXT
    + """
local r = redis.call('HMGET', KEYS[1], 'token', 'running_until')
if r[1] ~= ARGV[1] or tonumber(r[2]) <= now then return false end
local til = text(now + ARGV[2])
redis.call('HSET', KEYS[1], 'lock_until', til, 'running_until', til)
redis.call('PEXPIRE', KEYS[1], math.ceil(ARGV[2] / 1000) + ARGV[3])
return text(now)
"""
)


class RedisLockProvider(LockProvider):
    """Leases on one Redis server (or one with Sentinel), by the server's time. No database is needed.

    Each lock is one hash ``<key_prefix><name>``; taking, releasing and extending a lease is one command each. The
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
        self._scripts = _Scripts(self._client)

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
        answer = await self._run(
            self._scripts.lock,
            configuration.name,
            self._holder,
            _micros(configuration.lock_at_most_for),
            "" if configuration.tick is None else _micros(configuration.tick - _EPOCH),
            "1" if configuration.exclusive else "0",
            _RECORD_MILLIS,
            secrets.token_hex(8),
        )
        if answer is None:
            return None
        token, now = answer
        return Lease(
            self, configuration, holder=self._holder, token=int(token), locked_at=_instant(now), asked_at=asked_at
        )

    async def holder(self, name: str) -> LeaseInfo | None:
        """Return who holds, or last held, a lock.

        Raises:
            LockError: the server can not be reached.
        """
        names = ("locked_by", "locked_at", "lock_until", "tick", "token")
        by, at, until, tick, token = await self._ask(name, lambda: self._client.hmget(self._prefix + name, *names))
        if token is None:
            return None
        return LeaseInfo(
            holder=by.decode() if isinstance(by, bytes) else by,
            locked_at=_instant(at),
            locked_until=_instant(until),
            tick=None if tick is None else _instant(tick),
            token=int(token),
        )

    async def release(self, lease: Lease) -> bool:
        """Give a lease back.

        Raises:
            LockError: the server can not be reached; the lease ends by itself.
        """
        until = _micros(lease.at_least_until - _EPOCH)
        return bool(await self._run(self._scripts.release, lease.name, lease.token, until))

    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Let a lease last longer.

        Raises:
            LockError: the server can not be reached.
        """
        asked = replace(lease.configuration, lock_at_most_for=at_most_for, lock_at_least_for=at_least_for)
        asked_at = self._clock.monotonic()
        at_most = _micros(asked.lock_at_most_for)
        now = await self._run(self._scripts.prolong, lease.name, lease.token, at_most, _RECORD_MILLIS)
        if now is None:
            return False
        lease.prolonged(
            asked_at=asked_at,
            at_most_for=at_most_for,
            at_least_for=at_least_for,
            at_least_until=_instant(now) + at_least_for,
        )
        return True

    async def _run(self, script: Any, name: str, *arguments: object) -> Any:
        return await self._ask(name, lambda: script(keys=[self._prefix + name], args=arguments))

    async def _ask(self, name: str, command: Callable[[], Awaitable[Any]]) -> Any:
        """Send a command; once more when its connection is lost, as all are by a restart of the server.

        Every command may come twice: a claim is known again, and what was released stays so.
        """
        from redis.exceptions import ConnectionError as ConnectionLost
        from redis.exceptions import RedisError

        try:
            try:
                return await command()
            except ConnectionLost:
                return await command()
        except (RedisError, OSError) as error:
            raise LockError(f"lock {name!r}: Redis did not answer: {type(error).__name__}: {error}") from error


class _Scripts:
    """The scripts of one client: each is one command, and loaded again when the server has forgotten it."""

    def __init__(self, client: Redis) -> None:
        self.lock = client.register_script(_LOCK)
        self.release = client.register_script(_RELEASE)
        self.prolong = client.register_script(_PROLONG)


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


def _micros(duration: timedelta) -> int:
    return duration // _MICROSECOND


def _instant(micros: bytes | str | int) -> datetime:
    return _EPOCH + timedelta(microseconds=int(micros))
