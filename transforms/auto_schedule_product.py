"""
Strategy "product": a matrix product too large for the near caches, by blocks that fit them.

`c[i, j] = sum_k a[i, k] * b[k, j]`, with lanes along `j`, rows `i` and register tiles as in strategy "lanes":

    for %jb { for %kb {            blocks of columns, shared among threads; blocks of steps
      copy b[kb, jb] by columns of one register tile          fits half the second-level cache
      for %i by 6 {                                           rows of `a`, as they are
        for %j in %jb { c[i, j] += sum of k in %kb } } } }

(Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008, with the roles of the operands
exchanged.) Each element of `b` is copied once, by the thread that uses it. Rows of `a` are read as they are: steps
follow each other in memory, at a pace that prefetchers keep. Where instead rows follow each other in memory (`a` is
transposed), those of a register tile are copied first. A constant `b`, packed when the model is compiled, is left to
strategy "lanes".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from aicc.transforms.auto_schedule_common import Kernel, can_pack, packing_for
from aicc.transforms.auto_schedule_threads import Shared, certain_trips, spread
from aicc.transforms.loops_cost import REST_ROWS
from aicc.transforms.loops_facts import Access, Loop, Nest
from aicc.transforms.loops_split_reduction import can_split
from aicc.transforms.loops_stage import MOST_BYTES
from aicc.transforms.loops_tile import count_nests

STEPS = 1024
"""Steps of a block, at most: long enough that fetching and storing sums between blocks costs little."""

FEWEST_TILES = 2
"""Register tiles of columns in a block, at least, if there are several blocks: each reads all rows of `a` again."""

BLOCK_SHARE = 0.5
"""Part of the second-level cache that the block of `b` takes."""

FEWEST_ROWS = 24
"""Rows from which on a copy of `b` pays."""


@dataclass(frozen=True)
class Product:
    """A product that is to be computed in blocks."""

    lane: Loop
    row: Loop
    others: tuple[Loop, ...]
    """Batches."""

    steps: Loop
    left: Access
    right: Access
    rows: int
    """Rows of the register tile."""

    lanes: int
    block_steps: int
    """0: all in one block."""

    block_tiles: int
    """Register tiles of columns in a block."""

    copy_left: bool


def plan_product(kernel: Kernel, nest: Nest, lane: Loop, row: Loop | None, rows: int, lanes: int) -> Product | None:
    """The blocks of a nest with this register tile; `None` if it is no product, or one that needs no blocks."""
    facts = kernel.facts
    if row is None or len(nest.chains) != 1 or len(nest.chains[0]) != 1 or nest.around or kernel.spread:
        return None
    (steps,) = nest.chains[0]
    inside = [access for access in nest.loads if access.op.parent is steps.op.block]
    if len(inside) != 2 or len(steps.op.inits) != 1 or row.limit or lane.limit:
        return None
    left, right = sorted(inside, key=lambda access: access.depends(lane))
    if not right.depends(lane) or right.depends(row) or not left.depends(row) or left.depends(lane):
        return None
    if not can_pack(kernel, right, lane) or kernel.buffer_position(left.memref) in (None, *kernel.packed):
        return None
    if kernel.buffer_position(left.memref) == kernel.buffer_position(right.memref):
        return None
    if row.trips < (FEWEST_ROWS if isinstance(row.extent, int) else 1) or lane.trips < lanes:
        return None
    if kernel.is_constant(right.memref):
        return None  # packed when the model is compiled
    if right.footprint_bytes({lane: lane.trips, steps: steps.trips}) <= facts.l1_bytes:
        return None
    room = int(min(facts.l2_bytes * BLOCK_SHARE, MOST_BYTES)) // (lanes * right.bytes)
    block_steps, most = 0, min(STEPS, room // FEWEST_TILES)
    if not isinstance(steps.extent, int):
        block_steps = most
    elif steps.trips > most:
        block_steps = _block_steps(steps.trips, most)
    if block_steps and (nest.heavy_ops or not can_split(nest.parallel[-1].op, steps.op)):
        return None
    others = tuple(loop for loop in nest.parallel if loop not in (lane, row))
    tiles, fitting = max(1, lane.trips // lanes), room // (block_steps or steps.trips)
    # Blocks are what threads share, unless there are batches enough.
    blocks = max(-(-tiles // fitting), -(-2 * facts.cores // prod(loop.trips for loop in others)))
    if blocks > tiles or (tiles // blocks < FEWEST_TILES and blocks > 1):
        return None
    swapped = left.moves[row].stride == 1 and left.moves[steps].stride != 1
    return Product(
        lane,
        row,
        others,
        steps,
        left,
        right,
        rows,
        lanes,
        block_steps,
        -(-tiles // blocks),
        swapped,
    )


def _block_steps(steps: int, most: int) -> int:
    """Steps of a block: equal blocks if there are such, of vectors if possible; else nearly equal ones."""
    equal = [size for size in range(most, most // 2 - 1, -1) if steps % size == 0]
    even = -(-steps // -(-steps // most))
    return next((size for size in equal if size % 4 == 0), equal[0] if equal else min(most, -(-even // 4) * 4))


def schedule_product(kernel: Kernel, nest: Nest, plan: Product, cycles: float) -> None:
    """Writes the schedule of a product in blocks, of `cycles` in all."""
    writer = kernel.writer
    position = kernel.buffer_position(plan.right.memref)
    assert position is not None
    packing = packing_for(plan.right, plan.lane, plan.lanes, [plan.steps])
    target = [*plan.others, plan.lane, plan.row]
    handles = writer.interchange(
        [writer.loop(loop.label) for loop in nest.parallel], [nest.parallel.index(loop) for loop in target]
    )
    *outer, columns, _ = handles
    why = f"{plan.rows} rows x {plan.lanes} lanes in registers"
    tiled = writer.tile([*outer, columns], [*(1 for _ in outer), plan.lanes], None, why)
    over, within = tiled.outers[-1], tiled.inners[-1]
    # Columns that fill register tiles, and the rest of them; both have the same steps.
    for part in range(count_nests(plan.lane.op, plan.lanes, "peel")):
        rest = part == 1
        top, lanes = writer.select(over, [part]), writer.select(within, [part])
        rows = writer.loop(plan.row.label, top)
        rows, _ = writer.interchange([lanes, rows], [1, 0])
        reach = f"{plan.block_tiles * plan.lanes} columns"
        blocked = writer.tile([top], [plan.block_tiles], ["mask"], f"{reach} of a block stay in cache")
        block = blocked.outers[0]
        rows, inner = writer.interchange([blocked.inners[0], rows], [1, 0])
        if plan.block_steps:
            steps = writer.loop(plan.steps.label, block)
            split = writer.split_reduction(
                steps, rows, plan.block_steps, True, f"{plan.block_steps} steps of a block stay in cache"
            )
            copied = split.blocks
        else:
            copied = block
        writer.stage(copied, position, packing.tiles, packing.order, "contiguous along the lanes")
        _register_tiles(kernel, plan, rows, inner)
        if not rest:
            tiles = plan.lane.trips // plan.lanes
            certain = tiles if isinstance(plan.lane.extent, int) else 1
            trips = -(-tiles // plan.block_tiles)
            loops = [
                Shared(writer.select(handle, [part]), loop.trips, certain_trips(loop, loop.trips))
                for loop, handle in zip(plan.others, tiled.outers, strict=False)
            ]
            spread(kernel, [*loops, Shared(block, trips, -(-certain // plan.block_tiles))], cycles, nest.top)


def _register_tiles(kernel: Kernel, plan: Product, rows: SSAValue, inner: SSAValue) -> None:
    """Tiles the rows of a block and makes register tiles vectors; copies the left operand if that is wanted."""
    writer = kernel.writer
    tiled = writer.tile([rows, inner], [plan.rows, 1], None, "")
    nests = count_nests(plan.row.op, plan.rows, "peel")
    for number in range(nests):
        over, row = writer.select(tiled.outers[0], [number]), writer.select(tiled.inners[0], [number])
        if number == 0 and plan.copy_left:
            position = kernel.buffer_position(plan.left.memref)
            assert position is not None
            rank = len(plan.left.dims)
            writer.stage(over, position, [0] * rank, list(range(rank)), "steps follow each other")
        lane = writer.loop(plan.lane.label + ".i", over)
        if number == 0 or isinstance(plan.row.extent, int):
            writer.vectorize([row, lane])
        else:
            again = writer.tile([row, lane], [REST_ROWS[-1], 1], None, "rows left over")
            writer.vectorize(writer.interchange([again.outers[1], again.inners[0]], [1, 0]))
