"""
Fusion across nests of one kernel: nests that go over the same rows, one after the other, become one loop over rows, so
that what one of them writes for a row is still in cache when the next one reads it: softmax, normalisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import provably_equal
from aicc.dialects.loops import ForOp, LoadOp, StoreOp
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.auto_schedule_elementwise import collapsible, merge_loops
from aicc.transforms.loops_buffers import shrink_buffers
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import Loop, Nest, analyse_nest, guess
from aicc.transforms.loops_fuse import check_same_indices, fuse_loops
from aicc.transforms.loops_nest import StepError


def top_loops(func: FuncOp) -> list[ForOp]:
    """The outermost loops of a function, in order."""
    return [op for op in func.body.block.ops if isinstance(op, ForOp)]


def _row_loops(nest: Nest) -> int:
    """How many leading parallel loops may go around a whole row: those before the first one with contiguous access."""
    for position, loop in enumerate(nest.parallel):
        inside = [*nest.parallel[position + 1 :], *nest.reductions]
        if any(
            access.moves[loop].stride == 1 and any(access.depends(other) for other in inside)
            for access in nest.accesses
        ):
            return position
        if not any(access.moves[other].stride == 1 for other in inside for access in nest.accesses):
            return position
    return len(nest.parallel)


def _shared_rows(first: Nest, second: Nest) -> int:
    """How many leading loops the two nests have in common, as far as they go around rows in both."""
    count = 0
    most = min(_row_loops(first), _row_loops(second))
    for a, b in zip(first.parallel[:most], second.parallel[:most], strict=True):
        if not _same_trips(a, b):
            break
        count += 1
    return count


def _same_trips(a: Loop, b: Loop) -> bool:
    if a.extent is not None and b.extent is not None:
        return provably_equal(a.extent, b.extent)
    try:
        check_same_indices(a.op, b.op)
    except StepError:
        return False
    return True


def _feeds(first: ForOp, second: ForOp) -> bool:
    """Whether `second` reads what `first` writes, or both read the same buffer."""
    touched: set[SSAValue] = {root_of(op.memref) for op in first.walk() if isinstance(op, LoadOp | StoreOp)}
    return any(root_of(op.memref) in touched for op in second.walk() if isinstance(op, LoadOp))


def _rows_written_together(kernel: Kernel, first: Nest, second: Nest) -> int:
    """
    How many leading loops go around rows of which each nest writes its part, as concatenation does; 0 if rows are long.

    Short parts are written in sequence then: a line of cache that has a part of both is not read and written twice.
    """
    if first.chains or second.chains:
        return 0
    for a in first.stores:
        for b in second.stores:
            if a.memref is not b.memref:
                continue
            maps = zip(a.op.map.data.results, b.op.map.data.results, strict=True)
            place = next((dim for dim, (x, y) in enumerate(maps) if x != y), len(a.dims))
            row = prod(map(guess, a.dims[place:])) * a.bytes
            if not 0 < place < len(a.dims) or row > kernel.facts.l1_bytes // 2:
                return 0
            outside = {loop for access in (a, b) for spans in access.spans[:place] for loop in spans}
            return min(len(list(takewhile(outside.__contains__, nest.parallel))) for nest in (first, second))
    return 0


def _common_depth(kernel: Kernel, first: tuple[ForOp, Nest | None], second: tuple[ForOp, Nest | None]) -> int:
    """How many leading loops of two neighbouring nests are to become one; 0: none."""
    (x, a), (y, b) = first, second
    if a is None or b is None or not kernel.apart.isdisjoint((x.label.data, y.label.data)):
        return 0
    shared = _shared_rows(a, b)
    return shared if _feeds(x, y) else min(shared, _rows_written_together(kernel, a, b))


def fuse_rows(kernel: Kernel) -> None:
    """Fuses neighbouring nests of the kernel along common rows, in the kernel itself and in its schedule."""
    fuse_neighbours(kernel, top_loops(kernel.func))


def fuse_neighbours(kernel: Kernel, tops: Sequence[ForOp]) -> None:
    """Fuses nests that stand one after the other in a block along common rows."""
    nests = [analyse_nest(top) for top in tops]
    depths = [_common_depth(kernel, *pair) for pair in pairwise(zip(tops, nests, strict=True))]
    start = 0
    while start < len(tops):
        end = start
        while end < len(depths) and depths[end] > 0:
            end += 1
        if end > start:
            # One depth for the whole run of nests.
            run, depth = _merge_rows(kernel, nests[start : end + 1], min(depths[start:end]))
            _fuse_run(kernel, run, depth)
        start = end + 1


def _merge_rows(kernel: Kernel, nests: Sequence[Nest | None], depth: int) -> tuple[list[ForOp], int]:
    """
    Collapses the loops around rows, innermost first, as far as that is possible in all nests.

    The rows of all images of a batch, say, are counted as one sequence then. Returns the outermost loops of the nests,
    and how many of the leading loops are around rows.
    """
    found = [nest for nest in nests if nest is not None]
    for inner in range(depth - 1, 0, -1):
        if not all(collapsible(nest, *nest.parallel[inner - 1 : inner + 1]) for nest in found):
            continue
        found = [merge_loops(kernel, nest, *nest.parallel[inner - 1 : inner + 1]) for nest in found]
        depth -= 1
    return [nest.top for nest in found], depth


def _fuse_run(kernel: Kernel, loops: list[ForOp], depth: int) -> None:
    current = loops[0]
    for other in loops[1:]:
        fused = _fuse_pair(kernel, current, other, depth)
        if fused is None:
            _fuse_sweeps(kernel, current)
        current = other if fused is None else fused
    _fuse_sweeps(kernel, current)


def _fuse_sweeps(kernel: Kernel, rows: ForOp) -> None:
    """Within rows: a reduction goes along with the loop before it that writes what it reads, element by element."""
    for block in [op.block for op in rows.walk() if isinstance(op, ForOp)]:
        loops = [op for op in block.ops if isinstance(op, ForOp)]
        for first, second in pairwise(loops):
            if not first.is_parallel or not second.inits or not (_is_flat(first) and _is_flat(second)):
                continue
            if first.parent is block and _feeds(first, second):
                _fuse_pair(kernel, first, second, 1, "one sweep")


def _is_flat(loop: ForOp) -> bool:
    return not any(isinstance(op, ForOp) for op in loop.block.ops)


def _fuse_pair(
    kernel: Kernel, first: ForOp, second: ForOp, depth: int, why: str = "rows stay in cache"
) -> ForOp | None:
    """Fuses two loops and `depth - 1` levels inside, as far as it is legal; `None` if it is not at all."""
    inner = [[op for op in loop.block.ops if isinstance(op, ForOp)] for loop in (first, second)]
    labels = [loop.label.data for loop in (first, second)]
    try:
        fused = fuse_loops(first, second)
    except StepError:
        return None
    # As the step does when it is applied: what follows must fit the nest as it is then.
    shrink_buffers(kernel.func)
    writer = kernel.writer
    writer.fuse(writer.loop(labels[0]), writer.loop(labels[1]), why)
    if depth > 1 and inner[0] and inner[1]:
        _fuse_pair(kernel, inner[0][-1], inner[1][0], depth - 1)
    return fused
