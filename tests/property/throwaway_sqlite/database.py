"""The tables of the throw-away store, and how keys, instants and sets travel."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from quartzite.model.keys import JobKey, Key, TriggerKey

T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

SCHEMA = """
CREATE TABLE jobs (grp TEXT, name TEXT, type TEXT, durable INT, alone INT, persists INT, recovers INT, data BLOB,
    PRIMARY KEY (grp, name));
CREATE TABLE triggers (grp TEXT, name TEXT, job_grp TEXT, job_name TEXT, state TEXT, next INT, priority INT,
    misfire INT, execution_group TEXT, payload BLOB, PRIMARY KEY (grp, name));
CREATE TABLE fired (id TEXT PRIMARY KEY, grp TEXT, name TEXT, node TEXT, state TEXT, fired INT, scheduled INT,
    priority INT, execution_group TEXT, job_grp TEXT, job_name TEXT, alone INT, recovers INT);
CREATE TABLE paused (grp TEXT PRIMARY KEY);
"""
FIRED_COLUMNS = (
    "id, grp, name, node, state, fired, scheduled, priority, execution_group, job_grp, job_name, alone, recovers"
)


def connect() -> sqlite3.Connection:
    """Return a connection to an empty database of its own, in manual transactions."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    return connection


def keys(of: Iterable[Key]) -> str:
    """Write a set of keys as one parameter."""
    return json.dumps([[key.group, key.name] for key in of])


def ticks(moment: datetime | None) -> int | None:
    """Write an instant as microseconds."""
    return None if moment is None else (moment - EPOCH) // MICROSECOND


def instant(value: int | None) -> datetime | None:
    """Read an instant."""
    return None if value is None else EPOCH + value * MICROSECOND


def certain(value: T | None) -> T:
    """Return what must be there."""
    assert value is not None
    return value


def job_key(row: Any, group: str = "job_grp", name: str = "job_name") -> JobKey:
    """Read the key of a job."""
    return JobKey(row[name], row[group])


def trigger_key(row: Any) -> TriggerKey:
    """Read the key of a trigger."""
    return TriggerKey(row["name"], row["grp"])
