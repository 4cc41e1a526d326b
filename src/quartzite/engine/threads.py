"""WorkerThreads: threads for blocking jobs, made when they are needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from itertools import count
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, NamedTuple, TypeVar

__all__ = ["WorkerThreads"]

T = TypeVar("T")
_numbers: Final = count(1)


class _Call(NamedTuple):
    function: Callable[[], Any]
    context: Context
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]


class WorkerThreads:
    """Runs blocking calls for one event loop, which alone may use it.

    A thread is made when all others are occupied, up to a limit, and used again. Threads are daemons: a job that
    never returns does not keep the process from ending once its shutdown has timed out.
    """

    __slots__ = ("_limit", "_name", "_occupied", "_queue", "_threads")

    def __init__(self, *, limit: int, name: str) -> None:
        self._limit = limit
        self._name = name
        self._queue: SimpleQueue[_Call | None] = SimpleQueue()
        self._threads = 0
        self._occupied = 0

    def submit(self, function: Callable[[], T]) -> asyncio.Future[T]:
        """Run a call in a thread, within a copy of the present context, and return the future of its outcome."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._occupied += 1
        if self._occupied > self._threads and self._threads < self._limit:
            self._threads += 1
            Thread(target=_serve, args=(self._queue,), name=f"{self._name}-{next(_numbers)}", daemon=True).start()
        self._queue.put(_Call(function, copy_context(), loop, future))
        future.add_done_callback(self._free)
        return future

    def close(self) -> None:
        """Let every thread end once it has nothing to do; a later call makes a new one."""
        for _ in range(self._threads):
            self._queue.put(None)
        self._threads = 0

    def _free(self, _: asyncio.Future[Any]) -> None:
        self._occupied -= 1


def _serve(queue: SimpleQueue[_Call | None]) -> None:
    while (call := queue.get()) is not None:
        _serve_one(call)
        del call  # an idle thread keeps nothing of the last job alive


def _serve_one(call: _Call) -> None:
    outcome, error = _outcome_of(call.context, call.function)
    with suppress(RuntimeError):  # the loop was closed while the job ran: nobody is left to hear of it
        call.loop.call_soon_threadsafe(_deliver, call.future, outcome, error)
    del call, outcome, error  # the frames of the error lead to this one


def _outcome_of(context: Context, function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return context.run(function), None
    except BaseException as error:  # noqa: BLE001 - whatever a job raises belongs to its run, not to the thread
        return None, error


def _deliver(future: asyncio.Future[Any], outcome: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(outcome)
    elif isinstance(error, Exception | asyncio.CancelledError) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:
        # A future refuses StopIteration, and a task that is told to exit ends the event loop: that is not for a job.
        future.set_exception(_renamed(error))


def _renamed(error: BaseException) -> RuntimeError:
    renamed = RuntimeError(f"the job raised {type(error).__name__}: {error}")
    renamed.__cause__ = error
    return renamed
