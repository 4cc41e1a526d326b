"""SqlJobStore: everything in a database."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final, TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine

from quartzite.abc import Clock, Semaphore, Serializer, Signaler, TypeLoader
from quartzite.calendars.base import Calendar
from quartzite.errors import JobPersistenceError
from quartzite.locks.local import FairLock, LocalSemaphore, SingleLockSemaphore
from quartzite.model.identity import SchedulerIdentity, SemaphoreContext
from quartzite.model.job import JobDetail
from quartzite.model.keys import TriggerKey
from quartzite.model.selectors import All
from quartzite.model.trigger_details import TriggerDetailsUpdate
from quartzite.settings import SqlStoreSettings
from quartzite.sql.dialects import SqlDialect
from quartzite.stores.operations import recovering
from quartzite.stores.session import StoreSession
from quartzite.stores.sql.database import Database
from quartzite.stores.sql.job_rows import JobRows
from quartzite.stores.sql.misfire_handler import MisfireHandler
from quartzite.stores.sql.plan import StorePlan
from quartzite.stores.sql.session import Statements
from quartzite.stores.sql.trigger_rows import TriggerRows
from quartzite.stores.sql.units import UnitsOfWork, locks_of
from quartzite.stores.standard import Body, StandardJobStore
from quartzite.stores.work import Work
from quartzite.triggers.base import Trigger

__all__ = ["SqlJobStore"]

T = TypeVar("T")

_SHORTEST_RETRY: Final = timedelta(milliseconds=20)
_LONGEST_RETRY: Final = timedelta(minutes=10)


class _Counted:
    """Counts what begins, and what is in progress."""

    __slots__ = ("begun", "in_progress")

    def __init__(self) -> None:
        self.begun = self.in_progress = 0

    def __enter__(self) -> None:
        self.begun += 1
        self.in_progress += 1

    def __exit__(self, *_: object) -> None:
        self.in_progress -= 1


class SqlJobStore(StandardJobStore):
    """Keeps jobs, triggers and firings in PostgreSQL, MariaDB, MySQL or SQLite; used from one event loop.

    Each operation is one transaction; one that fails changes nothing. Acquiring, firing and completing cost a number
    of statements that does not depend on how many triggers they are about. The claim on a firing is its row
    (decision 5): no lock handler, and no lease that expires, makes a firing run twice.

    Args:
        settings: Where the database is and how the store works.
        clock: The store's only source of time.
        signaler: Hears what happened, after each commit.
        serializer: Reads and writes job data, calendars, and triggers of kinds of your own.
        semaphore: The lock handler; None has the store choose one.
        type_loader: Finds jobs by name: a trigger whose job it can not find goes to ERROR. None asks nobody.
        engine: The application's engine, instead of ``settings.url``; it stays open when the store is shut down.
        dialect: Answers instead of those of the database.
        misfire_threshold: Instead of the one of the settings.

    Raises:
        SchedulerConfigError: the settings can not be used.
    """

    def __init__(
        self,
        *,
        settings: SqlStoreSettings,
        clock: Clock,
        signaler: Signaler,
        serializer: Serializer,
        semaphore: Semaphore | None = None,
        type_loader: TypeLoader | None = None,
        engine: AsyncEngine | None = None,
        dialect: type[SqlDialect] | None = None,
        misfire_threshold: timedelta | None = None,
    ) -> None:
        super().__init__(
            clock=clock,
            signaler=signaler,
            serializer=serializer,
            misfire_threshold=misfire_threshold or settings.misfire_threshold,
        )
        self._settings = settings
        self._semaphore = semaphore
        self._type_loader = type_loader
        self._database = Database(settings, engine=engine, dialect=dialect)
        self._units: UnitsOfWork | None = None
        self._job_rows: JobRows | None = None
        self._trigger_rows: TriggerRows | None = None
        self._is_closed = False
        self._acquisitions = _Counted()
        self._misfires = MisfireHandler(
            clock=clock,
            make_pass=self._make_pass,
            frequency=lambda: settings.misfire_handler_frequency or self.misfire_threshold,
            retry_interval=settings.db_retry_interval,
        )

    @property
    def supports_persistence(self) -> bool:
        """The data survives the process."""
        return True

    @property
    def clustered(self) -> bool:
        """No other node may share the data."""
        return False

    def get_acquire_retry_delay(self, failure_count: int) -> timedelta:  # noqa: ARG002
        """Return how long to wait after acquiring failed."""
        return min(max(self._settings.db_retry_interval, _SHORTEST_RETRY), _LONGEST_RETRY)

    # Life -------------------------------------------------------------------------------------------------------

    async def initialize(self, identity: SchedulerIdentity) -> None:
        """Settle who the scheduler is, then the lock handler, then the tables; nothing else happens before.

        Raises:
            SchedulerConfigError: the tables do not fit.
            JobPersistenceError: the database does not answer.
        """
        await super().initialize(identity)
        supplied = self._semaphore is not None
        serializes = self._database.dialect.serializes_writers
        semaphore = self._semaphore or (SingleLockSemaphore() if serializes else LocalSemaphore())
        await semaphore.initialize(self._context(identity))
        await self._database.prepare(self._clock)
        plan = StorePlan(
            tables=self._database.tables,
            dialect=self._database.dialect,
            scheduler_name=identity.scheduler_name,
            instance_id=identity.instance_id,
            serializer=self._serializer,
            type_loader=self._type_loader,
        )
        statements = Statements(plan)
        self._job_rows, self._trigger_rows = statements.jobs.rows, statements.triggers.rows
        within = self._settings.acquire_triggers_within_lock
        self._units = UnitsOfWork(
            database=self._database,
            statements=statements,
            settings=self._settings,
            clock=self._clock,
            semaphore=semaphore,
            locks=locks_of(
                fire_cycle=supplied or not self._database.dialect.skip_locked if within is None else within,
                insert=self._settings.lock_on_insert,
            ),
            writers=FairLock() if serializes else None,
            is_closed=lambda: self._is_closed,
        )

    async def scheduler_started(self) -> None:
        """Recover what a former life left behind, and look for missed times from now on.

        Raises:
            JobPersistenceError: the database could not do it.
        """
        now = self._clock.now()

        async def recover(session: StoreSession) -> object:
            return await recovering.recover_at_start(
                session, instance_id=self.instance_id, now=now, misfired_before=now - self.misfire_threshold
            )

        await self.run(Work.RECOVER, recover)
        self._misfires.start()

    async def shutdown(self) -> None:
        """End the background work and close the connections; may be called in any state."""
        self._is_closed = True
        await self._misfires.stop()
        await self._database.close()

    # Work -------------------------------------------------------------------------------------------------------

    async def run(self, work: Work, body: Body[T]) -> T:
        """Run an operation within a transaction, and tell the scheduler what happened once it is committed."""
        if self._units is None:
            raise JobPersistenceError("the store is not initialized: start the scheduler, or await initialize(...)")
        with self._clock.busy(work):
            began = self._acquisitions.begun
            is_held_up = self._acquisitions.in_progress > 0
            if work is Work.ACQUIRE:
                with self._acquisitions:
                    done = await self._units.run(work, body)
            else:
                done = await self._units.run(work, body)
            if work is Work.CHANGE and (is_held_up or began != self._acquisitions.begun):
                # Acquisition passes over rows that are locked: what this change held up is to be looked at again.
                done.signals.scheduling_change()
            await done.signals.deliver(self._signaler)
            return done.result

    async def add_calendar(
        self, name: str, calendar: Calendar, *, replace: bool = False, update_triggers: bool = False
    ) -> None:
        """Store a calendar under a name."""
        self._serializer.check(calendar)
        if self._trigger_rows is not None:
            self._trigger_rows.check_calendar_name(name)
        await super().add_calendar(name, calendar, replace=replace, update_triggers=update_triggers)

    async def update_trigger_details(self, key: TriggerKey, update: TriggerDetailsUpdate) -> bool:
        """Change what does not touch the schedule."""
        if self._trigger_rows is not None:
            self._trigger_rows.check_details(key, update)
        return await super().update_trigger_details(key, update)

    def _admit(self, job: JobDetail, triggers: Collection[Trigger]) -> None:
        if self._job_rows is not None:
            self._job_rows.check(job)
        super()._admit(job, triggers)

    def _admit_trigger(self, trigger: Trigger) -> None:
        super()._admit_trigger(trigger)
        self._serializer.check(trigger)
        if self._trigger_rows is not None:
            self._trigger_rows.check(trigger)

    async def _make_pass(self) -> bool:
        """Handle some late triggers and forgotten reservations; tell whether there are more of the former."""
        now = self._clock.now()
        before = now - self.misfire_threshold

        async def free(session: StoreSession) -> object:
            return await recovering.free_stale_claims(
                session, instance_id=self.instance_id, now=now, misfire_threshold=self.misfire_threshold
            )

        await self.run(Work.RECOVER, free)
        if not await self.run(Work.READ, lambda session: session.triggers.misfired(All(), before, 1)):
            return False
        return (await self.handle_misfires(self._settings.max_misfires_to_handle_at_a_time)).has_more

    def _context(self, identity: SchedulerIdentity) -> SemaphoreContext:
        return SemaphoreContext(
            scheduler_name=identity.scheduler_name,
            instance_id=identity.instance_id,
            clock=self._clock,
            table_prefix=self._settings.table_prefix,
            schema=self._settings.schema_name,
            command_timeout=self._settings.command_timeout,
            dialect=self._database.engine.dialect.name,
        )
