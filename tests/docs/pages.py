"""The pages of the documentation and the blocks of Python in them.

Every block that is fenced as ``python`` runs, in the order of the page and in one namespace per page. Blocks may
``await``. ``run(container)`` runs for some seconds of a fake clock, then ends. ``<!-- skip: next -->`` before a block
leaves it out: for what can not run at all, such as a line that needs somebody's password.
"""

import ast
import asyncio
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

from sybil import Document, Example
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser

import quartzite
from quartzite import QuartzContainer, running
from quartzite.testing import FakeClock

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BUILT = ROOT / "docs" / "_build"
# What a module may hold without doing anything when it is imported.
DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
ASSIGNMENTS = (ast.Assign, ast.AnnAssign)


def all_pages() -> list[Path]:
    """Return README.md and every page below docs/ in the order of their names."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if not page.is_relative_to(BUILT)]
    return [README, *sorted(pages)]


def name_of(page: Path) -> str:
    """Return the path of a page as the project's reader knows it."""
    return page.relative_to(ROOT).as_posix()


def run_for_a_moment(container: QuartzContainer, **options: Any) -> None:
    """Stand in for ``quartzite.run``, which ends by a signal only: run for three seconds of a fake clock."""

    async def moment() -> None:
        clock = FakeClock("2026-01-01T00:00Z")
        with container.clock.override(clock):
            async with running(container, **options):
                await clock.advance(seconds=3)

    asyncio.run(moment())


class BlockEvaluator:
    """Run a block of Python, on the event loop of its page when it awaits something."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner

    def __call__(self, example: Example) -> None:
        """Run one block; what it raises goes to the reader with the line of the page."""
        code = compile(padded(example), example.path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        result = eval(code, example.namespace)  # noqa: S307 - the page is ours
        if inspect.iscoroutine(result):
            self._runner.run(result)


def padded(example: Example) -> str:
    """Return a block's source with as many empty lines before it as the page has, so that line numbers agree."""
    before = example.line + int(example.parsed.line_offset)
    return "\n" * before + str(example.parsed)


@contextmanager
def blocks_of(page: Path) -> Iterator[Document]:
    """Open a page; its blocks may be evaluated one after another until the end of the ``with``."""
    module = ModuleType("page_" + page.stem.replace("-", "_"))
    parser = PythonCodeBlockParser()
    with asyncio.Runner() as runner, patch.object(quartzite, "run", run_for_a_moment):
        parser.codeblock_parser = PythonCodeBlockParser.codeblock_parser_class("python", BlockEvaluator(runner))
        document = Document.parse(str(page), parser, SkipParser())
        # A module that can be found by its name: dataclasses, type hints and stored job types look there.
        document.namespace = vars(module)
        sys.modules[module.__name__] = module
        try:
            yield document
        finally:
            del sys.modules[module.__name__]


def module_of_tests(page: Path) -> str | None:
    """Return the tests of a page as the text of a module, or None when the page has none.

    The module holds what the blocks of the page import and define, on the lines of the page; and what they assign,
    where a block does nothing but that.
    """
    lines: list[str] = []
    has_tests = False
    for example in blocks_that_run(page):
        source = padded(example)
        lines += [""] * (source.count("\n") + 1 - len(lines))
        for statement in definitions(source):
            has_tests = has_tests or is_test(statement)
            first = min(node.lineno for node in (statement, *getattr(statement, "decorator_list", ())))
            lines[first - 1 : statement.end_lineno] = source.split("\n")[first - 1 : statement.end_lineno]
    return "\n".join(lines) + "\n" if has_tests else None


def blocks_that_run(page: Path) -> Iterator[Example]:
    """Yield the blocks of a page that no ``skip`` leaves out."""
    skipping = ""
    with blocks_of(page) as document:
        for example in document.examples():
            if isinstance(example.region.evaluator, BlockEvaluator):
                if not skipping:
                    yield example
                skipping = "" if skipping == "next" else skipping
            elif isinstance(example.parsed, tuple):
                action = str(example.parsed[0])
                skipping = "" if action == "end" else action


def definitions(source: str) -> list[ast.stmt]:
    """Return the statements of a block that do nothing when a module that holds them is imported."""
    code = compile(source, "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    awaits = bool(code.co_flags & inspect.CO_COROUTINE)
    statements = ast.parse(source).body
    only_defines = not awaits and all(isinstance(each, (*DEFINITIONS, *ASSIGNMENTS)) for each in statements)
    wanted = (*DEFINITIONS, *ASSIGNMENTS) if only_defines else DEFINITIONS
    return [statement for statement in statements if isinstance(statement, wanted)]


def is_test(statement: ast.stmt) -> bool:
    """Whether pytest would collect what a statement defines."""
    name = getattr(statement, "name", "")
    return bool(name.startswith("Test" if isinstance(statement, ast.ClassDef) else "test_"))
