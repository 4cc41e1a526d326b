"""open_resources: the application's resources live at least as long as the schedulers."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from dependency_injector import containers, providers

from quartzite import QuartzContainer, add_quartz, running
from quartzite.container.resources import open_resources


def open_plain(log: list[str], name: str, *_: object) -> Iterator[str]:
    log.append(f"open {name}")
    yield name
    log.append(f"close {name}")


async def open_async(log: list[str], name: str, *_: object) -> AsyncIterator[str]:
    log.append(f"open {name}")
    yield name
    log.append(f"close {name}")


async def refuse(log: list[str]) -> AsyncIterator[str]:
    raise OSError("no database")
    yield


def stuck(log: list[str]) -> Iterator[str]:
    yield "stuck"
    raise OSError("stuck")


class Base(containers.DeclarativeContainer):
    log: providers.Singleton[list[str]] = providers.Singleton(list)


class OnlyPlain(Base):
    one = providers.Resource(open_plain, Base.log, "one")


class OnlyAsync(Base):
    one = providers.Resource(open_async, Base.log, "one")


class Mixed(Base):
    # Declared in the wrong order: what it depends on is opened first all the same.
    outer = providers.Resource(open_plain, Base.log, "outer")
    inner = providers.Resource(open_async, Base.log, "inner")
    outer.add_args(inner)


@pytest.mark.parametrize(
    ("kind", "names"), [(OnlyPlain, ["one"]), (OnlyAsync, ["one"]), (Base, []), (Mixed, ["inner", "outer"])]
)
async def test_resources_are_opened_and_closed(kind: Any, names: list[str]) -> None:
    """Only plain ones, only asynchronous ones, none or both: dependencies first, and last in closing."""
    container = kind()
    async with open_resources(container):
        assert container.log() == [f"open {name}" for name in names]
    assert container.log() == [f"open {name}" for name in names] + [f"close {name}" for name in reversed(names)]


async def test_what_the_application_opened_is_left_to_it() -> None:
    """A resource that was initialized before stays open."""
    container = OnlyPlain()
    container.init_resources()
    async with open_resources(container):
        pass
    assert container.log() == ["open one"]
    container.shutdown_resources()


async def test_without_a_container_there_is_nothing_to_open() -> None:
    """The schedulers of a script have no application's container."""
    async with open_resources(None):
        pass


async def test_a_resource_that_fails_closes_those_before_it() -> None:
    """The error comes out."""

    class Failing(OnlyPlain):
        refused = providers.Resource(refuse, Base.log)

    container = Failing()
    with pytest.raises(OSError, match="no database"):
        async with open_resources(container):
            pytest.fail("it opened")
    assert container.log() == ["open one", "close one"]


async def test_a_resource_that_does_not_close_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The others are closed nevertheless."""

    class Stuck(OnlyPlain):
        stuck = providers.Resource(stuck, Base.log)

    container = Stuck()
    async with open_resources(container):
        pass
    assert container.log() == ["open one", "close one"]
    assert "could not be shut down" in caplog.text


async def test_they_are_open_before_the_first_part_is_built() -> None:
    """A job store that takes a resource gets it opened, and it is closed after the store was shut down."""

    class Application(Base):
        name = providers.Resource(open_async, Base.log, "name")

    application = Application()
    container = QuartzContainer(application=application)
    add_quartz(container)
    async with running(container):
        assert application.log() == ["open name"]
    assert application.log() == ["open name", "close name"]
