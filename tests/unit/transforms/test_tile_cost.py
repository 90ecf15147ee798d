"""The cost of register tiles: what a target's number of FMA units changes, and what it does not."""

from dataclasses import replace

import pytest

from aicc.transforms.loops_cost import TileCost, choose_tile
from aicc.transforms.target_facts import TargetFacts

ONE = TargetFacts(vector_bits=512, vector_registers=32, fma_ports=1)
TWO = TargetFacts(vector_bits=512, vector_registers=32, fma_ports=2)


def product(facts: TargetFacts) -> TileCost:
    """A matrix product of 256 steps: a load per row, one per vector."""
    return TileCost(1, 0, 1, 1, 0, 256, facts, product=True)


@pytest.mark.parametrize("lanes", [64, 32])
def test_one_unit_takes_twice_as_long(lanes: int):
    one = choose_tile(product(ONE), 64, lanes, 16, 32, 8, True)
    two = choose_tile(product(TWO), 64, lanes, 16, 32, 8, True)
    assert (one.rows, one.vectors) == (two.rows, two.vectors)
    assert two.unit_cycles == two.cycles == one.cycles
    # All but what a step costs whatever is in it.
    assert 1.6 * one.cycles < one.unit_cycles <= 2 * one.cycles


def test_loads_take_as_long_with_any_number_of_units():
    loads = [TileCost(1, 0, 0, 0, 9, 256, facts) for facts in (ONE, TWO)]
    one, two = (choose_tile(cost, 64, 64, 16, 32, 8, True) for cost in loads)
    assert one.unit_cycles == two.unit_cycles == one.cycles


def test_two_units_have_tiles_of_more_registers():
    """Steps with more work for each load, in products alone: what convolutions read takes the registers left."""
    assert [product(facts).fits(6, 4, 32) for facts in (ONE, TWO)] == [False, True]
    assert not replace(product(TWO), product=False).fits(6, 4, 32)


def test_what_may_be_read_once_is_not_in_the_first_level_cache():
    warm = product(replace(TWO, l1_bytes=48 << 10))
    cold = replace(warm, cold=True)
    # 32 lanes of 256 steps fit it, 64 do not.
    assert cold.cycles(2, 2) > warm.cycles(2, 2)
    assert cold.cycles(2, 4) == warm.cycles(2, 4)
    assert (
        choose_tile(warm, 128, 768, 16, 32, 8, False).vectors,
        choose_tile(cold, 128, 768, 16, 32, 8, False).vectors,
    ) == (2, 4)
