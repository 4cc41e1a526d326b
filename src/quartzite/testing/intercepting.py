"""InterceptingJobStore: one place through which every call of a store goes."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from quartzite.stores.delegating import DelegatingJobStore

__all__ = ["InterceptingJobStore"]

C = TypeVar("C", bound=type)


def _intercepting(store: C) -> C:
    """Lead every asynchronous member of a class of stores through ``_intercept``."""
    for name, member in inspect.getmembers(DelegatingJobStore, inspect.iscoroutinefunction):
        if not name.startswith("_"):
            setattr(store, name, _intercepted(name, member))
    return store


def _intercepted(name: str, member: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(member)
    async def intercept(self: InterceptingJobStore, *args: Any, **kwargs: Any) -> Any:
        # Straight to the inner store: forwarding through the base class would take a bulk call apart.
        inner = getattr(self._inner, name)
        return await self._intercept(name, lambda: inner(*args, **kwargs), args, kwargs)

    return intercept


@_intercepting
class InterceptingJobStore(DelegatingJobStore):
    """Forwards every call, bulk calls in one piece, through ``_intercept``: what a recorder and a fault need."""

    async def _intercept(
        self,
        name: str,  # noqa: ARG002
        call: Callable[[], Awaitable[Any]],
        args: tuple[Any, ...],  # noqa: ARG002
        kwargs: dict[str, Any],  # noqa: ARG002
    ) -> Any:
        """Do something about a call of the member ``name``, and make it."""
        return await call()
