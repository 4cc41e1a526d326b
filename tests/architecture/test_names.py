"""A file is named for the noun it defines."""

from tests.architecture.sources import PACKAGE, ROOT, TESTS, python_files

NO_NOUN = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "tools"}


def test_no_module_is_a_drawer() -> None:
    """No file or folder is called utils, helpers, common or the like: such a name says nothing of what is inside."""
    drawers = [
        str(path.relative_to(ROOT))
        for path in python_files(PACKAGE) + python_files(TESTS)
        if NO_NOUN & {part.removesuffix(".py") for part in path.relative_to(ROOT).parts}
    ]
    assert not drawers
