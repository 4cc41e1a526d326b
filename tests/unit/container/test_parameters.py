"""parameters_of: what a class or function asks for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import pytest

from quartzite.container.parameters import UNSAID, Named, parameters_of

if TYPE_CHECKING:
    from decimal import Decimal as Unreachable


class Mailer:
    pass


class WithNothing:
    pass


class WithArguments:
    def __init__(self, mailer: Mailer, plain, *rest: int, limit: int = 3, **more: int) -> None: ...  # type: ignore[no-untyped-def]


def describe(target: Any) -> list[str]:
    return [str(parameter) for parameter in parameters_of(target)]


def test_a_class_asks_for_what_its_constructor_takes() -> None:
    """Annotations are read where the class was written; *rest and **more ask for nothing."""
    mailer, plain, limit = parameters_of(WithArguments)
    assert (mailer.name, mailer.annotation, mailer.has_default) == ("mailer", Mailer, False)
    assert (plain.name, plain.annotation) == ("plain", UNSAID)
    assert (limit.name, limit.annotation, limit.has_default) == ("limit", int, True)


def test_a_class_without_a_constructor_asks_for_nothing() -> None:
    """The arguments of object are none."""
    assert parameters_of(WithNothing) == ()


def test_optional_and_named_are_taken_apart_in_either_nesting() -> None:
    """``Annotated`` may stand around ``| None`` or within it."""

    def function(
        a: Annotated[Mailer | None, Named("x.y")], b: Annotated[Mailer, Named("z")] | None, c: int | str | None
    ) -> None: ...

    a, b, c = parameters_of(function)
    assert (a.annotation, a.provider, a.optional) == (Mailer, "x.y", True)
    assert (b.annotation, b.provider, b.optional) == (Mailer, "z", True)
    assert (c.annotation, c.optional) == (int | str, True)


def test_an_annotation_for_type_checkers_only_spoils_no_other() -> None:
    """An annotation that can not be read is a problem of its own parameter."""

    def function(hidden: Unreachable, mailer: Mailer) -> None: ...

    hidden, mailer = parameters_of(function)
    assert hidden.problem is not None
    assert "'Unreachable' can not be read here" in hidden.problem
    assert mailer.annotation is Mailer


def test_a_local_type_is_found_through_the_closure() -> None:
    """A function within a function sees the types around it, once its body names them."""

    class Local:
        pass

    def function(local: Local) -> Local:
        return Local()

    assert parameters_of(function)[0].annotation is Local


def test_partials_objects_and_methods_tell_what_is_left() -> None:
    """Whatever can be called asks for the arguments that were not given yet."""

    class Callable:
        def __call__(self, mailer: Mailer) -> None: ...

        def method(self, mailer: Mailer, limit: int) -> None: ...

    def function(first: int, mailer: Mailer) -> None: ...

    assert describe(partial(function, 1)) == ["mailer: Mailer"]
    assert describe(Callable()) == ["mailer: Mailer"]
    assert describe(Callable().method) == ["mailer: Mailer", "limit: int"]


def test_positional_only_parameters_are_marked() -> None:
    """What can not be given by name says so."""

    def function(mailer: Mailer, /, limit: int) -> None: ...

    assert [parameter.positional for parameter in parameters_of(function)] == [True, False]


def test_a_builtin_that_tells_nothing_is_refused() -> None:
    """Some builtins have no signature."""
    with pytest.raises(ValueError, match="no signature"):
        parameters_of(iter)
