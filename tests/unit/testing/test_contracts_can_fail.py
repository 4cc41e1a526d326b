"""The contract suite finds what it is for: each defect of a store makes the test fail that states the broken rule."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings

from quartzite.testing.contracts.sequences import Operation, run_sequence, sequences
from tests.unit.testing.defective_stores import DEFECTS

MODULE = """
import pytest
from quartzite.testing.contracts.job_store import {topic}
from tests.unit.testing.defective_stores import DEFECTS

class TestDefective({topic}):
    @pytest.fixture
    def make_store(self):
        return DEFECTS[{defect!r}]
"""
SETTINGS = "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
FOUND_BY = [
    ("RaggedResults", "FiringContract", "test_the_results_belong_to_the_triggers_one_by_one"),
    ("WrongOrder", "AcquisitionContract", "test_the_order_is_time_then_priority_then_key"),
    ("RepeatedClaims", "AcquisitionContract", "test_a_reserved_trigger_is_not_reserved_again"),
    ("TooMany", "AcquisitionContract", "test_there_are_never_more_than_asked_for"),
    ("FiltersAfterwards", "AcquisitionContract", "test_excluded_job_types_take_up_no_place"),
    ("LostUnblock", "ExclusiveContract", "test_the_end_of_the_run_frees_the_siblings[alone-DELETE_TRIGGER]"),
    ("LostUnblock", "CompletionContract", "test_a_finished_one_shot_is_deleted[True]"),
    ("LostRelease", "AcquisitionContract", "test_a_released_trigger_is_available_again"),
    ("WritesUnchangedData", "JobDataContract", "test_data_that_a_run_did_not_change_is_not_written"),
    ("LiveReferences", "IsolationContract", "test_data_that_was_handed_out_does_not_stay_connected"),
    ("HalfDone", "SchedulingContract", "test_scheduling_a_taken_key_stores_neither[trigger]"),
    ("HalfDone", "SchedulingContract", "test_one_taken_key_keeps_all_of_it_out[trigger]"),
    ("ForgetsThatItRan", "ReplacingContract", "test_the_previous_fire_time_survives_replacing"),
    ("ForgetsThatItRan", "ReplacingContract", "test_a_paused_trigger_stays_paused_when_it_is_replaced[add_trigger]"),
    ("EverythingDurable", "TriggersContract", "test_the_last_trigger_takes_a_job_along_that_is_not_durable[False]"),
    ("ForgetsGroups", "GroupsContract", "test_later_members_of_a_paused_group_start_paused"),
    ("FirstGroupOnly", "GroupsContract", "test_trigger_groups_by_matcher"),
    ("NoMore", "JobQueriesContract", "test_a_page_is_cut_exactly[jobs]"),
    ("CountsThePage", "JobQueriesContract", "test_the_total_counts_what_the_filters_select"),
    ("CaseInsensitive", "JobQueriesContract", "test_jobs_come_by_group_and_name"),
    ("BlockedOutranksExecuting", "StatesContract", "test_each_situation_reports_its_state[blocked, executing]"),
    ("LateSchedule", "FiringContract", "test_a_firing_has_all_that_a_run_needs"),
    ("tells twice", "MisfiresContract", "test_a_misfire_is_told_once"),
]
SEEN_IN_SEQUENCES = ["RaggedResults", "RepeatedClaims", "LostUnblock", "LostRelease", "BlockedOutranksExecuting"]


class Outcomes:
    """A plugin that notes how each test ended, by its node id."""

    def __init__(self) -> None:
        self.passed: dict[str, bool] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one phase of one test."""
        self.passed[report.nodeid] = self.passed.get(report.nodeid, True) and report.passed


def node_of(defect: str, topic: str, test: str) -> str:
    """Return the id of a test of a topic, on a store with a defect."""
    return f"test_{topic}_{defect.replace(' ', '_')}.py::TestDefective::{test}"


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """Whether each test passes, on the store that it should find faulty and on one without a defect."""
    folder = tmp_path_factory.mktemp("defective")
    (folder / "pytest.ini").write_text(SETTINGS)
    nodes = []
    for found_defect, topic, test in FOUND_BY:
        for defect in (found_defect, "none"):
            nodes.append(str(folder / node_of(defect, topic, test)))
            Path(nodes[-1].partition("::")[0]).write_text(MODULE.format(topic=topic, defect=defect))
    outcomes = Outcomes()
    arguments = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:timeout", "--capture=sys"]
    pytest.main([*arguments, "--rootdir", str(folder), "-c", str(folder / "pytest.ini"), *nodes], [outcomes])
    return outcomes.passed


@pytest.mark.parametrize(("defect", "topic", "test"), FOUND_BY)
def test_a_defect_is_found(passed: dict[str, bool], defect: str, topic: str, test: str) -> None:
    """A store with one defect fails the test that states the rule it breaks; a sound one passes it."""
    assert passed[node_of(defect, topic, test)] is False
    assert passed[node_of("none", topic, test)] is True


def test_each_defect_is_looked_for() -> None:
    """No defective store stands there without a test that finds it."""
    assert {defect for defect, _, _ in FOUND_BY} == set(DEFECTS) - {"none"}


@pytest.mark.parametrize("defect", SEEN_IN_SEQUENCES)
def test_random_sequences_find_defects(defect: str) -> None:
    """Defects that break an invariant, or make a store differ from another, are met by random operations."""

    @settings(max_examples=300, deadline=None, database=None, phases=[Phase.generate], derandomize=True)
    @given(sequences())
    def look(operations: list[Operation]) -> None:
        asyncio.run(run_sequence(operations, DEFECTS["none"], DEFECTS[defect]))

    with pytest.raises(AssertionError):
        look()
