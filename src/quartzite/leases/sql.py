"""SqlLockProvider: leases in one small table of a database."""

# ruff: noqa: S608 - the statements are made of the table's quoted name and of words that stand in this file

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy import (
    URL,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    MetaData,
    String,
    Table,
    TextClause,
    bindparam,
    select,
    text,
)
from sqlalchemy.dialects.mysql import DATETIME
from sqlalchemy.exc import IntegrityError, ProgrammingError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.schema import CreateTable
from sqlalchemy.types import TypeDecorator, TypeEngine

from quartzite.abc import Clock
from quartzite.errors import InvalidValueError, LockError, SchedulerConfigError
from quartzite.leases.configuration import MAX_LOCK_NAME_LENGTH, LockConfiguration
from quartzite.leases.lease import Lease, LeaseInfo
from quartzite.leases.provider import LockProvider, node_name
from quartzite.sql.engine import PoolSettings, create_engine
from quartzite.sql.errors import failure_of
from quartzite.sql.time import ClockTime, DatabaseTime, SqlTime
from quartzite.sql.types import OrdinalText, is_mysql

__all__ = ["SqlLockProvider", "lease_table"]

T = TypeVar("T")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_ROW_SEEN_SECONDS: Final = 60.0
"""How long a row is taken to be there that was there: somebody may delete it."""
_MOST_SEEN: Final = 10_000


class _Utc(TypeDecorator[datetime]):
    """An aware UTC instant in a column without a zone, exact to the microsecond."""

    impl = DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return DATETIME(fsp=6) if is_mysql(dialect) else DateTime()

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        return None if value is None else value.replace(tzinfo=UTC)


def lease_table(name: str = "shedlock", schema: str | None = None) -> Table:
    """Return the table of leases: ShedLock's four columns, and our own, which may be NULL."""
    return Table(
        name,
        MetaData(schema=schema),
        Column("name", OrdinalText(MAX_LOCK_NAME_LENGTH), primary_key=True),
        Column("lock_until", _Utc(), nullable=False),
        Column("locked_at", _Utc(), nullable=False),
        Column("locked_by", String(255), nullable=False),
        Column("running_until", _Utc()),
        Column("at_least_until", _Utc()),
        Column("tick", _Utc()),
        Column("token", BigInteger()),
    )


class SqlLockProvider(LockProvider):
    """Leases in one table, by the database's time: a lock, an unlock and an extension are one statement each.

    The table has the columns of ShedLock, so both can use it; our own columns say more. PostgreSQL, MariaDB and
    SQLite. In MariaDB the very first lock of a name takes two statements.

    Args:
        database: A URL; or the application's engine, which is not closed. With an engine some drivers send more than
            the one statement, to prepare its connection and to reset it.
        clock: For the holder's own deadline, and the provider's time when ``time`` says so.
        time: Whose time rules: the database's by default, and always the clock's with SQLite, whose database has no
            time of its own.
        table: Name of the table.
        schema: Its schema, None for the connection's default.
        holder: What this node calls itself; at most 255 characters.
        pool: The connections of the engine that is made of a URL.
    """

    def __init__(
        self,
        database: AsyncEngine | str | URL,
        *,
        clock: Clock,
        time: SqlTime | None = None,
        table: str = "shedlock",
        schema: str | None = None,
        holder: str | None = None,
        pool: PoolSettings | None = None,
    ) -> None:
        if not isinstance(database, AsyncEngine | str | URL):
            raise InvalidValueError(f"{database!r} is neither a URL nor an engine")
        self._owns_engine = not isinstance(database, AsyncEngine)
        engine = database if isinstance(database, AsyncEngine) else create_engine(database, autocommit=True, pool=pool)
        self._engine = engine
        self._clock = clock
        self._time = time or DatabaseTime()
        self._holder = holder or node_name()
        if len(self._holder) > 255:
            raise InvalidValueError(f"holder {self._holder[:20]!r}... has {len(self._holder)} characters: at most 255")
        self._table = lease_table(table, schema)
        sqlite = engine.dialect.name == "sqlite"
        self._uses_clock = sqlite or isinstance(self._time, ClockTime)
        self._statements = _statements(engine.dialect, self._table, by_clock=self._uses_clock)
        self._seen: dict[str, float] = {}

    def twin(self) -> SqlLockProvider:
        """Return a provider with an engine of its own, with one connection, made from the engine's URL."""
        url = self._engine.url
        if url.get_backend_name() == "sqlite" and url.database in {None, "", ":memory:"}:
            raise SchedulerConfigError(
                "a SQLite database in memory has one connection and can not be reached from another event loop: use a "
                "file, or InMemoryLockProvider"
            )
        return SqlLockProvider(
            url,
            clock=self._clock,
            time=self._time,
            table=self._table.name,
            schema=self._table.schema,
            holder=self._holder,
            pool=PoolSettings(size=1, overflow=0),
        )

    async def create_table(self) -> None:
        """Create the table when it is not there; nodes that start together may all do it.

        Raises:
            LockError: the database refuses.
        """
        try:
            # On PostgreSQL it fails when another node does the same at this moment; then the table is there now.
            with suppress(IntegrityError, ProgrammingError):
                await self._create_table()
                return
            await self._create_table()
        except (SQLAlchemyError, OSError) as error:
            raise LockError(f"table {self._table.name} can not be created: {failure_of(error).message}") from error

    async def _create_table(self) -> None:
        async with self._engine.begin() as connection:
            await connection.execute(CreateTable(self._table, if_not_exists=True))

    async def lock(self, configuration: LockConfiguration) -> Lease | None:
        """Return the lease, or None when it is not granted.

        Raises:
            LockError: the database can not be reached.
        """
        asked_at = self._clock.monotonic()
        found = await self._take(configuration)
        if found is None:
            return None
        token, locked_at = found
        return Lease(
            self,
            configuration,
            clock=self._clock,
            holder=self._holder,
            token=token,
            locked_at=locked_at,
            asked_at=asked_at,
        )

    async def holder(self, name: str) -> LeaseInfo | None:
        """Return who holds, or last held, a lock.

        Raises:
            LockError: the database can not be reached.
        """
        columns = self._table.c
        statement = select(columns.locked_by, columns.locked_at, columns.lock_until, columns.tick, columns.token).where(
            columns.name == name
        )

        async def read(connection: AsyncConnection) -> Any:
            return (await connection.execute(statement)).one_or_none()

        row = await self._ask(name, read)
        if row is None:
            return None
        return LeaseInfo(
            holder=row.locked_by,
            locked_at=row.locked_at,
            locked_until=row.lock_until,
            tick=row.tick,
            token=row.token or 0,
        )

    async def release(self, lease: Lease) -> bool:
        """Give a lease back.

        Raises:
            LockError: the database can not be reached; the lease ends by itself.
        """
        return await self._change(self._statements.release, lease, {"now": self._clock.now()})

    async def prolong(self, lease: Lease, at_most_for: timedelta, at_least_for: timedelta) -> bool:
        """Let a lease last longer.

        Raises:
            LockError: the database can not be reached.
        """
        asked = replace(lease.configuration, lock_at_most_for=at_most_for, lock_at_least_for=at_least_for)
        asked_at = self._clock.monotonic()
        extended = await self._change(self._statements.prolong, lease, self._times(asked))
        if extended:
            # The record itself holds the exact end of the at-least time; this one is for whoever looks at the lease.
            since = timedelta(seconds=max(0.0, asked_at - lease.asked_at))
            lease.prolonged(
                asked_at=asked_at,
                at_most_for=at_most_for,
                at_least_for=at_least_for,
                at_least_until=lease.locked_at + since + at_least_for,
            )
        return extended

    async def close(self) -> None:
        """Close the engine that the provider made of a URL."""
        if self._owns_engine:
            await self._engine.dispose()

    @asynccontextmanager
    async def _autocommit(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection on which each statement stands alone: no transaction to begin and to commit around it."""
        async with self._engine.connect() as connection:
            if not self._owns_engine:
                await connection.execution_options(isolation_level="AUTOCOMMIT")
            yield connection

    async def _take(self, asked: LockConfiguration) -> tuple[int, datetime] | None:
        found = {
            "name": asked.name,
            "holder": self._holder,
            "tick": asked.tick,
            "plain": int(asked.tick is None),
            "exclusive": int(asked.exclusive),
            **self._times(asked),
        }

        async def take(connection: AsyncConnection) -> tuple[int, datetime] | None:
            if not self._statements.takes_in_one:
                return await self._update_or_insert(connection, found)
            row = (await connection.execute(self._statements.take, found)).one_or_none()
            return None if row is None else _from_token(row.token)

        return await self._ask(asked.name, take)

    async def _ask(self, name: str, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Do one statement on a connection; once more on a new one when that turns out to be dead.

        After a restart of the server every connection that was kept is, which only its next statement finds out. When
        a lock was granted and the answer lost, the second try is refused: it is nobody's until its time is over.
        """
        try:
            try:
                async with self._autocommit() as connection:
                    return await work(connection)
            except SQLAlchemyError as error:
                if not failure_of(error).disconnected:
                    raise
            async with self._autocommit() as connection:
                return await work(connection)
        except (SQLAlchemyError, OSError) as error:
            raise self._failed(name, error) from error

    async def _update_or_insert(
        self, connection: AsyncConnection, found: Mapping[str, Any]
    ) -> tuple[int, datetime] | None:
        """Take a lease where an INSERT can not say whether it updated: the row is there but for the first time."""
        updated = await connection.execute(self._statements.take, found)
        if updated.rowcount == 1:
            return _from_token(updated.lastrowid)
        if self._saw_lately(found["name"]):
            return None
        inserted = await connection.execute(self._statements.insert, found)
        return _from_token(inserted.lastrowid) if inserted.rowcount == 1 else None

    def _saw_lately(self, name: str) -> bool:
        """Tell whether the row of a name was there a moment ago; otherwise note that it is there now."""
        now = self._clock.monotonic()
        if (seen := self._seen.get(name)) is not None and now - seen < _ROW_SEEN_SECONDS:
            return True
        if len(self._seen) >= _MOST_SEEN:
            self._seen.clear()
        self._seen[name] = now
        return False

    async def _change(self, statement: TextClause, lease: Lease, more: Mapping[str, Any]) -> bool:
        own = {"name": lease.name, "holder": lease.holder, "token": lease.token}

        async def change(connection: AsyncConnection) -> bool:
            changed = await connection.execute(statement, {**own, **more})
            return bool(changed.rowcount == 1)

        return await self._ask(lease.name, change)

    def _times(self, asked: LockConfiguration) -> dict[str, Any]:
        if not self._uses_clock:
            return {
                "at_most": asked.lock_at_most_for // _MICROSECOND,
                "at_least": asked.lock_at_least_for // _MICROSECOND,
            }
        now = self._clock.now()
        return {
            "now": now,
            "until": now + asked.lock_at_most_for,
            "least": now + asked.lock_at_least_for,
            "micros": (now - _EPOCH) // _MICROSECOND,
        }

    def _failed(self, name: str, error: Exception) -> LockError:
        return LockError(f"lock {name!r}: the database did not answer: {failure_of(error).message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statements:
    """The statements of one database; ``take`` returns token and time when ``takes_in_one``."""

    take: TextClause
    insert: TextClause
    release: TextClause
    prolong: TextClause
    takes_in_one: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """How a database says time.

    Attributes:
        now: The instant.
        until: The end of the at-most time, from now.
        least: The end of the at-least time, from now.
        micros: Microseconds since 1970, for tokens.
        greatest: The function that returns the later of two.
        tick: The tick that is asked for.
    """

    now: str
    until: str
    least: str
    micros: str
    greatest: str = "GREATEST"
    tick: str = ":tick"


_POSTGRESQL: Final = _Words(
    now="timezone('utc', statement_timestamp())",
    until="timezone('utc', statement_timestamp()) + CAST(:at_most AS BIGINT) * INTERVAL '1 microsecond'",
    least="timezone('utc', statement_timestamp()) + CAST(:at_least AS BIGINT) * INTERVAL '1 microsecond'",
    micros="CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000000 AS BIGINT)",
    tick="CAST(:tick AS TIMESTAMP)",
)
_MARIADB: Final = _Words(
    now="UTC_TIMESTAMP(6)",
    until="UTC_TIMESTAMP(6) + INTERVAL :at_most MICROSECOND",
    least="UTC_TIMESTAMP(6) + INTERVAL :at_least MICROSECOND",
    micros="TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))",
)


def _words(dialect: Dialect, *, by_clock: bool) -> _Words:
    greatest = "MAX" if dialect.name == "sqlite" else "GREATEST"
    if by_clock and dialect.name == "postgresql":
        stamps = {name: f"CAST(:{name} AS TIMESTAMP)" for name in ("now", "until", "least", "tick")}
        return _Words(**stamps, micros="CAST(:micros AS BIGINT)")
    if by_clock:
        return _Words(now=":now", until=":until", least=":least", micros=":micros", greatest=greatest)
    if dialect.name == "postgresql":
        return _POSTGRESQL
    if is_mysql(dialect):
        return _MARIADB
    raise SchedulerConfigError(
        f"SqlLockProvider does not know how {dialect.name} says its time: give time=ClockTime(), "
        "or use PostgreSQL, MariaDB, SQLite or Redis"
    )


def _statements(dialect: Dialect, table: Table, *, by_clock: bool) -> _Statements:
    name = dialect.identifier_preparer.format_table(table)
    w = _words(dialect, by_clock=by_clock)
    own = "name = :name AND token = :token AND locked_by = :holder"
    values = f"{w.until}, {w.now}, :holder, {w.until}, {w.least}, {w.tick}"
    insert = (
        f"INSERT INTO {name} (name, lock_until, locked_at, locked_by, running_until, at_least_until, tick, token) "
        f"VALUES (:name, {values}, "
    )
    return _Statements(
        take=_text(_take_by_update(name, w) if is_mysql(dialect) else _take_by_upsert(name, insert, w)),
        insert=_text(f"{insert.replace('INSERT', 'INSERT IGNORE', 1)}LAST_INSERT_ID({w.micros}))"),
        release=_text(
            f"UPDATE {name} SET lock_until = {w.greatest}({w.now}, at_least_until), running_until = {w.now} WHERE {own}"
        ),
        prolong=_text(
            f"UPDATE {name} SET lock_until = {w.until}, running_until = {w.until}, at_least_until = {w.least} "
            f"WHERE {own} AND running_until > {w.now}"
        ),
        takes_in_one=not is_mysql(dialect),
    )


def _granted(row: str, w: _Words) -> str:
    """Say what :func:`quartzite.leases.record.grants` says, of a row that is there."""
    running = f"COALESCE({row}running_until, {row}lock_until)"
    plain = f"{row}lock_until <= {w.now}"
    ticks = f"({row}tick IS NULL OR {row}tick < {w.tick}) AND (:exclusive = 0 OR {running} <= {w.now})"
    return f"((:plain = 1 AND {plain}) OR (:plain = 0 AND {ticks}))"


def _take_by_upsert(name: str, insert: str, w: _Words) -> str:
    return (
        f"{insert.replace(name, f'{name} AS held', 1)}{w.micros}) ON CONFLICT (name) DO UPDATE SET "
        "lock_until = excluded.lock_until, locked_at = excluded.locked_at, locked_by = excluded.locked_by, "
        "running_until = excluded.running_until, at_least_until = excluded.at_least_until, "
        "tick = COALESCE(excluded.tick, held.tick), "
        f"token = {w.greatest}(excluded.token, COALESCE(held.token, 0) + 1) "
        f"WHERE {_granted('held.', w)} RETURNING token"
    )


def _take_by_update(name: str, w: _Words) -> str:
    # Assigned from left to right: what the condition of the row looks at has been looked at by then. The token comes
    # back with the answer, in the place of a generated key.
    return (
        f"UPDATE {name} SET token = LAST_INSERT_ID(GREATEST({w.micros}, COALESCE(token, 0) + 1)), "
        f"locked_at = {w.now}, locked_by = :holder, lock_until = {w.until}, running_until = {w.until}, "
        f"at_least_until = {w.least}, tick = COALESCE({w.tick}, tick) WHERE name = :name AND {_granted('', w)}"
    )


def _text(sql: str) -> TextClause:
    statement = text(sql)
    used = {name for name in ("now", "until", "least", "tick") if f":{name}" in sql}
    return statement.bindparams(*(bindparam(name, type_=_Utc()) for name in used))


def _from_token(token: int) -> tuple[int, datetime]:
    """Return a token with the time that it stands for; where the last one was ahead, that is microseconds off."""
    return token, _EPOCH + timedelta(microseconds=token)
