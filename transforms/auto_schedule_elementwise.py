"""
Strategy "elementwise": no reduction; the loop along which results are contiguous runs along lanes.

Loops that walk all buffers contiguously together are collapsed into one first.
"""

from __future__ import annotations

from aicc.transforms.auto_schedule_common import Kernel, vector_width
from aicc.transforms.auto_schedule_threads import Shared, certain_trips, spread
from aicc.transforms.loops_collapse import merge_position
from aicc.transforms.loops_facts import Loop, Nest

LIGHT_BODY = 12
"""Arithmetic ops per element up to which four registers are used at once."""


def collapsible(nest: Nest, outer: Loop, inner: Loop) -> bool:
    """Whether all buffers are walked contiguously by the two loops together, or do not move with either."""
    if 1 in (outer.extent, inner.extent):
        return True
    if outer.extent is None or inner.extent is None:
        return False
    for access in nest.accesses:
        if not access.depends(outer) and not access.depends(inner):
            continue
        if merge_position((outer.op, inner.op), access.memref) is None:
            return False
    return True


def lane_order(kernel: Kernel, nest: Nest) -> list[Loop]:
    """The loops by cost of moving data with them along the lanes, cheapest first, inner ones before outer."""
    width = vector_width(nest, kernel.facts)

    def cost(loop: Loop) -> float:
        total = 0.0
        for access in nest.accesses:
            move = access.moves[loop]
            contiguous = move.constant_over(width) or move.stride == 1
            total += 1.0 / width if contiguous and not (access.is_store and move.stride == 0) else 1.0
        return total * (-(-loop.trips // width) * width) / max(loop.trips, 1)

    # The rows of a block may be fewer than lanes.
    inner_first = [loop for loop in nest.parallel[::-1] if not loop.limit]
    return sorted(inner_first, key=cost)


def schedule_elementwise(kernel: Kernel, nest: Nest, lane: Loop) -> None:
    """Writes the schedule of a nest without reductions, with lanes along `lane`."""
    writer = kernel.writer
    loops = list(nest.parallel)
    handles = [writer.loop(loop.label) for loop in loops]
    trips = [loop.trips for loop in loops]
    certain = [certain_trips(loop, loop.trips) for loop in loops]
    width = vector_width(nest, kernel.facts)
    cycles = nest.iterations * (nest.body_ops + 20 * nest.heavy_ops + 2 * len(nest.accesses)) / width
    if lane is not loops[-1]:
        position = loops.index(lane)
        order = [i for i in range(len(loops)) if i != position] + [position]
        handles = writer.interchange(handles, order, "contiguous loop innermost")
        trips, certain = [trips[i] for i in order], [certain[i] for i in order]
    else:
        while len(loops) > 1 and collapsible(nest, loops[-2], loops[-1]):
            # The outer loop stands for both in what follows, unless it has one iteration and disappears.
            loops[-2:] = [loops[-1] if loops[-2].extent == 1 else loops[-2]]
            inner = handles.pop()
            handles[-1] = writer.collapse(handles[-1], inner, "contiguous together")
            trips[-2:] = [trips[-2] * trips[-1]]
            certain[-2:] = [certain[-2] * certain[-1]]
    registers = 4 if nest.body_ops <= LIGHT_BODY and not nest.heavy_ops else 2
    while registers > 1 and (registers - 1) * width >= trips[-1]:
        registers -= 1
    sizes = [1] * (len(handles) - 1) + [registers * width]
    tiled = writer.tile(handles, sizes, None, f"{registers} registers of {width} lanes")
    writer.vectorize([tiled.inners[-1]])
    counts = [[*values[:-1], max(1, values[-1] // sizes[-1])] for values in (trips, certain)]
    spread(kernel, list(map(Shared, tiled.outers, *counts)), cycles)
