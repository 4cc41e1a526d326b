"""A store in memory that outlives its objects: a subject for the persistent half of the contract.

It is no store for use. The suite's tests of persistence and recovery must be run on something that is fast and has no
database, so that they are known to be right before a database is judged by them.
"""

from __future__ import annotations

from quartzite.model.identity import SchedulerIdentity
from quartzite.serialization.json import JsonSerializer
from quartzite.stores.operations import recovering
from quartzite.stores.ram import RamJobStore
from quartzite.stores.ram.session import RamTables
from quartzite.stores.session import StoreSession
from quartzite.stores.work import Work
from quartzite.testing.contracts import StoreParts

__all__ = ["RememberingJobStore"]


class RememberingJobStore(RamJobStore):
    """Finds the data of former stores of its scheduler name, and recovers what they left, as a database would."""

    def __init__(self, parts: StoreParts, remembered: dict[str, RamTables]) -> None:
        super().__init__(
            clock=parts.clock,
            signaler=parts.signaler,
            serializer=JsonSerializer(),
            misfire_threshold=parts.misfire_threshold,
        )
        self._remembered = remembered

    @property
    def supports_persistence(self) -> bool:
        """The data survives the object, which is what the suite asks about."""
        return True

    async def initialize(self, identity: SchedulerIdentity) -> None:
        """Find the data."""
        await super().initialize(identity)
        self._tables = self._remembered.setdefault(identity.scheduler_name, self._tables)

    async def scheduler_started(self) -> None:
        """Recover."""
        await super().scheduler_started()
        now = self._clock.now()

        async def recover(session: StoreSession) -> object:
            return await recovering.recover_at_start(
                session, instance_id=self.instance_id, now=now, misfired_before=now - self.misfire_threshold
            )

        await self.run(Work.RECOVER, recover)
