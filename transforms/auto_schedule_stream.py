"""
Strategy "stream": few rows of results read a large matrix in the order of memory, once, without packing it.

`y[i, j] = sum_k a[i, k] * b[k, j]` with one to four rows `i` uses each element of `b` so seldom that only the speed of
memory counts. Column by column, each step would be a row of `b` further on, on another page, where no prefetcher
follows. So the reduction goes a few steps at a time around the loop over `j`: those rows of `b` are read side by side
from end to end, while the results, in the first-level cache, take them in.
"""

from __future__ import annotations

from aicc.transforms.auto_schedule_common import Kernel, vector_width
from aicc.transforms.auto_schedule_threads import Shared, certain_trips, spread
from aicc.transforms.loops_cost import BYTES_PER_CYCLE
from aicc.transforms.loops_facts import Access, Loop, Nest
from aicc.transforms.loops_split_reduction import can_split

STREAMS = 8
"""Rows read side by side: as many as prefetchers follow and, a power of two of bytes apart, the ways of a set hold."""

STREAMS_APART = 16
"""The same where each row has its own place in the cache, and there is but one row of results to compute meanwhile."""

SHORT_BYTES = 8192
"""
Bytes of a row up to which rows that follow each other in memory, and come from there, are read one after the other:
side by side, prefetchers would find a new start every few lines in each of them.
"""

VECTORS = 2
"""Registers that are read of each row in turn: a cache line or two, so that no stream waits long for its turn."""

VECTORS_ALONE = 4
"""The same where rows are read one after the other."""

MOST_ROWS = 4
"""Rows of results up to which nothing is gained by keeping sums in registers."""

CHUNK_BYTES = 4096
"""Bytes of a row that a thread reads in one go, at least: each start anew costs the latency of a few lines."""

CHUNK_BYTES_CONSTANT = 2048
"""The same for weights, which more calls on several threads read than run-time operands."""


def streamed(kernel: Kernel, nest: Nest, lane: Loop) -> Access | None:
    """The matrix that is read once, larger than the first-level cache; `None` if the nest is not of this kind."""
    if len(nest.chains) != 1 or len(nest.chains[0]) != 1 or not can_split(nest.parallel[-1].op, nest.chains[0][0].op):
        return None
    (steps,) = nest.chains[0]
    inside = [access for access in nest.loads if access.op.parent is steps.op.block]
    by_lane = [access for access in inside if access.depends(lane)]
    if len(by_lane) != 1 or any(access.moves[lane].stride != 1 for access in nest.stores):
        return None
    (matrix,) = by_lane
    if matrix.moves[lane].stride != 1 or not matrix.depends(steps):
        return None
    if matrix.footprint_bytes({lane: lane.trips, steps: steps.trips}) <= kernel.facts.l1_bytes:
        return None
    rows = _rows(nest, lane, matrix)
    if len(rows) > 1 or any(not isinstance(row.extent, int) or row.trips > MOST_ROWS for row in rows):
        return None
    # Fewer steps than this are one block; rows that are short have no order to read them in.
    if steps.trips < 2 * STREAMS or lane.trips < 8 * vector_width(nest, kernel.facts):
        return None
    return matrix


def _side_by_side(kernel: Kernel, nest: Nest, lane: Loop, steps: Loop, matrix: Access, several: bool) -> int:
    """Rows of the matrix to read at once, for one row of results or for `several`."""
    one_block = matrix.moves[steps].stride == lane.trips and lane.trips * matrix.bytes <= SHORT_BYTES
    size = matrix.footprint_bytes({loop: loop.trips for loop in (*nest.parallel, steps)})
    if one_block and size > kernel.facts.l3_bytes:
        return 1
    stride = None if several else matrix.moves[steps].stride
    apart = stride is not None and kernel.facts.cache_places(stride * matrix.bytes) >= STREAMS_APART
    return STREAMS_APART if apart and steps.trips >= 2 * STREAMS_APART else STREAMS


def _rows(nest: Nest, lane: Loop, matrix: Access) -> list[Loop]:
    """The loops over results that use the same elements of the matrix."""
    return [loop for loop in nest.parallel if loop is not lane and loop.trips > 1 and not matrix.depends(loop)]


def schedule_stream(kernel: Kernel, nest: Nest, lane: Loop, matrix: Access) -> None:
    """Writes the schedule of a nest that reads `matrix` once, contiguously along `lane`."""
    writer, width = kernel.writer, vector_width(nest, kernel.facts)
    (steps,) = nest.chains[0]
    rows = _rows(nest, lane, matrix)
    streams = _side_by_side(kernel, nest, lane, steps, matrix, bool(rows))
    vectors = VECTORS if streams > 1 else VECTORS_ALONE
    lanes = vectors * width
    others = [loop for loop in nest.parallel if loop is not lane and loop not in rows]
    loops = [*others, lane, *rows]
    handles = writer.interchange(
        [writer.loop(loop.label) for loop in nest.parallel], [nest.parallel.index(loop) for loop in loops]
    )
    columns = handles[len(others)]
    label = lane.label
    cycles = nest.iterations * matrix.bytes / BYTES_PER_CYCLE[1]
    shared: list[Shared] = []
    if any(loop.trips > 1 for loop in others):
        loops = zip(others, handles, strict=False)
        spread(
            kernel,
            [Shared(handle, loop.trips, certain_trips(loop, loop.trips)) for loop, handle in loops],
            cycles,
            nest.top,
        )
    else:
        share = lane.trips // kernel.facts.cores // lanes * lanes
        least = CHUNK_BYTES_CONSTANT if kernel.is_constant(matrix.memref) else CHUNK_BYTES
        if share * matrix.bytes >= least and not kernel.spread:
            tiled = writer.tile([columns], [share], None, "a part of each row per thread")
            parts = lane.trips // share
            shared = [Shared(tiled.outers[0], parts, certain_trips(lane, parts))]
            columns, label = tiled.inners[0], label + ".i"
    order = f"{streams} rows of memory side by side" if streams > 1 else "rows of memory one after the other"
    writer.split_reduction(writer.loop(steps.label), columns, streams, False, f"{order}, from end to end")
    # Parts that one thread takes are read as whole rows.
    spread(kernel, shared, cycles, nest.top, within=True)
    writer.unroll(writer.loop(steps.label), streams, "few steps")
    tiled = writer.tile([writer.loop(label)], [lanes], None, f"{vectors} registers of {width} lanes")
    within = tiled.inners[0]
    if rows:
        within, row = writer.loop(label + ".i"), writer.loop(rows[0].label)
        writer.vectorize(writer.interchange([within, row], [1, 0]))
    else:
        writer.vectorize([within])
