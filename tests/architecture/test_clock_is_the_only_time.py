"""Only ``clock.py`` reads the machine's time or waits on it, so that a test's clock drives everything else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGE, dotted, names_bound_by_imports, place, python_files, tree_of

THE_CLOCK = PACKAGE / "clock.py"
READS = {
    f"time.{name}{unit}" for name in ("time", "monotonic", "perf_counter", "process_time") for unit in ("", "_ns")
} | {
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "time.localtime",
    "time.gmtime",
}
WAITS = {"time.sleep", "asyncio.sleep", "anyio.sleep", "asyncio.sleep_until", "anyio.sleep_until"}
# asyncio.sleep(0) gives the loop a turn; it waits for nothing.
TURNS = {"asyncio.sleep", "anyio.sleep"}


def uses_of_real_time(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Yield every expression that names one of the forbidden functions, called or handed on."""
    bound = names_bound_by_imports(tree)
    turns = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call) and _waits_for_nothing(node, bound)}
    for node in ast.walk(tree):
        name = dotted(node, bound)
        if name in READS | WAITS and id(node) not in turns:
            yield node, name


def _waits_for_nothing(call: ast.Call, bound: dict[str, str]) -> bool:
    zero = len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0
    return zero and dotted(call.func, bound) in TURNS


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_but_the_clock_reads_the_machines_time(path: Path) -> None:
    """A module asks its clock for the time, and waits on its clock."""
    found = [f"{place(path, node)} uses {name}" for node, name in uses_of_real_time(tree_of(path))]
    assert path == THE_CLOCK or not found, "; ".join(found) + ": take a Clock and use its now(), monotonic(), sleep()"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import time\ntime.time()", ["time.time"]),
        ("import time as t\nx = t.monotonic", ["time.monotonic"]),
        ("from time import sleep as pause\npause(1)", ["time.sleep"]),
        ("from datetime import datetime, UTC\ndatetime.now(UTC)", ["datetime.datetime.now"]),
        ("import datetime as dt\ndt.date.today()", ["datetime.date.today"]),
        ("import asyncio\nasyncio.sleep(0.1)", ["asyncio.sleep"]),
        ("import asyncio\nasyncio.sleep(0)", []),
        ("from asyncio import sleep\nsleep(0)\nsleep(delay)", ["asyncio.sleep"]),
        ("from datetime import datetime\ndatetime(2026, 1, 1)", []),
        ("self.clock.sleep(1)\nclock.now()", []),
    ],
)
def test_the_rule_finds_what_it_forbids(source: str, expected: list[str]) -> None:
    """The search sees through aliases, sees functions that are handed on, and lets a bare turn of the loop pass."""
    assert [name for _, name in uses_of_real_time(ast.parse(source))] == expected
