"""TriggerRows: triggers as rows of the tables, and rows as triggers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, FromClause, Table, and_

from quartzite.errors import JobPersistenceError
from quartzite.model.job_data import EMPTY_JOB_DATA, JobData
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.model.preferred_node import PreferredNode
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.sql.tables import Tables
from quartzite.stores.session import StoredTrigger
from quartzite.stores.sql.kinds import BLOB, COLUMNS, kind_named, kind_of
from quartzite.stores.sql.plan import StorePlan
from quartzite.triggers.base import START_WHEN_SCHEDULED, Trigger

__all__ = ["BASE_COLUMNS", "KEY", "PROGRESS_COLUMNS", "TriggerRows", "extension_of"]

KEY: Final = ("trigger_group", "trigger_name")
PROGRESS_COLUMNS: Final = (
    *KEY,
    "next_fire_time",
    "prev_fire_time",
    "trigger_state",
    "start_time",
    "misfire_orig_fire_time",
    "preferred_node",
    "preferred_node_auto",
)
"""What firing and misfiring change, behind the key."""
BASE_COLUMNS: Final = (
    *PROGRESS_COLUMNS,
    "job_group",
    "job_name",
    "description",
    "priority",
    "trigger_type",
    "end_time",
    "calendar_name",
    "misfire_instr",
    "execution_group",
    "job_data",
)
_UNCLAIMED: Final = "*"
_BASE_SIZE: Final = len(BASE_COLUMNS)


def _places() -> dict[str, tuple[int, int]]:
    places, start = {}, _BASE_SIZE
    for table, columns in COLUMNS.items():
        places[table] = (start, start + len(columns))
        start += len(columns)
    return places


_PLACES: Final = _places()
SIZE: Final = _BASE_SIZE + sum(len(columns) for columns in COLUMNS.values())
"""How many columns a whole trigger has."""


def extension_of(tables: Tables, name: str) -> Table:
    """Return an extension table by its attribute name."""
    table: Table = getattr(tables, name)
    return table


class TriggerRows:
    """Writes and reads triggers.

    Attributes:
        columns: What to select for :meth:`read`.
    """

    def __init__(self, plan: StorePlan) -> None:
        self._serializer = plan.serializer
        self._tables = plan.tables
        self._limits = plan.limits
        base = [plan.tables.triggers.c[name] for name in BASE_COLUMNS]
        more = [extension_of(plan.tables, table).c[name] for table, names in COLUMNS.items() for name in names]
        self.columns: Sequence[ColumnElement[Any]] = (*base, *more)

    def joined(self, source: FromClause) -> FromClause:
        """Return the source, which holds the triggers, joined with what the kinds add."""
        triggers = self._tables.triggers
        for name in COLUMNS:
            extension = extension_of(self._tables, name)
            same = and_(*(extension.c[column] == triggers.c[column] for column in ("sched_name", *KEY)))
            source = source.outerjoin(extension, same)
        return source

    # Reading ----------------------------------------------------------------------------------------------------

    @staticmethod
    def key(row: Sequence[Any]) -> TriggerKey:
        """Return the key of a row."""
        return TriggerKey(row[1], row[0])

    def read(self, row: Sequence[Any]) -> Trigger:
        """Return the trigger of a row.

        Raises:
            JobPersistenceError: the row can not be read, with the reason.
        """
        try:
            return self._blob(row) if row[13] == BLOB else self._plain(row)
        except JobPersistenceError:
            raise
        except Exception as error:
            raise JobPersistenceError(f"its row can not be read: {error}") from error

    def _plain(self, row: Sequence[Any]) -> Trigger:
        kind = kind_named(row[13])
        start, end = _PLACES[kind.table]
        values = row[start:end]
        if values[0] is None:
            raise JobPersistenceError(f"its row in {extension_of(self._tables, kind.table).name} is missing")
        return kind.trigger_class(
            key=TriggerKey(row[1], row[0]),
            job_key=JobKey(row[10], row[9]),
            description=row[11],
            calendar_name=row[15],
            job_data=self._data(row[18]),
            priority=row[12],
            misfire_instruction=row[16] or 0,
            start_time=row[5] or START_WHEN_SCHEDULED,
            end_time=row[14],
            execution_group=row[17],
            preferred_node=_pin(row[7], row[8]),
            next_fire_time=row[2],
            previous_fire_time=row[3],
            misfire_origin=row[6],
            **kind.read(values),
        )

    def _blob(self, row: Sequence[Any]) -> Trigger:
        start, _ = _PLACES["blob_triggers"]
        if not row[start]:
            raise JobPersistenceError(f"its row in {self._tables.blob_triggers.name} is missing")
        stored = self._serializer.deserialize(row[start], Trigger)
        return stored.copy_with(
            key=TriggerKey(row[1], row[0]),
            job_key=JobKey(row[10], row[9]),
            misfire_instruction=row[16] or 0,
            execution_group=row[17],
            preferred_node=_pin(row[7], row[8]),
            next_fire_time=row[2],
            previous_fire_time=row[3],
            misfire_origin=row[6],
            fire_instance_id=None,
        )

    def _data(self, payload: bytes) -> JobData:
        return self._serializer.deserialize(payload, JobData) if payload else EMPTY_JOB_DATA

    # Writing ----------------------------------------------------------------------------------------------------

    @staticmethod
    def progress(row: StoredTrigger) -> tuple[Any, ...]:
        """Return the values of :data:`PROGRESS_COLUMNS`."""
        trigger, state = row
        key = trigger.key
        node, is_automatic = _pin_columns(trigger.preferred_node)
        return (
            key.group,
            key.name,
            trigger.next_fire_time,
            trigger.previous_fire_time,
            state,
            trigger.start_time,
            trigger.misfire_origin,
            node,
            is_automatic,
        )

    def base(self, row: StoredTrigger) -> tuple[Any, ...]:
        """Return the values of :data:`BASE_COLUMNS`."""
        trigger = row.trigger
        kind = kind_of(trigger)
        return (
            *self.progress(row),
            trigger.job_key.group,
            trigger.job_key.name,
            trigger.description,
            trigger.priority,
            BLOB if kind is None else kind.name,
            trigger.end_time,
            trigger.calendar_name,
            int(trigger.misfire_instruction),
            trigger.execution_group,
            self._serializer.serialize(trigger.job_data) if trigger.job_data else None,
        )

    def extensions(
        self, rows: Iterable[StoredTrigger], *, progress_only: bool = False
    ) -> dict[str, list[tuple[Any, ...]]]:
        """Return the values of the key and the columns of each extension table that the triggers use.

        Args:
            rows: The triggers.
            progress_only: Leave out the kinds whose columns firing does not change.
        """
        found: dict[str, list[tuple[Any, ...]]] = {}
        for trigger, _ in rows:
            kind, key = kind_of(trigger), trigger.key
            if kind is None:
                plain = trigger.copy_with(fire_instance_id=None)
                found.setdefault("blob_triggers", []).append((key.group, key.name, self._serializer.serialize(plain)))
            elif kind.progress or not progress_only:
                found.setdefault(kind.table, []).append((key.group, key.name, *kind.write(trigger)))
        return found

    def check(self, trigger: Trigger) -> None:
        """Refuse a trigger that the columns can not hold.

        Raises:
            InvalidValueError: a value is too large for its column.
        """
        who, tables = f"trigger {trigger.key}", self._tables
        texts = {
            "trigger_group": trigger.key.group,
            "trigger_name": trigger.key.name,
            "job_group": trigger.job_key.group,
            "job_name": trigger.job_key.name,
            "description": trigger.description,
            "calendar_name": trigger.calendar_name,
            "execution_group": trigger.execution_group,
            "preferred_node": trigger.preferred_node.node,
        }
        self._limits.check(tables.triggers, who, texts)
        self._limits.check_integer(who, "priority", trigger.priority)
        kind = kind_of(trigger)
        if kind is None or kind.table == "simple_triggers":
            return
        pairs = zip(COLUMNS[kind.table], kind.write(trigger), strict=True)
        values = {name: value for name, value in pairs if isinstance(value, str)}
        self._limits.check(extension_of(tables, kind.table), who, values)

    def check_details(self, key: TriggerKey, update: TriggerDetailsUpdate) -> None:
        """Refuse new details that the columns can not hold.

        Raises:
            InvalidValueError: a value is too large for its column.
        """
        who, changes = f"trigger {key}", update.changes
        texts = {name: changes[name] for name in ("description", "calendar_name") if name in changes}
        if "preferred_node" in changes:
            texts["preferred_node"] = changes["preferred_node"].node
        self._limits.check(self._tables.triggers, who, texts)
        if "priority" in changes:
            self._limits.check_integer(who, "priority", changes["priority"])

    def check_calendar_name(self, name: str) -> None:
        """Refuse a name that the column can not hold.

        Raises:
            InvalidValueError: it is too long.
        """
        self._limits.check(self._tables.calendars, f"calendar {name!r}", {"calendar_name": name})


def _pin(node: str | None, is_automatic: bool) -> PreferredNode:
    if node is None:
        return PreferredNode.NONE
    if node == _UNCLAIMED and not is_automatic:
        return PreferredNode.AUTO
    return PreferredNode(node, is_automatic=bool(is_automatic))


def _pin_columns(pin: PreferredNode) -> tuple[str | None, bool]:
    if pin.node is None:
        return (_UNCLAIMED if pin.is_automatic else None, False)
    return (pin.node, pin.is_automatic)
