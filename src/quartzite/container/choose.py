"""choose: a class, an instance or a factory becomes the provider of a part."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from dependency_injector import providers

from quartzite.container.activate import create, described
from quartzite.errors import SchedulerConfigError

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer

__all__ = ["Choice", "choose", "maker_of"]

T = TypeVar("T")
Choice: TypeAlias = type[T] | T | Callable[["SchedulerContainer"], T]
"""What every ``use_*`` takes: a class, an instance, or a factory of the scheduler's parts."""


def choose(
    contract: type[T],
    choice: Choice[T] | providers.Provider[T],
    parts: SchedulerContainer,
    *,
    verb: str,
    options: object = None,
    values: dict[str, Any] | None = None,
) -> providers.Provider[T]:
    """Return the provider of a part: what was chosen, built once; see :func:`maker_of`."""
    make = maker_of(contract, choice, parts, verb=verb, options=options, values=values)
    if isinstance(choice, providers.Provider):
        return providers.Callable(make)  # whether it is built once is the application's matter
    return providers.ThreadSafeSingleton(make)


def maker_of(
    contract: type[T],
    choice: Choice[T] | providers.Provider[T],
    parts: SchedulerContainer,
    *,
    verb: str,
    options: object = None,
    values: dict[str, Any] | None = None,
) -> Callable[[], T]:
    """Return what makes the chosen thing; nothing is built yet.

    Args:
        contract: What the chosen thing must be.
        choice: A class, built by annotation (see :func:`create`); an instance, taken as it is; a provider of the
            application's container; any other callable, called with the scheduler's parts.
        parts: The scheduler's container.
        verb: Names the call in errors.
        options: Options of a class, given to the argument that is annotated with their type.
        values: Arguments of a class, by name.

    Raises:
        SchedulerConfigError: the choice is none of these, or options were given with something else than a class.
    """
    if isinstance(choice, type):
        if not issubclass(choice, contract):
            raise SchedulerConfigError(f"{verb}: {described(choice)} is no {contract.__name__}: derive it from it")
        return partial(create, choice, parts, *(() if options is None else (options,)), **(values or {}))
    if options is not None:
        raise SchedulerConfigError(f"{verb}: options={options!r} go with a class, not with {choice!r}")
    if isinstance(choice, contract):
        return lambda: choice
    if not callable(choice):
        raise SchedulerConfigError(
            f"{verb}: {choice!r} is no {contract.__name__}: give a class, an instance, or a function that makes one of "
            "the scheduler's parts"
        )
    make = choice if isinstance(choice, providers.Provider) else partial(choice, parts)
    return partial(_checked, contract, verb, choice, make)


def _checked(contract: type[T], verb: str, choice: Any, make: Callable[[], T]) -> T:
    made = make()
    if not isinstance(made, contract):
        if isinstance(made, Coroutine):
            made.close()  # else it would complain that nobody awaited it
        raise SchedulerConfigError(
            f"{verb}: {described(choice)} gave {made!r}, which is no {contract.__name__}: it must return one at once"
        )
    return made
