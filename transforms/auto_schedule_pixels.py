"""
Rows of pixels that a register tile does not divide: two parallel loops become one, whose tiles cross the ends of rows.

A 3x3 convolution of a 7x7 image has tiles of 5 + 2 pixels in each row of the image, but 9 x 5 + 4 in the 49 pixels of
the whole. Inside a tile each pixel has an address of its own, computed by a division once per tile: the reduction must
be long enough to hide that.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod

from aicc.transforms.auto_schedule_common import Kernel, vector_width
from aicc.transforms.auto_schedule_lanes import MOST_ROWS, LanePlan, main_chain, plan_lanes
from aicc.transforms.auto_schedule_tile_cost import tile_cost
from aicc.transforms.loops_collapse import collapse_loops
from aicc.transforms.loops_cost import choose_tile
from aicc.transforms.loops_facts import Loop, Nest, analyse_nest

LEAST_GAIN = 0.03
"""Share of the cycles that merging must save."""

ADDRESS_CYCLES = 8.0
"""Reckoned cycles to find the address of one pixel of a tile."""


def merge_pixels(kernel: Kernel, nest: Nest, lane: Loop) -> tuple[Nest, Loop]:
    """
    Collapses two loops where register tiles of both together take fewer cycles than the best ones of single loops.

    Returns the facts of the new nest and the loop along the lanes in it.
    """
    plan = plan_lanes(kernel, nest, lane)
    if plan.cost.per_row_and_vector or (plan.row is not None and plan.row.limit):
        return nest, lane
    for outer, inner in pairwise(nest.parallel):
        if lane in (outer, inner) or not _may_merge(nest, outer, inner):
            continue
        if _merged_cycles(kernel, nest, plan, outer, inner) > (1.0 - LEAST_GAIN) * plan.tile.cycles:
            continue
        writer = kernel.writer
        writer.collapse(writer.loop(outer.label), writer.loop(inner.label), "tiles go on in the next row")
        top = nest.parallel[0].op
        merged = collapse_loops(outer.op, inner.op)
        found = analyse_nest(merged if outer.op is top else top)
        assert found is not None, "collapsing keeps the form of a nest"
        return found, next(loop for loop in found.parallel if loop.op is lane.op)
    return nest, lane


def _may_merge(nest: Nest, outer: Loop, inner: Loop) -> bool:
    """Whether both loops have known extents, and each buffer moves with both of them or with neither."""
    if not (isinstance(outer.extent, int) and isinstance(inner.extent, int)) or 1 in (outer.extent, inner.extent):
        return False
    return all(access.depends(outer) == access.depends(inner) for access in nest.accesses)


def _merged_cycles(kernel: Kernel, nest: Nest, plan: LanePlan, outer: Loop, inner: Loop) -> float:
    """Reckoned cycles per step of the reduction with the two loops as one, for the whole nest."""
    chain, width = main_chain(nest), vector_width(nest, kernel.facts)
    cost = tile_cost(nest, chain, plan.lane, inner, width, plan.packed, kernel.facts)
    pixels = outer.trips * inner.trips
    tile = choose_tile(cost, pixels, plan.lane.trips, width, kernel.facts.vector_registers, MOST_ROWS, True)
    panels = -(-plan.lane.trips // (width * tile.vectors))
    addresses = ADDRESS_CYCLES * pixels * panels / max(1, prod(loop.trips for loop in chain))
    others = prod(loop.trips for loop in nest.parallel if loop not in (plan.lane, outer, inner))
    return (tile.cycles + addresses) * others
