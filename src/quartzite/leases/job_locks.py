"""JobLocks: lets each tick of a schedule run on one of the nodes that all have it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from quartzite.abc import FiringGate, FiringPass, TypeLoader
from quartzite.calendars.base import Calendar
from quartzite.errors import LockError
from quartzite.execution import SkippedFiring, TriggerFiredBundle
from quartzite.leases.configuration import MAX_LOCK_NAME_LENGTH, LockConfiguration
from quartzite.leases.current import hold
from quartzite.leases.decorator import JobLock, lock_of
from quartzite.leases.executor import LockingExecutor, active_executor
from quartzite.leases.lease import Lease
from quartzite.leases.provider import LockProvider
from quartzite.model.job import JobDetail
from quartzite.model.keys import JobKey, TriggerKey
from quartzite.triggers.base import Trigger
from quartzite.triggers.calendar_interval import CalendarIntervalTrigger
from quartzite.triggers.recurrence import RecurrenceTrigger
from quartzite.triggers.simple import SimpleTrigger

__all__ = ["JobLocks", "lock_name"]

logger: Final = logging.getLogger("quartzite.leases")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MANUAL: Final = "MT_"
"""How the names of triggers of ``trigger_job`` begin (spec 01 section 1)."""


class JobLocks(FiringGate):
    """Gives each tick, that is a trigger's scheduled fire time, to one node (decision 13).

    * Equal nodes each run a schedule of their own; the lease of the trigger says which of them runs a tick. The record
      keeps the latest tick that was claimed, so that clocks which differ do not make a tick run twice.
    * A job that must not overlap also waits, tick by tick, until the run of an earlier one is over.
    * What ``trigger_job`` fires runs on the node that was asked, without a lease.
    * An interval that has no start begins at the Unix epoch, so that the ticks of all nodes coincide.

    Args:
        provider: Grants the leases.
        scheduler_name: Part of the names of the leases; the same on all nodes.
        type_loader: Finds jobs by their stored names, to look at their decorators.
        defaults: How long leases last; both durations are given.
        jobs: What holds for single jobs instead, also instead of their decorators; None runs a job on every node.
    """

    def __init__(
        self,
        provider: LockProvider,
        *,
        scheduler_name: str,
        type_loader: TypeLoader,
        defaults: JobLock,
        jobs: Mapping[JobKey, JobLock | None] | None = None,
    ) -> None:
        self._provider = provider
        self._scheduler_name = scheduler_name
        self._type_loader = type_loader
        self._defaults = defaults
        self._jobs = dict(jobs or {})
        self._executor = LockingExecutor(provider)
        self._turns: dict[TriggerKey, _Turn] = {}

    # Scheduling -----------------------------------------------------------------------------------------------

    def first_fire(self, trigger: Trigger, calendar: Calendar | None, now: datetime) -> Trigger:
        """Return a trigger with its first fire time; an interval without a start is anchored to the epoch."""
        if not trigger.starts_when_scheduled or not _depends_on_start(trigger) or self._is_free(trigger.job_key):
            return trigger.compute_first_fire_time(calendar, now)
        if trigger.ends_by_count or (isinstance(trigger, SimpleTrigger) and not trigger.repeats_forever):
            if not _is_manual(trigger):
                logger.warning(
                    "The times of a trigger depend on when each node started, so that nodes do not share its ticks: "
                    "give it a start time.",
                    extra={"trigger": str(trigger.key)},
                )
            return trigger.compute_first_fire_time(calendar, now)
        anchored = trigger.copy_with(start_time=_EPOCH)
        following = anchored.next_included_fire_time(calendar, now - timedelta.resolution)
        return anchored.copy_with(next_fire_time=following)

    def _is_free(self, job: JobKey) -> bool:
        return job in self._jobs and self._jobs[job] is None

    # Firing ---------------------------------------------------------------------------------------------------

    async def enter(self, bundle: TriggerFiredBundle) -> FiringPass | SkippedFiring:
        """Return a pass when this node has the tick, else who has it.

        Raises:
            LockError: the provider can not be reached; nobody knows whether this node has it.
        """
        active_executor.set(self._executor)
        if self._is_free(bundle.job.key) or _is_manual(bundle.trigger):
            return _FREE
        target = _target_of(bundle.job, self._type_loader)
        configuration = self._configuration(bundle, lock_of(target))
        async with self._in_turn(bundle.trigger.key):
            lease = await self._provider.lock(configuration)
        if lease is None or _is_over(lease):
            return await self._skipped(bundle, configuration.name)
        hold(lease, target=target)
        return _LeasePass(lease)

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()

    def _configuration(self, bundle: TriggerFiredBundle, decorated: JobLock | None) -> LockConfiguration:
        said = self._jobs.get(bundle.job.key) or decorated or self._defaults
        at_most = said.at_most_for or self._defaults.at_most_for or timedelta(0)
        at_least = said.at_least_for if said.at_least_for is not None else self._defaults.at_least_for
        return LockConfiguration(
            name=lock_name(self._scheduler_name, bundle.trigger.key),
            lock_at_most_for=at_most,
            lock_at_least_for=min(at_least or timedelta(0), at_most),
            tick=bundle.scheduled_fire_time,
            exclusive=bundle.job.concurrent_execution_disallowed,
        )

    async def _skipped(self, bundle: TriggerFiredBundle, name: str) -> SkippedFiring:
        skipped = SkippedFiring(
            job_key=bundle.job.key,
            trigger_key=bundle.trigger.key,
            scheduled_fire_time=bundle.scheduled_fire_time,
            holder=None,
        )
        try:
            info = await self._provider.holder(name)
        except LockError:
            logger.warning("Who has a firing could not be found out.", exc_info=True, extra={"lock": name})
            return skipped
        if info is None:
            return skipped
        return replace(skipped, holder=info.holder, claimed_tick=info.tick, held_until=info.locked_until)

    @asynccontextmanager
    async def _in_turn(self, key: TriggerKey) -> AsyncIterator[None]:
        """Let claims of one trigger go out one after the other, in the order of its ticks.

        A node that catches up fires several ticks at once; on two connections the later one could come first, and the
        earlier one would be refused.
        """
        turn = self._turns.setdefault(key, _Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[key]


class _Turn:
    """The claims of one trigger that are under way."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.users = 0


class _Free(FiringPass):
    """The pass of a firing that needs no lease."""

    async def leave(self) -> None:
        """Do nothing."""


_FREE: Final = _Free()


class _LeasePass(FiringPass):
    """The pass of a firing whose tick this node has claimed."""

    __slots__ = ("_lease",)

    def __init__(self, lease: Lease) -> None:
        self._lease = lease

    def when_lost(self, tell: Callable[[str], None]) -> None:
        """Tell when the lease is lost."""
        self._lease.when_lost(tell)

    async def leave(self) -> None:
        """Release the lease; a later tick may have taken its place by then, and nothing is wrong with that."""
        await self._lease.unlock()


def _is_over(lease: Lease) -> bool:
    """Tell whether a process that stood still got its answer too late: others may run meanwhile."""
    return lease.configuration.exclusive and lease.has_ended


def lock_name(scheduler_name: str, key: TriggerKey) -> str:
    """Return the name of a trigger's lease, different for different triggers; a long one ends with a hash."""
    parts = (scheduler_name, key.group, key.name)
    name = "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)
    if len(name) <= MAX_LOCK_NAME_LENGTH:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{name[: MAX_LOCK_NAME_LENGTH - len(digest) - 1]}#{digest}"


def _depends_on_start(trigger: Trigger) -> bool:
    return isinstance(trigger, SimpleTrigger | CalendarIntervalTrigger | RecurrenceTrigger)


def _is_manual(trigger: Trigger) -> bool:
    """Tell whether ``trigger_job`` made a trigger."""
    name = trigger.key.name
    return isinstance(trigger, SimpleTrigger) and not trigger.repeats and _has_manual_name(name)


def _has_manual_name(name: str) -> bool:
    return name.startswith(_MANUAL) and name.removeprefix(_MANUAL).isdigit()


def _target_of(job: JobDetail, type_loader: TypeLoader) -> Any:
    """Return the class or function of a job; None when its name leads nowhere, which building it will tell."""
    if job.job_type.target is not None:
        return job.job_type.target
    try:
        return type_loader.load(job.job_type)
    except Exception:  # noqa: BLE001 - said with its reason when the job is built
        return None
