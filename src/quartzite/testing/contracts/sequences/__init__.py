"""Random sequences of operations: what must hold after each of them, and that two stores answer alike.

``sequences()`` makes lists of operations with Hypothesis, which this package needs; ``run_sequence`` runs a list on
one store or on several and raises ``AssertionError`` when a store breaks an invariant or answers otherwise than the
first one::

    @given(sequences())
    async def test_my_store_behaves(operations: list[Operation]) -> None:
        await run_sequence(operations, make_ram_store, make_my_store)
"""

from quartzite.testing.contracts.sequences.operations import Operation
from quartzite.testing.contracts.sequences.running import run_sequence
from quartzite.testing.contracts.sequences.strategies import sequences
from quartzite.testing.contracts.sequences.world import World

__all__ = ["Operation", "World", "run_sequence", "sequences"]
