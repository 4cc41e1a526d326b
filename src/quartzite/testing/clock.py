"""FakeClock: time that moves only when a test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from math import inf
from threading import current_thread
from typing import Any, Final

from quartzite.abc import Clock
from quartzite.clock import SystemClock
from quartzite.errors import InvalidValueError

__all__ = ["FakeClock"]

_MICROSECOND: Final = timedelta(microseconds=1)
_QUIET_TURNS: Final = 2
"""Turns of the event loop with nothing to do that count as settled: the second one has asked the sockets again."""
_BLIND_QUIET_TURNS: Final = 20
"""The same for an event loop that does not show whether it has something to do."""
_MOST_TURNS: Final = 500
"""Turns after which something that does nothing but take turns is not waited for any longer."""
_TURNS_UNTIL_PAUSE: Final = 50
_PAUSE: Final = 0.001


class FakeClock(Clock):
    """A clock for tests (decision 11, conventions "Time").

    ``advance`` moves from one instant that somebody waits for to the next, and lets everything settle at each: tasks
    that were woken, and work that is marked as busy, however long its threads and sockets take in real time. Nothing
    has to sleep, and nothing fires while the clock stands still, except what is due already.

    * Time is exact to the microsecond.
    * ``set`` and ``jump`` move the wall clock alone, as an administrator would: who sleeps does not notice.
    * Work that waits on this very clock is not busy meanwhile, in its own task or in one that it started.
    * Clocks are independent: each drives those that were given it, also within one event loop.

    Args:
        start: Where it begins: an aware instant, or ISO 8601 text with an offset.
        patience: Real time after which ``advance`` and ``settle`` give up, naming what is busy.

    Raises:
        InvalidValueError: the start has no time zone, or can not be read.
    """

    def __init__(
        self, start: datetime | str = "2026-01-01T00:00Z", *, patience: timedelta = timedelta(seconds=10)
    ) -> None:
        self._wall = _instant(start)
        self._elapsed = 0  # microseconds: sums of floats would fire a microsecond early or late
        self._patience = patience.total_seconds()
        self._real = SystemClock()
        self._alarms: dict[_Alarm, None] = {}
        self._ringing: dict[_Alarm, None] = {}
        self._marks: dict[_Mark, None] = {}
        self._advancing = False

    def __repr__(self) -> str:
        return f"<FakeClock {self.now().isoformat()}>"

    # The clock ------------------------------------------------------------------------------------------------

    @property
    def moves_by_itself(self) -> bool:
        """False: it moves when it is advanced."""
        return False

    def now(self) -> datetime:
        """Return the instant the clock stands at, aware UTC."""
        return self._wall + self._elapsed * _MICROSECOND

    def monotonic(self) -> float:
        """Return the seconds that the clock was advanced by."""
        return self._elapsed / 1_000_000

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced so far; 0 or less gives others one turn."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        rung = asyncio.Event()
        with self._alarm(seconds, rung.set):
            await rung.wait()

    async def wait(self, event: asyncio.Event, seconds: float) -> bool:
        """Wait until ``event`` is set, or the clock was advanced so far; tell whether it is set."""
        if event.is_set():
            return True
        if seconds <= 0:
            await asyncio.sleep(0)
            return event.is_set()
        try:
            async with asyncio.timeout(None) as limit:
                with self._alarm(seconds, lambda: limit.reschedule(-inf)):
                    await event.wait()
        except TimeoutError:
            return event.is_set()
        return True

    def busy(self, what: object = "") -> AbstractContextManager[None]:
        """Return a context that marks work in progress."""
        return _Busy(_Mark(self, what), self._marks)

    # The test's side ------------------------------------------------------------------------------------------

    async def advance(
        self,
        delta: timedelta | None = None,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        milliseconds: float = 0,
    ) -> None:
        """Move on by a span, from due instant to due instant, and let everything settle at each.

        Args:
            delta: The span; its parts by name are added to it.
            days: 24 hours each.
            hours: See ``days``.
            minutes: See ``days``.
            seconds: See ``days``.
            milliseconds: See ``days``.

        Raises:
            InvalidValueError: the span is negative: ``jump`` moves the wall clock back.
            RuntimeError: the clock is being advanced already.
            TimeoutError: something stayed busy; the message names it.
        """
        parts = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
        span = (delta or timedelta(0)) + parts
        if span < timedelta(0):
            raise InvalidValueError(f"advance({span}): time does not go back; jump(...) moves the wall clock alone")
        with self._only_one():
            await self.settle()
            end = self._elapsed + span // _MICROSECOND
            while self._alarms and (due := min(alarm.deadline for alarm in self._alarms)) <= end:
                self._elapsed = max(due, self._elapsed)
                self._ring()
                await self.settle()
            self._elapsed = end
            await self.settle()

    async def advance_to(self, moment: datetime | str) -> None:
        """Move on to an instant of the wall clock; see :meth:`advance`.

        Raises:
            InvalidValueError: the instant has passed.
        """
        await self.advance(_instant(moment) - self.now())

    async def settle(self) -> None:
        """Let everything happen that can happen without the clock moving.

        Raises:
            TimeoutError: something stayed busy; the message names it.
        """
        loop = asyncio.get_running_loop()
        limit = self._real.monotonic() + self._patience
        quiet = idle_turns = busy_turns = 0
        while quiet < _QUIET_TURNS and idle_turns < _MOST_TURNS:
            await asyncio.sleep(0)
            if self._is_busy():
                quiet = idle_turns = 0
                busy_turns += 1
                if busy_turns > _TURNS_UNTIL_PAUSE:
                    await self._wait_in_real_time(limit)
                continue
            idle_turns += 1
            quiet = quiet + 1 if _has_nothing_to_do(loop, idle_turns) else 0

    def set(self, moment: datetime | str) -> None:
        """Set the wall clock to an instant. Sleepers and ``monotonic`` do not notice."""
        self._wall += _instant(moment) - self.now()

    def jump(self, delta: timedelta) -> None:
        """Move the wall clock forward or back. Sleepers and ``monotonic`` do not notice."""
        self._wall += delta

    # Within ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _only_one(self) -> Iterator[None]:
        if self._advancing:
            raise RuntimeError("the clock is being advanced already: await one advance(...) before the next")
        self._advancing = True
        try:
            yield
        finally:
            self._advancing = False

    @contextmanager
    def _alarm(self, seconds: float, ring: Callable[[], object]) -> Iterator[None]:
        """Have ``ring`` called after a while, and take the marks off that this code works under."""
        alarm = _Alarm(self._elapsed + max(1, round(seconds * 1_000_000)), ring, asyncio.get_running_loop())
        marks = [mark for mark in _marks_here() if mark.clock is self]
        for mark in marks:
            mark.waiting += 1
        self._alarms[alarm] = None
        try:
            yield
        finally:
            self._alarms.pop(alarm, None)
            self._ringing.pop(alarm, None)
            for mark in marks:
                mark.waiting -= 1

    def _ring(self) -> None:
        for alarm in [alarm for alarm in self._alarms if alarm.deadline <= self._elapsed]:
            del self._alarms[alarm]
            if not alarm.loop.is_closed():
                self._ringing[alarm] = None  # until who waits has taken his turn
                alarm.ring_in_its_loop()

    def _is_busy(self) -> bool:
        return bool(self._ringing) or any(not mark.waiting for mark in self._marks)

    async def _wait_in_real_time(self, limit: float) -> None:
        if self._real.monotonic() > limit:
            busy = [mark.described() for mark in self._marks if not mark.waiting] or ["somebody whom the clock woke"]
            raise TimeoutError(
                f"the clock stands at {self.now().isoformat()} and can not go on: after {self._patience:g} s of real "
                f"time there is still work in progress: {'; '.join(busy)}. A job that waits for something other than "
                "its clock must get it before the clock is advanced, or be interrupted"
            )
        await self._real.sleep(_PAUSE)


class _Alarm:
    """Somebody who waits for an instant."""

    __slots__ = ("_ring", "deadline", "loop")

    def __init__(self, deadline: int, ring: Callable[[], object], loop: asyncio.AbstractEventLoop) -> None:
        self.deadline = deadline
        self.loop = loop
        self._ring = ring

    def ring_in_its_loop(self) -> None:
        if self.loop is asyncio.get_running_loop():
            self._ring()
        else:
            self.loop.call_soon_threadsafe(self._ring)


class _Mark:
    """Work in progress; off while somebody within it waits on the clock."""

    __slots__ = ("clock", "outer", "task", "thread", "waiting", "what")

    def __init__(self, clock: FakeClock, what: object) -> None:
        self.clock = clock
        self.what = what
        self.waiting = 0
        self.outer: _Mark | None = None
        self.task: asyncio.Task[Any] | None = None
        self.thread = current_thread().name

    def described(self) -> str:
        name = str(self.what) or "work"
        where = _place_of(self.task) if self.task is not None else f"in thread {self.thread}"
        return f"{name} ({where})"


class _Busy:
    """The context of one mark."""

    __slots__ = ("_mark", "_marks", "_token")

    def __init__(self, mark: _Mark, marks: dict[_Mark, None]) -> None:
        self._mark = mark
        self._marks = marks

    def __enter__(self) -> None:
        mark = self._mark
        mark.outer = _innermost.get()
        mark.task = _current_task()
        self._token = _innermost.set(mark)
        self._marks[mark] = None

    def __exit__(self, *_: object) -> None:
        del self._marks[self._mark]
        _innermost.reset(self._token)


_innermost: Final[ContextVar[_Mark | None]] = ContextVar("quartzite_fake_clock_mark", default=None)
"""Inherited by tasks and threads that are started within the mark."""


def _marks_here() -> Iterator[_Mark]:
    mark = _innermost.get()
    while mark is not None:
        yield mark
        mark = mark.outer


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # in a thread without an event loop
        return None


def _place_of(task: asyncio.Task[Any]) -> str:
    """Return where a task waits: the innermost function that is a coroutine."""
    waits: Any = task.get_coro()
    frame = None
    while waits is not None and getattr(waits, "cr_frame", None) is not None:
        frame = waits.cr_frame
        waits = waits.cr_await
    if frame is None:
        return f"in task {task.get_name()}"
    return f"in {frame.f_code.co_qualname} at {frame.f_code.co_filename}:{frame.f_lineno}"


def _has_nothing_to_do(loop: asyncio.AbstractEventLoop, idle_turns: int) -> bool:
    # The queue of asyncio's own loops tells at once; it is no public name, so other loops take the long way.
    ready = getattr(loop, "_ready", None)
    return idle_turns >= _BLIND_QUIET_TURNS if ready is None else not ready


def _instant(value: datetime | str) -> datetime:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError as error:
        raise InvalidValueError(f"{value!r} is no instant: write it as 2026-01-01T00:00Z") from error
    if moment.tzinfo is None:
        raise InvalidValueError(f"{value} has no time zone: write Z or an offset, or give a datetime with tzinfo=UTC")
    return moment.astimezone(UTC)
