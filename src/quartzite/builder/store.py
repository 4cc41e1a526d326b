"""StoreBuilder: where a persistent store keeps its data, and how it works."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self

from quartzite.errors import SchedulerConfigError
from quartzite.settings import SqlStoreSettings

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from quartzite.abc import Semaphore
    from quartzite.container.choose import Choice
    from quartzite.sql.dialects import SqlDialect

__all__ = ["StoreBuilder"]

_BACKENDS: Final = {
    "use_postgresql": ("postgresql", "postgres"),
    "use_mariadb": ("mariadb", "mysql"),
    "use_sqlite": ("sqlite",),
}


class StoreBuilder:
    """Says where a persistent store keeps its data and how it works; every verb returns the builder.

    Exactly one of ``use_sqlite``, ``use_postgresql``, ``use_mariadb``, ``use_url`` and ``use_engine`` chooses the
    database::

        q.use_persistent_store(lambda store: store.use_postgresql("postgresql://db/billing"))

    Args:
        use_lock_handler: The scheduler's verb of that name.
    """

    def __init__(self, use_lock_handler: Callable[..., object]) -> None:
        self._use_lock_handler = use_lock_handler
        self._url: str | None = None
        self._engine: AsyncEngine | None = None
        self._dialect: type[SqlDialect] | None = None
        self._settings: dict[str, Any] = {}

    # The database -----------------------------------------------------------------------------------------------

    def use_sqlite(self, path: str | os.PathLike[str]) -> Self:
        """Keep the data in a SQLite file, which is created with its tables when it is not there.

        Args:
            path: The file, ``:memory:`` for none, or a URL that begins with ``sqlite:``.
        """
        text = os.fspath(path)
        return self._use_backend("use_sqlite", text if text.startswith("sqlite") else f"sqlite:///{text}")

    def use_postgresql(self, url: str) -> Self:
        """Keep the data in PostgreSQL: ``postgresql://user:password@host/database``; asyncpg is the driver."""
        return self._use_backend("use_postgresql", url)

    def use_mariadb(self, url: str) -> Self:
        """Keep the data in MariaDB or MySQL: ``mariadb://user:password@host/database``; asyncmy is the driver."""
        return self._use_backend("use_mariadb", url)

    def use_url(self, url: str) -> Self:
        """Keep the data in whatever database a URL leads to."""
        self._refuse_second("use_url")
        self._url = url
        return self

    def use_engine(self, engine: AsyncEngine) -> Self:
        """Keep the data in the database of the application's engine, which the store never closes."""
        self._refuse_second("use_engine")
        self._engine = engine
        return self

    def use_dialect(self, dialect: type[SqlDialect]) -> Self:
        """Ask a dialect of your own what the database can do (Quartz's driver delegate)."""
        self._dialect = dialect
        return self

    # How it works -----------------------------------------------------------------------------------------------

    def configure(self, **settings: Any) -> Self:
        """Give settings by name; see :class:`SqlStoreSettings` for all of them.

        Raises:
            SchedulerConfigError: when the store is built: a setting is not known or has no good value.
        """
        self._settings |= settings
        return self

    def use_lock_handler(self, handler: Choice[Semaphore], *, options: object = None) -> Self:
        """Guard the store with locks of your own; see the scheduler's verb of that name."""
        self._use_lock_handler(handler, options=options)
        return self

    def values(self) -> dict[str, Any]:
        """Return the constructor arguments of the store.

        Raises:
            SchedulerConfigError: no database was chosen, or a setting can not be used.
        """
        if self._url is None and self._engine is None:
            raise SchedulerConfigError(
                "use_persistent_store: no database was chosen: call use_sqlite, use_postgresql, use_mariadb, use_url "
                "or use_engine"
            )
        settings = SqlStoreSettings(**{**self._settings, "url": self._url})
        return {"settings": settings, "engine": self._engine, "dialect": self._dialect}

    def _use_backend(self, verb: str, url: str) -> Self:
        backends = _BACKENDS[verb]
        backend = url.partition(":")[0].partition("+")[0]
        if backend not in backends:
            raise SchedulerConfigError(
                f"{verb}: the URL begins with {backend!r}: write {backends[0]}://..., or choose another verb"
            )
        self._refuse_second(verb)
        self._url = url
        return self

    def _refuse_second(self, verb: str) -> None:
        if self._url is not None or self._engine is not None:
            raise SchedulerConfigError(f"{verb}: a database was chosen already: choose one")
