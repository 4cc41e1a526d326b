"""Parameters: what a class or function asks for, read from its annotations."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

__all__ = ["Named", "Parameter", "parameters_of"]

UNSAID: Final = inspect.Parameter.empty
"""Stands for an annotation that is not there."""
_TAKES_ONE: Final = {
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
}


@dataclass(frozen=True, slots=True)
class Named:
    """Chooses a provider of the application's container by name: ``Annotated[Database, Named("reports_db")]``.

    A dot leads into a nested container or a configuration: ``Named("gateways.mailer")``, ``Named("config.smtp.host")``.
    """

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a class's constructor or of a function.

    Attributes:
        name: As it is written.
        annotation: The type that is asked for, without ``Annotated`` and ``| None``; ``UNSAID`` when there is none.
        provider: The name that :class:`Named` gave, or None.
        optional: Whether None will do.
        has_default: Whether it may be left out.
        positional: Whether it can not be given by name.
        problem: Why the annotation can not be read, or None.
    """

    name: str
    annotation: Any = UNSAID
    provider: str | None = None
    optional: bool = False
    has_default: bool = False
    positional: bool = False
    problem: str | None = None

    def __str__(self) -> str:
        return self.name if self.annotation is UNSAID else f"{self.name}: {type_name(self.annotation)}"


def parameters_of(target: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a class's constructor or of a function, in their order; ``*args`` take part in nothing.

    Annotations are evaluated where the target was defined. One that can not be evaluated is no error as long as
    nobody needs it: its parameter says what the problem is.

    Raises:
        ValueError: the target is a builtin that does not tell its parameters.
    """
    return tuple(_parameters(target))


def type_name(annotation: Any) -> str:
    """Return a type as messages show it."""
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation)


def _parameters(target: Callable[..., Any]) -> Iterator[Parameter]:
    if isinstance(target, type) and _constructor(target) is None:
        return
    hints = _Hints(target)
    for name, parameter in inspect.signature(target).parameters.items():
        if parameter.kind in _TAKES_ONE:
            yield _read(name, parameter, hints)


def _read(name: str, parameter: inspect.Parameter, hints: _Hints) -> Parameter:
    bare = Parameter(
        name=name,
        has_default=parameter.default is not UNSAID,
        positional=parameter.kind is inspect.Parameter.POSITIONAL_ONLY,
    )
    try:
        annotation = hints.evaluate(name, parameter.annotation)
    except Exception as error:  # noqa: BLE001 - an annotation is an expression of the application: it may raise anything
        return replace(bare, problem=f"the annotation {parameter.annotation!r} can not be read here: {error}")
    return _with_annotation(bare, annotation)


def _with_annotation(parameter: Parameter, annotation: Any) -> Parameter:
    """Take ``Annotated[X | None, Named("n")]`` apart, in either nesting."""
    provider: str | None = None
    optional = False
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *said = get_args(annotation)
            provider = next((one.path for one in said if isinstance(one, Named)), provider)
        elif (inner := _without_none(annotation)) is not None:
            annotation, optional = inner, True
        else:
            return replace(parameter, annotation=annotation, provider=provider, optional=optional)


def _without_none(annotation: Any) -> Any:
    """Return X of ``X | None``; None for anything else."""
    if get_origin(annotation) not in {Union, types.UnionType}:
        return None
    members = get_args(annotation)
    rest = [member for member in members if member is not type(None)]
    if len(rest) == len(members):
        return None
    return rest[0] if len(rest) == 1 else Union[tuple(rest)]  # noqa: UP007 - the members are known only now


class _Hints:
    """Evaluates annotations in the namespace of the function that has them."""

    def __init__(self, target: Callable[..., Any]) -> None:
        function = _function_behind(target)
        module = sys.modules.get(getattr(function, "__module__", None) or "")
        self._globals = getattr(function, "__globals__", None) or (vars(module) if module else {})
        self._locals = _closure(function)

    def evaluate(self, name: str, annotation: Any) -> Any:
        if annotation is UNSAID:
            return UNSAID
        # One at a time: an annotation that only a type checker can read must not spoil the others.
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        return get_type_hints(holder, self._globals, self._locals, include_extras=True)[name]


def _function_behind(target: Any) -> Any:
    while isinstance(target, partial):
        target = target.func
    if isinstance(target, type):
        return _constructor(target)
    if not inspect.isroutine(target):  # an object that can be called
        target = type(target).__call__
    return inspect.unwrap(getattr(target, "__func__", target))


def _constructor(cls: type) -> Any:
    """Return the function whose parameters are those of a class, None when it takes none."""
    for name in ("__init__", "__new__"):
        constructor = getattr(cls, name)
        if constructor is not getattr(object, name):
            return constructor
    return None


def _closure(function: Any) -> dict[str, Any]:
    """Return what a local function sees of the functions around it."""
    cells = getattr(function, "__closure__", None) or ()
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True) if not _is_empty(cell)}


def _is_empty(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - reading is the only way to ask
    except ValueError:
        return True
    return False
