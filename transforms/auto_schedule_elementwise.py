"""
Strategy "elementwise": no reduction; the loop along which results are contiguous runs along lanes.

Loops that walk all buffers contiguously together are collapsed into one first. Where an input is contiguous along
another loop, blocks of both are transposed in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from aicc.dialects.loops import LoadOp
from aicc.dialects.schedule.ops import TileOp
from aicc.transforms.auto_schedule_ahead import Ahead, fetched_ahead, schedule_ahead
from aicc.transforms.auto_schedule_bypass import bypassing
from aicc.transforms.auto_schedule_common import Kernel, vector_width
from aicc.transforms.auto_schedule_threads import Shared, certain_trips, spread
from aicc.transforms.loops_collapse import collapse_loops, merge_position, needed_alone
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import Access, Loop, Nest, analyse_nest
from aicc.transforms.loops_pack import kernel_buffers

LIGHT_BODY = 12
"""Arithmetic ops per element up to which four registers are used at once."""

NEAR = 4
"""Elements this far apart are read with the vectors between them."""

LEAST_PART = 4
"""Elements that are contiguous in the input, at least, for blocks of them to be transposed."""

COPIED_BLOCKS = 4
"""Blocks that are transposed of one copy, at most, each way: 16 KB of f32, in the first-level cache."""

TRANSPOSED = 3.0
"""What a load costs that is transposed in registers, in times what a contiguous one does."""


def collapsible(nest: Nest, outer: Loop, inner: Loop) -> bool:
    """Whether all buffers are walked contiguously by the two loops together, or do not move with either."""
    if 1 in (outer.extent, inner.extent):
        return True
    if outer.extent is None or inner.extent is None:
        return False
    merged = {access.memref for access in nest.accesses if access.depends(outer) or access.depends(inner)}
    if any(merge_position((outer.op, inner.op), memref) is None for memref in merged):
        return False
    # An index that is used by itself, as where elements are padded, is the remainder of a division by a number.
    return isinstance(inner.extent, int) or not any(needed_alone(loop.op, merged) for loop in (outer, inner))


def merge_loops(kernel: Kernel, nest: Nest, outer: Loop, inner: Loop) -> Nest:
    """Collapses two loops of the nest that are `collapsible`, and returns the facts of the new nest."""
    writer = kernel.writer
    writer.collapse(writer.loop(outer.label), writer.loop(inner.label), "contiguous together")
    top = nest.top
    merged = collapse_loops(outer.op, inner.op)
    found = analyse_nest(merged if outer.op is top else top)
    assert found is not None, "collapsing keeps the form of a nest"
    return found


def lane_order(kernel: Kernel, nest: Nest) -> list[Loop]:
    """The loops by cost of moving data with them along the lanes, cheapest first, inner ones before outer."""

    def cost(loop: Loop) -> float:
        width = vector_width(nest, kernel.facts, loop)
        total = 0.0
        blocked = transposed_block(kernel, nest, loop) is not None
        for access in nest.accesses:
            move = access.moves[loop]
            contiguous = move.constant_over(width) or move.stride == 1
            if contiguous and not (access.is_store and move.stride == 0):
                total += 1.0 / width
            else:
                total += TRANSPOSED / width if blocked and not access.is_store else 1.0
        return total * (-(-loop.trips // width) * width) / max(loop.trips, 1)

    # The rows of a block may be fewer than lanes.
    inner_first = [loop for loop in nest.parallel[::-1] if not loop.limit]
    return sorted(inner_first, key=cost)


@dataclass(frozen=True)
class Block:
    """What is transposed in registers at once: a line of cache along `loop`, a register along the lanes."""

    loop: Loop
    rows: int
    lanes: int

    def size(self, loop: Loop, lane: Loop) -> int:
        """How many iterations of a loop are in one block."""
        return self.rows if loop is self.loop else self.lanes if loop is lane else 1


def transposed_block(kernel: Kernel, nest: Nest, lane: Loop) -> Block | None:
    """
    The block to transpose where an input is read contiguously along another loop than `lane` and far apart along it.

    `None` if there is no such input, a loop is shorter than the block, or the body is more than moving data.
    """
    if nest.heavy_ops or nest.body_ops > LIGHT_BODY:
        return None
    for access in nest.accesses:
        move = access.moves[lane]
        if access.is_store or move.stride in range(-NEAR, NEAR + 1) or move.period:
            continue
        # Registers of less than 16 bytes are not worth it; those of 1 and 2 bytes are halves, to keep blocks square.
        lanes = kernel.facts.lanes(8 * access.bytes) if access.bytes >= 4 else 16 // access.bytes
        rows = max(kernel.facts.cache_line_bytes // access.bytes, lanes) if access.bytes >= 4 else lanes
        for loop in nest.parallel:
            # Rows of an image may be shorter than a line: a half or a quarter of it, then.
            sizes = (rows, rows // 2, rows // 4) if access.bytes >= 4 else (rows,)
            part = next((size for size in sizes if loop.trips >= size >= LEAST_PART), 0)
            fits = part > 0 and lane.trips >= lanes > 1
            if fits and access.moves[loop].stride == 1 and loop is not lane and not loop.limit:
                return Block(loop, part, lanes)
    return None


def _in_one_set(kernel: Kernel, access: Access, lane: Loop, lanes: int) -> bool:
    """Whether the lines that an access reads along `lanes` lanes are more than the places they have in the cache."""
    stride = access.moves[lane].stride
    return stride is not None and lanes > kernel.facts.cache_places(stride * access.bytes) * kernel.facts.l1_ways


def _is_padded(access: Access) -> bool:
    """Whether it reads something else than the buffer where that ends."""
    return isinstance(access.op, LoadOp) and access.op.fill is not None


@dataclass(frozen=True)
class Copied:
    """What blocks are transposed of: copies of parts of an input."""

    argument: int
    rank: int
    sizes: dict[Loop, int]
    """How many iterations of the two loops of a block there are in a part."""


def copied_parts(kernel: Kernel, nest: Nest, lane: Loop, block: Block) -> Copied | None:
    """
    The parts of an input to copy before blocks of them are transposed; `None` if nothing is gained.

    A power of two of bytes apart, the lines of a block have the same place in the cache, which holds fewer of them, and
    each is read several times. Results that go past the caches leave no time for it: what is stored to a copy waits
    until they are written.
    """
    loads = [access for access in nest.loads if _in_one_set(kernel, access, lane, block.lanes)]
    if len(loads) != 1 or loads[0].moves[block.loop].stride != 1 or goes_past_caches(kernel, nest):
        return None
    (load,) = loads
    position = kernel.buffer_position(load.memref)
    again = any(kernel.buffer_position(other.memref) == position for other in nest.loads if other is not load)
    if position is None or again or _is_padded(load):
        return None
    sizes: dict[Loop, int] = {}
    for loop in (block.loop, lane):
        size = block.size(loop, lane)
        counts = range(COPIED_BLOCKS, 1, -1) if isinstance(loop.extent, int) else ()
        if not (fitting := [count * size for count in counts if loop.trips % (count * size) == 0]):
            return None
        sizes[loop] = fitting[0]
    return Copied(position, len(load.dims), sizes)


def goes_past_caches(kernel: Kernel, nest: Nest) -> bool:
    """Whether the nest writes a result that bypasses the caches."""
    buffers = kernel_buffers(kernel.func)
    past = {buffers[position] for position in bypassing(kernel)}
    return any(root_of(access.memref) in past for access in nest.stores)


def _input_order(nest: Nest, loops: Sequence[Loop]) -> list[Loop]:
    """The loops in the order in which the largest input lies in memory; as they are where they do not tell."""
    inputs = [access for access in nest.loads if all(access.moves[loop].stride is not None for loop in loops)]
    if not inputs or len(inputs) < len(nest.loads):
        return list(loops)
    trips = {loop: loop.trips for loop in nest.parallel}
    largest = max(inputs, key=lambda access: access.footprint_bytes(trips))
    return sorted(loops, key=lambda loop: -abs(largest.moves[loop].stride or 0))


def _leads(nest: Nest, loop: Loop) -> bool:
    """Whether the loop walks the outermost dimension of all that the nest reads and writes."""
    return all(access.leads([loop]) for access in nest.accesses)


def schedule_transposed(kernel: Kernel, nest: Nest, lane: Loop, block: Block) -> None:
    """
    Writes the schedule of a nest with blocks of two loops in registers.

    Blocks follow each other along the lanes, so that lines are written whole while they are in a cache. Lines that go
    past the caches are whole at once: then blocks follow each other as the input lies in memory. Threads share what is
    outermost in memory on both sides: they find what they wrote themselves, and who reads the result does too.
    Where a cache would not hold the lines of a block, blocks are transposed of copies that it does. Past the caches,
    parts are fetched ahead, if they can be.
    """
    writer = kernel.writer
    past = goes_past_caches(kernel, nest)
    ahead = fetched_ahead(kernel, nest, block.loop, lane) if past else None
    inner = [lane, block.loop] if past else [block.loop, lane]
    loops = [loop for loop in nest.parallel if loop not in inner] + inner
    if ahead is not None:
        loops = _input_order(nest, nest.parallel)
    loops.sort(key=lambda loop: not (loop.trips > block.size(loop, lane) and _leads(nest, loop)))
    handles = writer.interchange(
        [writer.loop(loop.label) for loop in nest.parallel], [nest.parallel.index(loop) for loop in loops]
    )
    sizes = [block.size(loop, lane) for loop in loops]
    why = f"blocks of {block.rows} x {block.lanes} are transposed in registers"
    if ahead is not None:
        sizes = [ahead.rows if loop is lane else ahead.piece if loop is block.loop else 1 for loop in loops]
        tiled = writer.tile(handles, sizes, None, "parts that are fetched ahead")
        _vectorize_ahead(kernel, ahead, tiled, loops, lane, block)
    elif (copied := copied_parts(kernel, nest, lane, block)) is not None:
        sizes = [copied.sizes.get(loop, 1) for loop in loops]
        tiled = writer.tile(handles, sizes, None, "parts that are copied")
        order = list(range(copied.rank))
        writer.stage(tiled.outers[-1], copied.argument, [0] * copied.rank, order, "their lines have one place in cache")
        inner = [loop for loop in loops if loop in copied.sizes]
        blocks = [block.size(loop, lane) for loop in inner]
        within = dict(zip(loops, tiled.inners, strict=True))
        again = writer.tile([within[loop] for loop in inner], blocks, None, why)
        _vectorize(kernel, dict(zip(inner, again.inners, strict=True)), inner, lane, block)
    else:
        tiled = writer.tile(handles, sizes, None, why)
        _vectorize(kernel, dict(zip(loops, tiled.inners, strict=True)), loops, lane, block)
    cycles = 2.0 * nest.iterations * len(nest.accesses) / block.lanes
    shared = [
        Shared(handle, max(1, loop.trips // size), max(1, certain_trips(loop, loop.trips) // size))
        for handle, loop, size in zip(tiled.outers, loops, sizes, strict=True)
    ]
    spread(kernel, shared, cycles, nest.top)


def _vectorize(kernel: Kernel, within: dict[Loop, SSAValue], loops: Sequence[Loop], lane: Loop, block: Block) -> None:
    """Makes a block's two loops, in the order of `loops`, the axes of vectors with lanes along `lane`."""
    axes = [within[block.loop], within[lane]]
    ordered = loops.index(block.loop) < loops.index(lane)
    kernel.writer.vectorize(axes if ordered else kernel.writer.interchange(axes[::-1], [1, 0]))


def _vectorize_ahead(
    kernel: Kernel, ahead: Ahead, tiled: TileOp, loops: Sequence[Loop], lane: Loop, block: Block
) -> None:
    """Writes the steps for parts that are fetched ahead, and for what does not fill a part."""
    row, column = loops.index(block.loop), loops.index(lane)
    nests = (1 + (lane.trips % ahead.rows > 0)) * (1 + (block.loop.trips % ahead.piece > 0))
    schedule_ahead(kernel, ahead, tiled, row, column)
    if nests > 1:
        rests = [kernel.writer.select(tiled.inners[place], range(1, nests)) for place in (column, row)]
        blocks = kernel.writer.tile(rests, [block.lanes, block.rows], None, "what does not fill a part")
        within = dict(zip((lane, block.loop), blocks.inners, strict=True))
        _vectorize(kernel, within, (lane, block.loop), lane, block)


def schedule_elementwise(kernel: Kernel, nest: Nest, lane: Loop) -> None:
    """Writes the schedule of a nest without reductions, with lanes along `lane`."""
    if (block := transposed_block(kernel, nest, lane)) is not None:
        schedule_transposed(kernel, nest, lane, block)
        return
    writer = kernel.writer
    loops = list(nest.parallel)
    handles = [writer.loop(loop.label) for loop in loops]
    trips = [loop.trips for loop in loops]
    certain = [certain_trips(loop, loop.trips) for loop in loops]
    width = vector_width(nest, kernel.facts, lane)
    cycles = nest.iterations * (nest.body_ops + 20 * nest.heavy_ops + 2 * len(nest.accesses)) / width
    outer = [loop for loop in loops if loop is not lane]
    past = goes_past_caches(kernel, nest)
    if past and (walk := _input_order(nest, outer)) != outer:
        outer, why = walk, "reads in the order of memory, writes go past the caches"
    else:
        why = "contiguous loop innermost"
    if [*outer, lane] != loops:
        order = [loops.index(loop) for loop in (*outer, lane)]
        handles = writer.interchange(handles, order, why)
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
    spread(kernel, list(map(Shared, tiled.outers, *counts)), cycles, nest.top)
