"""The project's own Python files, parsed, for tests that look at the code rather than run it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "quartzite"
TESTS = ROOT / "tests"


def python_files(folder: Path) -> list[Path]:
    """Return the Python files below a folder, or the file itself when one is given, in the order of their names."""
    return [folder] if folder.is_file() else sorted(folder.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    """Parse a file, once per run."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def place(path: Path, node: ast.AST) -> str:
    """Write where a node stands as ``file:line``, relative to the project."""
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}:{getattr(node, 'lineno', 1)}"


def names_bound_by_imports(tree: ast.Module) -> dict[str, str]:
    """Map each name that an import of the file binds to the dotted name it stands for."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                bound[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return bound


def imported_packages(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield each import of the file with the top package it names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node, (node.module or "").partition(".")[0]


def dotted(node: ast.AST, bound: dict[str, str]) -> str | None:
    """Return the dotted name that an expression reads, through the file's imports; None for anything else."""
    if isinstance(node, ast.Name):
        return bound.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value, bound)
        return None if owner is None else f"{owner}.{node.attr}"
    return None
