"""Every test says the rule it proves."""

import ast
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGE, ROOT, TESTS, place, python_files, tree_of

FILES = [path for path in python_files(TESTS) if path.name.startswith("test_")]
CONTRACTS = python_files(PACKAGE / "testing" / "contracts")


def without_docstring(tree: ast.Module) -> list[ast.AST]:
    """Return the test functions and methods that have no docstring."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]


@pytest.mark.parametrize("path", FILES + CONTRACTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_test_states_its_rule(path: Path) -> None:
    """A test function has a docstring: the sentence that is true when it passes."""
    assert not [place(path, node) for node in without_docstring(tree_of(path))]


def test_a_test_without_its_rule_is_found() -> None:
    """Functions and methods are looked at, asynchronous ones too; other functions are free."""
    source = "def test_a(): ...\nclass TestB:\n    async def test_b(self): ...\ndef c(): ...\ndef test_d():\n    'D.'"
    assert [getattr(node, "name", "") for node in without_docstring(ast.parse(source))] == ["test_a", "test_b"]
