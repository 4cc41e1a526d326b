"""The store in a database."""

from quartzite.stores.sql.store import SqlJobStore

__all__ = ["SqlJobStore"]
