"""SchedulerHeartbeat: a thread with an event loop of its own, for what must go on however busy the others are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from datetime import timedelta
from threading import Lock, Thread, current_thread
from typing import Any, Final, TypeVar

from quartzite.abc import Beat, BeatWork, Clock, Heartbeat
from quartzite.errors import InvalidValueError, SchedulerError

__all__ = ["SchedulerHeartbeat"]

T = TypeVar("T")
logger: Final = logging.getLogger("quartzite.engine")
_END_SECONDS: Final = 5.0
"""How long at most one thing may take to close."""


class SchedulerHeartbeat(Heartbeat):
    """The heartbeat of one scheduler (decision 18). Nothing is started before it is first asked for something.

    Args:
        clock: Its only source of time; one that a test moves makes it work inline.
        name: Of the scheduler; the thread is named for it.
    """

    def __init__(self, *, clock: Clock, name: str = "default") -> None:
        self._clock = clock
        self._name = name
        self._guard = Lock()
        self._home: asyncio.AbstractEventLoop | None = None
        self._thread: _LoopThread | None = None
        self._beats: set[_Beat] = set()
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._closed = False

    @property
    def is_inline(self) -> bool:
        """Whether it works on the event loop that asks first, because a test moves its clock."""
        return not self._clock.moves_by_itself

    def every(self, period: timedelta, work: BeatWork, *, name: str) -> Beat:
        """Call ``work`` after every period."""
        if period <= timedelta(0):
            raise InvalidValueError(f"heartbeat {name!r}: the period is {period}: more than 0")
        return self._start(name, work, first=period.total_seconds(), period=period.total_seconds())

    def schedule(self, delay: timedelta, work: BeatWork, *, name: str) -> Beat:
        """Call ``work`` once, after a delay; again after each duration that it returns."""
        return self._start(name, work, first=max(0.0, delay.total_seconds()), period=None)

    async def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Call ``work`` on the event loop of the heartbeat and return its result."""
        home = self._open()
        if home is asyncio.get_running_loop():
            return await work()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), home))

    def at_end(self, close: Callable[[], Awaitable[None]]) -> None:
        """Have something called on the event loop of the heartbeat when it is closed."""
        self._closers.append(close)

    async def close(self) -> None:
        """End every beat, call what ``at_end`` was given, and end the thread."""
        with self._guard:
            if self._closed:
                return
            self._closed = True
            home, thread = self._home, self._thread
        if home is None or home is asyncio.get_running_loop():
            await self._end()
        elif not home.is_closed():
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._end(), home))
        if thread is not None:
            await thread.stop()

    def _start(self, name: str, work: BeatWork, *, first: float, period: float | None) -> Beat:
        home = self._open()
        beat = _Beat(self._clock, home, name, work, first, period, self._beats)
        # A context of its own: what the caller marks as its own work must not be waited for under a fake clock.
        home.call_soon_threadsafe(beat.start, context=Context())
        return beat

    def _open(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._closed:
                raise SchedulerError(f"the heartbeat of scheduler {self._name!r} was closed with its scheduler")
            if self._home is None and self.is_inline:
                self._home = asyncio.get_running_loop()
            elif self._home is None:
                self._thread = _LoopThread(f"quartzite-heartbeat-{self._name}")
                self._home = self._thread.loop
            return self._home

    async def _end(self) -> None:
        await asyncio.sleep(0)  # beats that were asked for a moment ago are started first, so that they are ended
        await asyncio.gather(*(beat.end() for beat in tuple(self._beats)))
        for close in reversed(self._closers):
            try:
                await asyncio.wait_for(close(), _END_SECONDS)
            except Exception:
                logger.exception("Something of the heartbeat could not be closed.")
        self._closers.clear()


class _Beat(Beat):
    """One piece of work, in a task on the heartbeat's event loop."""

    def __init__(
        self,
        clock: Clock,
        home: asyncio.AbstractEventLoop,
        name: str,
        work: BeatWork,
        first: float,
        period: float | None,
        beats: set[_Beat],
    ) -> None:
        self._clock = clock
        self._home = home
        self._name = name
        self._work = work
        self._period = period
        self._due = clock.monotonic() + first
        self._beats = beats
        self._task: asyncio.Task[None] | None = None
        self._waits = False
        self._over = False

    def start(self) -> None:
        """Begin, on the event loop of the heartbeat."""
        if not self._over:
            self._task = self._home.create_task(self._run(), name=f"heartbeat {self._name}")
            self._beats.add(self)
            self._task.add_done_callback(lambda _: self._beats.discard(self))

    def cancel(self) -> None:
        """Begin no further call."""
        self._over = True
        with suppress(RuntimeError):  # the event loop was closed, and the beat with it
            self._home.call_soon_threadsafe(self._stop_waiting, context=Context())

    async def end(self) -> None:
        """End the task, whatever it does, on the event loop of the heartbeat."""
        self._over = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _stop_waiting(self) -> None:
        if self._task is not None and self._waits:
            self._task.cancel()

    async def _run(self) -> None:
        while not self._over:
            self._waits = True
            await self._clock.sleep(self._due - self._clock.monotonic())
            self._waits = False
            if self._over:
                return
            asked = await self._call()
            now = self._clock.monotonic()
            if asked is not None:
                self._due = now + asked.total_seconds()
            elif self._period is None:
                return
            else:
                self._due = max(now, self._due + self._period)

    async def _call(self) -> timedelta | None:
        try:
            with self._clock.busy(f"heartbeat {self._name}"):
                return await self._work()
        except Exception:
            logger.exception("A call of the heartbeat failed.", extra={"beat": self._name})
            return None


class _LoopThread:
    """A daemon thread that runs an event loop."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self._ended: Callable[[], object] | None = None
        self._thread = Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    async def stop(self) -> None:
        """Stop the event loop and wait for the end of the thread; its own thread does not wait for itself."""
        if self._thread is current_thread():
            self.loop.stop()
            return
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        self._ended = lambda: loop.call_soon_threadsafe(ended.set)
        self.loop.call_soon_threadsafe(self.loop.stop)
        await ended.wait()
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self._cancel_all()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()
            if self._ended is not None:
                with suppress(RuntimeError):
                    self._ended()

    def _cancel_all(self) -> None:
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
