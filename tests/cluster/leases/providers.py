"""Where the processes of one test find their leases."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self

from quartzite.clock import SystemClock
from quartzite.leases import LockProvider, RedisLockProvider, SqlLockProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server with a place of the test's own; written as JSON on a command line.

    Attributes:
        url: Of the server.
        prefix: Of the keys, for Redis.
        schema: Of the table, for a database.
    """

    url: str
    prefix: str = ""
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the place that was written."""
        return cls(**json.loads(text))

    def __str__(self) -> str:
        return json.dumps(asdict(self))

    def provider(self, holder: str) -> LockProvider:
        """Make the provider of a node."""
        if self.url.startswith("redis"):
            return RedisLockProvider(self.url, clock=SystemClock(), key_prefix=self.prefix, holder=holder)
        return SqlLockProvider(self.url, clock=SystemClock(), schema=self.schema, holder=holder)
