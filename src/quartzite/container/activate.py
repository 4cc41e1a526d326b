"""Activation: building a class, or filling in the arguments of a function, by annotation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from quartzite.container.parameters import UNSAID, Parameter, parameters_of, type_name
from quartzite.container.parts import narrower_part, part_of
from quartzite.container.run_scope import is_pending
from quartzite.errors import SchedulerConfigError

if TYPE_CHECKING:
    from quartzite.container.scheduler import SchedulerContainer

__all__ = ["Plan", "create", "described", "plan"]

T = TypeVar("T")
Supply: TypeAlias = Callable[[], Any]
_SETTINGS_BY_NAME: Final = frozenset({"max_concurrency", "misfire_threshold"})
"""Arguments whose type says too little, and whose names are those of settings that parts need."""
_building: ContextVar[tuple[tuple[int, Any], ...]] = ContextVar("quartzite_building", default=())
"""What is being built here right now, outermost first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Generic[T]):
    """How a class or function is called: where each argument comes from, found once.

    Attributes:
        target: What is called.
        positional: Makes the arguments that can not be given by name.
        named: Makes the others.
    """

    target: Callable[..., T]
    positional: tuple[Supply, ...] = ()
    named: tuple[tuple[str, Supply], ...] = ()

    @property
    def supplies(self) -> Iterator[Supply]:
        """All that makes arguments."""
        yield from self.positional
        for _, supply in self.named:
            yield supply

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments, made anew."""
        return [supply() for supply in self.positional], {name: supply() for name, supply in self.named}


def create(target: Callable[..., T], parts: SchedulerContainer, *given: object, **values: Any) -> T:
    """Build a class from a scheduler's parts; a function is called likewise.

    A constructor argument is matched by its annotation, the first that fits: a value that was ``given``, a part of
    the scheduler, a ``logging.Logger`` named for the class, the one provider of that type in the application's
    container, the argument's default, None where the annotation allows it. ``Annotated[T, Named("provider")]``
    chooses a provider by name. Arguments called ``max_concurrency`` and ``misfire_threshold`` get those settings.

    ::

        q.use_job_store(lambda parts: MetricsStore(create(RamJobStore, parts), meter))

    Args:
        target: The class.
        parts: The scheduler's container.
        given: Values that are matched by their type before anything else, such as options.
        values: Arguments by name.

    Raises:
        SchedulerConfigError: an argument that nobody provides, naming class and argument; an argument that is
            provided asynchronously; a class that needs itself.
    """
    with _built_once_at_a_time(target, parts):
        args, kwargs = plan(target, parts, given, values).arguments()
        present = [_present(target, argument) for argument in args]
        return target(*present, **{name: _present(target, argument) for name, argument in kwargs.items()})


def plan(
    target: Callable[..., T],
    parts: SchedulerContainer,
    given: Sequence[object] = (),
    values: dict[str, Any] | None = None,
    *,
    skip: Sequence[str] = (),
    what: str | None = None,
) -> Plan[T]:
    """Find where each argument of a class or function comes from; see :func:`create` for the rules.

    Args:
        target: The class or function.
        parts: The scheduler's container.
        given: Values that are matched by their type before anything else.
        values: Arguments by name.
        skip: Parameters that the caller fills in.
        what: How errors name the target, None for its qualified name.

    Raises:
        SchedulerConfigError: listing every argument that nobody provides, and every value that nobody takes.
    """
    search = _Search(target, parts, given, values or {})
    positional: list[Supply] = []
    named: list[tuple[str, Supply]] = []
    for parameter in search.parameters:
        supply = None if parameter.name in skip else search.supply(parameter)
        if supply is not None and parameter.positional:
            positional.append(supply)
        elif supply is not None:
            named.append((parameter.name, supply))
    if problems := [*search.problems, *search.leftovers(skip)]:
        raise SchedulerConfigError("\n  ".join([f"{what or described(target)} can not be built:", *problems]))
    return Plan(target=target, positional=tuple(positional), named=tuple(named))


def described(target: Any) -> str:
    """Return a class or function as messages name it."""
    name = getattr(target, "__qualname__", None)
    return repr(target) if name is None else f"{target.__module__}.{name}"


class _Search(Generic[T]):
    """Finds the supply of one parameter after the other, and gathers what is wrong."""

    def __init__(
        self, target: Callable[..., T], parts: SchedulerContainer, given: Sequence[object], values: dict[str, Any]
    ) -> None:
        self._target = target
        self._parts = parts
        self._application = parts.application_providers()
        self._given = list(given)
        self._taken: set[int] = set()
        self._values = values
        self.parameters = parameters_of(target)
        self.problems: list[str] = []

    def supply(self, parameter: Parameter) -> Supply | None:
        """Return what makes the argument; None when it can be left out, or is a problem."""
        if parameter.name in self._values:
            return _constant(self._values[parameter.name])
        try:
            found = self._find(parameter)
        except SchedulerConfigError as error:
            self.problems.append(f"argument {parameter.name!r}: {error}")
            return None
        if found is None and not parameter.has_default and parameter.optional:
            return _constant(None)
        if found is None and not parameter.has_default:
            self.problems.append(f"argument {parameter.name!r}: {self._reason(parameter)}")
        return found

    def leftovers(self, skip: Sequence[str]) -> Iterator[str]:
        """Yield a problem for each value that no parameter takes."""
        names = [parameter.name for parameter in self.parameters if parameter.name not in skip]
        for name in self._values.keys() - set(names):
            yield f"there is no argument {name!r}: there are {', '.join(names) or 'none'}"
        for index, value in enumerate(self._given):
            if index not in self._taken:
                kind = type(value).__name__
                yield f"no argument takes the {kind} that was given: annotate one with {kind}"

    def _find(self, parameter: Parameter) -> Supply | None:
        if parameter.provider is not None:
            return self._application.named(parameter.provider)
        wanted = parameter.annotation
        if wanted is UNSAID or parameter.problem is not None:
            return None
        for index, value in enumerate(self._given):
            if isinstance(wanted, type) and wanted is not object and isinstance(value, wanted):
                self._taken.add(index)
                return _constant(value)
        return self._find_provided(parameter)

    def _find_provided(self, parameter: Parameter) -> Supply | None:
        wanted = parameter.annotation
        if wanted is logging.Logger:
            return _constant(logging.getLogger(described(self._target)))
        if parameter.name in _SETTINGS_BY_NAME:
            setting = getattr(self._parts.settings(), parameter.name)
            return None if setting is None else _constant(setting)
        if (part := part_of(self._parts, wanted, optional=parameter.optional)) is not None:
            return part
        # A text or a number says nothing about what it is for: such values are asked for by name only.
        if getattr(wanted, "__module__", None) == "builtins":
            return None
        return self._application.of_type(wanted) or narrower_part(self._parts, wanted)

    def _reason(self, parameter: Parameter) -> str:
        if parameter.problem is not None:
            return parameter.problem
        if parameter.annotation is UNSAID:
            return "it has no annotation: say which type it needs, or give it a default"
        wanted = type_name(parameter.annotation)
        if getattr(parameter.annotation, "__module__", None) == "builtins":
            return f'what is annotated {wanted} is asked for by name: Annotated[{wanted}, Named("provider")]'
        if not self._application.exists:
            return (
                f"nobody provides a {wanted}: the scheduler has no such part, and there is no container of the "
                "application; give one, QuartzContainer(application=...)"
            )
        return (
            f"nobody provides a {wanted}: the scheduler has no such part, and the application's container no provider "
            f"of that type; add one, providers.Factory({wanted}, ...)"
        )


@contextmanager
def _built_once_at_a_time(target: Any, parts: SchedulerContainer) -> Iterator[None]:
    building = _building.get()
    entry = (id(parts), target)
    if entry in building:
        path = " -> ".join(described(one) for _, one in (*building[building.index(entry) :], entry))
        raise SchedulerConfigError(f"{described(target)} can not be built: it needs itself ({path})")
    token = _building.set((*building, entry))
    try:
        yield
    finally:
        _building.reset(token)


def _present(target: Any, argument: Any) -> Any:
    """Return an argument that is there at once; an asynchronous resource is, once it was initialized."""
    if isinstance(argument, asyncio.Future) and argument.done():
        return argument.result()
    if is_pending(argument):
        if isinstance(argument, Coroutine):
            argument.close()  # else it would complain that nobody awaited it
        raise SchedulerConfigError(
            f"{described(target)} can not be built: one of its arguments is provided asynchronously; take the resource "
            "itself, or await it when the part is initialized"
        )
    return argument


def _constant(value: Any) -> Supply:
    return lambda: value
