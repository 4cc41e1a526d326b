"""The inner rings need nothing but the standard library, and the rules neither wait, log nor ask the time."""

import ast
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGE, imported_packages, place, python_files, tree_of

# Per package of rings 0 to 2: the libraries it may import beside the standard one.
ALLOWED: dict[str, set[str]] = {
    "errors.py": set(),
    "timezones.py": set(),
    "windows_zones.py": set(),
    "dates.py": set(),
    "model": set(),
    "cron": {"croniter"},
    "calendars": set(),
    "triggers": {"dateutil"},
    "rules": set(),
}
NOT_IN_RULES = {"asyncio", "anyio", "logging", "time", "threading"}


def files_of(name: str) -> list[Path]:
    """Return the files of a module or package that exists already."""
    where = PACKAGE / name
    return python_files(where) if where.exists() else []


@pytest.mark.parametrize(("name", "libraries"), ALLOWED.items())
def test_the_inner_rings_import_the_standard_library(name: str, libraries: set[str]) -> None:
    """Values, calendars, triggers and rules work where nothing else is installed."""
    allowed = sys.stdlib_module_names | {"quartzite"} | libraries
    found = [
        f"{place(path, node)} imports {package}"
        for path in files_of(name)
        for node, package in imported_packages(tree_of(path))
        if package not in allowed
    ]
    assert not found, "; ".join(found)


def test_rules_decide_and_do_nothing_else() -> None:
    """No rule is a coroutine, and none imports what waits, logs or tells the time."""
    found = []
    for path in files_of("rules"):
        tree = tree_of(path)
        found += [place(path, node) for node, package in imported_packages(tree) if package in NOT_IN_RULES]
        found += [place(path, node) for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef | ast.Await)]
    assert not found, "; ".join(found)
