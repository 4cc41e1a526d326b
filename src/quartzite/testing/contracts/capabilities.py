"""What a subject of a contract suite can do beyond the contract, and how tests that need more are left out.

A subject claims its capabilities; a test says which it requires. What is missing is deselected when pytest collects,
never skipped: a green run shows no test that did not run, and its last lines say what was left out and why.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar, Final, TypeVar

import pytest

__all__ = ["Capability", "Contract", "requires"]

F = TypeVar("F", bound=Callable[..., Any] | type)
_REQUIRED: Final = "__quartzite_requires__"
_PLUGIN: Final = "quartzite-missing-capabilities"


class Capability(Enum):
    """Something that not every subject can do."""

    PERSISTENCE = "persistence"
    """The data survives the store: another one that is made for the same scheduler name finds it."""
    JOBS_BY_NAME = "jobs by name"
    """Jobs are stored by the names of their types and loaded when they are due, as every database does."""
    CLUSTERING = "clustering"
    """Several stores with one scheduler name and different instance ids share the data at once."""
    CUSTOM_TRIGGERS = "custom triggers"
    """Triggers of the kinds in ``quartzite.testing.contracts.subjects`` can be stored."""
    INDEPENDENT_LOCKS = "independent locks"
    """Two requestors may hold the two locks of a scheduler at once; otherwise one lock stands behind both."""
    SHARED_LOCKS = "shared locks"
    """Several lock handlers, on several nodes, exclude each other."""

    @property
    def noun(self) -> str:
        """The words for people."""
        return self.value


def requires(*capabilities: Capability) -> Callable[[F], F]:
    """Say that a test, or all tests of a class, need something that not every subject can do."""

    def decorate(decorated: F) -> F:
        for test in _tests_of(decorated):
            setattr(test, _REQUIRED, getattr(test, _REQUIRED, frozenset()) | frozenset(capabilities))
        return decorated

    return decorate


def _tests_of(decorated: object) -> list[object]:
    if not isinstance(decorated, type):
        return [decorated]
    return [value for name, value in vars(decorated).items() if name.startswith("test_")]


class Contract:
    """Base of the suites: a class of tests that knows what its subject can do.

    Attributes:
        capabilities: What the subject can do beyond the contract.
    """

    capabilities: ClassVar[frozenset[Capability]] = frozenset()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make sure that the tests which the subject can not pass are left out; overriding methods call this one."""
        plugins = metafunc.config.pluginmanager
        if not plugins.has_plugin(_PLUGIN):
            plugins.register(_MissingCapabilities(), _PLUGIN)


class _MissingCapabilities:
    """Deselects, and says so at the end of the run."""

    def __init__(self) -> None:
        self.left_out: dict[str, int] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Take out the tests whose subject lacks something."""
        kept: list[pytest.Item] = []
        left_out: list[pytest.Item] = []
        for item in items:
            reason = _reason_to_leave_out(item)
            (kept if reason is None else left_out).append(item)
            if reason is not None:
                self.left_out[reason] = self.left_out.get(reason, 0) + 1
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = kept

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out."""
        for reason, count in self.left_out.items():
            terminalreporter.write_line(f"left out {count} tests: {reason}", yellow=True)


def _reason_to_leave_out(item: pytest.Item) -> str | None:
    subject = getattr(item, "cls", None)
    if subject is None or not issubclass(subject, Contract):
        return None
    required: set[Capability] = set(getattr(getattr(item, "function", None), _REQUIRED, ()))
    missing = required - subject.capabilities
    if not missing:
        return None
    return f"{subject.__name__} does not claim {', '.join(sorted(one.noun for one in missing))}"
