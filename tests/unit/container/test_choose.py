"""choose: what every ``use_*`` takes."""

from dataclasses import dataclass
from typing import Any

import pytest
from dependency_injector import containers, providers

from quartzite.abc import Clock, JobStore
from quartzite.clock import SystemClock
from quartzite.container import SchedulerContainer, create
from quartzite.container.choose import choose
from quartzite.container.layers import layer_of, layered
from quartzite.errors import SchedulerConfigError
from quartzite.stores.delegating import DelegatingJobStore
from quartzite.stores.ram.store import RamJobStore
from quartzite.testing import FakeClock


@dataclass(frozen=True)
class Offset:
    hours: int


class ShiftedClock(SystemClock):
    def __init__(self, offset: Offset) -> None:
        self.offset = offset


class Application(containers.DeclarativeContainer):
    clock = providers.Singleton(FakeClock)


def chosen(choice: Any, parts: SchedulerContainer, **more: Any) -> providers.Provider[Clock]:
    return choose(Clock, choice, parts, verb="use_clock", **more)


def test_a_class_is_built_by_annotation_once(parts: SchedulerContainer) -> None:
    """Its provider is a singleton, built at the first use."""
    provider = chosen(SystemClock, parts)
    assert isinstance(provider(), SystemClock)
    assert provider() is provider()


def test_options_go_to_the_argument_of_their_type(parts: SchedulerContainer) -> None:
    """A class with options gets them by annotation."""
    clock = chosen(ShiftedClock, parts, options=Offset(3))()
    assert isinstance(clock, ShiftedClock)
    assert clock.offset == Offset(3)


def test_an_instance_is_taken_as_it_is(parts: SchedulerContainer) -> None:
    """Nothing is copied or built."""
    clock = FakeClock()
    assert chosen(clock, parts)() is clock


def test_a_factory_gets_the_parts_and_is_called_once(parts: SchedulerContainer) -> None:
    """Any other callable makes the thing from the scheduler's parts."""
    seen: list[object] = []

    def make(given: SchedulerContainer) -> Clock:
        seen.append(given)
        return FakeClock()

    provider = chosen(make, parts)
    assert seen == []
    assert provider() is provider()
    assert seen == [parts]


def test_a_provider_of_the_application_keeps_its_lifetime(parts: SchedulerContainer) -> None:
    """It is asked without arguments, each time anew."""
    application = Application()
    assert chosen(application.clock, parts)() is application.clock()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (RamJobStore, "use_clock: quartzite.stores.ram.store.RamJobStore is no Clock: derive it from it"),
        ("soon", "use_clock: 'soon' is no Clock: give a class, an instance, or a function"),
        (None, "use_clock: None is no Clock"),
    ],
)
def test_what_can_not_be_one_is_refused_at_once(parts: SchedulerContainer, choice: Any, message: str) -> None:
    """The error names the verb, the thing and what would do."""
    with pytest.raises(SchedulerConfigError, match=message):
        chosen(choice, parts)


def test_options_without_a_class_are_refused(parts: SchedulerContainer) -> None:
    """An instance or a factory has taken its options already."""
    with pytest.raises(SchedulerConfigError, match=r"options=.* go with a class"):
        chosen(FakeClock(), parts, options=Offset(1))


def test_what_a_factory_returns_is_checked(parts: SchedulerContainer) -> None:
    """A factory that returns something else, or is asynchronous, is an error when the part is built."""

    async def later(_: SchedulerContainer) -> Clock:
        return FakeClock()

    with pytest.raises(SchedulerConfigError, match=r"<lambda> gave None, which is no Clock"):
        chosen(lambda _: None, parts)()
    with pytest.raises(SchedulerConfigError, match="it must return one at once"):
        chosen(later, parts)()


class Layer(DelegatingJobStore):
    pass


class LayerWithOffset(DelegatingJobStore):
    def __init__(self, inner: JobStore, clock: Clock, offset: Offset) -> None:
        super().__init__(inner)
        self.clock, self.offset = clock, offset


def test_layers_wrap_from_the_inside_out(parts: SchedulerContainer) -> None:
    """The first layer is next to the store; a class gets the store inside by its annotation."""
    base = create(RamJobStore, parts)
    layers = [layer_of(Layer, parts), layer_of(LayerWithOffset, parts, options=Offset(2))]
    outer = layered(base, layers)
    assert isinstance(outer, LayerWithOffset)
    assert (outer.clock, outer.offset) == (parts.clock(), Offset(2))
    assert isinstance(outer._inner, Layer)
    assert outer.inner_job_store is base


def test_a_layer_must_be_a_store(parts: SchedulerContainer) -> None:
    """Classes of other things, values and functions with options are refused; so is a function's wrong result."""
    with pytest.raises(SchedulerConfigError, match="is no layer"):
        layer_of(SystemClock, parts)  # type: ignore[arg-type]
    with pytest.raises(SchedulerConfigError, match="is no layer"):
        layer_of("layer", parts)  # type: ignore[arg-type]
    with pytest.raises(SchedulerConfigError, match="go with a class"):
        layer_of(Layer.__call__, parts, options=Offset(1))
    with pytest.raises(SchedulerConfigError, match="gave None, which is no job store"):
        layered(create(RamJobStore, parts), [layer_of(lambda _: None, parts)])  # type: ignore[arg-type, return-value]
