"""add_quartz: adds a scheduler to a container."""

from __future__ import annotations

from typing import Any

from dependency_injector import providers

from quartzite.builder.content import DeclaredContent
from quartzite.builder.scheduler import SchedulerBuilder
from quartzite.container.quartz import QuartzContainer, quartz_of
from quartzite.container.scheduler import SchedulerContainer
from quartzite.model.identity import DEFAULT_SCHEDULER_NAME, SchedulerIdentity

__all__ = ["add_quartz"]


def add_quartz(
    container: QuartzContainer | providers.Container[Any], name: str = DEFAULT_SCHEDULER_NAME
) -> SchedulerBuilder:
    """Add a scheduler to a container, and return the builder that says what it is made of.

    Nothing is built before ``running(container)``. Called again for the default scheduler, it goes on with that one;
    any other name can be added once.

    Args:
        container: A :class:`QuartzContainer`, or the provider of one that stands in the application's container.
        name: What the scheduler is called; all nodes of a cluster share it.

    Raises:
        SchedulerConfigError: the name is taken, the container is running, or it is no QuartzContainer.
        InvalidValueError: the name is blank or too long.
    """
    SchedulerIdentity(scheduler_name=name)
    quartz = quartz_of(container)
    schedulers = quartz.schedulers()
    if name == DEFAULT_SCHEDULER_NAME and name in schedulers:
        parts = schedulers[name]
        content = parts.content()
        if isinstance(content, DeclaredContent):
            return SchedulerBuilder(parts, content, schedulers)
    content = DeclaredContent()
    parts = SchedulerContainer(
        name=name,
        application=quartz.application,
        clock=quartz.clock,
        serializer=quartz.serializer,
        type_loader=quartz.type_loader,
        content=providers.Object(content),
    )
    schedulers.add(name, parts)
    return SchedulerBuilder(parts, content, schedulers)
