"""What the innermost loop of strategy "lanes" does, for the cost model of register tiles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aicc.transforms.auto_schedule_windows import inside, overlaps, shared_taps
from aicc.transforms.loops_cost import TileCost
from aicc.transforms.loops_facts import Access, Loop, Nest
from aicc.transforms.target_facts import TargetFacts

SHUFFLED = 4
"""Lanes at most so far apart are read with what is between them, and sorted out in registers."""


def tile_cost(
    nest: Nest,
    chain: Sequence[Loop],
    lane: Loop,
    row: Loop | None,
    width: int,
    packed: Sequence[Access],
    facts: TargetFacts,
) -> TileCost:
    """What the innermost loop does per row and per vector of lanes."""
    overlap = False
    strides: list[int] = []
    counts = {(False, False): 0, (True, False): 0, (False, True): 0, (True, True): 0}
    for access in nest.loads:
        if inside(access, chain):
            # What no loop reads again is read once in any order: not shared, though there may be no rows.
            once = all(access.depends(loop) for loop in nest.parallel if loop.trips > 1)
            by_row = once or (row is not None and access.depends(row))
            by_lane = not access.moves[lane].constant_over(width)
            counts[by_row, by_lane] += _loads(access, lane, width) if by_lane and access not in packed else 1
            overlap = overlap or overlaps(access, chain, row, lane)
            if row is not None and by_row and not by_lane and (stride := access.moves[row].stride):
                strides.append(abs(stride) * access.bytes)
    accumulators = max(1, len(chain[-1].op.inits)) if chain else 1
    _, window = shared_taps(nest, chain, row, lane)
    return TileCost(
        accumulators,
        counts[False, False],
        counts[True, False],
        counts[False, True],
        counts[True, True],
        prod(loop.trips for loop in chain),
        facts,
        overlap,
        tuple(strides),
        window,
        len(chain) == 1 and counts[False, True] > 0 and not counts[True, True],
    )


def _loads(access: Access, lane: Loop, width: int) -> int:
    """Loads, and shuffles, for one vector that is not packed."""
    stride = access.moves[lane].stride
    if stride is None or abs(stride) > SHUFFLED:
        return 2 * width
    return max(1, 2 * abs(stride) - 1)
