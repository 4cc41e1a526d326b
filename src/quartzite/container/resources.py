"""Resources of the application: opened before the schedulers, closed after them."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from dependency_injector import containers, providers

from quartzite.container.application import declared_providers
from quartzite.container.run_scope import is_pending

__all__ = ["open_resources"]

_LOGGER: Final = logging.getLogger("quartzite.container")


@asynccontextmanager
async def open_resources(container: containers.Container | None) -> AsyncIterator[None]:
    """Initialize the resources that nobody has initialized yet, and shut those down again at the end.

    What a resource depends on is opened before it and closed after it. Resources that the application has initialized
    itself are left to it.

    Raises:
        BaseException: a resource could not be opened; those before it are closed again.
    """
    opened: list[providers.Resource[Any]] = []
    try:
        for resource in _in_order(container):
            opened.append(resource)
            value = resource.init()
            if is_pending(value):
                await value
        yield
    finally:
        for resource in reversed(opened):
            await _close(resource)


def _in_order(container: containers.Container | None) -> list[providers.Resource[Any]]:
    if container is None:
        return []
    places = {id(provider): place for place, (_, provider) in enumerate(declared_providers(container))}
    found = [one for one in container.traverse(types=[providers.Resource]) if not one.initialized]
    found.sort(key=lambda one: places.get(id(one), len(places)))  # traversal has no order of its own
    # Whatever a resource depends on depends itself on fewer.
    return sorted(found, key=lambda one: len(list(one.traverse(types=[providers.Resource]))))


async def _close(resource: providers.Resource[Any]) -> None:
    try:
        closing = resource.shutdown()
        if is_pending(closing):
            await closing
    except Exception:
        _LOGGER.exception("A resource of the application could not be shut down.", extra={"resource": str(resource)})
