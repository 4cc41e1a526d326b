"""The option ``--vectors DIR``, the fixture that reads a file of that folder, and the counts at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.vectors import Tally, Vectors

SHIPPED = Path(__file__).parent.parent / "vectors"

_TALLY = pytest.StashKey[Tally]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run name another folder of records in the same format."""
    parser.addoption(
        "--vectors",
        type=Path,
        default=SHIPPED,
        metavar="DIR",
        help="run the conformance tests on the records of DIR (default: tests/vectors)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker and refuse a folder without any file."""
    config.addinivalue_line("markers", "vectors(file): the test compares the records of this file of --vectors")
    # The option is unknown when pytest was started above this folder: then the shipped records are meant.
    folder = Path(config.getoption("vectors", default=SHIPPED)).resolve()
    if not any(folder.glob("*.json")):
        raise pytest.UsageError(f"--vectors {folder}: the folder has no *.json file")
    config.stash[_TALLY] = Tally(folder)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of files that the folder does not have."""
    folder = config.stash[_TALLY].folder
    absent = [item for item in items if (name := _file_of(item)) is not None and not (folder / name).is_file()]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


@pytest.fixture
def vectors(request: pytest.FixtureRequest) -> Vectors:
    """The file that the test's (or its module's) ``vectors`` marker names."""
    tally = request.config.stash[_TALLY]
    name = _file_of(request.node)
    if name is None:
        raise pytest.UsageError(f"{request.node.nodeid} asks for vectors without the marker vectors(file)")
    return Vectors.read(tally.folder / name, tally, complete=tally.folder == SHIPPED)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how many records of each file were compared."""
    tally = config.stash[_TALLY]
    if not tally.counts:
        return
    terminalreporter.section(f"records of {tally.folder}")
    for path in sorted(tally.folder.glob("*.json")):
        count = tally.counts.get(path.name)
        said = "not compared in this run" if count is None else f"{count.agreed} of {count.compared} as recorded"
        terminalreporter.line(f"{path.name:<28} {said}")


def _file_of(item: pytest.Item) -> str | None:
    marker = item.get_closest_marker("vectors")
    return None if marker is None else str(marker.args[0])
