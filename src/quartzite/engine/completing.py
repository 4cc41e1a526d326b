"""GroupCommit: tells the store how firings ended, together when they end together."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import Final

from quartzite.abc import Clock, JobStore
from quartzite.engine.backoff import Backoff
from quartzite.engine.notifying import Notifier
from quartzite.engine.own_task import own_task
from quartzite.errors import InvalidValueError, JobExecutionProcessError
from quartzite.execution import JobCompletion
from quartzite.model.job import JobDetail

__all__ = ["GroupCommit"]

logger: Final = logging.getLogger("quartzite.engine")


class _Batch:
    """Completions that are committed together; ``committed`` is decided when ``decided`` is resolved."""

    __slots__ = ("committed", "completions", "decided", "is_decided")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.completions: list[JobCompletion] = []
        self.decided: asyncio.Future[None] = loop.create_future()
        self.is_decided = False
        self.committed = False

    def decide(self, *, committed: bool) -> None:
        self.is_decided = True
        self.committed = committed
        if not self.decided.done():
            self.decided.set_result(None)


class GroupCommit:
    """Commits completions in groups (decision 4).

    * What is handed in while a commit is under way goes into the next one: no timer, no added delay.
    * ``complete`` returns when the completion is committed, so that whoever waits for it holds his worker until
      then.
    * A group that fails is committed one by one; what fails then is tried again, with the store's back-off, until
      shutdown. The first failure of an outage is told to scheduler listeners.
    * Job data that the store refuses is reported and left as it was; the firing ends all the same.
    """

    def __init__(self, *, store: JobStore, clock: Clock, notifier: Notifier, backoff: Backoff, owner: object) -> None:
        self._store = store
        self._clock = clock
        self._notifier = notifier
        self._backoff = backoff
        self._owner = owner
        self._open: _Batch | None = None
        self._committer: asyncio.Task[None] | None = None
        self._closed = False
        self._failing = 0
        self._outage_told = False

    @property
    def failing(self) -> int:
        """How many completions wait for the store to take them."""
        return self._failing

    async def complete(self, completion: JobCompletion, stored: JobDetail) -> bool:
        """Commit the end of one firing; ``stored`` is the job before its run. False when a shutdown came first.

        A task that is cancelled meanwhile waits for the commit all the same, but tries no further.
        """
        if self._closed:
            return _too_late(completion)
        batch = self._join(completion)
        while not batch.is_decided:
            try:
                await batch.decided
            except asyncio.CancelledError:
                if batch.decided.cancelled():  # one waiting task was cancelled, and with it the future of all
                    batch.decided = asyncio.get_running_loop().create_future()
        return batch.committed or (not _is_cancelled() and await self._alone(completion, stored))

    async def close(self) -> None:
        """Take no more completions, and wait for the commit under way; cancelling that gives the commit up."""
        self._closed = True
        committer = self._committer
        if committer is None:
            return
        try:
            await asyncio.wait((committer,))
        finally:
            committer.cancel()

    def _join(self, completion: JobCompletion) -> _Batch:
        batch = self._open
        if batch is None:
            loop = asyncio.get_running_loop()
            batch = self._open = _Batch(loop)
            if self._committer is None:
                self._committer = loop.create_task(self._commit(), name="quartzite-commit")
        batch.completions.append(completion)
        return batch

    async def _commit(self) -> None:
        own_task.set((self._owner, None))
        try:
            while (batch := self._open) is not None:
                self._open = None
                await self._commit_one(batch)
        finally:
            self._committer = None
            if self._open is not None:  # cancelled from outside: each firing tries by itself
                self._open.decide(committed=False)
                self._open = None

    async def _commit_one(self, batch: _Batch) -> None:
        committed = False
        try:
            with self._clock.busy("completion of firings"):
                await self._store.triggered_jobs_complete(batch.completions)
            committed = True
            self._outage_told = False
        except Exception as error:  # noqa: BLE001 - whatever it is, each firing tries again by itself
            logger.warning(
                "Committing firings together failed; they are committed one by one.",
                extra={"firings": len(batch.completions), "reason": str(error)},
            )
        finally:
            batch.decide(committed=committed)

    async def _alone(self, completion: JobCompletion, stored: JobDetail) -> bool:
        """Commit one completion by itself, again and again until it succeeds or a shutdown ends it."""
        if self._closed:
            return _too_late(completion)
        failures = 0
        self._failing += 1
        try:
            while True:
                try:
                    await self._attempt(completion)
                except InvalidValueError as error:
                    if completion.job is not stored:
                        await self._notifier.error(*_data_refused(completion, error))
                        completion = replace(completion, job=stored)
                        continue
                    await self._told(error)
                except Exception as error:  # noqa: BLE001 - an outage of the store, or a bug of it: both may pass
                    await self._told(error)
                else:
                    self._outage_told = False
                    return True
                failures += 1
                if not await self._backoff.wait(failures):
                    return _too_late(completion)
        finally:
            self._failing -= 1

    async def _attempt(self, completion: JobCompletion) -> None:
        with self._clock.busy("completion of a firing"):
            await self._store.triggered_job_complete(completion.trigger, completion.job, completion.instruction)

    async def _told(self, error: Exception) -> None:
        if not self._outage_told:
            self._outage_told = True
            await self._notifier.error("The end of a firing could not be stored; it is tried again.", error)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _too_late(completion: JobCompletion) -> bool:
    logger.warning(
        "A job ended after the shutdown; the store was not told.",
        extra={"job": str(completion.job.key), "firing": completion.trigger.fire_instance_id},
    )
    return False


def _data_refused(completion: JobCompletion, error: Exception) -> tuple[str, JobExecutionProcessError]:
    message = f"The data that job {completion.job.key} left can not be stored, and stays as it was: {error}"
    failure = JobExecutionProcessError(message, job=completion.job, trigger_key=completion.trigger.key)
    failure.__cause__ = error
    return message, failure
