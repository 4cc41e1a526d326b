"""The leases that the running code holds: how a function finds out, from inside, that it is locked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from quartzite.errors import LockError
from quartzite.leases.lease import Lease

__all__ = ["assert_locked", "current_lease", "extend_lock", "extend_lock_blocking", "hold", "holding", "is_held_for"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """A lease in the hand of the running code.

    Attributes:
        lease: The lease.
        home: The event loop that its provider belongs to.
        target: The function or class that was given it, or None.
        outer: What was held already when it was taken.
    """

    lease: Lease
    home: asyncio.AbstractEventLoop
    target: Any
    outer: _Held | None


_innermost: Final[ContextVar[_Held | None]] = ContextVar("quartzite_lease", default=None)
"""Inherited by the tasks and threads that the locked code starts."""


def hold(lease: Lease, *, home: asyncio.AbstractEventLoop | None = None, target: Any = None) -> Token[_Held | None]:
    """Note that the code that runs in this context from now on holds a lease."""
    loop = home or asyncio.get_running_loop()
    return _innermost.set(_Held(lease=lease, home=loop, target=target, outer=_innermost.get()))


@contextmanager
def holding(lease: Lease, *, home: asyncio.AbstractEventLoop | None = None) -> Iterator[None]:
    """Note that the block holds a lease."""
    token = hold(lease, home=home)
    try:
        yield
    finally:
        _innermost.reset(token)


def is_held_for(name: str | None = None, *, target: Any = None) -> bool:
    """Tell whether the running code holds a lease of this name, or one that was taken for this target.

    What was taken for a class was taken for those that it is derived from, too.
    """
    held = _innermost.get()
    while held is not None:
        if held.lease.name == name or (target is not None and _is_for(held.target, target)):
            return True
        held = held.outer
    return False


def _is_for(held: Any, target: Any) -> bool:
    classes = isinstance(held, type) and isinstance(target, type)
    return held is target or (classes and issubclass(held, target))


def current_lease() -> Lease | None:
    """Return the lease that the running code holds, the one that was taken last; None without any."""
    held = _innermost.get()
    return None if held is None else held.lease


def assert_locked() -> None:
    """Make sure that the running code holds a lease that has not ended.

    For the first line of work that must never run unlocked.

    Raises:
        LockError: it holds none, or the lease was lost or is over.
    """
    held = _held()
    if held.lease.lost.is_set:
        raise LockError(f"{held.lease.lost.reason}: stop")
    if held.lease.has_ended:
        raise LockError(f"lock {held.lease.name!r} has lasted its lock_at_most_for: stop, or extend it earlier")


async def extend_lock(at_most_for: timedelta, at_least_for: timedelta = timedelta(0)) -> None:
    """Let the lease of the running code last ``at_most_for`` from now, and at least ``at_least_for``.

    Raises:
        LockError: there is none, it has ended, or the provider can not be reached.
        InvalidValueError: the durations do not go together.
    """
    held = _held()
    if held.home is asyncio.get_running_loop():
        extended = await held.lease.extend(at_most_for, at_least_for)
    else:
        work = held.lease.extend(at_most_for, at_least_for)
        extended = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, held.home))
    _check_extended(held.lease, extended)


def extend_lock_blocking(at_most_for: timedelta, at_least_for: timedelta = timedelta(0)) -> None:
    """Do what :func:`extend_lock` does, from a plain function that runs in a thread.

    Raises:
        LockError: there is no lease, it has ended, the provider can not be reached; or this is the thread of the event
            loop, which can not wait for itself.
        InvalidValueError: the durations do not go together.
    """
    held = _held()
    if asyncio._get_running_loop() is held.home:
        raise LockError(f"lock {held.lease.name!r}: on the event loop, await extend_lock(...) instead")
    work = held.lease.extend(at_most_for, at_least_for)
    _check_extended(held.lease, asyncio.run_coroutine_threadsafe(work, held.home).result())


def _held() -> _Held:
    held = _innermost.get()
    if held is None:
        raise LockError(
            "no lock is held here: run this as a job of a scheduler with job locks, with @scheduler_lock or by a "
            "LockingExecutor"
        )
    return held


def _check_extended(lease: Lease, extended: bool) -> None:
    if not extended:
        raise LockError(f"lock {lease.name!r} could not be extended: it had ended before")
