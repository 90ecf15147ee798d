"""Dominance against its definition: a block dominates another if removing it cuts the other off."""

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import test as test_dialect
from xdsl.ir import Block, Region

from aicc.transforms.dominance import Dominance

COUNT = 7
GRAPHS = st.lists(st.lists(st.integers(0, COUNT - 1), max_size=3), min_size=COUNT, max_size=COUNT)


def reachable(edges: list[list[int]], without: int | None) -> set[int]:
    found: set[int] = set()
    pending = [0]
    while pending:
        block = pending.pop()
        if block != without and block not in found:
            found.add(block)
            pending += edges[block]
    return found


@given(GRAPHS)
def test_against_the_definition(edges: list[list[int]]):
    blocks = [Block() for _ in edges]
    for block, targets in zip(blocks, edges, strict=True):
        block.add_op(test_dialect.TestTermOp(successors=[blocks[target] for target in targets]))
    region = Region(blocks)
    dominance = Dominance(region)
    alive = reachable(edges, None)
    for second in range(COUNT):
        assert dominance.is_reachable(blocks[second]) == (second in alive)
        for first in range(COUNT):
            expected = second not in alive or (
                first in alive and (first == second or second not in reachable(edges, first))
            )
            assert dominance.dominates(blocks[first], blocks[second]) == expected
