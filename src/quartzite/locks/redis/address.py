"""RedisAddress: one Redis server, or the service that sentinels know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from quartzite.errors import InvalidValueError

__all__ = ["RedisAddress"]

_SERVERS: Final = {"redis", "rediss", "unix"}
_SENTINELS: Final = {"sentinel": False, "sentinels": True}
_REDIS_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
_QUERY: Final = {"db", "sentinel_username", "sentinel_password"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisAddress:
    """Where a Redis server is found.

    Attributes:
        url: The server's URL, empty when sentinels say where it is.
        sentinels: Host and port of each sentinel.
        service: The name under which the sentinels know the server.
        credentials: Keyword arguments for the connection to the server behind sentinels.
        sentinel_credentials: The same for the connections to the sentinels.
        shown: The address without its password.
    """

    url: str = field(default="", repr=False)
    sentinels: tuple[tuple[str, int], ...] = ()
    service: str = ""
    credentials: dict[str, Any] = field(default_factory=dict, repr=False)
    sentinel_credentials: dict[str, Any] = field(default_factory=dict, repr=False)
    shown: str

    @classmethod
    def parse(cls, configuration: str) -> Self:
        """Read a configuration; see :class:`~quartzite.locks.redis.RedisLockOptions`.

        Raises:
            InvalidValueError: it can not be read.
        """
        if not isinstance(configuration, str) or not configuration.strip():
            raise _refusal("it is blank" if isinstance(configuration, str) else f"{configuration!r} is no text")
        text = configuration.strip()
        url = text if "://" in text else f"redis://{text}"
        parts = urlsplit(url)
        if parts.scheme in _SENTINELS:
            return cls._of_sentinels(parts)
        if parts.scheme not in _SERVERS:
            raise _refusal(f"{parts.scheme!r} is not one of {', '.join(sorted(_SERVERS | set(_SENTINELS)))}")
        if parts.scheme != "unix":
            _endpoint(parts.netloc.rpartition("@")[2], _REDIS_PORT)
        return cls(url=url, shown=_without_password(parts))

    @classmethod
    def _of_sentinels(cls, parts: SplitResult) -> Self:
        secret, _, hosts = parts.netloc.rpartition("@")
        service = unquote(parts.path.strip("/"))
        if not service or "/" in service:
            raise _refusal("after the sentinels stands the name of the service")
        query = dict(parse_qsl(parts.query))
        if unknown := sorted(query.keys() - _QUERY):
            raise _refusal(f"{unknown[0]!r} is not one of {', '.join(sorted(_QUERY))}")
        database = query.get("db", "0")
        if not database.isdecimal():
            raise _refusal(f"db={database} is not the number of a database")
        tls: dict[str, Any] = {"ssl": True} if _SENTINELS[parts.scheme] else {}
        name, _, password = secret.partition(":")
        own = {"username": unquote(name), "password": unquote(password), "db": int(database)}
        theirs = {key: query.get(f"sentinel_{key}", "") for key in ("username", "password")}
        return cls(
            sentinels=tuple(_endpoint(host, _SENTINEL_PORT) for host in hosts.split(",")),
            service=service,
            credentials=tls | {key: value for key, value in own.items() if value},
            sentinel_credentials=tls | {key: value for key, value in theirs.items() if value},
            shown=_without_password(parts),
        )


def _endpoint(text: str, default_port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or port == 0:
        raise _refusal(f"{text!r} is not host:port")
    return host, port or default_port


def _without_password(parts: SplitResult) -> str:
    secret, at, host = parts.netloc.rpartition("@")
    name, colon, _ = secret.partition(":")
    shown = f"{name}:***" if colon else name
    return parts._replace(netloc=f"{shown}{at}{host}", query="").geturl()


def _refusal(reason: str) -> InvalidValueError:
    return InvalidValueError(
        f"redis_configuration can not be read: {reason}; write host:port, redis://:password@host:6379/0, "
        "rediss://host:6379 or sentinel://host:26379,other:26379/service"
    )
