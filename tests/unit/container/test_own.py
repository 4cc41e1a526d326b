"""Own: one object per instance of a container."""

import pytest
from dependency_injector import containers, providers

from quartzite.container.own import Own
from quartzite.errors import SchedulerConfigError


class Holder(containers.DeclarativeContainer):
    things: Own[list[int]] = Own(list)
    count = providers.Callable(len, things)


class Application(containers.DeclarativeContainer):
    holder = providers.Container(Holder)


def test_each_instance_has_its_own_object() -> None:
    """What is put into one container is not in another, nested ones included."""
    first, second, app = Holder(), Holder(), Application()
    first.things().append(1)
    assert (first.count(), second.count(), app.holder.count()) == (1, 0, 0)
    assert app.holder().things() is app.holder.things()


def test_resetting_singletons_forgets_nothing() -> None:
    """The object is no singleton that a reset would throw away."""
    holder = Holder()
    holder.things().append(1)
    holder.reset_singletons()
    assert holder.things() == [1]


def test_a_container_that_holds_something_can_not_be_copied() -> None:
    """A container on the class of an application would be copied, and what was put into it lost."""

    class Filled(containers.DeclarativeContainer):
        holder = providers.Container(Holder)

    Filled.holder.things().append(1)
    with pytest.raises(SchedulerConfigError, match="on the instance of the application's container"):
        Filled()
