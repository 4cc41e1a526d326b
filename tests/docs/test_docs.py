"""Every block of code in the documentation runs, and the tests that a page shows pass."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import README, ROOT, all_pages, blocks_of, module_of_tests, name_of

PAGES = all_pages()
TESTS_OF_PAGES = {page: source for page in PAGES if (source := module_of_tests(page)) is not None}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_runs(page: Path) -> None:
    """The blocks of a page run one after another as they stand there."""
    run_blocks(page)


def run_blocks(page: Path) -> int:
    """Run the blocks of a page; return how many there are."""
    with blocks_of(page) as document:
        examples = list(document.examples())
        for example in examples:
            example.evaluate()
    return len(examples)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", TESTS_OF_PAGES, ids=name_of)
def test_the_tests_on_the_page_pass(page: Path, tmp_path: Path) -> None:
    """What a page shows as a test is collected by pytest and passes, in a module made of the page's definitions."""
    code, output = run_as_tests(TESTS_OF_PAGES[page], tmp_path / f"test_{page.stem.replace('-', '_')}.py")
    assert code == 0, output


def run_as_tests(source: str, file: Path) -> tuple[int, str]:
    """Run pytest on a file with this project's settings; return its exit code and its output."""
    file.write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    command += ["-p", "no:cacheprovider", "--rootdir", str(file.parent), str(file)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ.copy(), capture_output=True, text=True, timeout=110, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_wrong_block_is_reported_with_its_line(tmp_path: Path) -> None:
    """A block that raises fails its page, and the traceback names the line of the page."""
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nx = 1\n```\n\ntext\n\n```python\nassert x == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        run_blocks(page)
    assert [entry.lineno for entry in caught.traceback if entry.path == page] == [9]


def test_a_block_may_await_and_may_be_left_out(tmp_path: Path) -> None:
    """Blocks share the names and the event loop of their page; one that is marked does not run."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport asyncio\ndone = asyncio.Event()\n```\n"
        "<!-- skip: next -->\n\n```python\nraise RuntimeError\n```\n"
        "```python\nasyncio.get_running_loop().call_soon(done.set)\nawait done.wait()\n```\n"
        "```python\nassert done.is_set()\n```\n"
    )
    assert run_blocks(page) == 5


def test_the_tests_of_a_page_have_what_it_defines_and_nothing_that_is_left_out(tmp_path: Path) -> None:
    """Definitions are taken from blocks that also do something; a block that is left out gives none."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nfrom math import pi\nprint(pi)\nx = 1\n```\n<!-- skip: next -->\n\n```python\nimport nothing\n```\n"
        "```python\nTWO_PI = 2 * pi\n```\n```python\ndef test_pi() -> None:\n    assert TWO_PI > pi\n```\n"
    )
    source = module_of_tests(page)
    assert source is not None
    assert [line for line in source.splitlines() if line] == [
        "from math import pi",
        "TWO_PI = 2 * pi",
        "def test_pi() -> None:",
        "    assert TWO_PI > pi",
    ]


def test_a_failing_test_on_a_page_fails(tmp_path: Path) -> None:
    """The tests of a page really run: one that is wrong fails, at the line of the page."""
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport asyncio\n```\n\n```python\nasyncio.run(asyncio.sleep(0))\n```\n\n"
        "```python\nasync def test_sum() -> None:\n    await asyncio.sleep(0)\n    assert 1 + 1 == 3\n```\n"
    )
    source = module_of_tests(page)
    assert source is not None
    assert "asyncio.run" not in source
    code, output = run_as_tests(source, tmp_path / "test_page.py")
    assert code == 1
    assert "test_page.py:12: assert (1 + 1) == 3" in output or "test_page.py:12: AssertionError" in output, output


def test_the_readme_is_short_and_holds_the_two_commands() -> None:
    """README.md has at most 120 lines, a first example of at most 15, and the commands that need only Python."""
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(text.split("```python\n")[1].split("```")[0].splitlines()) <= 15
    assert "python3 -m venv .venv && .venv/bin/pip install '.[cli]' && .venv/bin/quartzite demo\n" in text
    assert "python3 -m venv .venv && .venv/bin/pip install nox && .venv/bin/nox -s tests\n" in text


def test_the_first_example_says_hello(capsys: pytest.CaptureFixture[str]) -> None:
    """What a newcomer types first really fires, every second, beginning at once."""
    with blocks_of(README) as document:
        next(iter(document.examples())).evaluate()
    assert capsys.readouterr().out.splitlines() == [f"hello at 2026-01-01 00:00:0{second}+00:00" for second in range(4)]
