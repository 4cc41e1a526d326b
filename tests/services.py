"""The servers that some tests need: where they are, whether they answer, and a place of its own for each test.

A test names what it needs with a marker (``postgresql``, ``mariadb``, ``redis``) or simply by asking for one of the
fixtures of ``tests/conftest.py`` that hand out an address. Tests whose server does not answer are deselected, unless
``QUARTZITE_REQUIRE_SERVICES=1`` says that a missing server is a failure.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

PROBE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A kind of server that tests may need.

    Attributes:
        name: The marker, and the beginning of the names of its fixtures.
        title: The name for people.
        variable: The environment variable that holds its URL.
        default_url: Where it is looked for when the variable is not set.
        probe: Connects, asks something small and leaves; raises when that fails.
    """

    name: str
    title: str
    variable: str
    default_url: str
    probe: Callable[[str], Awaitable[object]]

    @property
    def url(self) -> str:
        """Return the URL under which the server is looked for."""
        return os.environ.get(self.variable) or self.default_url

    def problem(self) -> str | None:
        """Say why the server can not be used, or return None when it answers. Asked once per run and URL."""
        return _problem(self, self.url)


@cache
def _problem(service: Service, url: str) -> str | None:
    try:
        asyncio.run(asyncio.wait_for(_ask(service, url), PROBE_SECONDS))
    except Exception as error:  # whatever a driver raises, the reason goes to the reader
        return (
            f"{service.title} does not answer at {without_password(url)} ({type(error).__name__}: {error}); "
            f"start it or set {service.variable}"
        )
    return None


async def _ask(service: Service, url: str) -> None:
    await service.probe(url)


def without_password(url: str) -> str:
    """Return the URL with its password, if any, replaced by three asterisks."""
    password = urlsplit(url).password
    return url if not password else url.replace(f":{password}@", ":***@", 1)


async def _ask_postgresql(url: str) -> None:
    async with postgresql_connection(url) as connection:
        await connection.fetchval("SELECT 1")


async def _ask_mariadb(url: str) -> None:
    async with mariadb_connection(url) as connection, connection.cursor() as cursor:
        await cursor.execute("SELECT 1")


async def _ask_redis(url: str) -> None:
    async with redis_client(url) as client:
        await client.ping()


POSTGRESQL = Service(
    name="postgresql",
    title="PostgreSQL",
    variable="QUARTZITE_TEST_POSTGRESQL_URL",
    default_url="postgresql://postgres@127.0.0.1:5432/test",
    probe=_ask_postgresql,
)
MARIADB = Service(
    name="mariadb",
    title="MariaDB",
    variable="QUARTZITE_TEST_MARIADB_URL",
    default_url="mariadb://root@127.0.0.1:3306/test",
    probe=_ask_mariadb,
)
REDIS = Service(
    name="redis",
    title="Redis",
    variable="QUARTZITE_TEST_REDIS_URL",
    default_url="redis://127.0.0.1:6379/0",
    probe=_ask_redis,
)
SERVICES = (POSTGRESQL, MARIADB, REDIS)


# The drivers are imported where they are used: a machine without the extras still runs every other test.
@asynccontextmanager
async def postgresql_connection(url: str) -> AsyncIterator[Any]:
    """Open a bare asyncpg connection. A driver named in the URL (``postgresql+asyncpg://``) is left out."""
    import asyncpg

    scheme, _, rest = url.partition("://")
    connection = await asyncpg.connect(f"{scheme.partition('+')[0]}://{rest}", timeout=PROBE_SECONDS)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def mariadb_connection(url: str) -> AsyncIterator[Any]:
    """Open a bare asyncmy connection that commits each statement."""
    import asyncmy

    parts = urlsplit(url)
    connection = await asyncmy.connect(
        host=parts.hostname or "127.0.0.1",
        port=parts.port or 3306,
        user=unquote(parts.username or "root"),
        password=unquote(parts.password or ""),
        db=parts.path.lstrip("/") or None,
        autocommit=True,
        connect_timeout=int(PROBE_SECONDS),
    )
    try:
        yield connection
    finally:
        await connection.ensure_closed()


@asynccontextmanager
async def redis_client(url: str) -> AsyncIterator[Any]:
    """Open a Redis client of the asyncio kind."""
    from redis.asyncio import Redis

    client: Any = Redis.from_url(url, socket_connect_timeout=PROBE_SECONDS)
    try:
        yield client
    finally:
        await client.aclose()


@asynccontextmanager
async def new_postgresql_schema(url: str, name: str) -> AsyncIterator[str]:
    """Create a schema, yield its name and drop it with all that is in it."""
    async with postgresql_connection(url) as connection:
        await connection.execute(f'CREATE SCHEMA "{name}"')
        try:
            yield name
        finally:
            await connection.execute(f'DROP SCHEMA "{name}" CASCADE')


@asynccontextmanager
async def new_mariadb_database(url: str, name: str) -> AsyncIterator[str]:
    """Create a database (MariaDB's word for a schema), yield a URL that leads into it, and drop it."""
    async with mariadb_connection(url) as connection, connection.cursor() as cursor:
        await cursor.execute(f"CREATE DATABASE `{name}`")
        try:
            yield urlsplit(url)._replace(path=f"/{name}").geturl()
        finally:
            await cursor.execute(f"DROP DATABASE `{name}`")


@asynccontextmanager
async def new_redis_prefix(url: str, name: str) -> AsyncIterator[str]:
    """Yield a key prefix that nobody else uses, and delete the keys that begin with it."""
    prefix = f"{name}:"
    try:
        yield prefix
    finally:
        async with redis_client(url) as client:
            keys = [key async for key in client.scan_iter(match=f"{prefix}*")]
            if keys:
                await client.delete(*keys)
