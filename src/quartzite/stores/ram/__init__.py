"""The store in memory."""

from quartzite.stores.ram.store import RamJobStore

__all__ = ["RamJobStore"]
