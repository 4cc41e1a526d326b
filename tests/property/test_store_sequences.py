"""Random sequences of operations on the store in memory: invariants, and what decorators must not change."""

import pytest
from hypothesis import given, settings

from quartzite.testing.contracts.sequences import Operation, run_sequence, sequences
from tests.contract.subjects import looping_store, ram_store


@pytest.mark.timeout(120)  # a failure is made small before it is shown
@settings(max_examples=80, deadline=None)
@given(sequences())
async def test_invariants_hold_and_bulk_members_do_what_loops_do(operations: list[Operation]) -> None:
    """Whatever is done in whatever order, nothing is lost, doubled or contradicted, decorated or not."""
    await run_sequence(operations, ram_store, looping_store)
