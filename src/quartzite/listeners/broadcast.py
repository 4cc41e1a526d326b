"""Broadcast: one listener that passes everything on to several."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import isawaitable
from typing import Any, Final, Generic, TypeVar

from quartzite.abc import JobListener, SchedulerListener, TriggerListener
from quartzite.errors import InvalidValueError
from quartzite.execution import JobContext
from quartzite.triggers.base import Trigger

__all__ = ["BroadcastJobListener", "BroadcastSchedulerListener", "BroadcastTriggerListener"]

L = TypeVar("L", bound=JobListener | TriggerListener | SchedulerListener)
C = TypeVar("C", bound=type)
logger: Final = logging.getLogger("quartzite.listeners")


class _Broadcast(Generic[L]):
    """The children of a broadcast listener, in the order in which they are told."""

    def __init__(self, name: str, listeners: Iterable[L] = ()) -> None:
        if not name.strip():
            raise InvalidValueError(f"the name {name!r} of a broadcast listener is blank: give it a text")
        self._name = name
        self._children: tuple[L, ...] = tuple(listeners)

    @property
    def name(self) -> str:
        """Identity in the listener manager."""
        return self._name

    @property
    def listeners(self) -> list[L]:
        """The listeners that are told, in order: a snapshot."""
        return list(self._children)

    def add_listener(self, listener: L) -> None:
        """Tell one more listener, after the others."""
        self._children = (*self._children, listener)

    def remove_listener(self, listener: L | str) -> bool:
        """Tell a listener no more, given itself or its name; tell whether it was there."""
        left = tuple(child for child in self._children if child is not listener and child.name != listener)
        found = len(left) < len(self._children)
        self._children = left
        return found

    async def _pass_on(self, event: str, *args: Any) -> None:
        for child in self._children:
            try:
                told = getattr(child, event)(*args)
                if isawaitable(told):
                    await told
            except Exception:
                logger.exception("A listener failed.", extra={"listener": child.name, "event": event})


def _passing_on(contract: type) -> Callable[[C], C]:
    """Give a class a method for each event of a contract that it does not define itself."""

    def decorate(broadcast: C) -> C:
        for event, method in vars(contract).items():
            if not event.startswith("_") and callable(method) and event not in vars(broadcast):
                setattr(broadcast, event, _pass_on(event, method))
        return broadcast

    return decorate


def _pass_on(event: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    async def pass_on(self: _Broadcast[Any], *args: Any) -> None:
        await self._pass_on(event, *args)

    return pass_on


@_passing_on(JobListener)
class BroadcastJobListener(_Broadcast[JobListener], JobListener):
    """Passes every event on to several job listeners; one that fails is logged, and the next one is told.

    Args:
        name: Identity in the listener manager.
        listeners: Whom to tell, in order.

    Raises:
        InvalidValueError: the name is blank.
    """


@_passing_on(SchedulerListener)
class BroadcastSchedulerListener(_Broadcast[SchedulerListener], SchedulerListener):
    """Passes every event on to several scheduler listeners; one that fails is logged, and the next one is told.

    Args:
        name: Identity in the listener manager.
        listeners: Whom to tell, in order.

    Raises:
        InvalidValueError: the name is blank.
    """


@_passing_on(TriggerListener)
class BroadcastTriggerListener(_Broadcast[TriggerListener], TriggerListener):
    """Passes every event on to several trigger listeners; one that fails is logged, and the next one is told.

    Vetoes are the exception: the first listener that vetoes ends the asking, and one that fails fails the firing,
    because a veto that was not heard would let a job run that must not.

    Args:
        name: Identity in the listener manager.
        listeners: Whom to tell, in order.

    Raises:
        InvalidValueError: the name is blank.
    """

    async def veto_job_execution(self, trigger: Trigger, context: JobContext) -> bool:
        """Ask one after the other until one vetoes."""
        for child in self._children:
            vetoed: Any = child.veto_job_execution(trigger, context)
            if await vetoed if isawaitable(vetoed) else vetoed:
                return True
        return False
