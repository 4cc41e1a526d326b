"""Tables: the one description of Quartz's tables and of our own, for every database (spec 07 section 2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Final, cast

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Dialect,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Numeric,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    false,
    literal_column,
)
from sqlalchemy.sql import quoted_name
from sqlalchemy.sql.ddl import DDLIfCallable

from quartzite.errors import InvalidValueError
from quartzite.model.states import FiredState, StoredTriggerState
from quartzite.sql.types import Flag, Milliseconds, OrdinalText, Payload, StateName, UtcTicks, is_mysql

__all__ = ["DEFAULT_PREFIX", "Tables", "indexes", "tables"]

DEFAULT_PREFIX: Final = "QRTZ_"
_IGNORE_MISFIRES: Final = "-1"
_PREFIX: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,29}")

# PostgreSQL (decision 12). Room in each page keeps the new versions of a row in the page of the old one, where they
# need no index entry and are cleaned up by whoever reads next; vacuum comes early and does not pause.
_BUSY: Final = {
    "fillfactor": 70,
    "autovacuum_vacuum_scale_factor": 0.01,
    "autovacuum_vacuum_threshold": 1000,
    "autovacuum_vacuum_cost_delay": 0,
}
# Each row is inserted, updated once and deleted, so half of each page is left for the second version.
_CHURNING: Final = {**_BUSY, "fillfactor": 50, "autovacuum_vacuum_scale_factor": 0}
# A handful of rows that are updated all the time.
_TINY: Final = {**_CHURNING, "fillfactor": 20, "autovacuum_vacuum_threshold": 200}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one prefix and schema. Columns are reached in lower case: ``t.triggers.c.next_fire_time``.

    Attributes:
        prefix: What every name begins with.
        schema: Where they are, None for the connection's default.
        metadata: All of them, in SQLAlchemy's terms.
        job_details: One row per job.
        triggers: One row per trigger of any kind.
        simple_triggers: What simple triggers add.
        cron_triggers: What cron triggers add.
        simprop_triggers: What calendar interval, daily time interval and recurrence triggers add.
        blob_triggers: Triggers of other kinds, serialized.
        calendars: One row per calendar.
        paused_trigger_grps: The groups that are paused.
        fired_triggers: One row per firing that is reserved or running: the claim (decision 5).
        scheduler_state: One row per node.
        locks: One row per lock of the database lock handlers.
        quartzite_schema: The version of the tables.
        quartzite_policies: What jobs say about failures and overlaps, for those that say something.
        quartzite_interrupts: Firings that another node was asked to interrupt.
    """

    prefix: str
    schema: str | None
    metadata: MetaData
    job_details: Table
    triggers: Table
    simple_triggers: Table
    cron_triggers: Table
    simprop_triggers: Table
    blob_triggers: Table
    calendars: Table
    paused_trigger_grps: Table
    fired_triggers: Table
    scheduler_state: Table
    locks: Table
    quartzite_schema: Table
    quartzite_policies: Table
    quartzite_interrupts: Table

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table, those that others refer to first."""
        return tuple(cast("Table", getattr(self, f.name)) for f in fields(self) if f.name not in _NO_TABLES)

    @property
    def ignores_misfires(self) -> ColumnElement[bool]:
        """Whether a trigger ignores misfires, spelled so that the partial index of such triggers is used."""
        return self.triggers.c.misfire_instr == literal_column(_IGNORE_MISFIRES)


_NO_TABLES: Final = frozenset({"prefix", "schema", "metadata"})


def tables(prefix: str = DEFAULT_PREFIX, schema: str | None = None) -> Tables:
    """Return the tables of a prefix and a schema.

    Raises:
        InvalidValueError: the prefix can not begin an identifier, or has more than 30 characters.
    """
    if not isinstance(prefix, str) or (prefix and not _PREFIX.fullmatch(prefix)):
        raise InvalidValueError(
            f"table prefix {prefix!r} must be a letter or underscore and then letters, digits and underscores, "
            "30 characters at most"
        )
    return _Builder(prefix, schema).tables()


def indexes(table: Table, dialect: Dialect) -> Iterator[Index]:
    """Yield the indexes that a table gets in a database, in the order of their names.

    ``index.info["serves"]`` says which statements need it.
    """
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        only_if = index.info["only_if"]
        if only_if is None or only_if(dialect):
            yield index


class _Builder:
    """Makes the tables of one metadata."""

    def __init__(self, prefix: str, schema: str | None) -> None:
        self._prefix = prefix
        self._schema = schema
        self._metadata = MetaData(schema=schema)

    def tables(self) -> Tables:
        return Tables(
            prefix=self._prefix,
            schema=self._schema,
            metadata=self._metadata,
            job_details=self._job_details(),
            triggers=self._triggers(),
            simple_triggers=self._simple_triggers(),
            cron_triggers=self._cron_triggers(),
            simprop_triggers=self._extension("SIMPROP_TRIGGERS", *_simple_properties()),
            blob_triggers=self._extension("BLOB_TRIGGERS", _column("BLOB_DATA", Payload)),
            calendars=self._calendars(),
            paused_trigger_grps=self._table("PAUSED_TRIGGER_GRPS", _key("TRIGGER_GROUP"), key=("TRIGGER_GROUP",)),
            fired_triggers=self._fired_triggers(),
            scheduler_state=self._scheduler_state(),
            locks=self._locks(),
            quartzite_schema=self._versions(),
            quartzite_policies=self._policies(),
            quartzite_interrupts=self._interrupts(),
        )

    def _simple_triggers(self) -> Table:
        return self._extension(
            "SIMPLE_TRIGGERS",
            _column("REPEAT_COUNT", BigInteger, nullable=False),
            _column("REPEAT_INTERVAL", Milliseconds, nullable=False),
            _column("TIMES_TRIGGERED", BigInteger, nullable=False),
        )

    def _cron_triggers(self) -> Table:
        return self._extension(
            "CRON_TRIGGERS",
            _column("CRON_EXPRESSION", OrdinalText(120, sqlite_length=250), nullable=False),
            _column("TIME_ZONE_ID", OrdinalText(80)),
        )

    def _calendars(self) -> Table:
        return self._table(
            "CALENDARS",
            _column("CALENDAR_NAME", OrdinalText(200), nullable=False),
            _column("CALENDAR", Payload, nullable=False),
            key=("CALENDAR_NAME",),
        )

    def _scheduler_state(self) -> Table:
        return self._table(
            "SCHEDULER_STATE",
            _column("INSTANCE_NAME", OrdinalText(200), nullable=False),
            _column("LAST_CHECKIN_TIME", UtcTicks, nullable=False),
            _column("CHECKIN_INTERVAL", Milliseconds, nullable=False),
            key=("INSTANCE_NAME",),
            storage=_TINY,
        )

    def _locks(self) -> Table:
        name = _column("LOCK_NAME", OrdinalText(40), nullable=False)
        return self._table("LOCKS", name, key=("LOCK_NAME",), storage=_TINY)

    def _versions(self) -> Table:
        return Table(
            self._name("QUARTZITE_SCHEMA"),
            self._metadata,
            _column("VERSION", Integer, nullable=False, autoincrement=False),
            _column("APPLIED_TIME", UtcTicks, nullable=False),
            PrimaryKeyConstraint("version"),
        )

    def _interrupts(self) -> Table:
        return self._table(
            "QUARTZITE_INTERRUPTS",
            _column("ENTRY_ID", OrdinalText(140), nullable=False),
            _column("INSTANCE_NAME", OrdinalText(200), nullable=False),
            _column("REQUESTED_TIME", UtcTicks, nullable=False),
            key=("ENTRY_ID",),
        )

    def _job_details(self) -> Table:
        return self._table(
            "JOB_DETAILS",
            _key("JOB_NAME"),
            _key("JOB_GROUP"),
            _column("DESCRIPTION", OrdinalText(250)),
            _column("JOB_CLASS_NAME", OrdinalText(250), nullable=False),
            _column("IS_DURABLE", Flag, nullable=False),
            _column("IS_NONCONCURRENT", Flag, nullable=False),
            _column("IS_UPDATE_DATA", Flag, nullable=False),
            _column("REQUESTS_RECOVERY", Flag, nullable=False),
            _column("JOB_DATA", Payload),
            key=("JOB_GROUP", "JOB_NAME"),
        )

    def _triggers(self) -> Table:
        table = self._table(
            "TRIGGERS",
            _key("TRIGGER_NAME"),
            _key("TRIGGER_GROUP"),
            _key("JOB_NAME"),
            _key("JOB_GROUP"),
            _column("DESCRIPTION", OrdinalText(250)),
            _column("NEXT_FIRE_TIME", UtcTicks),
            _column("PREV_FIRE_TIME", UtcTicks),
            _column("PRIORITY", Integer),
            _column("TRIGGER_STATE", StateName(StoredTriggerState), nullable=False),
            _column("TRIGGER_TYPE", OrdinalText(8), nullable=False),
            _column("START_TIME", UtcTicks, nullable=False),
            _column("END_TIME", UtcTicks),
            _column("CALENDAR_NAME", OrdinalText(200)),
            _column("MISFIRE_INSTR", SmallInteger),
            _column("MISFIRE_ORIG_FIRE_TIME", UtcTicks),
            _column("EXECUTION_GROUP", OrdinalText(200, postgresql_length=200)),
            _column("PREFERRED_NODE", OrdinalText(200, postgresql_length=200)),
            _column("PREFERRED_NODE_AUTO", Flag, nullable=False, server_default=false()),
            _column("JOB_DATA", Payload),
            key=("TRIGGER_GROUP", "TRIGGER_NAME"),
            storage=_BUSY,
        )
        table.append_constraint(
            ForeignKeyConstraint(
                ["sched_name", "job_group", "job_name"],
                [f"{self._full('JOB_DETAILS')}.{name}" for name in ("sched_name", "job_group", "job_name")],
            )
        )
        self._trigger_indexes(table)
        return table

    def _trigger_indexes(self, table: Table) -> None:
        c = table.c
        # SCHED_NAME stands last in every index but those of the primary keys. Before a table has statistics PostgreSQL
        # takes it for selective, and any index that begins with it for as good as the primary key.
        due = (c.next_fire_time, c.priority.desc(), c.sched_name)
        # The state stands in no index, so that taking a trigger (WAITING to ACQUIRED) writes to none of them. The
        # price: a statement must name both ends of the time it looks for, or it reads past all that is paused.
        self._index("T_NFT", *due, serves="acquiring: from misfire limit to horizon, in the order of firing")
        ignores = c.misfire_instr == literal_column(_IGNORE_MISFIRES)
        self._index(
            "T_NFT_IGNORE",
            *due,
            serves="acquiring triggers that ignore misfires, which have no misfire limit",
            only_if=_has_partial_indexes,
            postgresql_where=ignores,
            sqlite_where=ignores,
        )
        self._index(
            "T_NFT_MISFIRE",
            c.misfire_instr,
            c.next_fire_time,
            c.sched_name,
            serves="acquiring triggers that ignore misfires, where an index can not be partial",
            only_if=_has_no_partial_indexes,
        )
        self._index("T_J", c.job_group, c.job_name, c.sched_name, serves="the triggers of a job: blocking and deleting")
        has_calendar = c.calendar_name.is_not(None)
        self._index(
            "T_C",
            c.calendar_name,
            c.sched_name,
            serves="the triggers of a calendar: replacing and deleting it",
            postgresql_where=has_calendar,
            sqlite_where=has_calendar,
        )

    def _fired_triggers(self) -> Table:
        table = self._table(
            "FIRED_TRIGGERS",
            _column("ENTRY_ID", OrdinalText(140), nullable=False),
            _key("TRIGGER_NAME"),
            _key("TRIGGER_GROUP"),
            _column("INSTANCE_NAME", OrdinalText(200), nullable=False),
            _column("FIRED_TIME", UtcTicks, nullable=False),
            _column("SCHED_TIME", UtcTicks, nullable=False),
            _column("PRIORITY", Integer, nullable=False),
            _column("STATE", StateName(FiredState), nullable=False),
            _key("JOB_NAME", nullable=True),
            _key("JOB_GROUP", nullable=True),
            _column("IS_NONCONCURRENT", Flag),
            _column("REQUESTS_RECOVERY", Flag),
            _column("EXECUTION_GROUP", OrdinalText(200, postgresql_length=200)),
            key=("ENTRY_ID",),
            storage=_CHURNING,
        )
        c = table.c
        trigger, job = (c.trigger_group, c.trigger_name), (c.job_group, c.job_name)
        self._index("FT_T_G", *trigger, c.sched_name, serves="the firings of a trigger: its state, and deleting it")
        self._index("FT_J_G", *job, c.sched_name, serves="the firings of a job: whether a non-concurrent one runs")
        return table

    def _policies(self) -> Table:
        # No foreign key to JOB_DETAILS: the columns of a database that Quartz.NET made have other collations.
        return self._table(
            "QUARTZITE_POLICIES",
            _key("JOB_NAME"),
            _key("JOB_GROUP"),
            _column("RETRY_MAX_ATTEMPTS", Integer),
            _column("RETRY_DELAY", Milliseconds),
            _column("RETRY_FACTOR", Double),
            _column("RETRY_MAX_DELAY", Milliseconds),
            _column("RETRY_JITTER", Double),
            _column("OVERLAP", OrdinalText(16)),
            _column("CONCURRENCY_KEY", OrdinalText(250)),
            key=("JOB_GROUP", "JOB_NAME"),
        )

    def _extension(self, name: str, *columns: Column[Any]) -> Table:
        """Return a table that adds columns to some triggers."""
        table = self._table(
            name,
            _key("TRIGGER_NAME"),
            _key("TRIGGER_GROUP"),
            *columns,
            key=("TRIGGER_GROUP", "TRIGGER_NAME"),
            storage=_BUSY,
        )
        key = ("sched_name", "trigger_group", "trigger_name")
        target = [f"{self._full('TRIGGERS')}.{column}" for column in key]
        for on_delete in ("CASCADE", None):
            constraint = ForeignKeyConstraint(key, target, ondelete=on_delete)
            constraint.ddl_if(callable_=_if_it_cascades(holds=on_delete is not None))
            table.append_constraint(constraint)
        return table

    def _table(
        self, name: str, *columns: Column[Any], key: tuple[str, ...], storage: dict[str, float] | None = None
    ) -> Table:
        # Group before name in every key: one index finds rows, serves a group, and reads pages in order.
        return Table(
            self._name(name),
            self._metadata,
            _column("SCHED_NAME", OrdinalText(120), nullable=False),
            *columns,
            PrimaryKeyConstraint("sched_name", *(part.lower() for part in key)),
            postgresql_with=storage or {},
        )

    def _index(
        self,
        name: str,
        *columns: ColumnElement[Any],
        serves: str,
        only_if: Callable[[Dialect], bool] | None = None,
        **options: Any,
    ) -> None:
        Index(_unquoted(f"IDX_{self._prefix}{name}"), *columns, info={"serves": serves, "only_if": only_if}, **options)

    def _name(self, name: str) -> quoted_name:
        return _unquoted(self._prefix + name)

    def _full(self, name: str) -> str:
        return f"{self._schema}.{self._prefix}{name}" if self._schema else self._prefix + name


def _has_partial_indexes(dialect: Dialect) -> bool:
    return dialect.name in {"postgresql", "sqlite"}


def _has_no_partial_indexes(dialect: Dialect) -> bool:
    return not _has_partial_indexes(dialect)


def _if_it_cascades(*, holds: bool) -> DDLIfCallable:
    """Return what lets a foreign key be of the databases whose scripts of Quartz cascade, or of the others."""

    def wanted(*_: Any, dialect: Dialect, **__: Any) -> bool:
        return (not is_mysql(dialect)) is holds  # a store deletes these rows itself in any case

    return cast("DDLIfCallable", wanted)


def _unquoted(name: str) -> quoted_name:
    # Unquoted upper case is what Quartz's scripts say: PostgreSQL folds it to lower case, MariaDB keeps it.
    return quoted_name(name, quote=False)


def _column(name: str, type_: Any, **options: Any) -> Column[Any]:
    return Column(_unquoted(name), type_, key=name.lower(), **options)


def _key(name: str, *, nullable: bool = False) -> Column[Any]:
    """Return a part of a job's or trigger's key."""
    return _column(name, OrdinalText(200, sqlite_length=150), nullable=nullable)


def _simple_properties() -> list[Column[Any]]:
    return [
        *(_column(f"STR_PROP_{n}", OrdinalText(512)) for n in (1, 2, 3)),
        *(_column(f"INT_PROP_{n}", Integer) for n in (1, 2)),
        *(_column(f"LONG_PROP_{n}", BigInteger) for n in (1, 2)),
        *(_column(f"DEC_PROP_{n}", Numeric(13, 4, asdecimal=False)) for n in (1, 2)),
        *(_column(f"BOOL_PROP_{n}", Flag) for n in (1, 2)),
        _column("TIME_ZONE_ID", OrdinalText(80)),
    ]
