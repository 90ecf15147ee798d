"""The packing of memory blocks: no overlap by brute force, and close to the lower bound."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aicc.transforms.memory_packing import Block, Packing, align, largest_live_set, pack

BLOCKS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12), st.integers(0, 8)).map(
        lambda t: Block(64 * t[0], t[1], t[1] + t[2])
    ),
    min_size=1,
    max_size=14,
)


def live_bytes(blocks: list[Block]) -> int:
    times = range(max(block.last for block in blocks) + 1)
    return max(sum(block.size for block in blocks if block.first <= time <= block.last) for time in times)


def assert_no_overlap(blocks: list[Block], packing: Packing) -> None:
    for i, a in enumerate(blocks):
        assert packing.offsets[i] % 64 == 0
        assert packing.offsets[i] + a.size <= packing.total
        for j, b in enumerate(blocks[:i]):
            if a.first <= b.last and b.first <= a.last and a.size and b.size:
                below = packing.offsets[i] + a.size <= packing.offsets[j]
                assert below or packing.offsets[j] + b.size <= packing.offsets[i], (i, j)


@settings(max_examples=200, deadline=None)
@given(BLOCKS)
def test_blocks_alive_together_do_not_overlap(blocks: list[Block]):
    packing = pack(blocks)
    assert_no_overlap(blocks, packing)
    assert largest_live_set(blocks) == live_bytes(blocks)
    assert live_bytes(blocks) <= packing.total <= sum(block.size for block in blocks)


def chain_with_skips(length: int, seed: int) -> list[Block]:
    """What networks look like: each value lives until the next op, every third one until a later residual sum."""
    rng = random.Random(seed)
    sizes = [64 * rng.randint(10, 4000) for _ in range(length)]
    return [Block(size, i, i + (rng.randint(2, 9) if i % 3 == 0 else 1)) for i, size in enumerate(sizes)]


@pytest.mark.parametrize("seed", range(6))
def test_within_a_tenth_of_the_lower_bound(seed: int):
    blocks = chain_with_skips(120, seed)
    packing = pack(blocks)
    assert_no_overlap(blocks, packing)
    assert packing.total <= 1.1 * live_bytes(blocks)


def test_ten_thousand_blocks_take_no_quadratic_time():
    blocks = chain_with_skips(10_000, 0)
    assert pack(blocks).total >= largest_live_set(blocks)


@pytest.mark.parametrize("size, aligned", [(0, 0), (1, 64), (64, 64), (65, 128)])
def test_alignment(size: int, aligned: int):
    assert align(size) == aligned
