"""Who a scheduler is, which locks it knows, and what a lock handler is told about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

from quartzite.errors import InvalidValueError

if TYPE_CHECKING:
    from quartzite.abc import Clock

__all__ = ["DEFAULT_SCHEDULER_NAME", "NON_CLUSTERED", "SchedulerIdentity", "SchedulerLock", "SemaphoreContext"]

NON_CLUSTERED: Final = "NON_CLUSTERED"
"""The instance id of a scheduler that is alone on its store."""
DEFAULT_SCHEDULER_NAME: Final = "default"
MAX_SCHEDULER_NAME_LENGTH: Final = 120
MAX_INSTANCE_ID_LENGTH: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerIdentity:
    """The name that all nodes of a cluster share, and the id of this node (spec 06 section 1).

    Raises:
        InvalidValueError: a part is empty, longer than 120 characters or holds a NUL.
    """

    scheduler_name: str
    instance_id: str = NON_CLUSTERED

    def __post_init__(self) -> None:
        _check("scheduler name", self.scheduler_name, MAX_SCHEDULER_NAME_LENGTH)
        _check("instance id", self.instance_id, MAX_INSTANCE_ID_LENGTH)


class SchedulerLock(Enum):
    """The two locks of a scheduler; there are no others (spec 08 section 1). The names are persisted."""

    TRIGGER_ACCESS = "TRIGGER_ACCESS"
    STATE_ACCESS = "STATE_ACCESS"


@dataclass(frozen=True, slots=True, kw_only=True)
class SemaphoreContext:
    """What the job store tells its lock handler, once, before it validates the schema (spec 09 section 2).

    Attributes:
        scheduler_name: Name that keys the locks.
        instance_id: Id of this node.
        table_prefix: Prefix of the tables, ``QRTZ_`` by default.
        schema: Schema of the tables, or None for the connection's default.
        clock: What the handler waits on and asks for the time.
        command_timeout: How long one statement may take, or None for no limit.
        dialect: Name of the database dialect (``postgresql``, ``mariadb``, ``sqlite`` ...), or None without one.
    """

    scheduler_name: str
    instance_id: str
    clock: Clock
    table_prefix: str = "QRTZ_"
    schema: str | None = None
    command_timeout: timedelta | None = None
    dialect: str | None = None


def _check(what: str, text: object, limit: int) -> None:
    if not isinstance(text, str) or not text.strip():
        raise InvalidValueError(f"{what} {text!r} must be a text that is not blank")
    if len(text) > limit:
        raise InvalidValueError(f"{what} {text[:20]!r}... has {len(text)} characters: at most {limit}")
    if "\0" in text:
        raise InvalidValueError(f"{what} {text!r} holds a NUL character, which no database can store")
