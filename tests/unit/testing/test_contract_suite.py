"""The contract suite itself: put together without loss, and what a subject can not do is left out."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import ClassVar

import pytest

from quartzite.testing.contracts import Capability, Contract, JobStoreContract, StoreContract, requires
from quartzite.testing.contracts.job_store import TOPICS

SUBJECT = '''
from quartzite.testing.contracts import Capability, Contract, requires

class TestSubject(Contract):
    """A subject."""
    capabilities = frozenset({Capability.PERSISTENCE})

    def test_always(self) -> None:
        """A rule."""

    @requires(Capability.PERSISTENCE)
    def test_when_it_persists(self) -> None:
        """A rule."""

    @requires(Capability.PERSISTENCE, Capability.CLUSTERING)
    def test_when_it_clusters(self) -> None:
        """A rule."""
        raise AssertionError("this must not run")
'''


def own_tests_of(topic: type) -> set[str]:
    """Return the names of the tests that a class defines itself."""
    return {name for name in vars(topic) if name.startswith("test_")}


def test_no_topic_hides_a_test_of_another() -> None:
    """All tests of all topics are in the whole suite: no two have the same name."""
    names = [name for topic in TOPICS for name in own_tests_of(topic)]
    assert len(names) == len(set(names))
    assert {name for name in dir(JobStoreContract) if name.startswith("test_")} == set(names)


def test_every_topic_is_in_the_suite() -> None:
    """The suite is made of every topic that the package exports."""
    from quartzite.testing.contracts import job_store

    exported = {
        value
        for name in job_store.__all__
        if name.endswith("Contract") and name not in {"JobStoreContract", "StoreContract"}
        for value in [getattr(job_store, name)]
        if inspect.isclass(value)
    }
    assert exported == set(TOPICS)


def test_what_a_subject_can_not_do_is_deselected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A test that requires more than the subject claims is deselected, not skipped, and the last lines say why."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_subject_of_capabilities.py").write_text(SUBJECT)
    arguments = ["--rootdir", str(tmp_path), "-c", str(tmp_path / "pytest.ini"), "-p", "no:cacheprovider"]
    assert pytest.main([*arguments, "-p", "no:timeout", "-p", "no:asyncio", str(tmp_path)]) is pytest.ExitCode.OK
    printed = capsys.readouterr().out
    assert "2 passed, 1 deselected" in printed
    assert "left out 1 tests: TestSubject does not claim clustering" in printed


def test_a_requirement_of_a_class_holds_for_its_own_tests() -> None:
    """A class that requires something marks the tests that it defines, and none that it inherits."""

    class Base(Contract):
        def test_inherited(self) -> None:
            """A rule."""

    @requires(Capability.CLUSTERING)
    class Topic(Base):
        more: ClassVar = 1

        def test_own(self) -> None:
            """A rule."""

    assert vars(Topic.test_own)["__quartzite_requires__"] == {Capability.CLUSTERING}
    assert "__quartzite_requires__" not in vars(Topic.test_inherited)


async def test_a_subject_must_say_how_it_is_made() -> None:
    """Without its fixture a subclass is told what to override."""
    made = inspect.unwrap(vars(StoreContract)["make_store"])
    with pytest.raises(NotImplementedError, match="must override the fixture make_store"):
        made(StoreContract())
