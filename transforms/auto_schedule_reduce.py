"""
Strategy "reduce": a reduction that walks memory contiguously runs along the lanes, with one partial result per lane:
sums, maxima and products along rows.

The loop is tiled to several registers of lanes, the loop within a tile comes outermost of the reduction (each lane then
accumulates over all tiles), and becomes the vector.
"""

from __future__ import annotations

from math import prod

from aicc.transforms.auto_schedule_common import Kernel, is_free_reduction, threads_for, vector_width
from aicc.transforms.loops_cost import FMA_PORTS, LOAD_PORTS
from aicc.transforms.loops_facts import Loop, Nest

LIGHT_BODY = 8
"""Arithmetic ops per iteration up to which several registers are used at once."""


COMBINE = 15.0
"""Cycles to combine the lanes of one result."""


def reduce_cycles(kernel: Kernel, nest: Nest, loop: Loop) -> float:
    """Reckoned cycles of a nest with a reduction along the lanes."""
    width = vector_width(nest, kernel.facts)
    chain = next(chain for chain in nest.chains if loop in chain)
    outputs = prod(other.trips for other in nest.parallel)
    steps = prod(other.trips for other in chain)
    loads = 0.0
    for access in nest.loads:
        if access.op.parent is chain[-1].op.block:
            move = access.moves[loop]
            loads += 1.0 if move.constant_over(width) or move.stride == 1 else 2.0 * width
    arithmetic = len(loop.op.inits) / FMA_PORTS
    rounded = -(-loop.trips // width) * width / loop.trips
    return outputs * (steps / width * rounded * max(arithmetic, loads / LOAD_PORTS) + COMBINE)


def candidates(nest: Nest) -> list[Loop]:
    """The reductions that may run along lanes: free ones, and with nothing but perfectly nested loops inside."""
    return [loop for chain in nest.chains if is_free_reduction(chain[0].op) for loop in chain if loop.trips > 1]


def lanes_for(kernel: Kernel, nest: Nest, loop: Loop) -> int:
    """Several registers for light bodies and long loops, so that sums don't wait for each other."""
    width = vector_width(nest, kernel.facts)
    most = 4 if nest.body_ops <= LIGHT_BODY and not nest.heavy_ops else 2
    while most > 1 and most * width > loop.trips:
        most //= 2
    return most * width


def schedule_reductions(kernel: Kernel, nest: Nest, loop: Loop) -> None:
    """Writes the schedule of a nest with a reduction along lanes."""
    writer = kernel.writer
    chain = next(chain for chain in nest.chains if loop in chain)
    position = chain.index(loop)
    order = [position, *(i for i in range(len(chain)) if i != position)]
    handles = writer.interchange([writer.loop(other.label) for other in chain], order)
    lanes = lanes_for(kernel, nest, loop)
    tiled = writer.tile(handles[:1], [lanes], None, f"{lanes} partial results")
    (over,), (within,) = tiled.outers, tiled.inners
    within, _ = writer.interchange([over, within], [1, 0], "each lane accumulates over all tiles")
    writer.vectorize([within])
    cycles = nest.iterations * (nest.body_ops + 8 * nest.heavy_ops + len(nest.loads)) / 4
    for outer in nest.parallel:
        if outer.trips > 1:
            threads_for(kernel, writer.loop(outer.label), 0, outer.trips, cycles)
            break
