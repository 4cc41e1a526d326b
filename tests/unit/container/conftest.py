"""Parts of one scheduler, with an application's container of the test's choice."""

from collections.abc import Callable
from typing import Any

import pytest
from dependency_injector import containers

from quartzite.container import QuartzContainer, SchedulerContainer

MakeParts = Callable[..., SchedulerContainer]


@pytest.fixture
def make_parts() -> MakeParts:
    """Makes the container of a scheduler called ``main``."""

    def make(application: containers.Container | None = None, **overrides: Any) -> SchedulerContainer:
        quartz = QuartzContainer(application=application)
        shared = {"clock": quartz.clock, "serializer": quartz.serializer, "type_loader": quartz.type_loader}
        return SchedulerContainer(name="main", application=quartz.application, **{**shared, **overrides})

    return make


@pytest.fixture
def parts(make_parts: MakeParts) -> SchedulerContainer:
    """The container of a scheduler without an application's container."""
    return make_parts()
