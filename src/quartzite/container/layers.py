"""Layers: decorators around the job store that was chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from quartzite.abc import JobStore
from quartzite.container.activate import create, described
from quartzite.errors import SchedulerConfigError

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer

__all__ = ["Layer", "layer_of", "layered"]

Layer: TypeAlias = Callable[[JobStore], JobStore]
"""Makes a job store that wraps the one inside."""


def layered(base: JobStore, layers: Sequence[Layer]) -> JobStore:
    """Wrap a store, the first layer innermost.

    Raises:
        SchedulerConfigError: a layer returned something else than a job store.
    """
    store = base
    for layer in layers:
        wrapped = layer(store)
        if not isinstance(wrapped, JobStore):
            raise SchedulerConfigError(
                f"decorate_job_store: {described(layer)} gave {wrapped!r}, which is no job store: let it return one"
            )
        store = wrapped
    return store


def layer_of(layer: type[JobStore] | Layer, parts: SchedulerContainer, *, options: object = None) -> Layer:
    """Return the function that wraps a store, of a class or of itself; nothing is built yet.

    Raises:
        SchedulerConfigError: the layer is neither, or options were given with a function.
    """
    if isinstance(layer, type) and issubclass(layer, JobStore):
        given = () if options is None else (options,)
        return lambda inner: create(layer, parts, inner, *given)
    if isinstance(layer, type) or not callable(layer):
        raise SchedulerConfigError(
            f"decorate_job_store: {layer!r} is no layer: give a class of job stores, or a function of the store inside"
        )
    if options is not None:
        raise SchedulerConfigError(f"decorate_job_store: options={options!r} go with a class, not with {layer!r}")
    return layer
