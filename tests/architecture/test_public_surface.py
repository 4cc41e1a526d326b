"""What ``import quartzite`` offers: a list that is short, true and documented."""

import ast
import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from types import ModuleType

import pytest

import quartzite
from tests.architecture.sources import PACKAGE, tree_of

MOST_NAMES = 60


def all_modules() -> list[str]:
    """Return the dotted names of the package and of every module in it."""
    found = pkgutil.walk_packages([str(PACKAGE)], prefix="quartzite.")
    return ["quartzite", *sorted(module.name for module in found if not module.name.endswith("__main__"))]


def documented(name: str, value: object) -> bool:
    """Whether a public name has a docstring of its own, not one that a dataclass or a base class made."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return True  # a constant is described where it is defined
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    return bool(text) and not str(text).startswith(f"{name}(")


def test_the_list_of_names_is_sorted_and_short() -> None:
    """The names stand in one order, none twice, and a reader can take them in."""
    assert list(quartzite.__all__) == sorted(set(quartzite.__all__))
    assert len(quartzite.__all__) <= MOST_NAMES


def test_the_list_of_names_is_complete() -> None:
    """A name that the top package binds without an underscore is listed, or is one of its modules."""
    bound = {
        name
        for name, value in vars(quartzite).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert bound <= set(quartzite.__all__), sorted(bound - set(quartzite.__all__))


def test_every_name_is_there_and_documented() -> None:
    """A public name can be imported and says what it is for."""
    assert [name for name in quartzite.__all__ if not documented(name, getattr(quartzite, name))] == []


@pytest.mark.parametrize("module_name", all_modules())
def test_every_list_of_names_is_true(module_name: str) -> None:
    """Each module can be imported on its own, and each name in its ``__all__`` exists there, once."""
    module = importlib.import_module(module_name)
    names = list(getattr(module, "__all__", ()))
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


def test_an_undocumented_name_is_found() -> None:
    """A docstring that a dataclass made, or that stands on a base class only, is none."""
    bare: type = dataclass(type("Bare", (), {}))
    child = type("Child", (ValueError,), {})
    assert not documented("Bare", bare)
    assert not documented("Child", child)
    assert documented("documented", documented)


def test_the_top_package_only_re_exports() -> None:
    """``quartzite/__init__.py`` holds imports, ``__all__`` and the version: there is nothing to read in it."""
    body = tree_of(PACKAGE / "__init__.py").body
    other = [
        node
        for node in body
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    assert not other


def test_the_package_is_marked_as_typed() -> None:
    """The marker file of PEP 561 stands in the package, so that users' type checkers read our annotations."""
    assert (PACKAGE / "py.typed").exists()
