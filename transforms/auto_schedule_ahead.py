"""
Transposes of more than the caches hold: parts of the input are fetched ahead, copied, and written as whole lines.

Results go past the caches by groups of neighbouring lines: what is written a power of two of bytes apart, a line at a
time, takes turns on the same few banks of memory. A group is so many rows of the input, more than prefetchers of the
machine's own follow. So rows are taken a piece at a time; meanwhile, the next pieces are asked for, line by line, into
the second-level cache, as fast as lines are written. The rows of a part, which may all have one place in the nearest
cache, are copied there side by side before blocks of them are transposed in registers. Where they have one in the
second-level cache too, they go on to the last one: from there more of a row is copied at a time, of fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir.affine import AffineDimExpr

from aicc.dialects.loops import LoadOp
from aicc.dialects.schedule.ops import TileOp
from aicc.dialects.tensor_ops.affine import linear_form
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.loops_facts import Loop, Nest

GROUPS = (4, 2)
"""Lines next to each other that are written together, the better one first."""

WIDTH = 8
"""Lines of a row that are copied at a time, at most: those at the ends are read again for the next ones."""

PIECE = 2048
"""Bytes of a row that are fetched in one go, at most: fewer starts anew, and a few lines that are cut at the ends."""

REGISTER_PART = 16
"""Bytes within which lanes change places in one instruction."""

SECOND, LAST = 2, 1
"""The localities of the second-level cache and the last one."""


@dataclass(frozen=True)
class Ahead:
    """How a transpose is done by parts. Counts of elements."""

    argument: int
    rank: int
    rows: int
    """Rows of the input in a part: what is contiguous in the result."""
    piece: int
    """What is fetched of each of them at a time."""
    width: int
    """What is copied of each of them at a time."""
    block: tuple[int, int]
    """What is transposed in registers: so much of so many rows."""
    locality: int
    """The cache that it is fetched into."""


def fetched_ahead(kernel: Kernel, nest: Nest, row: Loop, lane: Loop) -> Ahead | None:
    """
    How to fetch what is read contiguously along `row` and written contiguously along `lane`, past the caches.

    `None` where it is not one input that is moved, sizes are not known, loops are too short, or parts do not find
    enough places in the second-level cache or registers.
    """
    facts = kernel.facts
    if len(nest.loads) != 1 or len(nest.stores) != 1 or nest.stores[0].moves[lane].stride != 1:
        return None
    load = nest.loads[0]
    if nest.stores[0].bytes != load.bytes:
        return None
    stride, size = load.moves[lane].stride, load.bytes
    position = kernel.buffer_position(load.memref)
    if position is None or stride is None or not isinstance(load.op, LoadOp) or load.op.fill is not None:
        return None
    if not _is_linear(load.op):
        return None
    if load.moves[row].stride != 1 or not all(isinstance(loop.extent, int) for loop in (row, lane)):
        return None
    line = facts.cache_line_bytes // size
    across = REGISTER_PART // size
    # Half of the registers for the rows of a block: the others hold what is turned.
    held = facts.vector_registers // 2 * facts.vector_bits // 8 // REGISTER_PART // line * line
    if across < 2 or held < line:
        return None
    for locality, groups in ((SECOND, GROUPS), (LAST, GROUPS[::-1])):
        for group in groups:
            rows = group * line
            # The copy leaves half of the nearest cache to what goes by.
            lines = min(WIDTH, facts.l1_bytes // (2 * rows * size * line))
            piece, width = _piece(row.trips, line, lines, PIECE // size)
            if lane.trips >= rows and piece and _finds_places(kernel, locality, stride * size, rows, piece * size):
                return Ahead(position, len(load.dims), rows, piece, width, (across, min(held, rows)), locality)
    return None


def _piece(length: int, line: int, lines: int, most: int) -> tuple[int, int]:
    """
    What is fetched and what is copied at a time of a row of `length`: of so many whole lines that the least is left
    over, half of `lines` to all of them for a copy, up to `most` elements for a piece; 0 and 0 if the row is shorter.
    """
    best = (0, 0, 0)
    for width in range(line * max(1, lines // 2), line * lines + 1, line):
        pieces = -(-length // max(most // width * width, width))
        piece = length // max(pieces, 1) // width * width
        best = max(best, (pieces * piece, width, piece))
    return best[2], best[1]


def _is_linear(load: LoadOp) -> bool:
    """Whether no index is divided: of such an access, no part is known."""
    atoms = (atom for index in load.map.data.results for atom in linear_form(index).terms)
    return all(isinstance(atom, AffineDimExpr) for atom in atoms)


def _finds_places(kernel: Kernel, locality: int, distance: int, rows: int, piece: int) -> bool:
    """Whether a cache holds two pieces of so many bytes of each of the rows, `distance` bytes apart."""
    facts = kernel.facts
    if locality == LAST:
        # Its places are not told by the address alone.
        return 4 * rows * piece * facts.cores <= facts.l3_bytes
    places, apart = facts.second_places(distance)
    lines = -(-rows * -(-2 * piece // apart) // places)
    return lines <= facts.l2_ways and 4 * rows * piece <= facts.l2_bytes


def schedule_ahead(kernel: Kernel, ahead: Ahead, tiled: TileOp, row: int, lane: int) -> None:
    """
    Writes the steps for the full tiles of `rows` x `piece`; `row` and `lane` are the positions of the two loops, that
    along a row of the input inside.
    """
    writer = kernel.writer
    around, *inners = (
        writer.select(handle, [0]) for handle in (tiled.outers[row], tiled.inners[lane], tiled.inners[row])
    )
    along, across = writer.interchange(inners, [1, 0])
    copied = writer.tile([along], [ahead.width], None, "parts that are copied")
    order = list(range(ahead.rank))
    writer.stage(copied.outers[0], ahead.argument, [0] * ahead.rank, order, "rows far apart have one place in cache")
    why = f"{ahead.block[0]} x {ahead.block[1]} are transposed in registers"
    blocks = writer.tile([copied.inners[0], across], list(ahead.block), None, why)
    writer.vectorize(blocks.inners)
    why = "rows are more and shorter than prefetchers follow"
    line = kernel.facts.cache_line_bytes
    writer.prefetch(around, blocks.outers[0], ahead.argument, line, ahead.locality, why)
