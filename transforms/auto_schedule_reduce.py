"""
Strategy "reduce": a reduction that walks memory contiguously runs along the lanes, with one partial result per lane:
sums, maxima and products along rows.

The loop is tiled to several registers of lanes, the loop within a tile comes outermost of the reduction (each lane then
accumulates over all tiles), and becomes the vector. Where rows share an operand (a matrix times a vector), several of
them are done at once, each in a register of its own: that operand is read once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from aicc.transforms.auto_schedule_common import Kernel, is_free_reduction, vector_width
from aicc.transforms.auto_schedule_threads import Shared, certain_trips, spread
from aicc.transforms.loops_cost import FMA_PORTS, LOAD_PORTS
from aicc.transforms.loops_facts import Loop, Nest
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_tile import count_nests
from aicc.transforms.loops_vector_plan import Axis, plan_vectors
from aicc.transforms.target_facts import TargetFacts

LIGHT_BODY = 8
"""Arithmetic ops per iteration up to which several registers are used at once."""

ROWS = 8
"""Rows that are done at once: as many sums as it takes that none waits for the one before."""

COMBINE = 15.0
"""Cycles to combine the lanes of one result."""


def reduce_cycles(kernel: Kernel, nest: Nest, loops: Sequence[Loop]) -> float:
    """Reckoned cycles of a nest with one reduction of each chain along the lanes."""
    width = vector_width(nest, kernel.facts)
    outputs = prod(other.trips for other in nest.parallel)
    return outputs * sum(_chain_cycles(nest, loop, width) for loop in loops)


def _chain_cycles(nest: Nest, loop: Loop, width: int) -> float:
    chain = chain_of(nest, loop)
    steps = prod(other.trips for other in chain)
    loads = 0.0
    for access in nest.loads:
        if access.op.parent is chain[-1].op.block:
            move = access.moves[loop]
            loads += 1.0 if move.constant_over(width) or move.stride == 1 else 2.0 * width
    arithmetic = len(loop.op.inits) / FMA_PORTS
    rounded = -(-loop.trips // width) * width / loop.trips
    return steps / width * rounded * max(arithmetic, loads / LOAD_PORTS) + COMBINE


def chain_of(nest: Nest, loop: Loop) -> list[Loop]:
    """The reduction that the loop is part of."""
    return next(chain for chain in nest.chains if loop in chain)


def best_reductions(nest: Nest, allowed: Callable[[Loop], bool], facts: TargetFacts) -> list[Loop] | None:
    """The cheapest loop of each chain to run along lanes; `None` if a chain has none."""
    width = vector_width(nest, facts)
    found: list[Loop] = []
    for chain in nest.chains:
        free = is_free_reduction(chain[0].op)
        loops = [loop for loop in reversed(chain) if free and loop.trips > 1 and allowed(loop)]
        if not loops:
            return None
        found.append(min(loops, key=lambda loop: _chain_cycles(nest, loop, width)))
    return found


def lanes_for(kernel: Kernel, nest: Nest, loop: Loop) -> int:
    """Several registers for light bodies and long loops, so that sums don't wait for each other."""
    width = vector_width(nest, kernel.facts)
    most = 4 if nest.body_ops <= LIGHT_BODY and not nest.heavy_ops else 2
    while most > 1 and most * width > loop.trips:
        most //= 2
    return most * width


def shared_rows(kernel: Kernel, nest: Nest, loops: Sequence[Loop]) -> Loop | None:
    """The rows around the one loop along lanes, if they read some operand anew that is the same for all of them."""
    if len(nest.chains) != 1 or len(nest.chains[0]) != 1 or not nest.parallel:
        return None
    row, loop = nest.parallel[-1], loops[0]
    width = vector_width(nest, kernel.facts)
    if row.trips < ROWS or row.limit or loop.op.parent is not row.op.block:
        return None
    if not isinstance(loop.extent, int) or loop.trips % width or nest.body_ops > LIGHT_BODY or nest.heavy_ops:
        return None
    inside = [access for access in nest.loads if access.op.parent is loop.op.block]
    if any(access.moves[loop].stride != 1 for access in inside if access.depends(loop)):
        return None
    along = {access.depends(row) for access in inside if access.depends(loop)}
    if along != {True, False} or len(inside) > 2:
        return None
    try:
        plan_vectors([Axis(row.op, ROWS, False), Axis(loop.op, width, False)])
    except StepError:
        return None
    return row


def _schedule_rows(kernel: Kernel, nest: Nest, loop: Loop, row: Loop) -> None:
    """Writes the schedule of a nest whose reduction runs along lanes for several rows at once."""
    writer, width = kernel.writer, vector_width(nest, kernel.facts)
    tiled = writer.tile([writer.loop(row.label)], [ROWS], None, f"{ROWS} rows share what they read")
    nests = count_nests(row.op, ROWS, "peel")
    for number in range(nests):
        over, within = writer.select(tiled.outers[0], [number]), writer.select(tiled.inners[0], [number])
        lanes = lanes_for(kernel, nest, loop) if number else width
        along = writer.tile([writer.loop(loop.label, over)], [lanes], None, f"{lanes} partial results")
        lane = writer.interchange([along.outers[0], along.inners[0]], [1, 0], "each lane accumulates over all tiles")[0]
        writer.vectorize([lane] if number else [within, lane])
    cycles = reduce_cycles(kernel, nest, [loop])
    tiles = row.trips // ROWS
    outer = [Shared(other.label, other.trips, certain_trips(other, other.trips)) for other in nest.parallel[:-1]]
    full = Shared(writer.select(tiled.outers[0], [0]), tiles, certain_trips(row, tiles))
    # Only one nest is perfectly nested in the loops around.
    spread(kernel, [*outer, full] if nests == 1 else outer or [full], cycles, nest.top)


def schedule_reductions(kernel: Kernel, nest: Nest, loops: Sequence[Loop]) -> None:
    """Writes the schedule of a nest with one reduction of each chain along lanes."""
    writer = kernel.writer
    if (row := shared_rows(kernel, nest, loops)) is not None:
        _schedule_rows(kernel, nest, loops[0], row)
        return
    for loop in loops:
        chain = chain_of(nest, loop)
        position = chain.index(loop)
        order = [position, *(i for i in range(len(chain)) if i != position)]
        handles = writer.interchange([writer.loop(other.label) for other in chain], order)
        lanes = lanes_for(kernel, nest, loop)
        tiled = writer.tile(handles[:1], [lanes], None, f"{lanes} partial results")
        (over,), (within,) = tiled.outers, tiled.inners
        why = "each lane accumulates over all tiles"
        if isinstance(loop.extent, int):
            # Tiles come innermost: they follow each other in memory, unlike what the other loops walk.
            others = [writer.loop(other.label) for other in chain if other is not loop]
            order = [1, *range(2, 2 + len(others)), 0]
            within = writer.interchange([over, within, *others], order, why)[0]
        elif count_nests(loop.op, lanes, "peel") > 1:
            # A remainder of unknown length is one tile, whose loop depends on the one around it.
            full, _ = writer.interchange([writer.select(over, [0]), writer.select(within, [0])], [1, 0], why)
            writer.vectorize([writer.select(within, [1])])
            within = full
        writer.vectorize([within])
    cycles = reduce_cycles(kernel, nest, loops) + nest.iterations * 4.0 * nest.heavy_ops
    outer = [Shared(loop.label, loop.trips, certain_trips(loop, loop.trips)) for loop in nest.parallel]
    spread(kernel, outer, cycles, nest.top)
